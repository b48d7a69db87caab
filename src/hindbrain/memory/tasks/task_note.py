"""The tasks of one note: which lines they take, and where a new one goes.

Pure: bytes in, values or bytes out; every line that is not the task's own stays as it was. Tasks in code,
comments and math are none. Knows nothing of files, ids and clocks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.base.errors import VaultError
from hindbrain.memory.tasks.task_line import (
    OPEN,
    TaskItem,
    indent_below,
    read_task,
    render_task,
    with_due,
    with_status,
)
from hindbrain.vault.line_shapes import indent_of, item_content
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

# What people write above the tasks that are still to be done, and above those that are not.
_ACTIVE = frozenset(
    {
        "tasks", "active", "activetasks", "open", "opentasks", "todo", "todos", "current", "currenttasks",
        "tasklist", "mytasks", "pending", "aufgaben", "offen", "tareas", "tâches", "tarefas", "任务", "待办",
    }
)  # fmt: skip
_CLOSED = frozenset(
    {"done", "completed", "finished", "closed", "archive", "archived", "cancelled", "canceled", "erledigt"}
)
_LETTERS = re.compile(r"[\W\d_]+")


class TaskLines(NamedTuple):
    """A task and its lines in the note, counted from 0."""

    task: TaskItem
    start: int
    stop: int  # exclusive; what stands below it and belongs to it is inside


def read_tasks(data: bytes, path: str) -> list[TaskLines]:
    """Every task of the note, in the order of the note."""
    return _tasks_of(parse_note(decode_note(data)[0], stem=""), path)


def _tasks_of(note: Note, path: str) -> list[TaskLines]:
    sections = _sections(note)
    last_lines = {block.first_line: block.last_line for block in note.blocks}
    found = []
    for seen in note.tasks:
        task = read_task(note.lines[seen.line - 1])
        if task is None:
            continue
        stop = _stop(note, seen.line - 1, last_lines.get(seen.line, seen.line))
        details = _details(note.lines[seen.line : stop])
        task = task._replace(path=path, line=seen.line, section=sections.get(seen.line, ""), details=details)
        found.append(TaskLines(task, seen.line - 1, stop))
    return found


def with_new_task(data: bytes, task: TaskItem, below: Sequence[str], path: str) -> tuple[bytes, TaskItem]:
    """The note with one more task, where its owner looks for those that are to be done; and that task."""
    lines = NoteLines(data, repr(path))
    note = parse_note(decode_note(data)[0], stem="")
    at = _place_for_new(note, _tasks_of(note, path))
    line = render_task(task)
    new = [line, *(indent_below(line) + text if text else "" for text in below)]
    before = lines.texts[at - 1] if 0 < at <= len(lines.texts) else ""
    if before.strip() and _is_prose(before):
        new.insert(0, "")
    if at < len(lines.texts) and lines.texts[at].startswith("#"):
        new.append("")
    lines.insert(at, new)
    changed = lines.data()
    made = next((found.task for found in read_tasks(changed, path) if found.task.id == task.id), None)
    if made is None:
        raise VaultError(
            f"a task can't be added to {path!r}: code or a comment in it is not closed; close it"
        )
    return changed, made


def with_due_day(data: bytes, found: TaskLines, due: str) -> tuple[bytes, TaskItem]:
    """The note with the day that a task is due, where its line names none; and that task."""
    lines = NoteLines(data, repr(found.task.path))
    lines.replace(found.start, with_due(lines.texts[found.start], due))
    return lines.data(), found.task._replace(due=found.task.due or due)


def with_change(
    data: bytes, found: TaskLines, status: str, notes: Sequence[str], today: str
) -> tuple[bytes, TaskItem]:
    """The note with another status of one task and with `notes` below it; and that task."""
    path = found.task.path
    lines = NoteLines(data, repr(path))
    line = lines.texts[found.start]
    if status != found.task.status:
        lines.replace(found.start, with_status(line, status, today))
    if notes:
        indent = indent_below(line)
        lines.insert(found.stop, [indent + text for text in notes])
    changed = lines.data()
    # A change must do what it says: the line is read once more.
    again = next((one.task for one in read_tasks(changed, path) if one.start == found.start), None)
    if again is None or (again.status, again.title) != (status, found.task.title):
        raise VaultError(
            f"the task {found.task.title[:80]!r} can't be changed safely; edit its line in {path!r}"
        )
    return changed, again


def _stop(note: Note, start: int, own: int) -> int:
    """Behind the last line of a task: its own text up to `own`, and all that is indented below it."""
    if note.lines[start].lstrip()[:1] == ">":
        return start + 1
    indent = indent_of(note.lines[start])[0]
    stop = at = own
    while at < len(note.lines):
        line = note.lines[at]
        if line.strip():
            if indent_of(line)[0] <= indent:
                break
            stop = at + 1
        at += 1
    return stop


def _details(lines: Sequence[str]) -> str:
    """The lines below a task without their indentation; tasks below it speak for themselves."""
    kept: list[str] = []
    skipped_below = -1
    for line in lines:
        indent = indent_of(line)[0]
        if line.strip() and indent <= skipped_below:
            skipped_below = -1
        if skipped_below >= 0:
            continue
        if read_task(line) is not None:
            skipped_below = indent
            continue
        kept.append(line)
    margin = min((len(line) - len(line.lstrip()) for line in kept if line.strip()), default=0)
    return "\n".join(line[margin:].rstrip() for line in kept).strip("\n")


def _sections(note: Note) -> dict[int, str]:
    """Line -> the heading above it."""
    return {
        line: block.headings[-1]
        for block in note.blocks
        if block.headings
        for line in range(block.first_line, block.last_line + 1)
    }


def _place_for_new(note: Note, tasks: Sequence[TaskLines]) -> int:
    """The line before which a new task goes."""
    bounds = _bounds(note)
    named = [at for at, heading in enumerate(note.headings) if _bare(heading.text) in _ACTIVE]
    # The title of the note may be "Active Tasks", too; a heading inside it says more.
    named.sort(key=lambda at: note.headings[at].level == 1)
    for at in named[:1]:
        first, last = bounds[at]
        inside = [found.stop for found in tasks if first <= found.start < last]
        return max(inside, default=_trimmed(note, first, last))
    still_open = [found.stop for found in tasks if found.task.status in OPEN]
    if still_open:
        return max(still_open)
    for at, heading in enumerate(note.headings):
        if _bare(heading.text) in _CLOSED and heading.level > 1:
            return _trimmed(note, note.body_line - 1, bounds[at][0] - 1)
    return _trimmed(note, note.body_line - 1, len(note.lines))


def _bounds(note: Note) -> list[tuple[int, int]]:
    """For each heading the lines below it, up to the next heading of any level."""
    starts = [heading.line for heading in note.headings]
    ends = [line - 1 for line in starts[1:]] + [len(note.lines)]
    return list(zip(starts, ends, strict=False))  # without a heading there is an end too many


def _trimmed(note: Note, first: int, last: int) -> int:
    """Behind the last line from `first` to `last` that is not blank."""
    while last > first and not note.lines[last - 1].strip():
        last -= 1
    return last


def _bare(heading: str) -> str:
    return _LETTERS.sub("", heading).casefold()


def _is_prose(line: str) -> bool:
    body = indent_of(line)[1]
    return not item_content(body) and not body.startswith(("#", ">")) and line[:1] not in " \t"
