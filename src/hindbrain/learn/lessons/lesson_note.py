"""The lines of the lessons note: how a lesson is written, and what a line says. Pure.

    - For tasks like “...”: do not `click(URL bar)` ... [confidence:: 0.86] [seen:: 4] ... ^l-7f3k2a9q
      - when: “open github.com in Chrome” · “go to example.org”
      - failed: [[Learning/Task Log#^r-20260220-...|2026-02-20]]

A person may edit anything, and type lessons as plain list items. Those under "Retired" are kept and no
longer shown. Items under other headings are no lessons, and neither are entries of a failure log:

    ## 2026-02-20T14:30:00Z
    - **Command:** Open Chrome and go to github.com
    - **Score:** 45/100

Knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.lessons.lesson import Lesson, State
from hindbrain.learn.recording.wording import block_id, day_of, harmless, item_id, plain
from hindbrain.vault.items.item import Entry, parse_entries
from hindbrain.vault.items.item_line import read_line
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.origin import SOURCES
from hindbrain.vault.parse import decode_note, parse_note

LIVE, RETIRED = "Lessons", "Retired"
OURS = "l-"  # what our ids begin with
_MOST_COMMANDS, _COMMAND = 8, 160
_MOST_LINKS = 5
_SENTENCE = 900  # characters
_CODE = re.compile(r"(`[^`]*`)")
_QUOTED = re.compile(r"“([^“”]*)”")
_LINKED = re.compile(r"#\^([A-Za-z0-9-]+)")
_DATED = re.compile(r"r-(\d{4})(\d\d)(\d\d)-")
_AVOID = re.compile(r"(?i)\b(?:do not|don't|never|avoid)(?: \w+){0,2} `([^`]+)`")
# What was tried in vain, or was done last, follows a colon, too.
_DO = re.compile(
    r"(?:^|(?<!already tried)(?<!before that)[;:.] |\b[Uu]se |\bdo )`([^`]+)`(?: before `([^`]+)`)?"
)


# A line of a log entry: a field of it, or the whole entry in one line.
_LOGGED = re.compile(
    r"\s*[-*+]\s+\*\*(?:(?:Command|Outcome|Score|Reason|Lesson|Iterations|Actions|Key actions|Duration|RunId"
    r"|Seen|Original|Corrected|Changed)(?::\*\*|\*\*:)|.+\*\* failed after \d+ iterations?:)",
    re.IGNORECASE,
)
_DATED_HEADING = re.compile(r"\d{4}-\d\d-\d\d")


class NotedLesson(NamedTuple):
    """A lesson and where it stands; lines are counted from 1."""

    lesson: Lesson
    path: str
    first_line: int
    last_line: int
    text: str  # its lines, as they enter a prompt: without those of evidence
    struck: bool = False


def head_of(lesson: Lesson) -> str:
    """The first line."""
    fields = " ".join(f"[{key}:: {value}]" for key, value in fields_of(lesson))
    return f"- {sentence_of(lesson.text)} {fields} ^{lesson.id}"


def fields_of(lesson: Lesson) -> list[tuple[str, str]]:
    """The fields that are ours to change."""
    told = [
        ("confidence", f"{lesson.confidence:g}"),
        ("seen", str(lesson.failures)),
        ("heeded", str(lesson.heeded) if lesson.heeded else ""),
        ("in-vain", str(lesson.in_vain) if lesson.in_vain else ""),
        ("app", re.sub(r"[\[\]():]", " ", plain(lesson.app, 60)).strip()),
        ("state", lesson.state if lesson.state != "active" else ""),
        ("source", lesson.source),
        ("updated", day_of(lesson.last)),
    ]
    return [(key, value) for key, value in told if value]


def below_of(lesson: Lesson, log: str) -> list[str]:
    """The lines below it. `log`: the note of the task log, without its ending."""
    when = [plain(command, _COMMAND).replace("“", '"').replace("”", '"') for command in lesson.commands]
    lines = [f"  - when: {' · '.join(f'“{harmless(one)}”' for one in when[:_MOST_COMMANDS])}"] if when else []
    if lesson.reason:
        lines.append(f"  - why: {harmless(plain(lesson.reason, 300))}")
    for name, runs, count in (
        ("failed", lesson.evidence, lesson.failures),
        ("worked", lesson.worked, lesson.successes),
    ):
        if runs:
            links = ", ".join(f"[[{log}#^{block_id(run)}|{_label(run)}]]" for run in runs[-_MOST_LINKS:])
            lines.append(f"  - {name}: {links}" + (f" ({count} in all)" if count > _MOST_LINKS else ""))
    return lines


def sentence_of(text: str) -> str:
    """The words as Markdown: code stays code, all else means nothing but its words."""
    line = " ".join(text.split())
    line = line if len(line) <= _SENTENCE else line[: _SENTENCE - 1] + "…"
    pieces = _CODE.split(line)
    return "".join(piece if at % 2 else harmless(piece) for at, piece in enumerate(pieces))


def parse_lessons(data: bytes, path: str) -> list[NotedLesson]:
    """The lessons of a note, in their order."""
    note = NoteLines(data, path)
    entries = parse_entries(note.texts, path=path, category="lesson")
    places = _places(data)
    return [
        _noted(note.texts, entry, path, place)
        for entry in entries
        if (place := places[min(entry.start, len(places) - 1)])
    ]


def _places(data: bytes) -> list[State | None]:
    """For each line whether a list item there is a lesson, and of which state."""
    parsed = parse_note(decode_note(data)[0], stem="")
    places: list[State | None] = ["active"] * (len(parsed.lines) + 1)
    for heading in parsed.headings:
        if heading.level > 2:
            continue
        title = heading.text.strip().casefold()
        state: State | None = (
            "active"
            if title == LIVE.casefold() or heading.level == 1
            else "retired"
            if title == RETIRED.casefold()
            else None
        )
        places[heading.line :] = [state] * (len(places) - heading.line)
    ends = [heading.line - 1 for heading in parsed.headings[1:]] + [len(parsed.lines)]
    for heading, end in zip(parsed.headings, ends, strict=False):
        if _DATED_HEADING.match(heading.text) and any(map(_LOGGED.match, parsed.lines[heading.line : end])):
            places[heading.line : end] = [None] * (end - heading.line)
    for at, line in enumerate(parsed.lines):
        if _LOGGED.match(line):
            places[at] = None
    return places


def _noted(texts: Sequence[str], entry: Entry, path: str, place: State) -> NotedLesson:
    head = read_line(texts[entry.start])
    item = entry.item
    below = _below(texts[entry.text_stop : entry.stop])
    avoid, do = _AVOID.search(item.text), _DO.search(item.text)
    typed = not item.id.startswith(OURS)
    told = head.value("state")
    lesson = Lesson(
        id=item.id or item_id("l", item.text),
        text=item.text,
        commands=tuple(_QUOTED.findall(below["when"]) or filter(None, below["when"].split(" · "))),
        avoid=avoid[1] if avoid else "",
        prefer=do[1] if do else "",
        before=(do[2] or "") if do else "",
        reason=below["why"],
        app=head.value("app"),
        failures=_count(head.value("seen")),
        heeded=_count(head.value("heeded")),
        in_vain=_count(head.value("in-vain")),
        confidence=_share(head.value("confidence"), 1.0 if typed else 0.5),
        state=place if place == "retired" else "escalated" if told == "escalated" else "active",
        evidence=tuple(_LINKED.findall(below["failed"])),
        worked=tuple(_LINKED.findall(below["worked"])),
        source=item.source if item.source in SOURCES else "import",
        guard=head.value("guard"),
    )
    kept = [line for line in texts[entry.start : entry.stop] if _name_of(line) not in ("failed", "worked")]
    return NotedLesson(
        lesson, path, entry.start + 1, entry.stop, "\n".join(kept).rstrip(), bool(item.superseded)
    )


def _below(lines: Sequence[str]) -> dict[str, str]:
    told = {"when": "", "why": "", "failed": "", "worked": ""}
    for line in lines:
        name = _name_of(line)
        if name in told and not told[name]:
            text = read_line(line).text if name in ("when", "why") else line
            told[name] = text.partition(":")[2].strip()
    return told


def _name_of(line: str) -> str:
    """`when` for "  - when: ..."."""
    return line.strip().removeprefix("- ").partition(":")[0].strip().casefold()


def _label(run: str) -> str:
    day = _DATED.match(run)
    return "-".join(day.groups()) if day else run.removeprefix("r-")


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _share(text: str, default: float) -> float:
    try:
        value = float(text)
    except ValueError:
        return default
    return value if 0.0 <= value <= 1.0 else default
