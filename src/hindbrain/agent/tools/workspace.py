"""The folder in which the agent reads and writes files: no path leaves it, and nothing replaced is lost.

Owns where a path leads and how a file is put into its place. Knows no tool and no wording of answers. A vault
has a writer of its own: its files are read here, never written. What decides about the agent (settings,
rules, its own state) is closed: neither read nor written.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.agent.tools.replaced import Replaced
from hindbrain.base.errors import (
    NoteUnreadable,
    NotFound,
    Refused,
    UnsafePath,
    UsageError,
    WriteFailed,
    WriteUnknown,
)
from hindbrain.vault.atomic import Folder, Seen, SyncFailed
from hindbrain.vault.discover import find_vault
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.path_rules import (
    TEMP_PREFIX,
    NotePath,
    check_existing_path,
    check_note_path,
    is_private,
    same_note_key,
)
from hindbrain.vault.paths import resolve_beneath

_MOST_REPLACED = 50_000_000  # bytes: what is replaced is kept, and passes through memory


class Excerpt(NamedTuple):
    """A file's bytes: its beginning, and its end where what is between them was left out."""

    head: bytes
    tail: bytes
    size: int  # of the whole file


class Put(NamedTuple):
    """What a write did."""

    path: str  # in the workspace, where it really lies
    created: bool
    kept: Path | None = None  # where the bytes are that stood there before


class Listed(NamedTuple):
    """What is in a folder of the workspace, each sorted by name."""

    folders: tuple[str, ...]
    files: tuple[tuple[str, int], ...]  # name, bytes


