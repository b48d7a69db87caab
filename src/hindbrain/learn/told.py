"""Entries of the notes that tell of single runs: issues, corrections, the task log; and what each is about.

Pure: a note's bytes in, entries with their commands out. A person's own list items among them count as they
stand. Knows nothing of files and of likeness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.inline import mask_code
from hindbrain.vault.items.item_text import unescape
from hindbrain.vault.origin import SOURCES
from hindbrain.vault.parse import decode_note

_COMMAND = re.compile(
    r"- \*\*(?:Command|Original|Corrected):\*\*\s*[\"“]?(.*?)[\"”]?(?:\s+\[\w+::.*|\s+\^\S+)?\s*$"
)
_ID = re.compile(r"\s\^([A-Za-z]+-[A-Za-z0-9-]+)\s*$")
_FIELD = re.compile(r"\s*\[\w+::[^\]]*\]|\s\^[A-Za-z]+-[\w-]+\s*$")
# What an entry says of itself, and nothing of what to do: it is not worth its tokens.
_BOOKKEEPING = re.compile(r"- \*\*(?:Score|Seen|Duration|Iterations|RunId|Lesson):\*\*")
_SOURCE = re.compile(r"\[source:: ?(\w+)\]")
_LESSON = re.compile(r"- \*\*Lesson:\*\*.*#\^(l-[a-z0-9]+)")
_HEADING = re.compile(r"#{1,6}\s")
_TIMED = re.compile(r"#{2,3}\s+(\d{4}-\d\d-\d\d\S*)\s*$")
_ITEM = re.compile(r"[-*+]\s+\S")
_SEEN = re.compile(r"- \*\*Seen:\*\* (?:(\d{1,9}) times, last|once,) (\d{4}-\d\d-\d\d)")
_SOLVED = re.compile(r"- \*\*Solved:\*\*")
_HELPED = re.compile(r"(?m)^- \*\*Solved:\*\* \S+ by `")
_ACTIONS = re.compile(r"- \*\*(?:Actions|Key actions):\*\*\s*(.*)")
_ORIGINAL = re.compile(r"- \*\*Original:\*\*")
_NEXT_CALL = re.compile(r"(?: x\d+)?, (?=`|[\w.:/-]+\()")
_TIMES = re.compile(r" x\d+$")
_LINE = re.compile(r"`([^`]+)`")  # a command line
_REASON = re.compile(r"- \*\*Reason:\*\*\s*(.*)")
_RESULT = re.compile(r"- \*\*Result:\*\*\s*(.*)")
_WENT_WELL = re.compile(r"- \*\*Outcome:\*\*\s*Success", re.IGNORECASE)


class Told(NamedTuple):
    """One entry of a note."""

    id: str  # "^i-...", "^r-...", "" where it has none
    path: str
    commands: tuple[str, ...]  # that it is about
    text: str  # the lines worth telling, without fields and ids
    first_line: int  # counted from 1
    last_line: int
    date: str  # YYYY-MM-DD, or ""
    went_well: bool = False
    source: str = "tool"  # the lowest trust that a line of it names
    lesson: str = ""  # the id of the lesson that was learned from it; "" while there is none
    time: str = ""  # when it was last seen, as far as the entry says: YYYY-MM-DD, or a whole stamp
    seen: int = 1  # runs that it is about; 0 for a failure that has worked since

    @property
    def gist(self) -> str:
        """The same for two entries of which one says enough: the reason of a failure, else all of it."""
        return self.reason or self.text

    @property
    def moment(self) -> str:
        """The same for what went wrong in one run; "" where the entry has no time."""
        return f"{self.commands[0]} {self.time}" if self.time else ""

    @property
    def calls(self) -> tuple[str, ...]:
        """What was done, as `Action.shown`; perhaps cut."""
        for line in self.text.split("\n"):
            if said := _ACTIONS.match(line):
                calls = (_TIMES.sub("", call) for call in _NEXT_CALL.split(said[1]))
                return tuple(filter(None, map(_call, calls)))
        return ()

    @property
    def reason(self) -> str:
        """Why it failed; "" when it does not say."""
        said = next((found[1] for line in self.text.split("\n") if (found := _REASON.match(line))), "")
        return "" if said == "not known" else said

    @property
    def answer(self) -> str:
        """What the run found, in one line; "" when it does not say."""
        return next((found[1] for line in self.text.split("\n") if (found := _RESULT.match(line))), "")

    @property
    def is_fixed(self) -> bool:
        """Is it a failure that says what helped?"""
        return _HELPED.search(self.text) is not None

    @property
    def corrects(self) -> bool:
        """Is it a command that its user put right with another one?"""
        return len(self.commands) > 1 and _ORIGINAL.match(self.text) is not None


def _call(text: str) -> str:
    """A call, or a command line without its backticks; "" for other words."""
    if line := _LINE.fullmatch(text):
        return line[1]
    return unescape(text, mask_code(text)) if "(" in text else ""


def told_in(data: bytes, path: str) -> list[Told]:
    """The entries in the order in which they stand. Looks at the lines alone: a prompt waits for it."""
    found: list[Told | None] = []
    lines = decode_note(data)[0].splitlines()
    at, fenced = 0, False
    while at < len(lines):
        line, start = lines[at], at
        at += 1
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if fenced or not line.strip():
            continue
        if heading := _TIMED.match(line):
            at = _end_of(lines, at, lambda line: bool(line.strip()) and not _HEADING.match(line))
            found.append(_entry(lines[start:at], start, heading[1], path))
        elif _ITEM.match(line):
            at = _end_of(lines, at, lambda line: line.startswith((" ", "\t")) and bool(line.strip()))
            found.append(_item(lines[start:at], start, path))
    return [told for told in found if told is not None]


def _end_of(lines: Sequence[str], at: int, goes_on: Callable[[str], bool]) -> int:
    while at < len(lines) and goes_on(lines[at]):
        at += 1
    return at


def _entry(lines: list[str], start: int, time: str, path: str) -> Told | None:
    commands = [match[1] for line in lines if (match := _COMMAND.match(line))]
    ids = [match[1] for line in lines if (match := _ID.search(line))]
    kept = [at for at, line in enumerate(lines) if line.strip() and not _is_left_out(line)]
    if not commands or not kept:
        return None
    seen = next((match for line in lines if (match := _SEEN.match(line))), None)
    solved = any(map(_SOLVED.match, lines))
    return Told(
        f"^{ids[0]}" if ids else "", path, tuple(filter(None, commands)),
        "\n".join(_plain(lines[at]) for at in kept),
        start + kept[0] + 1, start + kept[-1] + 1, time[:10], any(map(_WENT_WELL.match, lines)),
        _source(lines, "tool"), next((match[1] for line in lines if (match := _LESSON.match(line))), ""),
        max(time, seen[2] if seen else ""), 0 if solved else int(seen[1] or 1) if seen else 1,
    )  # fmt: skip


def _item(lines: list[str], start: int, path: str) -> Told | None:
    """A list item that stands by itself: what somebody wrote down without our form."""
    said = _plain(" ".join(lines)).strip(" -*+\t")
    given = _ID.search(lines[0])
    if not said or said.startswith(("~~", "**")):
        return None
    text = "\n".join(_plain(line) for line in lines)
    return Told(
        f"^{given[1]}" if given else "", path, (said,), text, start + 1, start + len(lines), "",
        source=_source(lines, "tool" if given else "user"),
    )  # fmt: skip


def _source(lines: Sequence[str], otherwise: str) -> str:
    named = [match[1] for line in lines for match in _SOURCE.finditer(line) if match[1] in SOURCES]
    return lowest([otherwise, *named])


def _plain(line: str) -> str:
    """Without fields and ids, which are for programs."""
    return _FIELD.sub("", line).rstrip()


def _is_left_out(line: str) -> bool:
    return bool(_BOOKKEEPING.match(line) or _HEADING.match(line))
