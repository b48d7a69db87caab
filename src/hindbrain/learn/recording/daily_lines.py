"""A run as a line in the note of its day, below "Events". One write for each day.

- [14:30] `done` Find a flight (score: 92) — LH 123, 240 EUR (4 iterations) [[Task Log#^r-7f3k|log]] ^r-7f3k
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from hindbrain.base.clock import local_time
from hindbrain.base.plural import plural
from hindbrain.learn.recording.entries import ids_in
from hindbrain.learn.recording.places import note_source
from hindbrain.learn.recording.screening import Screen, Told, source_mark
from hindbrain.learn.recording.wording import block_id, clock_of, day_of, done, run_link, scored
from hindbrain.memory.daily.daily import NOTES_BACK, DayEntry, OpenNote, without_settled
from hindbrain.memory.daily.daily_note import EVENTS, add_items
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.notes.notebook import Page


def daily_line(episode: Episode, screen: Screen, note_is: str, log: str) -> str:
    """The reference's form: time, status, command, score, what came of it, iterations; then a link to its
    entry in the task log, whose path is `log`."""
    command, came_of_it = screen.command(episode), summary(episode, screen)
    words = f"- [{clock_of(episode.started)}] `{done(episode)}` {command.text}{scored(episode.score)}"
    if came_of_it.text:
        words += f" — {came_of_it.text}"
    mark = source_mark(lowest((command.source, came_of_it.source)), note_is)
    words += f" ({plural(episode.iterations, 'iteration')}) {run_link(log, episode, 'log')}"
    return f"{words}{mark} ^{block_id(episode.run)}"


def summary(episode: Episode, screen: Screen) -> Told:
    """What came of a run, in one line: what it found, or why it did not."""
    if episode.outcome == "success" or not episode.reason:
        return screen.answer(episode)
    return screen.reason(episode)


class DailyLines:
    def __init__(self, desk: Desk, screen: Screen) -> None:
        self._desk = desk
        self._screen = screen

    def add(self, episodes: Sequence[Episode], *, today: Sequence[Episode] = ()) -> None:
        """`today`: all runs of the last day, where the note also tells when its work began and ended."""
        days: dict[str, list[Episode]] = {}
        for episode in sorted(episodes, key=lambda one: (one.started, one.run)):
            days.setdefault(day_of(episode.started), []).append(episode)
        for day, told in days.items():
            self._add_day(day, told, [one for one in today if day_of(one.started) == day])
        worked = [one for one in episodes if one.outcome == "success" and one in today]
        if worked:
            self._settle(worked)

    def _add_day(self, day: str, episodes: Sequence[Episode], today: Sequence[Episode]) -> None:
        path = self._path(day)
        first = self._desk.layout.first_text("daily", today=day, date=day).encode()
        page = self._desk.find(path)
        data = page.data if page is not None else first
        note_is, task_log = note_source(data, path), self._desk.path("task_log")
        lines = {block_id(one.run): daily_line(one, self._screen, note_is, task_log) for one in episodes}
        session = self._session(today, note_is) if today else DayEntry(local_time(episodes[0].started))
        log = session.change(session.began, path, data, self._desk.own) if today else bytes

        def change(now: Page | None) -> bytes | None:
            data = first if now is None else now.data
            known = ids_in(data)
            left = [line for name, line in lines.items() if name not in known]
            after = log(add_items(data, EVENTS, left, path) if left else data)
            return None if after == data else after

        self._desk.edit(path, change, ours=lines.values())
        self._desk.own.note(path, session.notes())

    def _settle(self, worked: Sequence[Episode]) -> None:
        """Take out of the days before what these runs were still to do."""
        settled = {f"Retry: {self._screen.command(one).text}" for one in worked}
        last = date.fromisoformat(day_of(worked[-1].started))
        for back in range(1, NOTES_BACK + 1):
            path = self._path((last - timedelta(days=back)).isoformat())

            def change(page: Page | None, path: str = path) -> bytes | None:
                if page is None:
                    return None
                after = without_settled(
                    page.data, path, settled, lambda line: self._desk.own.is_ours(path, line)
                )
                return None if after == page.data else after

            self._desk.edit(path, change)

    def _session(self, episodes: Sequence[Episode], note_is: str) -> DayEntry:
        """Runs of a day as a session; those that failed and did not work since remain for tomorrow."""
        by_time = sorted(episodes, key=lambda one: (one.started, one.run))
        last = {one.command: one for one in by_time}
        remaining, settled = [], []
        for episode in last.values():
            command = self._screen.command(episode)
            if episode.failed and not command.left_out:
                remaining.append(OpenNote(f"Retry: {command.text}", command.source))
            elif episode.outcome == "success":
                settled.append(f"Retry: {command.text}")
        about = self._screen.command(by_time[0])
        context = "" if about.left_out else f"{about.text}{source_mark(about.source, note_is)}"
        began, ended = local_time(by_time[0].started), local_time(max(one.ended for one in by_time))
        if ended.date() != began.date():
            ended = began.replace(hour=23, minute=59)
        return DayEntry(began, ended, context, tuple(remaining), frozenset(settled))

    def _path(self, day: str) -> str:
        """Where the note of the day is, else where it would be."""
        places = self._desk.layout.paths("daily", date=day)
        if len(places) == 1:
            return places[0]
        return next((place for place in places if self._desk.find(place) is not None), places[0])
