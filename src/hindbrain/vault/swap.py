"""Renames that Python does not offer: swap two names, and rename without replacing.

Only the system calls. Raises OSError; ENOSYS means that this system or file system has no such call.
Linux is tested; the macOS and Windows branches are unverified.
"""

import errno
import os
import sys
from functools import cache
from typing import Any

_LINUX_EXCHANGE = 2
_LINUX_NOREPLACE = 1
_MAC_SWAP = 2
_MAC_EXCL = 4
_RENAMEAT2_NUMBER = {"x86_64": 316, "aarch64": 276, "arm64": 276}  # for a C library without the function


def exchange(folder: int, one: str, other: str) -> None:
    """Swap two names in the folder that is open as `folder`, in one step that no reader sees half done."""
    if sys.platform == "darwin":
        _rename(folder, one, other, _MAC_SWAP)
    else:
        _rename(folder, one, other, _LINUX_EXCHANGE)


def rename_new(folder: int, source: str, target: str) -> None:
    """Rename, or raise FileExistsError when `target` is there."""
    if sys.platform == "darwin":
        _rename(folder, source, target, _MAC_EXCL)
    else:
        _rename(folder, source, target, _LINUX_NOREPLACE)


def replace_keeping(target: str, incoming: str, backup: str) -> None:
    """Windows: put `incoming` in the place of `target`, and keep what was there as `backup`."""
    if sys.platform != "win32":
        raise OSError(errno.ENOSYS, "ReplaceFileW exists on Windows only")
    import ctypes

    if not ctypes.windll.kernel32.ReplaceFileW(target, incoming, backup, 0, None, None):
        raise ctypes.WinError()


def unsupported(error: OSError) -> bool:
    """Whether the error says that the call does not exist here, so that the slower way must do."""
    return error.errno in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)


def _rename(folder: int, source: str, target: str, flags: int) -> None:
    call = _libc_rename()
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), source)
    failed, code = call(folder, os.fsencode(source), os.fsencode(target), flags)
    if failed:
        raise OSError(code, os.strerror(code), source, None, target)


@cache
def _libc_rename() -> Any:
    """(folder, source, target, flags) -> (result, errno), or None. ctypes costs 9 ms: loaded on first use."""
    try:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
    except (ImportError, OSError, TypeError):
        return None
    function = getattr(libc, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
    number = None
    if function is None and sys.platform == "linux":
        number = _RENAMEAT2_NUMBER.get(os.uname().machine)
        function = getattr(libc, "syscall", None) if number is not None else None
    if function is None:
        return None
    names = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    function.argtypes = names if number is None else [ctypes.c_long, *names]
    function.restype = ctypes.c_int if number is None else ctypes.c_long

    def call(folder: int, source: bytes, target: bytes, flags: int) -> tuple[int, int]:
        head = () if number is None else (number,)
        result = function(*head, folder, source, folder, target, flags)
        return result, ctypes.get_errno() if result else 0

    return call
