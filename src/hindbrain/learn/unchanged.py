"""Is there anything new to learn from? Runs, the notes that learning fills, and the hour are compared.

The mark is a derived file in the state folder: without it all is looked at again, which changes nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import replace_file

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode

MARK = "learned.mark"
RULES = 1  # raised when the rules of learning change, so that all is looked at again
_HOUR_S = 3_600  # recent actions leave their window though nothing happens
_ROLES = (
    "lessons", "templates", "skills", "issues", "corrections", "task_log", "apps", "patterns", "recent",
    "status", "summary", "inbox",
)  # fmt: skip


class LastTime:
    """What was there when learning was done last."""

    def __init__(self, desk: Desk, state: Path) -> None:
        self._desk = desk
        self._file = state / MARK

    def is_same(self, episodes: Iterable[Episode], now: float) -> bool:
        try:
            return self._file.read_text("ascii") == self._mark(episodes, now)
        except (OSError, ValueError):
            return False

    def note(self, episodes: Iterable[Episode], now: float) -> None:
        """Not durable, and need not be."""
        with suppress(OSError):
            replace_file(self._file, self._mark(episodes, now).encode("ascii"), durable=False)

    def _mark(self, episodes: Iterable[Episode], now: float) -> str:
        told = hashlib.sha256(f"{RULES} {now // _HOUR_S}".encode())
        for episode in episodes:
            told.update(f"\n{episode.run} {episode.ended} {episode.outcome}".encode("utf-8", "replace"))
        for stamp in self._stamps():
            told.update(f"\n{stamp}".encode("utf-8", "replace"))
        return told.hexdigest()

    def _stamps(self) -> Iterator[str]:
        for role in _ROLES:
            try:
                paths = self._desk.paths(role)
            except HindbrainError as error:
                yield str(error)
                continue
            for path in paths:
                with suppress(OSError):
                    stat = (self._desk.root / path).stat()
                    yield f"{path} {stat.st_mtime_ns} {stat.st_size}"
