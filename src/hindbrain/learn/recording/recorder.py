"""After a run: finished runs told in the notes that tell them, each once, whatever crashes in between.

Owns the order of the parts and what counts as told. Each part decides by pure functions and makes one write
for each note, whatever the number of runs; a part that fails is named in `problems` and done again at the
next call, and the others go on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, Refused
from hindbrain.learn.recording.recorded import Recordings
from hindbrain.learn.recording.screening import Screen
from hindbrain.learn.recording.task_log import LIVE, TaskLog

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.learn.recording.corrections import Correction
    from hindbrain.learn.recording.preferences import Preference
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.service import Memory

_PREFERENCES = "preferences"
_IMPORTANCE = 0.6  # of a preference that was observed, not stated
_MANY = 1_000  # runs that are new at once: years that were imported
_LATELY_S = 30 * 86_400.0
_TODAY_S = 86_400.0  # runs that ended since then are part of a day that goes on, not of an import


class Recorded(NamedTuple):
    """What a recording added."""

    runs: int = 0  # told in the task log
    corrections: int = 0
    issues: int = 0  # that were not known
    preferences: int = 0
    apps: int = 0  # notes that changed
    archived: int = 0  # entries that left the task log
    problems: tuple[str, ...] = ()  # what could not be done, and stays to be done
    not_stored: tuple[tuple[str, str], ...] = ()  # preferences that were shown and not stored, and why


class Recorder:
    """For one thread."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        clock: Clock,
        log: Callable[[str, str], None],
        *,
        dry_run: bool = False,
        live: int = LIVE,
    ) -> None:
        """`log` adds a line to one of our files in the vault. `live`: entries that stay in the task log.

        `dry_run`: nothing is remembered, only counted; notes and logs are dry by what the desk and `log` are.
        """
        self._desk = desk
        self._memory = memory
        self._clock = clock
        self._dry_run = dry_run
        self._live = live
        self._recordings = Recordings(desk.root, log)

    def record(self, episodes: Sequence[Episode]) -> Recorded:
        """Tell what is not told yet. All finished episodes, oldest first; a second call changes nothing."""
        return _Recording(
            self._desk, self._memory, self._clock.now(), self._recordings, list(episodes), self._dry_run,
            self._live,
        ).done()  # fmt: skip

    def name_lessons(self, episodes: Sequence[Episode], lessons: Sequence[Lesson]) -> int:
        """Link known issues to the lessons that were learned from them; returns how many."""
        from hindbrain.learn.recording.issues import IssueNote, find_issues

        note = IssueNote(self._desk, Screen(self._memory.policy), self._recordings)
        return note.name_lessons(find_issues(episodes), lessons)


def lately(fresh: Sequence[Episode], episodes: Sequence[Episode]) -> Sequence[Episode]:
    """Those that get a line in the note of their day: all, but of thousands at once only the last 30 days'.

    Nobody lived the years of an import with these notes; the archive of the log, patterns and the summary
    tell them.
    """
    if len(fresh) <= _MANY:
        return fresh
    since = max(one.ended for one in episodes) - _LATELY_S
    return [one for one in fresh if one.ended >= since]


