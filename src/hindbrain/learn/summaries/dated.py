"""Sections of a note that each belong to a time, the newest first. Pure.

## Week 2026-W47      above the days of that week
## 2026-11-16
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from hindbrain.vault.lines import NoteLines
from hindbrain.vault.parse import decode_note, parse_note

# What was done that day has a section of its own, which recording writes: the summary stands above it.
_DAY = re.compile(r"(?:Actions of )?(\d{4}-\d{2}-\d{2})")
_WEEK = re.compile(r"Week (\d{4})-W(\d{2})")
_LEVEL = 2


def week_of(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"Week {year}-W{week:02}"


def with_new_section(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes | None:
    """The note with this section above the first that is older, or at the end. None: it is there already."""
    found = parse_note(decode_note(data)[0], stem="").headings
    if any(one.text.strip().casefold() == heading.casefold() for one in found):
        return None
    wanted = _age(heading)
    older = [one.line - 1 for one in found if one.level == _LEVEL and _is_older(_age(one.text), wanted)]
    note = NoteLines(data, path)
    at = older[0] if older else len(note.texts)
    before = [""] if at and note.texts[at - 1].strip() else []
    note.insert(at, [*before, f"{'#' * _LEVEL} {heading}", "", *lines, *([""] if older else [])])
    return note.data()


def sections_of(data: bytes) -> dict[str, list[str]]:
    """What stands below each heading (its text in lower case), up to the next of its rank."""
    note = parse_note(decode_note(data)[0], stem="")
    found: dict[str, list[str]] = {}
    for at, heading in enumerate(note.headings):
        below = (other.line - 1 for other in note.headings[at + 1 :] if other.level <= heading.level)
        stop = next(below, len(note.lines))
        found.setdefault(heading.text.strip().casefold(), list(note.lines[heading.line : stop]))
    return found


def _is_older(age: tuple[date, int] | None, wanted: tuple[date, int] | None) -> bool:
    return age is not None and wanted is not None and age < wanted


def _age(heading: str) -> tuple[date, int] | None:
    """Sorts headings by their time; None for one that has none."""
    plain = heading.strip()
    try:
        if day := _DAY.fullmatch(plain):
            return date.fromisoformat(day[1]), 1 if plain == day[1] else 0
        if week := _WEEK.fullmatch(plain):
            return date.fromisocalendar(int(week[1]), int(week[2]), 1) + timedelta(days=6), 2
    except ValueError:
        return None
    return None
