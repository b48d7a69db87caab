"""One open folder, and the durable ways to change a file in it.

Every call names a file inside the folder, relative to its descriptor, so that a folder that is swapped for a
link meanwhile can't lead a write elsewhere. Knows nothing of hashes that callers expect, revisions or locks;
raises OSError.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from hindbrain.base.files import sync_fd, write_all
from hindbrain.vault import swap
from hindbrain.vault.hashing import content_hash

DISPLACED_SUFFIX = ".old"  # where there is no exchange, what was displaced stands beside the temp file
PRIVATE_FOLDER = 0o700
_CLOEXEC = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _CLOEXEC | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0)  # a FIFO must not block us
_KEPT_XATTRS = ("user.", "system.posix_acl_access")


class SyncFailed(OSError):
    """The bytes were written, and whether they are durable is not known."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells that a file was written since: cheap, and not proof."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    mode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_mode)

    def same_file(self, other: "Stamp | None") -> bool:
        return other is not None and (self.device, self.inode) == (other.device, other.inode)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was read."""

    data: bytes
    hash: str
    stamp: Stamp


class Folder:
    def __init__(self, path: Path, fd: int) -> None:
        self.path = path
        self._fd = fd  # -1 on Windows, which has no folder descriptors

    @classmethod
    @contextlib.contextmanager
    def open(
        cls, root: Path, parts: Sequence[str], *, create: bool = False, mode: int = 0o777
    ) -> Iterator["Folder"]:
        """Walk from `root` down `parts` without following links; make what is missing when `create`.

        `mode`: of a folder that is made; the process's umask takes from it.
        """
        path = root.joinpath(*parts)
        if sys.platform == "win32":
            if create:
                path.mkdir(mode, parents=True, exist_ok=True)
            yield cls(path, -1)
            return
        flags = os.O_RDONLY | os.O_DIRECTORY | _CLOEXEC
        fd = os.open(root, flags)
        try:
            for part in parts:
                below = _step_down(fd, part, flags | _NOFOLLOW, mode if create else None)
                os.close(fd)
                fd = below
            yield cls(path, fd)
        finally:
            os.close(fd)

    def open_file(self, name: str, flags: int = _READ, mode: int = 0o600) -> int:
        return os.open(self._at(name), flags, mode, dir_fd=self._dir)

    def read(self, name: str) -> Seen | None:
        """The file's bytes, or None when there is no such name."""
        try:
            fd = self.open_file(name)
        except FileNotFoundError:
            return None
        try:
            return read_fd(fd)
        finally:
            os.close(fd)

    def stamp(self, name: str) -> Stamp | None:
        try:
            return Stamp.of(os.stat(self._at(name), dir_fd=self._dir, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def names(self) -> list[str]:
        return os.listdir(self.path if self._dir is None else self._fd)  # noqa: PTH208 - by descriptor

    def write_temp(
        self, name: str, data: bytes, *, like: str | None = None, mode: int | None = None
    ) -> Stamp:
        """Make `name` with `data`, durable, with the mode, owner and attributes of `like`, or with `mode`.

        Without either the mode is what the process's umask gives a new file. Leaves nothing on failure.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _CLOEXEC | _NOFOLLOW
        fd = self.open_file(name, flags, 0o666 if like is None else 0o600)
        try:
            try:
                write_all(fd, data)
                if like is not None:
                    self._copy_attributes(like, fd)
                elif mode is not None and sys.platform != "win32":
                    os.fchmod(fd, mode)
                sync_fd(fd)
                return Stamp.of(os.fstat(fd))
            finally:
                os.close(fd)
        except BaseException:
            with contextlib.suppress(OSError):
                self.unlink(name)
            raise

    def displace(self, incoming: str, name: str) -> str | None:
        """Put `incoming` in the place of `name`. Returns the name under which the old file can be looked at.

        None: this file system can neither swap nor link, and what was there at that instant is not known.
        """
        beside = incoming + DISPLACED_SUFFIX
        if sys.platform == "win32":
            swap.replace_keeping(str(self.path / name), str(self.path / incoming), str(self.path / beside))
            return beside
        try:
            swap.exchange(self._fd, incoming, name)
            return incoming
        except OSError as error:
            if not swap.unsupported(error):
                raise
        try:
            os.link(name, beside, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)
        except OSError as error:
            if not (swap.unsupported(error) or error.errno in (errno.EPERM, errno.EMLINK)):
                raise
            os.replace(incoming, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            return None
        try:
            os.replace(incoming, name, src_dir_fd=self._fd, dst_dir_fd=self._fd)
        except OSError:
            with contextlib.suppress(OSError):
                self.unlink(beside)
            raise
        return beside

    def put_new(self, source: str, target: str) -> None:
        """Rename to a name that must not be there yet, else FileExistsError."""
        if sys.platform == "win32":
            (self.path / source).rename(self.path / target)  # never replaces on Windows
            return
        try:
            swap.rename_new(self._fd, source, target)
            return
        except OSError as error:
            if not swap.unsupported(error):
                raise
        try:
            os.link(source, target, src_dir_fd=self._fd, dst_dir_fd=self._fd, follow_symlinks=False)
        except OSError as error:
            if not (swap.unsupported(error) or error.errno == errno.EPERM):
                raise
            if self.stamp(target) is not None:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from error
            os.rename(source, target, src_dir_fd=self._fd, dst_dir_fd=self._fd)
            return
        self.unlink(source)

    def replace(self, source: str, target: str) -> None:
        """Rename over whatever is there: for our own files only, never for a note."""
        os.replace(self._at(source), self._at(target), src_dir_fd=self._dir, dst_dir_fd=self._dir)

    def move_away(self, name: str, fresh: str) -> None:
        """Rename to a name that only we know. One call, so that a file put at `name` meanwhile is not hit."""
        os.rename(self._at(name), self._at(fresh), src_dir_fd=self._dir, dst_dir_fd=self._dir)

    def unlink(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._dir)

    def sync(self) -> None:
        """Make renames and new names in this folder durable. Windows offers no such call."""
        if sys.platform != "win32":
            sync_fd(self._fd)

    @property
    def _dir(self) -> int | None:
        return None if sys.platform == "win32" else self._fd

    def _at(self, name: str) -> str:
        return str(self.path / name) if sys.platform == "win32" else name

    def _copy_attributes(self, like: str, fd: int) -> None:
        """Mode must be kept; owner and extended attributes are kept where the system lets us."""
        if sys.platform == "win32":
            return  # ReplaceFileW keeps them
        status = os.stat(like, dir_fd=self._fd, follow_symlinks=False)
        ours = os.fstat(fd)
        if (status.st_uid, status.st_gid) != (ours.st_uid, ours.st_gid):
            with contextlib.suppress(OSError):
                os.fchown(fd, status.st_uid, status.st_gid)
        os.fchmod(fd, stat.S_IMODE(status.st_mode))
        if sys.platform == "linux":
            self._copy_xattrs(like, fd)

    def _copy_xattrs(self, like: str, fd: int) -> None:
        if sys.platform != "linux":
            return
        with contextlib.suppress(OSError):
            source = self.open_file(like)
            try:
                for key in os.listxattr(source):
                    if key.startswith(_KEPT_XATTRS):
                        os.setxattr(fd, key, os.getxattr(source, key))
            finally:
                os.close(source)


def read_fd(fd: int) -> Seen:
    """All bytes of an open regular file from its start."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    os.lseek(fd, 0, os.SEEK_SET)
    parts = []
    while part := os.read(fd, max(status.st_size + 1, 65_536)):
        parts.append(part)
    data = b"".join(parts)
    return Seen(data, content_hash(data), Stamp.of(status))


def append_line(folder: Folder, name: str, line: bytes, *, durable: bool = True) -> None:
    """Add one line with one write. A torn line before it is closed off first."""
    is_new = folder.stamp(name) is None
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _CLOEXEC | _NOFOLLOW
    fd = folder.open_file(name, flags)
    try:
        size = os.fstat(fd).st_size
        torn = False
        if size:
            os.lseek(fd, size - 1, os.SEEK_SET)
            torn = os.read(fd, 1) != b"\n"
        try:
            write_all(fd, (b"\n" if torn else b"") + line + b"\n")
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(fd, size)  # half a line is worse than none; the caller holds the lock
            raise
        if durable:
            _sync_line(folder, fd, is_new)
    finally:
        os.close(fd)


def _sync_line(folder: Folder, fd: int, is_new: bool) -> None:
    try:
        sync_fd(fd)
        if is_new:
            folder.sync()
    except OSError as error:
        raise SyncFailed(error.errno, error.strerror) from error


def _step_down(parent: int, part: str, flags: int, mode: int | None) -> int:
    """Open a folder in another; with a mode, make it where it is missing."""
    try:
        return os.open(part, flags, dir_fd=parent)
    except FileNotFoundError:
        if mode is None:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, mode, dir_fd=parent)
        sync_fd(parent)
    return os.open(part, flags, dir_fd=parent)
