"""What happened, day by day: sessions and events in the note of the day.

The day and the time are its owner's, in the time zone of this machine. Knows nothing of tools and commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hindbrain.base.errors import UsageError
from hindbrain.memory.daily.daily_note import (
    END,
    EVENTS,
    START,
    TOMORROW,
    add_block,
    add_items,
    remove_items,
    section_lines,
    times,
)
from hindbrain.memory.items.typed_text import without_mark
from hindbrain.vault.items.item_text import fold

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.memory.notes.notebook import Change, Page
    from hindbrain.memory.notes.own_lines import OwnLines
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.write import Written

_MAX_TEXT = 5_000  # characters of one line of a day
_MOST_NOTES = 10  # for tomorrow, on one day
NOTES_BACK = 7  # days in which notes for tomorrow are looked for: a holiday lies between
_MARK = re.compile(r" \[source:: [a-z]+\]$")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Logged(NamedTuple):
    """What was added, and where."""

    path: str
    text: str  # the line or heading as it stands in the note
    removed: tuple[str, ...] = ()  # kinds of secrets that were taken out


class Session(NamedTuple):
    """A stretch of work: a conversation or a run. Times are seconds since the epoch."""

    began: float
    ended: float = 0.0  # 0 while it goes on
    context: str = ""  # one line: where or on what was worked


class OpenNote(NamedTuple):
    """What remains to be done, as Markdown of one line."""

    text: str
    source: str = "user"  # whose word it is


class Notes(Protocol):
    """What a day needs of a notebook."""

    def find(self, path: str) -> Page | None: ...

    def edit(self, path: str, change: Change) -> Written | None: ...


class Daily:
    def __init__(self, notebook: Notes, layout: Layout, clock: Clock, own: Callable[[], OwnLines]) -> None:
        self._notebook = notebook
        self._layout = layout
        self._clock = clock
        self._own = own

    def path(self, day: date | str | None = None) -> str:
        """The note of a day (YYYY-MM-DD; today when none is given): where it is, else where it would be."""
        name = _day_name(day) if day is not None else self._clock.today().isoformat()
        places = self._layout.paths("daily", date=name)
        if len(places) == 1:
            return places[0]
        return next((place for place in places if self._notebook.find(place) is not None), places[0])

    def read(self, day: date | str | None = None) -> Page | None:
        """None when nothing was written that day."""
        return self._notebook.find(self.path(day))

    def add_event(self, title: str, fields: Mapping[str, str], *, at: float | None = None) -> Logged:
        """Add `### HH:MM - Title` with a line for each field to the events of the day."""
        moment = self._moment(at)
        heading = f"{moment:%H:%M} - {_line('title', title)}"
        lines = [f"- **{_key(key)}**: {_line(key, value)}" for key, value in fields.items()]
        path = self._edit(moment, lambda data, path: add_block(data, EVENTS, heading, lines, path))
        return Logged(path, heading)

    def add_line(self, text: str, *, at: float | None = None) -> Logged:
        """Add `- [HH:MM] text`, without secrets, to the events of the day."""
        from hindbrain.base.secrets import redact

        text, removed = redact(text)
        moment = self._moment(at)
        line = f"- [{moment:%H:%M}] {_line('text', without_mark(text))}"
        path = self._edit(moment, lambda data, path: add_items(data, EVENTS, [line], path))
        return Logged(path, line, tuple(removed))

    def log_session(
        self, session: Session, *, remaining: Sequence[OpenNote] = (), settled: Iterable[str] = ()
    ) -> None:
        """Note when the day's work began and ended, and what remains for tomorrow.

        A day has one start, that of its first session, and one end, which moves with each later one. Times
        that somebody else wrote stay. `settled` are remaining notes of ours that no longer hold.
        """
        local = self._clock.local
        began, ended = local(session.began), local(session.ended) if session.ended else None
        if ended is None or ended.date() != began.date():
            self._log(began, DayEntry(began, None, session.context))
        if ended is not None:
            entry = DayEntry(began, ended, session.context, tuple(remaining), frozenset(settled))
            self._log(ended, entry)

    def _log(self, day: datetime, entry: DayEntry) -> None:
        path, own = self.path(day.date()), self._own()
        page = self._notebook.find(path)
        change = entry.change(day, path, b"" if page is None else page.data, own)

        def apply(page: Page | None) -> bytes | None:
            before = page.data if page is not None else self._first_text(day)
            after = change(before)
            return None if page is not None and after == before else after

        self._notebook.edit(path, apply)
        own.note(path, entry.notes())

    def notes_for_today(self) -> tuple[str, list[str]]:
        """The path and the notes of the last day before today that has some; ("", []) when none has."""
        today = self._now().date()
        for back in range(1, NOTES_BACK + 1):
            page = self.read(today - timedelta(days=back))
            if page is not None and (lines := section_lines(page.data, TOMORROW)):
                return str(page.path), lines
        return "", []

    def _now(self) -> datetime:
        return self._clock.local(self._clock.now())

    def _moment(self, at: float | None) -> datetime:
        return self._now() if at is None else self._clock.local(at)

    def _edit(self, moment: datetime, change: Callable[[bytes, str], bytes]) -> str:
        day = moment.date().isoformat()
        path = self.path(day)

        def apply(page: Page | None) -> bytes:
            return change(page.data if page is not None else self._first_text(moment), path)

        self._notebook.edit(path, apply)
        return path

    def _first_text(self, moment: datetime) -> bytes:
        day = moment.date().isoformat()
        return self._layout.first_text("daily", today=day, date=day).encode()


class DayEntry(NamedTuple):
    """What a session adds to the note of a day."""

    began: datetime
    ended: datetime | None = None
    context: str = ""
    remaining: tuple[OpenNote, ...] = ()
    settled: frozenset[str] = frozenset()

    def change(self, day: datetime, path: str, data: bytes, own: OwnLines) -> Callable[[bytes], bytes]:
        """The edit of the note of that day, which holds `data` now. Lines that it may write become ours."""
        start, end = self._start_lines(day), self._end_lines(day, data)
        own.note(path, end)
        # A note that is ours and is not there was taken out by its owner.
        notes = [line for line in self.notes() if not own.is_ours(path, line)]

        def is_ours(line: str) -> bool:
            return own.is_ours(path, line)

        def apply(data: bytes) -> bytes:
            if start and not section_lines(data, START):
                data = add_items(data, START, start, path)
            if end and all(map(is_ours, section_lines(data, END))) and self._is_later(data):
                data = add_items(remove_items(data, END, is_ours, path), END, end, path)
            data = without_settled(data, path, self.settled, is_ours)
            there = [line.strip() for line in section_lines(data, TOMORROW)]
            fresh = [line for line in notes if line not in there][: max(0, _MOST_NOTES - len(there))]
            return add_items(data, TOMORROW, fresh, path) if fresh else data

        return apply

    def notes(self) -> list[str]:
        """The lines for tomorrow. Once they stand in the note, they are to be noted as ours."""
        return [
            f"- {_line('note', note.text)}" + (f" [source:: {note.source}]" if note.source != "user" else "")
            for note in dict.fromkeys(self.remaining)
        ]

    def _start_lines(self, day: datetime) -> list[str]:
        if self.began.date() != day.date():
            return []
        context = [f"- **Context**: {_line('context', self.context)}"] if self.context.strip() else []
        return [f"- **Time**: {self.began:%H:%M}", *context]

    def _end_lines(self, day: datetime, data: bytes) -> list[str]:
        """The duration counts from the start that the note names."""
        if self.ended is None:
            return []
        at = _seconds(self.ended)
        if self.began.date() == day.date():
            since = min((*times(data, START)[:1], _seconds(self.began)))
        else:
            since = at - int((self.ended - self.began).total_seconds())
        minutes = max(0, at - since) // 60
        return [f"- **Time**: {self.ended:%H:%M}", f"- **Duration**: {minutes // 60}h {minutes % 60}m"]

    def _is_later(self, data: bytes) -> bool:
        return self.ended is not None and max(times(data, END), default=-1) < _seconds(self.ended)


def _seconds(moment: datetime) -> int:
    """Of its day, to the minute."""
    return moment.hour * 3600 + moment.minute * 60


def without_settled(data: bytes, path: str, settled: Set[str], is_ours: Callable[[str], bool]) -> bytes:
    """The note without our notes for tomorrow that no longer hold."""
    gone = {f"- {text}" for text in settled}
    return remove_items(
        data, TOMORROW, lambda line: is_ours(line) and _MARK.sub("", line.strip()) in gone, path
    )


def _day_name(day: date | str) -> str:
    if isinstance(day, date):
        return day.isoformat()
    try:
        return date.fromisoformat(day).isoformat() if _DAY.fullmatch(day) else _no_day(day)
    except ValueError:
        return _no_day(day)


def _no_day(day: str) -> str:
    raise UsageError(f"{day!r} is no day; write it as YYYY-MM-DD")


def _line(what: str, text: str) -> str:
    """One line of text. UsageError when it is empty or too long."""
    folded = fold(text)
    if not folded:
        raise UsageError(f"the {what} of a line in the daily note is empty")
    if len(folded) > _MAX_TEXT:
        raise UsageError(f"{folded[:40]!r}... has {len(folded)} characters; at most {_MAX_TEXT}, use a note")
    return folded


def _key(key: str) -> str:
    return _line("name of a field", key).replace("*", "").rstrip(":") or "Note"
