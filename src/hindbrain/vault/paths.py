"""From a note's path to the file on disk, without ever leaving the vault.

Owns how a `NotePath` is looked up: symlinks, Unicode forms of names, and races with whoever changes folders
meanwhile. The rules of names are in `path_rules`. Reads folders and opens files; it writes nothing by itself.

A name may stand on disk in another Unicode form (macOS tools leave NFD). It is found by its NFC path, and
what is returned carries the name as it stands on disk, so that nothing renames it.
"""

# Plain strings and os.path here: sync calls this for every note, and pathlib costs several times as much.
# ruff: noqa: PTH114, PTH116, PTH117, PTH118, PTH206, PTH208

import errno
import os
import stat
import unicodedata
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import NoteUnreadable, NotFound, UnsafePath
from hindbrain.vault.path_rules import (
    PRIVATE_FOLDERS,
    TEMP_PREFIX,
    NotePath,
    check_existing_path,
    check_note_path,
    is_portable,
    is_private,
    same_note_key,
)

if TYPE_CHECKING:
    from hindbrain.vault.scan_result import FileStamp

__all__ = [
    "PRIVATE_FOLDERS",
    "TEMP_PREFIX",
    "NotePath",
    "check_existing_path",
    "check_note_path",
    "find_collision",
    "is_portable",
    "is_private",
    "open_beneath",
    "open_folder_beneath",
    "read_note",
    "resolve_beneath",
    "same_note_key",
    "stamp_of",
]

_MAX_LINKS = 40  # what Linux itself allows
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY = getattr(os, "O_DIRECTORY", 0)
_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)  # opening a FIFO must not wait for its other end
_BINARY = getattr(os, "O_BINARY", 0)
_WALKS_BY_FD = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd and bool(_NOFOLLOW)


def resolve_beneath(root: Path, path: NotePath) -> Path:
    """Return the real file behind `path`; it need not exist. Symlinks inside the vault are followed.

    The answer was right at the moment of looking. Whoever must be safe against folders that are swapped
    meanwhile uses `open_beneath` or `open_folder_beneath`.
    """
    real_root = os.path.realpath(root)
    current = real_root
    for component in check_existing_path(path).split("/"):
        current = os.path.join(current, _name_on_disk(current, component))
        if os.path.islink(current):
            current = os.path.realpath(current)
            _require_beneath(real_root, current, path)
    # Windows junctions and short names are no symlinks, yet lead elsewhere: look at the whole once more.
    real = os.path.realpath(current)
    _require_beneath(real_root, real, path)
    return Path(real)


def open_beneath(root: Path, path: NotePath, flags: int, mode: int = 0o666) -> int:
    """`os.open` for a note: the file lies in the vault, whatever is swapped meanwhile.

    Raises NotFound and UnsafePath; other system errors come as OSError, since a writer needs their number.
    """
    if not _WALKS_BY_FD:
        return _open_by_name(root, path, flags, mode)
    folder, name = open_folder_beneath(root, path)
    try:
        return os.open(name, flags | _NOFOLLOW | _CLOEXEC, mode, dir_fd=folder)
    except FileNotFoundError as error:
        raise NotFound(f"no note {path!r} in this vault") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnsafePath(f"{path!r} became a symlink while it was opened; try again") from error
        raise
    finally:
        os.close(folder)


def open_folder_beneath(root: Path, path: NotePath) -> tuple[int, str]:
    """Open the folder that holds the note, and give the note's name in it as it stands on disk.

    For `dir_fd=` calls (POSIX only); the caller closes it. The folder must exist, the note need not.
    """
    real_root = os.path.realpath(root)
    folders = [os.open(real_root, os.O_RDONLY | _DIRECTORY | _CLOEXEC)]
    try:
        name = _descend(real_root, folders, path)
        return folders.pop(), name
    finally:
        for descriptor in folders:
            os.close(descriptor)


