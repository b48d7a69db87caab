"""Our own files in the vault's `.hindbrain` folder: whole files, and logs of one line per event.

No revisions and no compare-and-swap: nobody else writes these. The caller holds the writer's lock.
"""

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import IO

from hindbrain.base.errors import UnsafePath, UsageError
from hindbrain.base.files import sync_fd, write_all
from hindbrain.vault.atomic import Folder, SyncFailed, append_line
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.paths import TEMP_PREFIX
from hindbrain.vault.revisions import Entry, Revision, Revisions

_FOLDER = ".hindbrain"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")  # we choose these names: no need for more
_NEVER_COMPARED = "?"  # in the place of a hash: these files are not undone
_PIECE = 1 << 20  # bytes that are copied at a time
_NEW = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
)  # fmt: skip


class StateFiles:
    def __init__(self, root: Path, revisions: Revisions) -> None:
        self._root = root
        self._revisions = revisions

    def put(self, relative: str, data: bytes) -> None:
        """Replace the file as a whole. Raises SyncFailed when it may or may not be durable, else OSError."""
        self._swap_in(relative, content_hash(data), lambda folder, _, temp: folder.write_temp(temp, data))

    def extend(self, relative: str, more: IO[bytes]) -> None:
        """Add what `more` holds from its beginning, on a line of its own; all of it or nothing.

        Neither of the two is ever in memory as a whole. Raises as `put` does.
        """

        def write(folder: Folder, name: str, temp: str) -> None:
            more.seek(0)
            _write_joined(folder, name, temp, more)

        self._swap_in(relative, _NEVER_COMPARED, write)

    def _swap_in(self, relative: str, after: str, write: Callable[[Folder, str, str], object]) -> None:
        """Give the name to the temp file that `write(folder, name, temp)` makes, durable."""
        *parts, name = _parts(relative)
        with Folder.open(self._root, parts, create=True) as folder:
            entry = self._entry("/".join((*parts, name)), _is_there(folder, name), after)
            self._revisions.begin(entry)  # lets recovery find the temp file
            try:
                write(folder, name, entry.temp)
                folder.replace(entry.temp, name)
            except OSError:
                folder.unlink(entry.temp)
                self._revisions.finish(entry, "aborted")
                raise
            try:
                folder.sync()
            except OSError as error:
                raise SyncFailed(error.errno, error.strerror, relative) from error
            self._revisions.finish(entry, "done")

    def append(self, relative: str, line: str, *, durable: bool = True) -> None:
        """Add one line. Raises SyncFailed when it may or may not be durable, else OSError."""
        if "\n" in line or "\r" in line:
            raise UsageError(f"a line of {relative!r} must not hold a line break")
        *parts, name = _parts(relative)
        with Folder.open(self._root, parts, create=True) as folder:
            append_line(folder, name, line.encode("utf-8"), durable=durable)

    def remove(self, relative: str, expected_hash: str) -> bool:
        """Take away a file that holds what is expected. Raises OSError."""
        *parts, name = _parts(relative)
        try:
            with Folder.open(self._root, parts) as folder:
                seen = folder.read(name)
                if seen is None or seen.hash != expected_hash:
                    return False
                folder.unlink(name)
                folder.sync()
        except FileNotFoundError:
            return False
        while len(parts) > 1:  # our own folder itself stays
            try:
                self._root.joinpath(*parts).rmdir()
            except OSError:
                break  # something else is in it
            parts.pop()
        return True

    def _entry(self, file: str, existed: bool, after: str) -> Entry:
        before = _NEVER_COMPARED if existed else ABSENT
        id_ = self._revisions.new_id()
        revision = Revision(id_, file, self._revisions.now(), "state", before, after, 0, action=id_)
        return Entry(revision, file, TEMP_PREFIX + os.urandom(8).hex(), None)


def _parts(relative: str) -> list[str]:
    parts = relative.split("/")
    if not all(_NAME.fullmatch(part) for part in parts):
        raise UnsafePath(f"{relative!r} is no name for a file in {_FOLDER!r}")
    return [_FOLDER, *parts]


def _is_there(folder: Folder, name: str) -> bool:
    stamp = folder.stamp(name)
    if stamp is not None and not stat.S_ISREG(stamp.mode):
        raise OSError(errno.EINVAL, "not a regular file")  # a link of somebody else's is not replaced
    return stamp is not None


def _write_joined(folder: Folder, name: str, temp: str, more: IO[bytes]) -> None:
    """Make `temp`, durable, of what `name` holds and of what `more` holds. Leaves nothing on failure."""
    fd = folder.open_file(temp, _NEW, 0o666)
    try:
        try:
            if _is_there(folder, name):
                _copy(folder, name, fd)
            while piece := more.read(_PIECE):
                write_all(fd, piece)
            sync_fd(fd)
        finally:
            os.close(fd)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.unlink(temp)
        raise


def _copy(folder: Folder, name: str, to: int) -> None:
    """The file's bytes, with its last line ended: a torn one must not spoil what comes after it."""
    source = folder.open_file(name)
    last = b"\n"
    try:
        while piece := os.read(source, _PIECE):
            write_all(to, piece)
            last = piece[-1:]
    finally:
        os.close(source)
    if last != b"\n":
        write_all(to, b"\n")
