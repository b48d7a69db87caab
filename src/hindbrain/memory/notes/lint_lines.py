"""What may be wrong with the notes that agents write, and what of it can be mended without asking.

Owns the checks of memories, of tasks and of what a layout says its notes have. A mending splices lines: it
adds ids and properties and takes nothing of the owner's away. Pure; knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hindbrain.base.errors import VaultError
from hindbrain.memory.policy.protected import why_protected
from hindbrain.memory.tasks.task_line import STATUSES
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.item import Entry, parse_entries
from hindbrain.vault.items.item_line import Field, read_line, set_id
from hindbrain.vault.layout import Layout
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.lint import LintProblem, fix_tags
from hindbrain.vault.note import Note, Property
from hindbrain.vault.origin import SOURCES
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.splice import set_property

_DECLARED = ("type", "created")  # properties that a layout's notes have
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].*)?")
_IDS = re.compile(r"\^([A-Za-z0-9\-]+)")


class MemoryPlace(NamedTuple):
    """Where a memory's id stands."""

    id: str
    path: str
    line: int


def is_agents(layout: Layout, path: str) -> bool:
    """Is this one of the agent's notes? Where the whole vault is its own, those that play a role are."""
    if layout.folder:
        return path.startswith(f"{layout.folder}/")
    return bool(layout.role_of(path))


def holds_memories(layout: Layout, path: str) -> bool:
    role = layout.role_of(path)
    return bool(role) and (role == "memory" or role in layout.categories.values())


def memory_places(layout: Layout, path: str, data: bytes) -> list[MemoryPlace]:
    texts = _texts(data)
    return [
        MemoryPlace(entry.item.id, path, entry.start + 1)
        for entry in parse_entries(texts, path=path, category=layout.category_of(path))
        if entry.item.id
    ]


def check_agent_note(
    layout: Layout, path: str, data: bytes, places: Mapping[str, Sequence[MemoryPlace]]
) -> list[LintProblem]:
    """`places`: every memory id of the vault, with the lines that bear it."""
    text = decode_note(data)[0]
    if not text.strip():
        return []
    note = parse_note(text, stem=path.rpartition("/")[2].removesuffix(".md"))
    problems = [*_missing_declared(layout, path, note), *_missing_title(path, note)]
    if holds_memories(layout, path):
        texts = _texts(data)
        for entry in parse_entries(texts, path=path, category=layout.category_of(path)):
            problems += _check_memory(entry, texts, path, places)
    if layout.role_of(path) == "tasks":
        problems += _check_tasks(path, note)
    return problems


def mend(
    data: bytes, *, path: str, layout: Layout, created: str, new_id: Callable[[], str], agents: bool = True
) -> bytes:
    """The note with all that can be mended; the same bytes when there is nothing. Idempotent.

    `created`: YYYY-MM-DD, for a note that lacks it. `agents`: False mends only what any note may have.
    """
    if why_protected(path):
        return data
    data = fix_tags(data)
    if not agents or data.startswith((b"\xff\xfe", b"\xfe\xff")) or not data.strip():
        return data
    if holds_memories(layout, path):
        data = _with_ids(data, path, layout, new_id)
    for key, value in _lacking(layout, path, data, created).items():
        try:
            data = set_property(data, key, value)
        except VaultError:  # a frontmatter that is broken is told by its own problem
            break
    return data


def _texts(data: bytes) -> list[str]:
    """Lines as a reader sees them, numbered as `NoteLines` numbers them."""
    text = decode_note(data)[0].replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def _with_ids(data: bytes, path: str, layout: Layout, new_id: Callable[[], str]) -> bytes:
    entries = parse_entries(_texts(data), path=path, category=layout.category_of(path))
    lines = NoteLines(data)
    without = [entry for entry in entries if not entry.item.id]
    for entry in without:
        at = entry.text_stop - 1
        lines.replace(at, set_id(lines.texts[at], new_id()))
    return lines.data() if without else data


