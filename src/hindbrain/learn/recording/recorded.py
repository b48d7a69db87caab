"""Which runs and items were told in notes, so that what its owner takes out of a note does not come back.

A log of ours in `.hindbrain/`: one line says that `ids` are told in one `part` ("all": in every part), or
that they are `gone`, since we took them back ourselves. It is written after the notes, so a crash in
between means that a part is looked at again: each finds by its block ids what it wrote before.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from hindbrain.base.json_lines import read_objects

RECORDED = "recorded.jsonl"
_ALL = "all"


class Recordings:
    """For one thread. `append` adds a line to one of our files in the vault, durably."""

    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._file = root / ".hindbrain" / RECORDED
        self._append = append

    def has(self, part: str, name: str) -> bool:
        known = self._known
        return name in known.get(_ALL, ()) or name in known.get(part, ())

    def note(self, part: str, names: Iterable[str]) -> None:
        fresh = [name for name in dict.fromkeys(names) if not self.has(part, name)]
        if fresh:
            self._append(RECORDED, json.dumps({"part": part, "ids": fresh}, ensure_ascii=False))
            self._known.setdefault(part, set()).update(fresh)

    def forget(self, part: str, names: Iterable[str]) -> None:
        """We are about to take these back ourselves; they may be told again."""
        gone = [name for name in names if name in self._known.get(part, ())]
        if gone:
            self._append(RECORDED, json.dumps({"part": part, "gone": gone}, ensure_ascii=False))
            self._known[part].difference_update(gone)

    def told(self, part: str) -> frozenset[str]:
        return frozenset(self._known.get(part, ()))

    def note_all(self, runs: Iterable[str]) -> None:
        """These runs are told in every part."""
        self.note(_ALL, runs)

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        known: dict[str, set[str]] = {}
        for told in read_objects(self._file):
            _take(told, known)
        return known


def _take(told: dict[str, object], known: dict[str, set[str]]) -> None:
    part, names, gone = told.get("part"), told.get("ids", []), told.get("gone", [])
    if isinstance(part, str) and isinstance(names, list) and isinstance(gone, list):
        known.setdefault(part, set()).update(str(name) for name in names)
        known[part].difference_update(str(name) for name in gone)
