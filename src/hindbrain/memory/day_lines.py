"""What notes tell of times: the events of a day, the days of a summary, failures that are still open. Pure.

    - [14:30] `done` Find the cheapest flight (score: 92) — LH 123, 240 EUR (4 iterations) ^r-7f3k2a9q
    - [15:10] Moved the standup to Thursday

A line that its owner wrote in another form counts as it stands. When a session began and ended, and what it
left for tomorrow, is no event.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from hindbrain.memory.answers import Happening
from hindbrain.memory.daily.daily_note import END, START, TOMORROW
from hindbrain.memory.policy.note_trust import source_of
from hindbrain.memory.policy.provenance import lowest
from hindbrain.memory.policy.source_marks import sources_in
from hindbrain.vault.inline import mask_code
from hindbrain.vault.items.item_text import unescape
from hindbrain.vault.line_shapes import heading_level
from hindbrain.vault.visible import visible_note

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page

_RUN = re.compile(r"[-*+] \[(\d{1,2}:\d\d)[^\]]*\] `(\w+)` (.+)")
_TIMED = re.compile(r"[-*+] \[(\d{1,2}:\d\d)[^\]]*\] (.+)")
_EVENT = re.compile(r"#{2,6} (\d{1,2}:\d\d)(?::\d\d)? - (.+)")
_MARK = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX/-]\]\s+)?")
_ID = re.compile(r"\s\^([A-Za-z]+-[A-Za-z0-9-]+)\s*$")
_FIELD = re.compile(r"\s*\[[a-z]+::[^\]]*\]")
_LINK = re.compile(r"\s*\(?\[\[[^\]]*\]\]\)?\s*$")
_ITERATIONS = re.compile(r"\s*\(\d+ iterations?\)\s*$")
_SCORE = re.compile(r"\s*\(score: \d+\)")
_COMMAND = re.compile(r"[-*+] \*\*Command:\*\*\s*[\"“]?(.*?)[\"”]?\s*$")
_REASON = re.compile(r"[-*+] \*\*Reason:\*\*\s*(.*)")
_SEEN = re.compile(r"[-*+] \*\*Seen:\*\*.*?(\d{4}-\d\d-\d\d)")
_SOLVED = re.compile(r"[-*+] \*\*Solved:\*\*")
_DATED = re.compile(r"#{2,6}\s+(?:Actions of )?(\d{4}-\d\d-\d\d)(?:[T ]\S*)?\s*$")
_FAILED_AFTER = re.compile(r"[-*+] \*\*(.+?)\*\* failed after \d+ iterations?: (.+)")
_BEFORE_ANSWER = " — "
RETRY = "Retry: "  # begins what a failed run leaves for tomorrow
_NO_EVENTS = frozenset(name.casefold() for name in (START, END, TOMORROW))


def events_of(page: Page, day: str, first: Collection[str]) -> list[Happening]:
    """What happened on a day, in the order of its note. `first`: lines that the layout wrote."""
    found: list[Happening] = []
    note_is = source_of(str(page.path), page.text)
    silent = 0  # the level of a heading below which nothing happened
    event = False  # the lines are about the event above
    for number, line in _lines(page):
        level = _level(line)
        if level:
            silent = silent if silent and level > silent else level * (_heading(line) in _NO_EVENTS)
            event = bool(not silent and (told := _EVENT.match(line)))
            if event and told:
                found.append(Happening("line", day, _plain(told[2]), told[1], path=page.path, line=number))
            continue
        if silent or line.strip() in first or line.lstrip(" -*+\t").startswith("~~"):
            continue
        if event:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}; {_plain(line)}")
            continue
        told_here = event_of(line, day)
        if any(map(str.isalnum, told_here.text)):
            source = lowest((note_is, *sources_in(line)))
            found.append(told_here._replace(path=page.path, line=number, source=source))
    return found


def days_in(page: Page) -> dict[str, list[Happening]]:
    """What a summary tells of days, by the day."""
    found: dict[str, list[Happening]] = {}
    day = ""
    for number, line in _lines(page):
        if _level(line):
            dated = _DATED.match(line)
            day = dated[1] if dated else ""
        elif day:
            told = event_of(line, day)._replace(path=page.path, line=number, source="tool")
            found.setdefault(day, []).append(told)
    return found


def open_issues(page: Page) -> Iterator[Happening]:
    """The failures of a note that are not solved, in its order."""
    entry: list[tuple[int, str]] = []
    day, solved = "", 0  # the level of the heading below which failures are solved
    for number, line in (*_lines(page), (0, "# end")):
        level = _level(line)
        if level:
            if day and not solved:
                yield from _issue(entry, day, str(page.path))
            dated = _DATED.match(line)
            day, entry = dated[1] if dated else "", []
            if not dated:
                solved = solved if solved and level > solved else level * (_heading(line) == "solved")
        elif day:
            entry.append((number, line))
        elif not solved and (told := _FAILED_AFTER.match(line)):
            yield Happening(
                "issue", "", _plain(told[1]), outcome="failed", answer=_plain(told[2]), path=page.path,
                line=number, source=lowest(("tool", *sources_in(line))),
            )  # fmt: skip


def _issue(entry: list[tuple[int, str]], day: str, path: str) -> Iterator[Happening]:
    command = reason = id_ = ""
    at, sources = 0, ["tool"]
    for number, line in entry:
        sources += sources_in(line)
        if _SOLVED.match(line):
            return
        if (named := _ID.search(line)) and not id_:
            id_ = named[1]
        if named_command := issue_command(line):
            command, at = command or named_command, at or number
        elif told := _REASON.match(line):
            reason = reason or _plain(told[1])
        elif told := _SEEN.match(line):
            day = max(day, told[1])
    if command:
        yield Happening(
            "issue", day, command, outcome="failed", answer=reason, id=id_, path=path, line=at,
            source=lowest(sources),
        )  # fmt: skip


def issue_command(line: str) -> str:
    """The command of an issue, where the line says it; else ""."""
    told = _COMMAND.match(without_fields(line))
    return _shown(told[1]) if told else ""


def event_of(line: str, day: str) -> Happening:
    """What one line of a day tells."""
    named = _ID.search(line)
    id_ = named[1] if named else ""
    line = line.strip()
    if run := _RUN.match(line):
        said = _ITERATIONS.sub("", _without_link(without_fields(run[3])))
        command, _, answer = said.partition(_BEFORE_ANSWER)
        command = _SCORE.sub("", command)
        return Happening("run", day, _shown(command), run[1], run[2], _shown(answer), id_)
    if timed := _TIMED.match(line):
        return Happening("line", day, _plain(timed[2]), timed[1], id=id_)
    return Happening("line", day, _plain(_MARK.sub("", line, count=1)), id=id_)


def _lines(page: Page) -> list[tuple[int, str]]:
    """The lines that are seen, with their numbers; the title is left out."""
    note = visible_note(page.text, stem="")
    lines = list(enumerate(note.lines[note.body_line - 1 :], note.body_line))
    return [(number, line) for number, line in lines if line.strip() and _level(line) != 1]


def _level(line: str) -> int:
    return heading_level(line) if line.startswith("#") else 0


def _heading(line: str) -> str:
    return line.strip("# \t").casefold()


def _plain(text: str) -> str:
    return _shown(without_fields(text))


def without_fields(text: str) -> str:
    """Without our fields and the block id."""
    return _FIELD.sub("", _ID.sub("", text)).rstrip()


def _without_link(text: str) -> str:
    return _LINK.sub("", text)


def _shown(text: str) -> str:
    return unescape(text, mask_code(text)).strip()
