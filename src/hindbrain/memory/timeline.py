"""Answers to questions about time, read from the notes at the moment of asking.

    what did we do last week?   the runs and facts of those days, in the order of time
    what is still open?         open tasks, then failures that have not worked since and cancelled runs
    what are we working on?     the last five runs of seven days
    when did we last deploy?    the last run about it

A run is read from its line in the note of its day. Writes nothing; a note that can't be read is named in
`problems`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.memory.answers import Happening, HappeningKind, Timeline
from hindbrain.memory.daily.daily import NOTES_BACK
from hindbrain.memory.day_lines import RETRY, days_in, events_of, open_issues
from hindbrain.memory.tasks.task_line import OPEN as OPEN_STATUSES
from hindbrain.memory.tasks.task_line import read_task
from hindbrain.memory.tasks.task_note import read_tasks
from hindbrain.memory.time_questions import TimeQuestion, read_question
from hindbrain.search.telling import telling_words
from hindbrain.vault.items.item_line import read_line

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory
    from hindbrain.memory.tasks.task_line import TaskItem
    from hindbrain.search.dates import DateWindow

RECENT_RUNS = 5
RECENT_DAYS = 7
_MOST_DAYS = 400  # that are looked through
_UNFINISHED_DAYS = 30  # a run that was cancelled longer ago was given up
_FAILED = ("failed", "stuck")
_DAY_S = 86_400.0
_AFTER_ALL = "99:99"  # facts without a time stand at the end of their day


def asked_time(memory: Memory, text: str) -> Timeline | None:
    """The answer to a question about time; None when something else is asked."""
    question = read_question(text, memory.clock.today())
    return None if question is None else _Reader(memory).answer(question)


def recent_runs(memory: Memory) -> Timeline:
    """The last five runs of the last seven days, oldest first."""
    return _Reader(memory).answer(TimeQuestion("recent"))


def entry_text(entry: Happening, *, in_note: bool = False, recent: bool = False) -> str:
    """`Thu 2026-11-12 16:30 deploy the website (done) — Version 1.1 is live`, on one line.

    `in_note`: the note is named above it, so that a day in its name is not said again. `recent`: it is of the
    last days, so that the year is not said: `Thu 12 Nov 16:30`.
    """
    if recent:
        day = day_text(entry.day)
    else:
        day = "" if in_note and entry.day in entry.path else _dated(entry.day)
    when = " ".join(filter(None, (day, entry.time)))
    answer = f" — {entry.answer}" if entry.answer else ""
    if entry.kind == "task" and entry.outcome != "done":
        due = f", due {entry.day}" if entry.day else ""
        return f"{entry.text} (task, {entry.outcome}{due})"
    said = {"decision": "Decided: ", "memory": "Remembered: ", "task": "Task: "}.get(entry.kind, "")
    outcome = f" ({entry.outcome})" if entry.outcome else ""
    return f"{when} {said}{entry.text}{outcome}{answer}".strip()


def heading_text(timeline: Timeline) -> str:
    """What stands above the entries."""
    return f"the last run about {timeline.label!r}" if timeline.kind == "last" else timeline.label


def nothing_text(timeline: Timeline) -> str:
    """What is said where there is nothing."""
    if timeline.kind == "open":
        return "Nothing is open."
    if timeline.kind == "last":
        return f"No run is recorded about {timeline.label!r}."
    if timeline.has_subject:
        return f"Nothing about this is recorded for {timeline.label}."
    return f"Nothing is recorded for {timeline.label}."


def day_text(day: str) -> str:
    """`Thu 12 Nov`, in any locale; the day as it is where it is none."""
    try:
        of = date.fromisoformat(day)
    except ValueError:
        return day
    return f"{_WEEKDAYS[of.weekday()]} {of.day} {_MONTHS[of.month - 1]}"


def _dated(day: str) -> str:
    try:
        return f"{_WEEKDAYS[date.fromisoformat(day).weekday()]} {day}"
    except ValueError:
        return day


_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


class _Reader:
    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._today = memory.clock.today()
        self._problems: list[str] = []
        self._notes: list[str] = []  # of days, that were read

    def answer(self, question: TimeQuestion) -> Timeline:
        if question.kind == "days":
            label, entries = self._of_days(question)
        elif question.kind == "open":
            label, entries = "open", self._open(question)
        elif question.kind == "recent":
            label, entries = f"the last {RECENT_DAYS} days", self._recent(question)
            label += " and open tasks" if question.with_tasks else ""
        else:
            label, entries = question.subject, self._last(question.subject)
        notes, problems = dict.fromkeys(self._notes), dict.fromkeys(self._problems)
        return Timeline(
            question.kind, label, tuple(entries), bool(question.subject), tuple(notes), tuple(problems)
        )

    def _of_days(self, question: TimeQuestion) -> tuple[str, list[Happening]]:
        days = self._days(question.windows)
        label = _period(min(window.start for window in question.windows), self._end(question.windows))
        entries = [entry for day in days for entry in self._day(day)]
        entries += self._facts({day.isoformat() for day in days})
        entries.sort(key=lambda entry: (entry.day, entry.time or _AFTER_ALL))
        if question.only == "failed":
            entries = [entry for entry in entries if entry.outcome in _FAILED]
        return label, _about(question.subject, entries) if question.subject else entries

    def _days(self, windows: Sequence[DateWindow]) -> list[date]:
        last = min(self._end(windows), self._today)
        first = max(min(window.start for window in windows), last - timedelta(days=_MOST_DAYS))
        days = (last - timedelta(days=back) for back in range((last - first).days, -1, -1))
        return [day for day in days if any(window.start <= day < window.end for window in windows)]

    def _end(self, windows: Sequence[DateWindow]) -> date:
        """The last day that is asked for; today where it goes on."""
        last = max(window.end for window in windows) - timedelta(days=1)
        return min(last, max(self._today, min(window.start for window in windows)))

    def _recent(self, question: TimeQuestion) -> list[Happening]:
        runs: list[Happening] = []
        clock = self._memory.clock
        since = clock.local(clock.now() - RECENT_DAYS * _DAY_S).strftime("%Y-%m-%d %H:%M")
        most = question.most or RECENT_RUNS
        for back in range(RECENT_DAYS + 1):
            day = self._runs(self._today - timedelta(days=back))
            runs = [*(run for run in day if f"{run.day} {run.time}" > since), *runs]
            if len(runs) >= most:
                break
        return [*runs[-most:], *(self._tasks() if question.with_tasks else ())]

    def _last(self, subject: str) -> list[Happening]:
        for back in range(_MOST_DAYS):
            if found := _about(subject, self._runs(self._today - timedelta(days=back))):
                return found[-1:]
        return []

    def _open(self, question: TimeQuestion) -> list[Happening]:
        if question.only == "failed":
            return _newest_first(self._issues())
        tasks, issues = self._tasks(), self._issues()
        # What a failure leaves for tomorrow is told by the failure.
        known = {one.text for one in tasks} | {f"{RETRY}{one.text}" for one in issues}
        if question.only == "tasks":
            return [*tasks, *self._boxes(known)]
        failed = {one.text.casefold() for one in issues}
        undone = [*issues, *(run for run in self._cancelled() if run.text.casefold() not in failed)]
        return [*tasks, *_newest_first(undone), *self._boxes(known)]

    # What notes say

    def _day(self, day: date) -> list[Happening]:
        """What the notes of a day tell; where there is none, what its summary tells."""
        memory, name = self._memory, day.isoformat()
        pages = [page for path in memory.day_notes(day) if (page := self._page(path)) is not None]
        self._notes += [str(page.path) for page in pages]
        told = [one for page in pages for one in events_of(page, name, memory.layout.first_lines(page.path))]
        return told if pages else self._summaries.get(name, [])

    def _runs(self, day: date) -> list[Happening]:
        return sorted((one for one in self._day(day) if one.kind == "run"), key=lambda one: one.time)

    @cached_property
    def _summaries(self) -> dict[str, list[Happening]]:
        page = self._page(self._memory.layout.path("summary"))
        return {} if page is None else days_in(page)

    def _facts(self, days: set[str]) -> Iterator[Happening]:
        """What was decided or remembered, and the tasks that were done."""
        for item in self._memory.book.items():
            if item.created in days and not item.superseded:
                kind: HappeningKind = "decision" if item.category == "decision" else "memory"
                yield Happening(
                    kind, item.created, item.text, id=item.id, path=item.path, line=item.line,
                    source=item.source,
                )  # fmt: skip
        yield from (_task(one, one.completed) for one in self._all_tasks("done") if one.completed in days)

    def _tasks(self) -> list[Happening]:
        return [_task(task, task.due) for task in self._all_tasks("")]

    def _all_tasks(self, status: str) -> Sequence[TaskItem]:
        try:
            return self._memory.tasks.list(status=status)
        except HindbrainError as error:
            self._problems.append(f"tasks can't be read ({error.code})")
            return ()

    def _boxes(self, known: Iterable[str]) -> Iterator[Happening]:
        """Open check boxes of memories and of the last days, and what was left for today; not the known."""
        seen = {text.casefold() for text in known}
        for path, day in self._own_notes():
            page = self._page(path)
            for found in read_tasks(page.data, page.path) if page is not None else ():
                if found.task.status in OPEN_STATUSES and found.task.title.casefold() not in seen:
                    seen.add(found.task.title.casefold())
                    yield _task(found.task, day)
        path, lines = self._memory.daily.notes_for_today()
        for line in lines:
            item, box = read_line(line), read_task(line)
            if item.text and not item.struck and box is None and item.text.casefold() not in seen:
                day = self._memory.layout.names_of(path).get("date", "")
                yield Happening(
                    "task", day, item.text, outcome="todo", path=path, source=item.value("source") or "user"
                )

    def _own_notes(self) -> Iterator[tuple[str, str]]:
        """The notes of memories, and those of the last days with their day."""
        memory = self._memory
        try:
            yield from ((path, "") for path in memory.layout.notes_of("memory", memory.root))
        except HindbrainError as error:
            self._problems.append(f"memories can't be read ({error.code})")
        for back in range(NOTES_BACK + 1):
            day = (self._today - timedelta(days=back)).isoformat()
            yield from ((path, day) for path in memory.layout.paths("daily", date=day))

    def _issues(self) -> list[Happening]:
        page = self._page(self._memory.layout.path("issues"))
        return [] if page is None else list(open_issues(page))

    def _cancelled(self) -> list[Happening]:
        """Runs that were cancelled lately and not asked for again since."""
        found: list[Happening] = []
        later: set[frozenset[str]] = set()
        for back in range(_UNFINISHED_DAYS):
            for run in reversed(self._runs(self._today - timedelta(days=back))):
                words = frozenset(run.text.casefold().split())
                if run.outcome == "cancelled" and not any(words <= other for other in later):
                    found.append(run)
                later.add(words)
        return found

    def _page(self, path: str) -> Page | None:
        try:
            return self._memory.notebook.find(path)
        except HindbrainError as error:
            self._problems.append(f"{path!r} can't be read ({error.code})")
            return None


def _task(task: TaskItem, day: str) -> Happening:
    return Happening(
        "task", day, task.title, outcome=task.status, id=task.id, path=task.path, line=task.line,
        source=task.source or "user",
    )  # fmt: skip


def _about(subject: str, entries: Iterable[Happening]) -> list[Happening]:
    """Those that have all telling words of the subject; none for a subject without such words."""
    wanted = _stems(subject)
    return [one for one in entries if wanted and wanted <= _stems(f"{one.text} {one.answer}")]


def _stems(text: str) -> set[str]:
    return {root for root, weight in telling_words(text).weights.items() if weight == 1.0}


def _newest_first(entries: Iterable[Happening]) -> list[Happening]:
    return sorted(entries, key=lambda one: (one.day, one.time), reverse=True)


def _period(first: date, last: date) -> str:
    return first.isoformat() if first >= last else f"{first.isoformat()} to {last.isoformat()}"