def _declared(layout: Layout, path: str) -> dict[str, Property]:
    """The properties that the layout gives a note of this role; {} when it has no opinion."""
    role = layout.role_of(path)
    if not role or role not in layout.start:
        return {}
    text = layout.first_text(role, today="", **layout.names_of(path))
    front = read_frontmatter(text.split("\n"))
    return {key: value for key, value in front.properties.items() if key in _DECLARED}


def _lacking(layout: Layout, path: str, data: bytes, created: str) -> dict[str, str]:
    note = parse_note(decode_note(data)[0], stem="")
    known = {key.lower() for key in note.frontmatter}
    missing = {key: value for key, value in _declared(layout, path).items() if key not in known}
    return {key: created if key == "created" else str(value) for key, value in missing.items()}


def _missing_declared(layout: Layout, path: str, note: Note) -> Iterator[LintProblem]:
    if why_protected(path) or any(problem.code != "frontmatter_duplicate_key" for problem in note.problems):
        return
    known = {key.lower() for key in note.frontmatter}
    for key in _declared(layout, path):
        if key not in known:
            message = f"the property {key!r} is missing, which notes of this kind have"
            yield LintProblem(path, 1, f"missing_{key}", message, fixable=True)


def _missing_title(path: str, note: Note) -> Iterator[LintProblem]:
    names = {key.lower() for key in note.frontmatter}
    if not note.headings and "title" not in names:
        yield LintProblem(path, note.body_line, "missing_title", "the note has no heading and no title")


def _check_memory(
    entry: Entry, texts: Sequence[str], path: str, places: Mapping[str, Sequence[MemoryPlace]]
) -> Iterator[LintProblem]:
    item, line = entry.item, entry.start + 1
    if not item.id:
        message = "the memory has no block id, so it can't be cited"
        yield LintProblem(path, line, "missing_block_id", message, fixable=True)
    others = [place for place in places.get(item.id, ()) if (place.path, place.line) != (path, line)]
    if item.id and others:
        where = f"{others[0].path!r}, line {others[0].line}"
        message = f"the memory id ^{item.id} is also in {where}; give one of them another id"
        yield LintProblem(path, line, "duplicate_memory_id", message)
    for at in range(entry.start, entry.text_stop):
        for field in read_line(texts[at]).fields:
            for code, message in _field_problems(field, places):
                yield LintProblem(path, at + 1, code, message)


def _field_problems(field: Field, places: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    key, value = field.key, field.value
    if key == "importance" and not _is_share(value):
        yield "bad_importance", f"importance is {value!r}; write a number from 0 to 1"
    elif key == "source" and value.casefold() not in SOURCES:
        yield "unknown_source", f"source is {value!r}; it is one of {', '.join(SOURCES)}"
    elif key == "created" and not _DAY.fullmatch(value):
        yield "bad_created", f"created is {value!r}; write a date such as 2026-02-20"
    elif key in ("superseded", "related"):
        ids = _IDS.findall(value)
        if not ids:
            yield f"unknown_{key}", f"{key} is {value!r}; write the id of a memory such as ^m-7f3k2a"
        for other in ids:
            if other not in places:
                yield f"unknown_{key}", f"{key} names ^{other}, and no memory has that id"


def _is_share(value: str) -> bool:
    try:
        return 0.0 <= float(value) <= 1.0
    except ValueError:
        return False


def _check_tasks(path: str, note: Note) -> Iterator[LintProblem]:
    lines = {task.line for task in note.tasks}
    for field in note.fields:
        if field.line in lines and field.key.lower() == "status" and _as_read(field.value) not in STATUSES:
            message = f"status is {field.value!r}; it is one of {', '.join(STATUSES)}"
            yield LintProblem(path, field.line, "unknown_status", message)


def _as_read(status: str) -> str:
    """As `task_line` reads it: "In progress" is in_progress."""
    return status.strip().lower().replace(" ", "_")


def by_id(places: Iterable[MemoryPlace]) -> dict[str, list[MemoryPlace]]:
    found: dict[str, list[MemoryPlace]] = {}
    for place in places:
        found.setdefault(place.id, []).append(place)
    return found
