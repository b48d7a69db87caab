"""The daemon's log: lines with their time, in a file that stays small. A full disk stops only the log."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from hindbrain.base.clock import local_time
from hindbrain.base.files import write_all

_MOST_BYTES = 1_000_000
_KEPT_BYTES = 250_000


class Log:
    """Stands in for stderr of a daemon in the background; `fd` is the log file, open for appending."""

    encoding = "utf-8"

    def __init__(self, file: Path, fd: int = 2) -> None:
        self._file = file
        self._fd = fd
        self._at_start = True

    def write(self, text: str) -> int:
        if text:
            stamp = f"{local_time(time.time()):%Y-%m-%d %H:%M:%S} " if self._at_start else ""
            self._at_start = text.endswith("\n")
            with contextlib.suppress(OSError):
                write_all(self._fd, (stamp + text).encode("utf-8", "backslashreplace"))
                if os.fstat(self._fd).st_size > _MOST_BYTES:
                    self._shorten()
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        return False

    def _shorten(self) -> None:
        """Keep the end, from a whole line on."""
        with open(self._file, "rb") as source:
            source.seek(-_KEPT_BYTES, os.SEEK_END)
            end = source.read().partition(b"\n")[2]
        os.ftruncate(self._fd, 0)
        write_all(self._fd, end)


def is_log(file: Path, fd: int = 2) -> bool:
    """Does `fd` write into this file?"""
    try:
        return os.path.samestat(os.fstat(fd), file.stat())
    except OSError:
        return False


def last_lines(file: Path, count: int) -> list[str]:
    """The end of the log; empty when there is none."""
    try:
        with open(file, "rb") as source:
            source.seek(0, os.SEEK_END)
            source.seek(max(0, source.tell() - 65_536))
            return source.read().decode("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []
