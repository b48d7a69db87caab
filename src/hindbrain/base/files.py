"""Files that Hindbrain keeps for itself: replaced as a whole, or extended record by record.

The one place that handles short writes, temp files, modes and fsync. A file is for its owner alone unless the
caller says otherwise. Every function raises OSError. Standard library only, and little of it: each hook
imports this module. Knows nothing of what files hold, and nothing of notes, which `vault.atomic` writes.
"""

from __future__ import annotations

import errno
import os
import sys

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its module
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    PathLike: TypeAlias = str | os.PathLike[str]

PRIVATE = 0o600
_PRIVATE_FOLDER = 0o700
_TEMP_MARK = ".hb"  # a temp file is named NAME.hbXXXXXXXX.tmp
_TEMP_END = ".tmp"
_TEMP_DIGITS = 8
_ABANDONED_S = 3_600.0  # the writer of a temp file of that age is dead
_PROBE_BYTES = 4_096
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK)


def write_all(fd: int, data: bytes) -> None:
    """Write every byte. Python repeats an interrupted write; a short one is ours to continue."""
    view = memoryview(data)
    while view:
        written = os.write(fd, view)
        if written == 0:
            raise OSError(errno.EIO, "the system wrote nothing")
        view = view[written:]


def replace_file(
    path: PathLike,
    *data: bytes,
    durable: bool = True,
    mode: int = PRIVATE,
    check: Callable[[], object] | None = None,
) -> None:
    """Make `path` hold the pieces of `data`: it is wholly old or wholly new, and no temp file stays.

    `durable`: it survives a power cut once this returns. `check` is called right before the new file takes
    the place of the old one; what it raises leaves the old one.
    """
    path = os.fspath(path)
    existed = os.path.lexists(path)
    temp = _temp_name(path)
    try:
        _write_new(temp, data, durable, mode)
        if check is not None:
            check()
        os.replace(temp, path)  # noqa: PTH105  pathlib takes long to import
    except BaseException:
        _remove(temp)
        raise
    if durable:
        sync_folder(os.path.dirname(path))  # noqa: PTH120
    if existed:
        _remove_abandoned_temps(path)


def create_file(path: PathLike, *data: bytes, durable: bool = True, mode: int = PRIVATE) -> None:
    """Make a file that is whole from its first moment; FileExistsError leaves the one that is there."""
    path = os.fspath(path)
    temp = _temp_name(path)
    try:
        _write_new(temp, data, durable, mode)
        _place_new(temp, path)
    finally:
        _remove(temp)
    if durable:
        sync_folder(os.path.dirname(path))  # noqa: PTH120


def create_empty(path: PathLike) -> bool:
    """Make an empty file; False when there is one."""
    try:
        os.close(os.open(path, _NEW, PRIVATE))
    except FileExistsError:
        return False
    return True


def append_record(path: PathLike, record: bytes, *, durable: bool = True) -> None:
    """Add one record, as `AppendLog.append` does."""
    with AppendLog(path) as log:
        log.append(record)
        if durable:
            log.sync()
            # Not only for a new file: another process may have made it a moment ago.
            sync_folder(os.path.dirname(os.fspath(path)))  # noqa: PTH120


