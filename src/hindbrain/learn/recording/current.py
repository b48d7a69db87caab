"""The present: what was done last and what is open, and what was done in the last two hours.

What leaves the two hours moves to the daily summary, below the actions of its day; the summary is written
before the line goes. A line that its owner changed moves as they left it; one that they deleted moves
nowhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.pages.sections import section_at, with_section
from hindbrain.learn.recording.daily_lines import summary
from hindbrain.learn.recording.entries import ids_in
from hindbrain.learn.recording.places import first_text, note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import block_id, clock_of, day_of, outcome, stamp
from hindbrain.memory.policy.provenance import lowest
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page

WINDOW_S = 2 * 3600.0
OPEN_S = 7 * 86_400.0  # a failure that nobody took up again for so long is no longer open
MOST_OPEN = 5
_LOOKED_AT = 200  # runs
STATUS, RECENT = "Last run", "Last 2 hours"
_WORDS = {"failed": "failed", "stuck": "stuck", "cancelled": "cancelled", "success": "success"}
_NUMBERED = re.compile(r"\s*\d{1,9}[.)]\s+(.*\S)\s+\^(r-[A-Za-z0-9-]+)\s*")


def still_open(episodes: Sequence[Episode]) -> list[Episode]:
    """What failed or was cancelled lately and was not done since, the newest first. Oldest episodes first."""
    if not episodes:
        return []
    since = max(one.ended for one in episodes) - OPEN_S
    found: list[Episode] = []
    later: set[frozenset[str]] = set()  # words of commands that were given since
    for episode in reversed(episodes[-_LOOKED_AT:]):
        if episode.ended < since or episode.outcome == "unknown":
            continue
        words = frozenset(episode.command.casefold().split())
        # Said again, perhaps with more words: what became of that is what counts.
        again = any(words <= other for other in later)
        if not again and (episode.failed or episode.outcome == "cancelled"):
            found.append(episode)
        later.add(words)
    return found[:MOST_OPEN]


class Current:
    def __init__(self, desk: Desk, screen: Screen) -> None:
        self._desk = desk
        self._screen = screen

    def put_status(self, episodes: Sequence[Episode]) -> None:
        """Say what was done last, how it ended, when, and what is open."""
        if not episodes:
            return
        path = self._desk.path("status")
        page = self._desk.find(path)
        first = first_text(self._desk, "status")
        note_is = note_source(page.data if page is not None else first, path)
        lines = self._status_lines(episodes, note_is)
        # What the note says while there is nothing to say; ours, whoever made the note.
        empty = {line for line in first.decode().split("\n") if line.startswith("Nothing has been recorded")}

        def change(now: Page | None) -> bytes | None:
            data = first if now is None else now.data
            after = with_section(
                _without(data, empty, path), STATUS, lines,
                ours=lambda line: self._desk.own.is_ours(path, line), path=path,
            )  # fmt: skip
            return None if now is not None and after == now.data else after

        self._desk.edit(path, change, ours=[f"## {STATUS}", *lines, *empty])

    def _status_lines(self, episodes: Sequence[Episode], note_is: str) -> list[str]:
        last = max(episodes, key=lambda one: (one.ended, one.run))
        command = self._screen.command(last)
        lines = [
            f"- **Last active:** {stamp(last.ended)}",
            f'- **Last command:** "{command.text}"{source_mark(command.source, note_is)}',
            f"- **Last outcome:** {outcome(last)}",
        ]
        if (told := summary(last, self._screen)).text:
            name = "Result" if last.outcome == "success" else "Reason"
            lines.append(f"- **{name}:** {told.text}{source_mark(told.source, note_is)}")
        for one in still_open(episodes):
            told = self._screen.command(one)
            mark = source_mark(told.source, note_is)
            lines.append(f'- **Open:** "{told.text}" ({_WORDS[one.outcome]} {day_of(one.ended)}){mark}')
        return lines

    def roll(self, fresh: Sequence[Episode], episodes: Sequence[Episode], now: float) -> None:
        """Add what was done in the window, and move what has left it to the summary of its day."""
        known = {block_id(one.run): one for one in episodes}
        path = self._desk.path("recent")
        page = self._desk.find(path)
        recent = sorted((one for one in fresh if now - one.ended < WINDOW_S), key=lambda one: one.ended)
        if page is None and not recent:
            return
        first = first_text(self._desk, "recent")
        note_is = note_source(page.data if page is not None else first, path)
        new = {block_id(one.run): self._recent_text(one, note_is) for one in recent}

        def ours(line: str) -> bool:
            return self._desk.own.is_ours(path, line)

        data = first if page is None else page.data
        stands, present = _listed(data, ours), ids_in(data)
        fallen = {
            name: text
            for name, text in stands.items()
            if name not in known or now - known[name].ended >= WINDOW_S
        }
        if not fallen and present.issuperset(new):
            return
        self._summarise(fallen, known)

        def change(page: Page | None) -> bytes | None:
            data = first if page is None else page.data
            left = {name: text for name, text in _listed(data, ours).items() if name not in fallen}
            left |= {name: text for name, text in new.items() if name not in ids_in(data)}
            told = [f"{at}. {text} ^{name}" for at, (name, text) in enumerate(left.items(), 1)]
            self._desk.own.note(path, [f"## {RECENT}", *told])
            after = with_section(data, RECENT, told, ours=ours, path=path)
            return None if page is not None and after == page.data else after

        self._desk.edit(path, change)

    def _recent_text(self, episode: Episode, note_is: str) -> str:
        command = self._screen.command(episode)
        word = _WORDS.get(episode.outcome, episode.outcome)
        came_of_it = summary(episode, self._screen)
        mark = source_mark(lowest((command.source, came_of_it.source)), note_is)
        told = f" — {came_of_it.text}" if came_of_it.text else ""
        return f"[{clock_of(episode.started)}] {command.text} ({word}){told}{mark}"

    def _summarise(self, fallen: Mapping[str, str], known: Mapping[str, Episode]) -> None:
        if not fallen:
            return
        path = self._desk.path("summary")
        days: dict[str, dict[str, str]] = {}
        for name, text in fallen.items():
            day = day_of(known[name].started) if name in known else self._desk.today()
            days.setdefault(day, {})[name] = f"- {text} ^{name}"

        def change(page: Page | None) -> bytes | None:
            before = data = first_text(self._desk, "summary") if page is None else page.data
            there = ids_in(data)
            for day, lines in sorted(days.items()):
                left = [line for name, line in lines.items() if name not in there]
                data = _with_items(data, f"Actions of {day}", left, path) if left else data
            return None if data == before else data

        heads = [f"## Actions of {day}" for day in days]
        self._desk.edit(
            path, change, ours=[*heads, *(line for day in days.values() for line in day.values())]
        )


def _with_items(data: bytes, heading: str, lines: Sequence[str], path: str) -> bytes:
    """The note with list items at the end of a section, which is made where it is missing."""
    from hindbrain.memory.notes.section_end import appended_below

    if section_at(data, heading) is not None:
        return appended_below(data, heading, lines, path=path)
    return with_section(data, heading, lines, ours=lambda _: False, path=path)


def _listed(data: bytes, ours: Callable[[str], bool]) -> dict[str, str]:
    """Our numbered lines of the recent actions: block id and text."""
    found = section_at(data, RECENT)
    if found is None:
        return {}
    texts = NoteLines(data).texts[found[0] : found[1]]
    return {match[2]: match[1] for line in texts if (match := _NUMBERED.fullmatch(line)) and ours(line)}


def _without(data: bytes, lines: set[str], path: str) -> bytes:
    note = NoteLines(data, path)
    for at in reversed(range(len(note.texts))):
        if note.texts[at] in lines:
            blank = at + 1 < len(note.texts) and not note.texts[at + 1].strip()
            note.remove(at, at + 1 + blank)
    return note.data()