class _Recording:
    """One call: which runs are new to which part, and what came of them."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        now: float,
        recordings: Recordings,
        episodes: Sequence[Episode],
        dry_run: bool,
        live: int,
    ) -> None:
        self._desk = desk
        self._memory = memory
        self._now = now
        self._recordings = recordings
        self._episodes = episodes
        self._dry_run = dry_run
        self._live = live
        self._screen = Screen(memory.policy)
        self._result = Recorded()
        self._found: list[Correction] = []

    def done(self) -> Recorded:
        from hindbrain.learn.recording.corrections import corrections

        self._found = corrections(self._episodes)
        parts: Sequence[tuple[str, Callable[[list[Episode]], None]]] = (
            ("task_log", self._task_log),
            ("daily", self._daily),
            ("issues_of", self._issues),
            ("corrections", self._corrections),
            ("apps_of", self._apps),
            ("preferences_of", self._preferences),
            ("status", self._status),
        )
        done: list[tuple[str, list[Episode]]] = []
        for name, part in parts:
            fresh = [one for one in self._episodes if not self._recordings.has(name, one.run)]
            if not fresh or self._tried(name, part, fresh):
                done.append((name, fresh))
        recent = [one for one in self._episodes if not self._recordings.has("recent", one.run)]
        if self._tried("recent", self._recent, recent):  # also without new runs: time passes
            done.append(("recent", recent))
        self._note(done, len(parts) + 1)
        return self._result

    def _tried(self, name: str, part: Callable[[list[Episode]], None], fresh: list[Episode]) -> bool:
        try:
            part(fresh)
        except HindbrainError as error:
            problem = f"{name.removesuffix('_of').replace('_', ' ')}: {error}"
            self._result = self._result._replace(problems=(*self._result.problems, problem))
            return False
        return True

    def _note(self, done: Sequence[tuple[str, Sequence[Episode]]], parts: int) -> None:
        """One line for all parts where all went well: thousands of runs are then named once."""
        if len(done) == parts:
            self._recordings.note_all(one.run for _, fresh in done for one in fresh)
            return
        for name, fresh in done:
            self._recordings.note(name, (one.run for one in fresh))

    def _task_log(self, fresh: list[Episode]) -> None:
        logged = TaskLog(self._desk, self._screen, self._live).add(fresh)
        self._result = self._result._replace(runs=logged.entries, archived=logged.archived)
        if logged.archived or logged.finished:
            self._patterns()

    def _patterns(self) -> None:
        from hindbrain.learn.recording.pattern_note import PatternNote
        from hindbrain.learn.recording.patterns import find_patterns

        by_time = sorted(self._episodes, key=lambda one: (one.started, one.run))
        patterns = find_patterns(by_time[: max(0, len(by_time) - self._live)])
        PatternNote(self._desk, self._screen, self._recordings).bring_up_to(patterns)

    def _daily(self, fresh: list[Episode]) -> None:
        from hindbrain.learn.recording.daily_lines import DailyLines

        today = [one for one in self._episodes if one.ended > self._now - _TODAY_S]
        DailyLines(self._desk, self._screen).add(lately(fresh, self._episodes), today=today)

    def _issues(self, fresh: list[Episode]) -> None:
        from hindbrain.learn.recording.issues import IssueNote, find_issues, find_solved

        runs = {one.run for one in fresh if one.failed or one.rejections}
        issues = find_issues(self._episodes)
        touched = [issue for issue in issues if not runs.isdisjoint(issue.runs)]
        note = IssueNote(self._desk, self._screen, self._recordings)
        self._result = self._result._replace(issues=note.bring_up_to(touched))
        note.sort_solved(issues, find_solved(issues, self._episodes))

    def _corrections(self, fresh: list[Episode]) -> None:
        from hindbrain.learn.recording.corrections import CorrectionNote, run_fixes

        runs = {one.run for one in fresh}
        new = [one for one in self._found if one.corrected.run in runs]
        note = CorrectionNote(self._desk, self._screen, self._recordings)
        added = note.add(new, run_fixes([one for one in self._episodes if one.run in runs]))
        self._result = self._result._replace(corrections=added)

    def _apps(self, fresh: list[Episode]) -> None:
        from hindbrain.learn.recording.app_knowledge import apps_of, find_apps
        from hindbrain.learn.recording.app_notes import AppNotes

        touched = {key for one in fresh for key in apps_of(one)}
        notes = AppNotes(self._desk, self._screen, self._recordings)
        changed = notes.bring_up_to(find_apps(self._episodes, touched))
        self._result = self._result._replace(apps=changed)

    def _preferences(self, fresh: list[Episode]) -> None:
        del fresh  # a preference is what all of them show
        from hindbrain.learn.recording.preferences import find_preferences

        for preference in find_preferences(self._episodes, self._found):
            if self._recordings.has(_PREFERENCES, preference.id):
                continue
            why = "" if self._dry_run else self._remember(preference)
            self._recordings.note(_PREFERENCES, [preference.id])
            result = self._result
            if why:
                self._result = result._replace(not_stored=(*result.not_stored, (preference.text, why)))
            else:
                self._result = result._replace(preferences=result.preferences + 1)

    def _remember(self, shown: Preference) -> str:
        """Store it; returns why it was not, or ""."""
        try:
            self._memory.remember(
                shown.text, category="preference", importance=_IMPORTANCE, source=shown.source,
                given_id=shown.id,
            )  # fmt: skip
        except Refused as error:  # its owner does not want it, and need not say so again
            return str(error)
        return ""

    def _status(self, fresh: list[Episode]) -> None:
        del fresh
        from hindbrain.learn.recording.current import Current

        Current(self._desk, self._screen).put_status(self._episodes)

    def _recent(self, fresh: list[Episode]) -> None:
        from hindbrain.learn.recording.current import Current

        Current(self._desk, self._screen).roll(fresh, self._episodes, self._now)
