"""How the lessons note changes: our sentence, our fields and our lines, and nothing of anybody else's. Pure.

A sentence and each field are ours as long as they say what we last wrote there: a value that a person typed
stays, whatever the runs say. A lesson that is retired moves, with everything below it, under "Retired".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.lesson_note import LIVE, RETIRED, NotedLesson, parse_lessons, sentence_of
from hindbrain.vault.items.item_line import Field, read_line
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.parse import decode_note, parse_note

Ours = Callable[[str], bool]


class Wanted(NamedTuple):
    """A lesson as it shall stand in its note."""

    lesson: Lesson
    head: str
    below: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]


def marks_of(one: Wanted) -> list[str]:
    """By which we know our sentence and our fields again, beside what a person may add to the line."""
    id_ = one.lesson.id
    said = read_line(one.head).text
    return [f"^{id_} {said}", *(f"^{id_} [{key}:: {value}]" for key, value in one.fields)]


def changed_note(data: bytes, path: str, wanted: Sequence[Wanted], ours: Ours) -> bytes:
    """The note with these lessons in it."""
    there = {noted.lesson.id: noted for noted in parse_lessons(data, path)}
    note = NoteLines(data, path)
    moving: list[tuple[str, list[str]]] = []  # (heading, lines)
    # From below: lines above keep their numbers.
    for one in sorted(wanted, key=lambda one: -_line(there.get(one.lesson.id))):
        noted = there.get(one.lesson.id)
        if noted is None or noted.struck:
            continue
        start, stop = noted.first_line - 1, noted.last_line
        before = note.texts[start:stop]
        after = _changed(before, one, ours)
        goal = RETIRED if one.lesson.state == "retired" else LIVE
        is_there = RETIRED if noted.lesson.state == "retired" else LIVE
        if goal != is_there and goal == RETIRED:
            note.remove(start, stop)
            moving.append((goal, after))
        elif after != before:
            note.remove(start, stop)
            note.insert(start, after)
    moving.reverse()
    moving += [(LIVE, [one.head, *one.below]) for one in wanted if one.lesson.id not in there]
    changed = note.data()
    for heading in (LIVE, RETIRED):
        lines = [line for goal, some in moving if goal == heading for line in some]
        changed = _appended(changed, heading, lines, path)
    return changed


def _line(noted: NotedLesson | None) -> int:
    return 0 if noted is None else noted.first_line


def _changed(lines: Sequence[str], one: Wanted, ours: Ours) -> list[str]:
    """The lines of a lesson that is there, with what is ours brought up to date."""
    head = _changed_head(lines[0], one, ours)
    below = [line for line in lines[1:] if ours(line)]
    if below == list(one.below):
        return [head, *lines[1:]]
    others = [line for line in lines[1:] if not ours(line)]
    # A person who took our lines away does not want them.
    return [head, *(one.below if below else ()), *others]


def _changed_head(line: str, one: Wanted, ours: Ours) -> str:
    id_ = one.lesson.id
    parts = read_line(line)
    if parts.text != read_line(one.head).text and ours(f"^{id_} {parts.text}") and len(parts.pieces) == 1:
        start, stop = parts.pieces[0]
        line = f"{line[:start]}{sentence_of(one.lesson.text)}{line[stop:]}"
    values = dict(one.fields)
    for field in reversed(read_line(line).fields):
        if ours(f"^{id_} [{field.key}:: {field.value}]"):
            line = _with_value(line, field, values.get(field.key, ""))
    have = {field.key for field in read_line(line).fields}
    for key, value in one.fields:
        if key not in have and key in ("heeded", "in-vain", "state"):
            line = _with_field(line, key, value)
    return line


def _with_value(line: str, field: Field, value: str) -> str:
    if value:
        return f"{line[: field.value_start]}{value}{line[field.value_stop :]}"
    return line[: field.start].rstrip() + line[field.stop :]


def _with_field(line: str, key: str, value: str) -> str:
    """Behind the last field, where it stands in a line that is new."""
    fields = read_line(line).fields
    at = fields[-1].stop if fields else len(line[: read_line(line).end].rstrip())
    return f"{line[:at]} [{key}:: {value}]{line[at:]}"


def _appended(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes:
    """The note with lines at the end of a section, which is made where it is missing."""
    if not lines:
        return data
    note = NoteLines(data, path)
    found = _section(data, heading)
    if found is None:
        gap = [""] if note.texts and note.texts[-1].strip() else []
        note.insert(len(note.texts), [*gap, f"## {heading}", "", *lines])
        return note.data()
    first, end = found[0], min(found[1], len(note.texts))
    while end > first and not note.texts[end - 1].strip():
        end -= 1
    note.insert(end, [*([""] if end == first else []), *lines])
    return note.data()


def _section(data: bytes, heading: str) -> tuple[int, int] | None:
    """The lines of a section of the second level, counted from 0: the note's title may be the same word."""
    parsed = parse_note(decode_note(data)[0], stem="")
    for at, found in enumerate(parsed.headings):
        if found.level == 2 and found.text.strip().casefold() == heading.casefold():
            below = (other.line - 1 for other in parsed.headings[at + 1 :] if other.level <= 2)
            return found.line, next(below, len(parsed.lines))
    return None
