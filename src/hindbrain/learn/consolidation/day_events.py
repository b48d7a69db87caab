"""What a daily note tells, event by event: its text, what kind it is, and what the user said of it. Pure.

Reads the notes that Hindbrain and the reference write (`- [09:02] text`, `### 08:15 - Title` with
`- **Decisions**: ...`), and list items and paragraphs that somebody typed. Leaves out what is no event: times
of sessions, notes for tomorrow, tasks, code, quotes, and what learning or a flush wrote there itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from hindbrain.memory.daily.daily_note import END, START, TOMORROW
from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.items.item_line import ItemLine, read_line
from hindbrain.vault.items.item_text import fold, unlinked
from hindbrain.vault.note import Block, Note
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.parse import decode_note, parse_note

_NO_EVENTS = frozenset(section.casefold() for section in (START, END, TOMORROW))
_TIME = re.compile(r"^\[?\d{1,2}:\d{2}(?::\d{2})?Z?\]?(?:\s+[-–]\s+|:?\s+)")
_FIELD = re.compile(r"^\*\*([^*]{1,40}?):?\*\*:?\s+(.*)$")
_DECISION = re.compile(r"^(?:decisions?|decided|agreed)$", re.IGNORECASE)
_FEEDBACK = re.compile(
    r"^(?:user )?(?:feedback|said|request(?:ed)?)$|^(?:important|remember)$", re.IGNORECASE
)
# Said of the event in the line itself: a mark in front, a tag, or a word in bold or brackets.
_MARKED = re.compile(
    r"^(?:(?:very |super )?important|(?:please )?remember|(?:do not|don't) forget|note to self)\b"
    r"|#(?:important|remember)\b|\*\*(?:important|remember)\b|\((?:important|remember)[!)]",
    re.IGNORECASE,
)
_MARK = re.compile(r"^(?:(?:very |super )?important|remember|note to self)\s*[:!,-]+\s*", re.IGNORECASE)
_CHECKBOX = re.compile(r"^\s*[-*+]\s+\[.\]\s")
# What a flush notes in the day, and a line about a run, which has a log of its own.
_OURS = re.compile(r"\bKept from a session: \[\[|\^r-[\w-]+\s*$")
_LONGEST = 600  # characters of one event; more is prose
_SHORTEST = 3  # words
_SHORTEST_UNSPACED = 6  # characters, in scripts without spaces


class DayEvent(NamedTuple):
    day: str  # YYYY-MM-DD
    path: str
    line: int  # 1-based
    text: str  # one line, as a reader sees it; of a field "Code Session, Commits: 2 commits pushed"
    decision: bool = False  # it stands where decisions are noted
    feedback: str = ""  # what the user said of it
    source: str = "agent"  # at most; less when the line or its note says so
    name: str = ""  # of a field, with the title above it: "Code Session, Commits"

    @property
    def value(self) -> str:
        """What is told, without the name of the field."""
        return self.text.removeprefix(f"{self.name}: ") if self.name else self.text


def events_of(
    data: bytes, *, path: str, day: str, is_ours: Callable[[str], bool] = lambda _: False
) -> list[DayEvent]:
    """In the order of the note. `is_ours`: lines that learning wrote, which are not learned again."""
    note = parse_note(decode_note(data)[0], stem=path.rpartition("/")[2].removesuffix(".md"))
    # An agent's word at most: nobody asked whether it shall be remembered.
    source = lowest(("agent", source_of_note(path, note.frontmatter)))
    found: list[DayEvent] = []
    for block, lines in _told(note, is_ours):
        event = _event(block, lines, path, day, source)
        if event is not None:
            found.append(event)
    return found


def _told(note: Note, is_ours: Callable[[str], bool]) -> Iterator[tuple[Block, list[str]]]:
    for block in note.blocks:
        if block.kind not in ("item", "paragraph"):
            continue
        if any(heading.strip().casefold() in _NO_EVENTS for heading in block.headings):
            continue
        lines = [line for line in note.lines[block.first_line - 1 : block.last_line] if line.strip()]
        if not lines or _CHECKBOX.match(lines[0]):
            continue
        if any(is_ours(line) or _OURS.search(line) for line in lines):
            continue
        yield block, lines


def _event(block: Block, lines: list[str], path: str, day: str, source: str) -> DayEvent | None:
    parts = [read_line(line) for line in lines]
    text = fold(unlinked(" ".join(part.text for part in parts)))
    text = _TIME.sub("", text, count=1)
    key, value = "", text
    if match := _FIELD.match(text):
        key, value = match[1].strip(), match[2].strip()
    if len(value) > _LONGEST or _is_too_short(f"{key} {value}"):
        return None
    feedback = " ".join(
        [
            *(
                "important" if "important" in found[0].lower() else "remember"
                for found in _MARKED.finditer(text)
            ),
            *(tag for part in parts for tag in part.tags if tag.casefold() in ("important", "remember")),
            *([key, value] if _FEEDBACK.match(key) else []),
        ]
    )
    told = _MARK.sub("", value.replace("**", ""), count=1)
    # What a value is of is part of what it says; "important" and "remember" are only marks.
    name = "" if not key or _FEEDBACK.match(key) else ", ".join(filter(None, (_title(block), key)))
    return DayEvent(
        day, path, block.first_line, f"{name}: {told}" if name else told, bool(_DECISION.match(key)),
        feedback.casefold(), lowest((source, *_sources(parts))), name,
    )  # fmt: skip


def _is_too_short(text: str) -> bool:
    return len(text.split()) < _SHORTEST and (text.isascii() or len(text) < _SHORTEST_UNSPACED)


def _title(block: Block) -> str:
    """The event's own heading, without its time: "### 08:15 - Gmail Check"; "" below any other."""
    last = block.headings[-1].strip() if block.headings else ""
    return _TIME.sub("", last, count=1) if _TIME.match(last) else ""


def _sources(parts: list[ItemLine]) -> list[str]:
    return [value.casefold() for part in parts if (value := part.value("source"))]
