"""What consolidation has been through: notes by their hash, memories that it archived, pairs it asked about.

`.hindbrain/consolidated.jsonl`, one line for up to 200 of them. A note that changed since is looked at again;
a memory that its owner brought back from the archive stays. If the log is lost, old notes are looked at once
more, and what they say is known by then.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from hindbrain.base.json_lines import read_objects

CONSOLIDATED = "consolidated.jsonl"
_PER_LINE = 200


class Processed:
    """For one thread. `append` adds a line to one of our files in the vault, durably."""

    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._file = root / ".hindbrain" / CONSOLIDATED
        self._append = append

    def has_note(self, path: str, digest: str) -> bool:
        return self._known[0].get(path) == digest

    def was_archived(self, memory_id: str) -> bool:
        return memory_id in self._known[1]

    def was_compared(self, pair: str) -> bool:
        """Was a model asked about these two memories ("newer older", by their ids)?"""
        return pair in self._known[2]

    def add(
        self,
        at: float,
        notes: Sequence[tuple[str, str]],
        memories: Sequence[str] = (),
        compared: Sequence[str] = (),
    ) -> None:
        """Durable when this returns; what is known costs nothing. `notes`: path and hash."""
        new = [(path, digest) for path, digest in notes if not self.has_note(path, digest)]
        archived = [one for one in memories if not self.was_archived(one)]
        pairs = [one for one in compared if not self.was_compared(one)]
        for start in range(0, len(pairs), _PER_LINE):
            self._write({"at": round(at), "compared": pairs[start : start + _PER_LINE]})
        for start in range(0, len(new), _PER_LINE):
            self._write({"at": round(at), "notes": new[start : start + _PER_LINE]})
        for start in range(0, len(archived), _PER_LINE):
            self._write({"at": round(at), "archived": archived[start : start + _PER_LINE]})
        self._known[0].update(new)
        self._known[1].update(archived)
        self._known[2].update(pairs)

    def _write(self, told: dict[str, object]) -> None:
        self._append(CONSOLIDATED, json.dumps(told, ensure_ascii=False, separators=(",", ":")))

    @cached_property
    def _known(self) -> tuple[dict[str, str], set[str], set[str]]:
        notes: dict[str, str] = {}
        memories: set[str] = set()
        pairs: set[str] = set()
        for told in read_objects(self._file):
            _take(told, notes, memories, pairs)
        return notes, memories, pairs


def _take(told: dict[str, Any], notes: dict[str, str], memories: set[str], pairs: set[str]) -> None:
    """A line that can't be read (a crash cut it) tells nothing: what it named is looked at again."""
    try:
        notes.update({str(path): str(digest) for path, digest in told.get("notes", ())})
        memories.update(map(str, told.get("archived", ())))
        pairs.update(map(str, told.get("compared", ())))
    except (ValueError, TypeError):
        return
