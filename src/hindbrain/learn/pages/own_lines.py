"""Which lines of notes are ours: hashes of what learning wrote, so that nobody else's line is touched.

A line that is not in the log is a person's, whoever wrote it: it is kept wherever we rewrite our own text. If
the log is lost, nothing is; we only stop taking our old lines away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from hindbrain.base.json_lines import read_objects

OWN_LINES = "own-lines.jsonl"
_DIGITS = 16


class OwnLines:
    """For one thread. `append` adds a line to one of our files in the vault, durably."""

    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._file = root / ".hindbrain" / OWN_LINES
        self._append = append

    def is_ours(self, path: str, line: str) -> bool:
        return _digest(line) in self._known.get(path, ())

    def note(self, path: str, lines: Iterable[str]) -> None:
        """These lines are about to be written by us into that note; durable when this returns."""
        known = self._known.setdefault(path, set())
        fresh = list(dict.fromkeys(_digest(line) for line in lines if line.strip()))
        fresh = [digest for digest in fresh if digest not in known]
        if fresh:
            self._append(OWN_LINES, json.dumps({"path": path, "lines": fresh}, ensure_ascii=False))
            known.update(fresh)

    @cached_property
    def _known(self) -> dict[str, set[str]]:
        known: dict[str, set[str]] = {}
        for told in read_objects(self._file):
            _take(told, known)
        return known


def _take(told: dict[str, object], known: dict[str, set[str]]) -> None:
    """A line that can't be read (a crash cut it) tells nothing: what it named counts as a person's."""
    path, digests = told.get("path"), told.get("lines")
    if isinstance(path, str) and isinstance(digests, list):
        known.setdefault(path, set()).update(str(digest) for digest in digests)


def _digest(line: str) -> str:
    """Blanks at its ends and inside do not make it another line: editors change them."""
    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
