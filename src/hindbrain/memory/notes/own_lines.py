"""Which lines of notes are ours: hashes of the lines that Hindbrain wrote and may replace later.

    {"path": "Learning/Lessons.md", "lines": [...]}      lines that learning may replace
    {"path": "Daily/2026-05-15.md", "written": [...]}    lines of days and sessions that Hindbrain composed

A line that is not in the log is a person's: it is kept wherever we rewrite our own text, and its note is
never archived. If the log is lost, no text is; we only stop taking our old lines away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from hindbrain.base.json_lines import read_objects

OWN_LINES = "own-lines.jsonl"
_DIGITS = 16
_Table: TypeAlias = dict[str, set[str]]  # path -> digests of lines


class OwnLines:
    """For one thread. `append` adds a line to one of our files in the vault, durably."""

    def __init__(self, root: Path, append: Callable[[str, str], None]) -> None:
        self._file = root / ".hindbrain" / OWN_LINES
        self._append = append

    def is_ours(self, path: str, line: str) -> bool:
        return _digest(line) in self._known.get(path, ())

    def is_written(self, path: str, text: str) -> bool:
        """Is every line of the note's text, as far as it is not blank, one that we wrote into it?"""
        ours = self._known.get(path, set()) | self._written.get(path, set())
        return all(_digest(line) in ours for line in text.splitlines() if line.strip())

    def note(self, path: str, lines: Iterable[str]) -> None:
        """These lines are about to be written by us into that note; durable when this returns."""
        self._add("lines", self._known, path, lines)

    def note_written(self, path: str, lines: Iterable[str]) -> None:
        """As `note`, for lines that stay: what they say may still become a memory."""
        self._add("written", self._written, path, lines)

    def _add(self, kind: str, table: _Table, path: str, lines: Iterable[str]) -> None:
        known = table.setdefault(path, set())
        fresh = list(dict.fromkeys(_digest(line) for line in lines if line.strip()))
        fresh = [digest for digest in fresh if digest not in known]
        if fresh:
            self._append(OWN_LINES, json.dumps({"path": path, kind: fresh}, ensure_ascii=False))
            known.update(fresh)

    @property
    def _known(self) -> _Table:
        return self._tables[0]

    @property
    def _written(self) -> _Table:
        return self._tables[1]

    @cached_property
    def _tables(self) -> tuple[_Table, _Table]:
        return self._read({}, {})

    def refresh(self) -> None:
        """Take in what others noted since."""
        self._read(*self._tables)

    def _read(self, lines: _Table, written: _Table) -> tuple[_Table, _Table]:
        for entry in read_objects(self._file):
            _take(entry, "lines", lines)
            _take(entry, "written", written)
        return lines, written


def _take(entry: dict[str, object], kind: str, known: _Table) -> None:
    """A line that can't be read (a crash cut it) says nothing: what it named counts as a person's."""
    path, digests = entry.get("path"), entry.get(kind)
    if isinstance(path, str) and isinstance(digests, list):
        known.setdefault(path, set()).update(str(digest) for digest in digests)


def _digest(line: str) -> str:
    """Blanks at its ends and inside do not make it another line: editors change them."""
    return hashlib.sha256(" ".join(line.split()).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
