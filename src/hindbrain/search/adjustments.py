"""By how much feedback moves an importance: a derived file beside the index, which learning makes.

    {"v": 1, "notes": {"Skills/Mail.md": {"change": 0.08, "parts": {"runs": 0.08}}}, "items": {"m-...": ...}}

Deleting it undoes everything. It is read again when it changed; one that is missing, damaged or of a newer
version moves nothing. Knows nothing of how a change is found.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from pathlib import Path

FEEDBACK = "feedback.json"  # in the state folder
VERSION = 1
MOST = 0.2  # up or down; whatever the file says


class Adjustment(NamedTuple):
    """What is added to an importance, and why."""

    change: float = 0.0  # -0.2..0.2
    parts: tuple[tuple[str, float], ...] = ()  # ("runs", 0.06); they add up to the change


NONE = Adjustment()
Table: TypeAlias = Mapping[str, Adjustment]


class Adjustments:
    """The file of one state folder, as of the last look. For one thread."""

    def __init__(self, state: Path) -> None:
        self._file = str(state / FEEDBACK)
        self._stamp: tuple[int, int, int] | None = None
        self.notes: Table = {}  # by path
        self.items: Table = {}  # by id, without "^"

    def refresh(self) -> None:
        """Look whether it changed: one call to the system while there is none."""
        try:
            status = os.stat(self._file)  # noqa: PTH116  half the time of a Path's
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            stamp = None
        if stamp != self._stamp:
            self._stamp = stamp
            self.notes, self.items = _read(self._file) if stamp is not None else ({}, {})


def moved(importance: float, change: float) -> float:
    """An importance with what feedback adds; it stays in 0..1."""
    return min(1.0, max(0.0, importance + change)) if change else importance


def _read(file: str) -> tuple[Table, Table]:
    import json

    try:
        with open(file, encoding="utf-8") as opened:
            told = json.load(opened)
    except (OSError, ValueError, RecursionError):
        return {}, {}
    if not isinstance(told, dict) or told.get("v") != VERSION:
        return {}, {}
    return _table(told.get("notes")), _table(told.get("items"))


def _table(told: Any) -> Table:
    rows = told.items() if isinstance(told, dict) else ()
    found = ((name, _adjustment(row)) for name, row in rows)
    return {name: adjustment for name, adjustment in found if adjustment.change}


def _adjustment(row: Any) -> Adjustment:
    change: Any = row.get("change") if isinstance(row, dict) else None
    if not _is_number(change):
        return NONE
    parts = row.get("parts")
    named = parts.items() if isinstance(parts, dict) else ()
    told = tuple((str(name), float(part)) for name, part in named if _is_number(part))
    return Adjustment(max(-MOST, min(MOST, float(change))), told)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value
