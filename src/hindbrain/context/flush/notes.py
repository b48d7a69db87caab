"""The note of a session: what was kept of one conversation, by category, in a note that its owner can read.

Written beside the memories themselves, so that a person sees what was heard when. The same session adds to
the same note; lines that stand in it are never changed. Everything goes through the notebook, the one writer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import NotFound
from hindbrain.memory.notes.scribe import compose_note, file_name
from hindbrain.memory.notes.section_end import appended_below
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.item_text import escape, fold, unlinked
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.path_rules import check_note_path

if TYPE_CHECKING:
    from hindbrain.context.turn import SessionKey
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory


class Kept(NamedTuple):
    """A memory as the session's note tells it."""

    text: str  # one line, secrets removed
    category: str


TAGS = ("agent/memory", "auto-generated")
_HEADINGS = {
    "decision": "Decisions",
    "preference": "Preferences",
    "fact": "Facts",
    "contact": "People",
    "relationship": "People",
    "project": "Projects",
    "action": "To do",
    "pattern": "Patterns",
    "issue": "Issues",
}
_ORDER = tuple(dict.fromkeys(_HEADINGS.values()))


def write_session_note(
    memory: Memory, session: SessionKey, kept: Sequence[Kept], *, project: str = ""
) -> str:
    """Add what was kept to the session's note, which is made where needed; returns its path.

    Only what is new to the note is added; whoever writes the same twice changes nothing.
    """
    from hindbrain.memory.policy.protected import check_writable

    path = find_session_note(memory, session) or _new_path(memory, session, project)
    check_writable(memory.root, path, layout=memory.layout)
    by_heading = _grouped(memory, kept, path)

    def change(page: Page | None) -> bytes | None:
        if page is None:
            return _first_text(memory, session, by_heading, project)
        data = page.data
        for heading, lines in by_heading.items():
            data = _added(data, heading, _unknown(lines, data), path)
        return None if data == page.data else data

    memory.notebook.edit(path, change)
    return path


def session_notes_with(memory: Memory, holds: Callable[[str], bool]) -> list[str]:
    """The notes of sessions that have a line of ours for which `holds` is true."""
    return [path for path in _paths(memory) if _lines_with(memory.notebook.find(path), holds)]


def take_from_session_notes(memory: Memory, holds: Callable[[str], bool]) -> int:
    """Take out what must be forgotten; returns how many notes were changed.

    The lines are ours, told a second time. What else stands in these notes stays.
    """
    paths = session_notes_with(memory, holds)
    for path in paths:
        memory.notebook.edit(path, lambda page: _without(page, holds))
    return len(paths)


def _lines_with(page: Page | None, holds: Callable[[str], bool]) -> list[int]:
    """Where the note of a session tells it, from the end; [] for any other note."""
    if page is None or read_frontmatter(page.text.split("\n")).properties.get("type") != "session":
        return []
    lines = NoteLines(page.data).texts
    return [
        at for at in reversed(range(len(lines))) if lines[at].startswith("- ") and _is_all(lines[at], holds)
    ]


def _is_all(line: str, holds: Callable[[str], bool]) -> bool:
    """Does the line say it and nothing else? One that says more may be the owner's."""
    words = unlinked(line[2:]).split()
    return holds(" ".join(words)) and not holds(" ".join(words[1:])) and not holds(" ".join(words[:-1]))


def _without(page: Page | None, holds: Callable[[str], bool]) -> bytes | None:
    found = _lines_with(page, holds)
    if page is None or not found:
        return None
    note = NoteLines(page.data)
    for at in found:
        note.remove(at, at + 1)
        _drop_empty_section(note, at)
    return note.data()


def _drop_empty_section(note: NoteLines, at: int) -> None:
    """Take out the heading above `at` when nothing is left below it."""
    lines = note.texts
    above, below = at - 1, at
    while above >= 0 and not lines[above].strip():
        above -= 1
    while below < len(lines) and not lines[below].strip():
        below += 1
    is_end = below == len(lines) or lines[below].startswith("## ")
    if above >= 0 and lines[above].startswith("## ") and is_end:
        note.remove(above - (above > 0 and below == len(lines) and not lines[above - 1].strip()), below)


def _paths(memory: Memory) -> list[str]:
    folder = session_folder(memory)
    try:
        names = sorted(entry.name for entry in (memory.root / folder).iterdir())
    except OSError:
        return []
    return [f"{folder}/{name}" if folder else name for name in names if name.endswith(".md")]


def find_session_note(memory: Memory, session: SessionKey) -> str:
    """The note of a session that was flushed before; "" when there is none where such notes are kept."""
    for path in _paths(memory):
        if not path.endswith(f" {mark_of(session)}.md"):
            continue
        page = memory.notebook.find(path)
        if page is not None and _is_of(page, session):
            return path
    return ""


def session_folder(memory: Memory) -> str:
    return memory.layout.folder_of("sessions")


def _new_path(memory: Memory, session: SessionKey, project: str) -> str:
    about = file_name(project)[:40].strip() if project.strip() else file_name(session.host or "session")
    return check_note_path(f"{session_folder(memory)}/{memory.today()} {about} {mark_of(session)}.md")


def mark_of(session: SessionKey) -> str:
    """Six digits that tell sessions apart in a list; the property `session` has the whole name."""
    return blake2b(f"{session.host}\0{session.id}".encode("utf-8", "replace"), digest_size=3).hexdigest()


def _name(session: SessionKey) -> str:
    return fold(f"{session.host}/{session.id}".encode("utf-8", "replace").decode("utf-8"))


def _is_of(page: Page, session: SessionKey) -> bool:
    properties = read_frontmatter(page.text.split("\n")).properties
    return str(properties.get("session", "")) == _name(session)


def _grouped(memory: Memory, kept: Sequence[Kept], path: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for heading in _ORDER:
        texts = [one.text for one in kept if _HEADINGS.get(one.category, "Facts") == heading]
        lines = [f"- {memory.linked(escape(fold(text)), path)}" for text in dict.fromkeys(texts)]
        if lines:
            found[heading] = lines
    return found


def _first_text(memory: Memory, session: SessionKey, by_heading: dict[str, list[str]], project: str) -> bytes:
    day = memory.today()
    title = f"Session of {day}" + (f": {fold(project)}" if project.strip() else "")
    body = "\n\n".join("\n".join([f"## {heading}", "", *lines]) for heading, lines in by_heading.items())
    about = {
        "date": day,
        "source": "agent",
        "host": fold(session.host),
        "session": _name(session),
        "project": fold(project),
    }
    return compose_note(title, body, type="session", tags=TAGS, extra=about)


def _unknown(lines: Sequence[str], data: bytes) -> list[str]:
    """Those that the note does not say yet, whatever has been linked in it since."""
    known = {_bare(line) for line in NoteLines(data).texts}
    return [line for line in lines if _bare(line) not in known]


def _bare(line: str) -> str:
    return fold(unlinked(re.sub(r"^\s*[-*+]\s+(?:\[.\]\s+)?", "", line))).casefold()


def _added(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes:
    if not lines:
        return data
    try:
        return appended_below(data, heading, lines, path=path)
    except NotFound:
        return _with_section(NoteLines(data, repr(path)), heading, lines)


def _with_section(note: NoteLines, heading: str, lines: Sequence[str]) -> bytes:
    at = len(note.texts)
    while at and not note.texts[at - 1].strip():
        at -= 1
    note.insert(at, ["", f"## {heading}", "", *lines])
    return note.data()