def read_note(root: Path, path: NotePath, *, max_bytes: int | None = None) -> bytes:
    """Return the note's bytes, or the first `max_bytes`. Raises NotFound, NoteUnreadable or UnsafePath."""
    try:
        descriptor = open_beneath(root, path, os.O_RDONLY | _NONBLOCK | _BINARY)
        with open(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise NoteUnreadable(f"{path!r} is not a regular file; it is left alone")
            return file.read() if max_bytes is None else file.read(max_bytes)
    except OSError as error:
        raise NoteUnreadable(f"{path!r} can't be read now: {error.strerror or error}") from error


def stamp_of(root: Path, path: NotePath) -> "FileStamp":
    """Return what the system says about one note now. Raises NotFound, NoteUnreadable or UnsafePath."""
    descriptor = open_beneath(root, path, os.O_RDONLY | _NONBLOCK | _BINARY)
    try:
        status = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    from hindbrain.vault.scan_result import FileStamp  # here: a search, which starts cold, never asks

    return FileStamp(status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev, status.st_ctime_ns)


def is_note(root: Path, path: str) -> bool:
    """Return whether the file is there, in whatever Unicode form its names stand on disk.

    Raises OSError when the system does not let us look.
    """
    if (root / path).is_file():
        return True
    if path.isascii():
        return False  # has one form only
    try:
        return resolve_beneath(root, check_existing_path(path)).is_file()
    except UnsafePath:
        return False


def find_collision(root: Path, path: NotePath) -> str | None:
    """Return the existing file that some system would take for `path` though its name differs, or None.

    The answer is the path as it stands on disk. A file of exactly that name is no collision.
    """
    found = [""]
    for component in path.split("/"):
        key = same_note_key(component)
        found = [
            f"{folder}/{name}" if folder else name
            for folder in found
            for name in _list_names(os.path.join(root, folder))
            if same_note_key(name) == key
        ]
    others = sorted(name for name in found if name != path)
    return others[0] if others else None


def _descend(real_root: str, folders: list[int], path: NotePath) -> str:
    """Walk from `folders[0]`, pushing each folder that is entered; return the name that is left.

    Symlinks are read and walked by us, never followed by the system, so that a swap between looking and
    opening fails instead of leading out.
    """
    todo = deque(check_existing_path(path).split("/"))
    links = 0
    while todo:
        component = todo.popleft()
        if component in ("", "."):
            continue
        if component == "..":
            if len(folders) == 1:
                raise UnsafePath(f"{path!r} leads out of the vault through a symlink")
            os.close(folders.pop())
            continue
        if is_private(component):
            raise UnsafePath(f"{path!r} leads into {component!r}, which is not for notes")
        name = _name_in_folder(folders[-1], component)
        target = _link_target(folders[-1], name)
        if target is None and not todo:
            return name
        if target is None:
            folders.append(_enter(folders[-1], name, path))
            continue
        links += 1
        if links > _MAX_LINKS:
            raise UnsafePath(f"{path!r} goes round in a loop of symlinks")
        if os.path.isabs(target):
            target = _relative_to_root(real_root, target, path)
            while len(folders) > 1:
                os.close(folders.pop())
        todo.extendleft(reversed(target.split("/")))
    return "."  # a symlink to a folder: opening it as a note fails by itself


def _enter(folder: int, name: str, path: NotePath) -> int:
    try:
        return os.open(name, os.O_RDONLY | _DIRECTORY | _NOFOLLOW | _CLOEXEC, dir_fd=folder)
    except FileNotFoundError as error:
        raise NotFound(f"no folder for {path!r} in this vault: {name!r} is missing") from error
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            # A file stands where a folder was asked for, or a symlink was put there this instant.
            raise NotFound(f"no folder for {path!r} in this vault: {name!r} is not a folder") from error
        raise


def _link_target(folder: int, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EINVAL, errno.ENOENT):
            return None
        raise


def _relative_to_root(real_root: str, target: str, path: NotePath) -> str:
    prefix = real_root.rstrip("/") + "/"
    if not target.startswith(prefix):
        raise UnsafePath(f"{path!r} leads out of the vault through a symlink")
    return target[len(prefix) :]


def _require_beneath(real_root: str, real: str, path: NotePath) -> None:
    if os.path.islink(real):
        raise UnsafePath(f"{path!r} goes round in a loop of symlinks")
    inside = os.path.normcase(real)
    prefix = os.path.normcase(real_root).rstrip(os.sep) + os.sep
    if not inside.startswith(prefix):
        raise UnsafePath(f"{path!r} leads out of the vault through a symlink")
    if any(is_private(part) for part in inside[len(prefix) :].split(os.sep)):
        raise UnsafePath(f"{path!r} leads into a folder that is not for notes")


def _open_by_name(root: Path, path: NotePath, flags: int, mode: int) -> int:
    """Where folders can't be opened (Windows): look, open, and look again at what was opened."""
    real = resolve_beneath(root, path)
    try:
        descriptor = os.open(real, flags | _BINARY, mode)
    except FileNotFoundError as error:
        raise NotFound(f"no note {path!r} in this vault") from error
    try:
        same = os.path.samestat(os.fstat(descriptor), os.stat(resolve_beneath(root, path)))
    except OSError:
        same = False
    if not same:
        os.close(descriptor)
        raise UnsafePath(f"{path!r} was swapped while it was opened; try again")
    return descriptor


def _name_in_folder(folder: int, component: str) -> str:
    if component.isascii():
        return component  # has one form only
    try:
        os.stat(component, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return _other_form(os.listdir(folder), component)
    return component


def _name_on_disk(folder: str, component: str) -> str:
    if component.isascii() or os.path.lexists(os.path.join(folder, component)):
        return component
    return _other_form(_list_names(folder), component)


def _other_form(names: list[str], component: str) -> str:
    """The first of `names` that is `component` in another Unicode form; `component` when there is none."""
    return next(
        (name for name in sorted(names) if unicodedata.normalize("NFC", name) == component), component
    )


def _list_names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
