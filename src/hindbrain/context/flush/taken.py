"""Which statements of flush files were taken, day by day: a line that its owner took out stays out.

One small file a day in the state folder, of digests and no words, so that there is nothing to forget in it.
Written after the note; if it is lost, what the note says still is not written twice. Kept for good: a file of
an old day may be offered again when its note has long been archived.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hindbrain.base.errors import WriteFailed
from hindbrain.memory.storage.queue import sync_folder

FOLDER = "flush-taken"
_SUFFIX = ".txt"
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Taken:
    """Several processes may each have one."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def of(self, day: str) -> frozenset[str]:
        try:
            return frozenset((self._folder / f"{day}{_SUFFIX}").read_text("ascii", "replace").split())
        except FileNotFoundError:
            return frozenset()

    def add(self, day: str, digests: Sequence[str]) -> None:
        """Durable when this returns. Raises WriteFailed."""
        path = self._folder / f"{day}{_SUFFIX}"
        # A line that a crash has cut is ended first.
        data = ("\n" + "\n".join(digests) + "\n").encode("ascii")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            new = not path.exists()
            _append(path, data)
            if new:
                sync_folder(self._folder)
        except OSError as error:
            raise WriteFailed(
                f"which lines were taken can't be noted in {str(path)!r}: {error.strerror}; offer them again"
            ) from error


def _append(path: Path, data: bytes) -> None:
    fd = os.open(path, _FLAGS, 0o600)
    try:
        if os.write(fd, data) != len(data):
            raise OSError(28, "no space left", str(path))
        os.fsync(fd)
    finally:
        os.close(fd)
