"""The note of patterns: a line for each kind of task that left the task log. One write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.learn.recording.items import Items, taken_back, with_items
from hindbrain.learn.recording.places import first_text
from hindbrain.learn.recording.screening import Screen
from hindbrain.learn.recording.wording import MOST_COMMAND
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.recording.patterns import Pattern
    from hindbrain.learn.recording.recorded import Recordings
    from hindbrain.memory.notes.notebook import Page

PART = "patterns"
HEADING = "Kinds of tasks"


def pattern_line(pattern: Pattern, screen: Screen) -> str:
    """`- "open <url>": 12 runs, 92 % went well, 3.4 iterations on average; best: press_key(l) ...`

    With its source, always: in some layouts the note holds memories, and a line without one is its owner's.
    """
    command = screen.told(pattern.command, MOST_COMMAND, pattern.source)
    best = screen.told(pattern.best, MOST_COMMAND, pattern.source)
    share = round(100 * pattern.successes / pattern.runs)
    text = (
        f'"{command.text}": {plural(pattern.runs, "run")}, {share} % went well, '
        f"{pattern.iterations:.1f} iterations on average"
    )
    text += f"; best: {best.text}" if best.text else ""
    return f"- {text} [source:: {lowest((command.source, best.source))}] ^{pattern.id}"


class PatternNote:
    def __init__(self, desk: Desk, screen: Screen, recordings: Recordings) -> None:
        self._desk = desk
        self._screen = screen
        self._recordings = recordings

    def bring_up_to(self, patterns: Sequence[Pattern]) -> None:
        path = self._desk.path("patterns")
        page = self._desk.find(path)
        told = self._recordings.told(PART)
        if page is None and (not patterns or told):
            return  # nothing to say, or its owner deleted the note
        first = first_text(self._desk, "patterns")
        items = Items(HEADING, {one.id: pattern_line(one, self._screen) for one in patterns})

        def ours(line: str) -> bool:
            return self._desk.own.is_ours(path, line)

        self._recordings.forget(PART, taken_back(page.data if page else first, items, ours))

        def change(now: Page | None) -> bytes | None:
            before = first if now is None else now.data
            after = with_items(before, items, told, ours, path)
            return None if now is not None and after == before else after

        self._desk.edit(path, change, ours=[f"## {HEADING}", *items.lines.values()])
        self._recordings.note(PART, items.lines)