class Workspace:
    def __init__(
        self, root: Path, replaced: Replaced, *, vaults: Sequence[Path] = (), closed: Sequence[Path] = ()
    ) -> None:
        self.root = Path(os.path.realpath(root))
        self._replaced = replaced
        self._vaults = tuple(map(_key_of, vaults))
        self._closed = tuple(map(_key_of, closed))

    @property
    def writable(self) -> bool:
        """False where all of it lies in a vault, or is closed."""
        return not self._why_not_written(self.root)

    def read(self, path: str, *, head: int, tail: int) -> Excerpt:
        """At most `head` and `tail` bytes of a file. NotFound, UnsafePath, Refused, NoteUnreadable."""
        with self._opened(path) as fd, open(fd, "rb", closefd=False) as file:
            size = os.fstat(fd).st_size
            if size <= head + tail:
                data = file.read(head + tail)
                return Excerpt(data, b"", len(data))
            begins = file.read(head)
            file.seek(size - tail)
            return Excerpt(begins, file.read(tail), size)

    def list(self, path: str = "") -> Listed:
        """What is in a folder; "" is the workspace. Links are told as files: they are followed when read."""
        real = self.root if _is_top(path) else self._real(path, check_existing_path)
        self._check_open(real, path)
        if real.is_file():
            raise UsageError(f"{path!r} is a file, not a folder; read_file shows it")
        folders, files = [], []
        with _told_of(path), os.scandir(real) as entries:
            for entry in entries:
                if is_private(entry.name) or entry.name.startswith(TEMP_PREFIX):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                else:
                    files.append((entry.name, entry.stat(follow_symlinks=False).st_size))
        return Listed(tuple(sorted(folders)), tuple(sorted(files)))

    def write(self, path: str, data: bytes) -> Put:
        """Put a file into its place, whole or not at all; what stood there is kept before.

        UnsafePath, Refused, UsageError; WriteFailed when nothing changed.
        """
        real = self._real(path, check_note_path)
        if why := self._why_not_written(real):
            raise Refused(f"{path!r} {why}")
        *parents, name = real.relative_to(self.root).parts
        try:
            with Folder.open(self.root, parents, create=True) as folder:
                return self._put(folder, name, real.relative_to(self.root).as_posix(), data)
        except SyncFailed as error:
            raise WriteUnknown(
                f"{path!r} was written, and the system did not say that it is safe; read it again"
            ) from error
        except OSError as error:
            raise WriteFailed(f"{path!r} was not written: {error.strerror or error}") from error

    def size_of(self, path: str) -> int | None:
        """Bytes of what a write would replace; None when it would make a new file."""
        try:
            real = self._real(path, check_note_path)
            return real.stat().st_size if real.is_file() else None
        except (UnsafePath, NotFound, OSError):
            return None

    def _put(self, folder: Folder, name: str, path: str, data: bytes) -> Put:
        before = _before(folder, name, path)
        if before is not None and before.hash == content_hash(data):
            return Put(path, created=False)
        kept = None if before is None else self._replaced.keep(path, before.data)
        temp = TEMP_PREFIX + os.urandom(8).hex()
        folder.write_temp(temp, data, like=name if before else None)
        try:
            if before is None:
                folder.put_new(temp, name)
                old = None
            else:
                old = folder.displace(temp, name)
        except OSError:
            folder.unlink(temp)
            raise
        if before is not None and old is not None:
            self._let_go(folder, old, path, before)
        try:
            folder.sync()
        except OSError as error:
            raise SyncFailed(error.errno, error.strerror, path) from error
        return Put(path, before is None, kept)

    def _let_go(self, folder: Folder, old: str, path: str, known: Seen) -> None:
        """Remove what was displaced; an edit that came in between is kept, too."""
        now = folder.read(old)
        if now is not None and now.hash != known.hash:
            self._replaced.keep(path, now.data)
        folder.unlink(old)

    @contextlib.contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        real = self._real(path, check_existing_path)
        self._check_open(real, path)
        *parents, name = real.relative_to(self.root).parts
        with _told_of(path), Folder.open(self.root, parents) as folder:
            fd = folder.open_file(name)
            try:
                if not stat.S_ISREG(os.fstat(fd).st_mode):
                    raise UsageError(f"{path!r} is a folder or a device, not a file; list_files shows files")
                yield fd
            finally:
                os.close(fd)

    def _real(self, path: str, check: Callable[[str], NotePath]) -> Path:
        """The real file behind a path, which need not be there; it lies in the workspace."""
        try:
            return resolve_beneath(self.root, check(self._relative(path)))
        except UnsafePath as error:
            raise UnsafePath(
                f"{path!r} is no file of the workspace {str(self.root)!r}: give a relative path with '/', "
                "without '..', links that lead out, folders such as .git, or names that some system forbids"
            ) from error

    def _relative(self, path: str) -> str:
        """Models like whole paths: one that begins with the workspace is a path in it."""
        prefix = str(self.root) + os.sep
        inside = path[len(prefix) :] if path.startswith(prefix) else path
        return inside.removeprefix("./").rstrip("/") or path

    def _why_not_written(self, real: Path) -> str:
        if _lies_in(real, self._closed):
            return "belongs to Hindbrain's own settings or state; only the owner changes it"
        if _lies_in(real, self._vaults) or find_vault(real.parent if real != self.root else real) is not None:
            return "lies in a vault, whose notes are written with vault_write and vault_append"
        return ""

    def _check_open(self, real: Path, path: str) -> None:
        if _lies_in(real, self._closed):
            raise Refused(f"{path!r} belongs to Hindbrain's own settings or state, which is not for agents")


def _before(folder: Folder, name: str, path: str) -> Seen | None:
    """What is there now; None when nothing is."""
    stamp = folder.stamp(name)
    if stamp is None:
        return None
    if not stat.S_ISREG(stamp.mode):
        raise UsageError(f"{path!r} is a folder or a device; choose another name")
    if stamp.size > _MOST_REPLACED:
        raise UsageError(f"{path!r} is {stamp.size:,} bytes long, too large to be replaced here")
    return folder.read(name)


@contextlib.contextmanager
def _told_of(path: str) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(f"there is no {path!r} in the workspace; list_files shows what is there") from error
    except OSError as error:
        raise NoteUnreadable(f"{path!r} can't be read now: {error.strerror or error}") from error


def _is_top(path: str) -> bool:
    return path.strip() in ("", ".", "./", "/")


def _key_of(folder: Path) -> str:
    return same_note_key(os.path.realpath(folder).rstrip(os.sep))


def _lies_in(real: Path, folders: Sequence[str]) -> bool:
    """By names as the most forgiving system compares them: "AGENT.TOML" opens "agent.toml" on some."""
    key = same_note_key(str(real))
    return any(key == folder or key.startswith(folder + os.sep) for folder in folders)
