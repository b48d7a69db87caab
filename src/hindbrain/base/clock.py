"""Time as a value that callers pass in, so that tests can choose it."""

import time
from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Seconds since the epoch, UTC."""
        ...


class SystemClock:
    def now(self) -> float:
        return time.time()


class FakeClock:
    """Stands still until it is told to move."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        self._now += seconds