class AppendLog:
    """A file of lines, open for appending. Any number of processes append at once, without a lock.

    A record is one `write` on O_APPEND, which no other process can split. A write that the system cut short
    can't be continued, since another record may follow it by now: the whole record is written again on a line
    of its own. So a line may be torn, or be there twice; readers skip torn lines.
    """

    def __init__(self, path: PathLike) -> None:
        self._path = os.fspath(path)
        self._fd = os.open(self._path, _APPEND, PRIVATE)

    def __enter__(self) -> AppendLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """In bytes."""
        return os.fstat(self._fd).st_size

    @property
    def is_named(self) -> bool:
        """Whether the file is still the one at its path: others may rename it or put another there."""
        try:
            # While it is open its number is its own; once closed, another file could get it.
            return os.stat(self._path).st_ino == os.fstat(self._fd).st_ino  # noqa: PTH116
        except FileNotFoundError:
            return False

    def head(self, length: int) -> bytes:
        """Return the first bytes of the file."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        return os.read(self._fd, length)

    def append(self, record: bytes) -> None:
        """Add `record`, one or more whole lines. An error means that it is not there as a whole."""
        if not record:
            return
        if not record.endswith(b"\n"):
            raise ValueError("a record ends with a line end")
        _lock(self._fd)
        try:
            first = record if self._ends_a_line(self.size) else b"\n" + record
            if not self._write(first) and not self._write(b"\n" + record):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._path)
        finally:
            _unlock(self._fd)

    def sync(self) -> None:
        """Make what was appended durable; `sync_folder` does so for the name of a new file."""
        sync_fd(self._fd)

    def close(self) -> None:
        os.close(self._fd)

    def _write(self, data: bytes) -> bool:
        """Write once; False when a part is missing, or when it continues the torn line of another process."""
        if os.write(self._fd, data) != len(data):
            return False
        return data[:1] == b"\n" or self._ends_a_line(os.lseek(self._fd, 0, os.SEEK_CUR) - len(data))

    def _ends_a_line(self, offset: int) -> bool:
        """Whether a line begins at `offset`."""
        if offset <= 0:
            return True
        os.lseek(self._fd, offset - 1, os.SEEK_SET)
        return os.read(self._fd, 1) == b"\n"


def make_folder(path: PathLike) -> None:
    """Make a folder, and those above it that are missing, for their owner alone."""
    path = os.fspath(path)
    try:
        os.mkdir(path, _PRIVATE_FOLDER)  # noqa: PTH102
    except FileExistsError:
        if not os.path.isdir(path):  # noqa: PTH112
            raise
    except FileNotFoundError:
        above = os.path.dirname(path)  # noqa: PTH120
        if above in ("", path):
            raise
        make_folder(above)
        make_folder(path)


def sync_folder(path: PathLike) -> None:
    """Make renames and new names in a folder durable."""
    if sys.platform == "win32":  # a folder can't be opened there; NTFS keeps its names in a journal
        return
    fd = os.open(os.fspath(path) or ".", os.O_RDONLY | _FLAGS)
    try:
        sync_fd(fd)
    finally:
        os.close(fd)


def sync_fd(fd: int) -> None:
    """Make an open file durable."""
    if sys.platform == "darwin":
        import fcntl

        # fsync on macOS stops at the drive's cache; this one does not. Not every file system has it.
        try:
            fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
        except OSError:
            pass
        else:
            return
    os.fsync(fd)


def _write_new(temp: str, data: tuple[bytes, ...], durable: bool, mode: int) -> None:
    fd = os.open(temp, _NEW, PRIVATE)
    try:
        for piece in data:
            write_all(fd, piece)
        if mode != PRIVATE and sys.platform != "win32":
            os.fchmod(fd, mode)
        if durable:
            sync_fd(fd)
    finally:
        os.close(fd)


def _place_new(temp: str, path: str) -> None:
    """Give the name only where there is none. On Windows a rename does just that."""
    if sys.platform == "win32":
        os.rename(temp, path)  # noqa: PTH104
        return
    try:
        os.link(temp, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from error
        os.rename(temp, path)  # noqa: PTH104


def _temp_name(path: str) -> str:
    return f"{path}{_TEMP_MARK}{os.urandom(_TEMP_DIGITS // 2).hex()}{_TEMP_END}"


def _remove_abandoned_temps(path: str) -> None:
    """Remove the temp files of `path` whose writers were killed. What can't be removed does no harm."""
    import time

    folder, name = os.path.split(path)
    start, length = name + _TEMP_MARK, len(name + _TEMP_MARK + _TEMP_END) + _TEMP_DIGITS
    try:
        for entry in os.listdir(folder or "."):  # noqa: PTH208
            if entry.startswith(start) and entry.endswith(_TEMP_END) and len(entry) == length:
                temp = os.path.join(folder, entry)  # noqa: PTH118
                if time.time() - os.stat(temp).st_mtime > _ABANDONED_S:  # noqa: PTH116
                    os.unlink(temp)  # noqa: PTH108
    except OSError:
        return


def _remove(path: str) -> None:
    try:
        os.unlink(path)  # noqa: PTH108
    except OSError:
        return


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 40  # behind the end of every log, so that nobody who reads is kept out

    # O_APPEND moves to the end and writes in two steps there: without a lock two processes would overwrite
    # each other.
    def _lock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_LOCK, 1)  # gives up after ten seconds

    def _unlock(fd: int) -> None:
        os.lseek(fd, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:

    def _lock(fd: int) -> None:
        """A write on O_APPEND needs no lock here."""

    def _unlock(fd: int) -> None:
        """Nothing is locked."""


def why_unwritable(folder: PathLike) -> str:
    """Why nothing can be written there, in the system's words; "" when it can, or when it is not made yet."""
    probe = os.path.join(folder, f".probe-{os.getpid()}")  # noqa: PTH118
    if not os.path.isdir(folder):  # noqa: PTH112
        return ""
    try:
        replace_file(probe, bytes(_PROBE_BYTES), durable=False)
    except OSError as error:
        return error.strerror or str(error)
    _remove(probe)
    return ""
