"""A run as a line in the note of its day, below "Events". One write for each day.

- [14:30] `done` Open Chrome and go to github.com (score: 92) (4 iterations) ^r-20260220-143000-7f3k
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.recording.entries import ids_in
from hindbrain.learn.recording.places import note_source
from hindbrain.learn.recording.screening import Screen, source_mark
from hindbrain.learn.recording.wording import block_id, clock_of, counted, day_of, done, scored
from hindbrain.memory.daily.daily_note import EVENTS, add_items
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page


def daily_line(episode: Episode, screen: Screen, note_is: str) -> str:
    """The reference's form: time, status, command, score, what went wrong, iterations."""
    command = screen.command(episode)
    reason = screen.reason(episode)
    words = f"- [{clock_of(episode.started)}] `{done(episode)}` {command.text}{scored(episode.score)}"
    if reason.text and episode.outcome != "success":
        words += f" — {reason.text}"
    mark = source_mark(lowest((command.source, reason.source)), note_is)
    return f"{words} ({counted(episode.iterations, 'iteration')}){mark} ^{block_id(episode.run)}"


class DailyLines:
    def __init__(self, desk: Desk, screen: Screen) -> None:
        self._desk = desk
        self._screen = screen

    def add(self, episodes: Sequence[Episode]) -> None:
        days: dict[str, list[Episode]] = {}
        for episode in sorted(episodes, key=lambda one: (one.started, one.run)):
            days.setdefault(day_of(episode.started), []).append(episode)
        for day, told in days.items():
            self._add_day(day, told)

    def _add_day(self, day: str, episodes: Sequence[Episode]) -> None:
        path = self._path(day)
        first = self._desk.layout.first_text("daily", today=day, date=day).encode()
        page = self._desk.find(path)
        note_is = note_source(page.data if page is not None else first, path)
        lines = {block_id(one.run): daily_line(one, self._screen, note_is) for one in episodes}

        def change(now: Page | None) -> bytes | None:
            data = first if now is None else now.data
            known = ids_in(data)
            left = [line for name, line in lines.items() if name not in known]
            return add_items(data, EVENTS, left, path) if left else None

        self._desk.edit(path, change, ours=lines.values())

    def _path(self, day: str) -> str:
        """Where the note of the day is, else where it would be."""
        places = self._desk.layout.paths("daily", date=day)
        if len(places) == 1:
            return places[0]
        return next((place for place in places if self._desk.find(place) is not None), places[0])
