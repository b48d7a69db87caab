"""Time as a value that callers pass in, so that tests can choose it.

The only module that knows the owner's time zone, which is the system's. Every other module asks here which
day it is, or which day a moment belongs to.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import date, datetime, tzinfo

_EPOCH_ORDINAL = 719_163  # of 1970-01-01


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...

    def local(self, seconds: float) -> datetime:
        """A moment in the owner's time zone."""
        ...

    def today(self) -> date:
        """The day on the owner's calendar."""
        ...

    def midnight(self, day: date) -> float:
        """When a day of the owner begins, in seconds since the epoch."""
        ...


def local_time(seconds: float) -> datetime:
    """A moment in the system's time zone, for text about the past. Where there is a clock, ask the clock."""
    from datetime import datetime

    return datetime.fromtimestamp(seconds).astimezone()


def _midnight(day: date, zone: tzinfo | None) -> float:
    from datetime import datetime

    try:
        return datetime(day.year, day.month, day.day, tzinfo=zone).timestamp()
    except (OverflowError, ValueError, OSError):  # years that the system has no local time for
        return (day.toordinal() - _EPOCH_ORDINAL) * 86_400.0


class SystemClock:
    def now(self) -> float:
        return time.time()

    def local(self, seconds: float) -> datetime:
        return local_time(seconds)

    def today(self) -> date:
        return self.local(self.now()).date()

    def midnight(self, day: date) -> float:
        return _midnight(day, None)


class FakeClock:
    """Stands still until it is told to move."""

    def __init__(self, now: float = 1_700_000_000.0, zone: tzinfo | None = None) -> None:
        """`zone`: the owner's; None: the system's."""
        self._now = now
        self._zone = zone

    def now(self) -> float:
        return self._now

    def local(self, seconds: float) -> datetime:
        return local_time(seconds).astimezone(self._zone)

    def today(self) -> date:
        return self.local(self._now).date()

    def midnight(self, day: date) -> float:
        return _midnight(day, self._zone)

    def advance(self, seconds: float) -> None:
        self._now += seconds
