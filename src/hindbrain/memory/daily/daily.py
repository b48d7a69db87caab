"""What happened, day by day: sessions and events in the note of the day.

The day and the time are its owner's, in the time zone of this machine. Knows nothing of tools and commands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.memory.daily.daily_note import END, EVENTS, START, TOMORROW, add_block, add_items, last_time
from hindbrain.memory.items.item_text import escape, fold
from hindbrain.memory.items.typed_text import without_mark

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.memory.notes.notebook import Notebook, Page
    from hindbrain.vault.layout import Layout

_MAX_TEXT = 5_000  # characters of one line of a day
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Logged(NamedTuple):
    """What was added, and where."""

    path: str
    text: str  # the line or heading as it stands in the note


def local_time(seconds: float) -> datetime:
    """The moment as clocks on the wall show it here."""
    return datetime.fromtimestamp(seconds).astimezone()


class Daily:
    def __init__(self, notebook: Notebook, layout: Layout, clock: Clock) -> None:
        self._notebook = notebook
        self._layout = layout
        self._clock = clock

    def path(self, day: date | str | None = None) -> str:
        """The note of a day (YYYY-MM-DD; today when none is given): where it is, else where it would be."""
        name = _day_name(day) if day is not None else self._now().date().isoformat()
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
        """Add `- [HH:MM] text` to the events of the day."""
        moment = self._moment(at)
        line = f"- [{moment:%H:%M}] {_line('text', without_mark(text))}"
        path = self._edit(moment, lambda data, path: add_items(data, EVENTS, [line], path))
        return Logged(path, line)

    def start_session(self, context: str = "") -> Logged:
        moment = self._now()
        lines = [f"- **Time**: {moment:%H:%M:%S}"]
        if context.strip():
            lines.append(f"- **Context**: {_line('context', context)}")
        path = self._edit(moment, lambda data, path: add_items(data, START, lines, path))
        return Logged(path, lines[0])

    def end_session(self, notes: Iterable[str] = (), *, next_scheduled: str = "") -> Logged:
        """End the session that began last; `notes` are for tomorrow."""
        moment = self._now()
        lines = [f"- **Time**: {moment:%H:%M:%S}"]
        if duration := self._since_start(moment):
            lines.append(f"- **Duration**: {duration}")
        if next_scheduled.strip():
            lines.append(f"- **Next scheduled**: {_line('time', next_scheduled)}")
        remarks = [f"- {escape(_line('note', note))}" for note in notes if note.strip()]

        def change(data: bytes, path: str) -> bytes:
            data = add_items(data, END, lines, path)
            return add_items(data, TOMORROW, remarks, path) if remarks else data

        return Logged(self._edit(moment, change), lines[0])

    def _since_start(self, now: datetime) -> str:
        """How long the session lasted; "" when its start is not known. It may have begun before midnight."""
        for days in (0, 1):
            page = self.read(now.date() - timedelta(days=days))
            began = None if page is None else last_time(page.data, START)
            if page is None or began is None:
                continue
            seconds = days * 86_400 + now.hour * 3600 + now.minute * 60 + now.second - began
            ended = last_time(page.data, END) if days else None
            if 0 <= seconds < 86_400 and (ended is None or ended < began):
                return f"{seconds // 3600}h {seconds % 3600 // 60}m"
        return ""

    def _now(self) -> datetime:
        return local_time(self._clock.now())

    def _moment(self, at: float | None) -> datetime:
        return self._now() if at is None else local_time(at)

    def _edit(self, moment: datetime, change: Callable[[bytes, str], bytes]) -> str:
        day = moment.date().isoformat()
        path = self.path(day)

        def apply(page: Page | None) -> bytes:
            if page is not None:
                return change(page.data, path)
            return change(self._layout.first_text("daily", today=day, date=day).encode(), path)

        self._notebook.edit(path, apply)
        return path


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
