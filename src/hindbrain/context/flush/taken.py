"""What was taken into the vault, day by day: what its owner took out stays out.

Statements of flush files, reminders, and runs that marked a task done. One small file a day in the state
folder, of digests and ids and no words, so that there is nothing to forget in it.
Written after the note; if it is lost, what the note says still is not written twice. Kept for good: a file of
an old day may be offered again when its note has long been archived.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hindbrain.base.errors import WriteFailed
from hindbrain.base.files import append_record, make_folder

FOLDER = "flush-taken"
_SUFFIX = ".txt"


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
        try:
            make_folder(self._folder)
            append_record(path, "".join(f"{digest}\n" for digest in digests).encode("ascii"))
        except OSError as error:
            raise WriteFailed(
                f"which lines were taken can't be noted in {str(path)!r}: {error.strerror}; offer them again"
            ) from error
