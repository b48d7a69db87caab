"""When a conversation is flushed: shortly before its host compacts it, once in each cycle.

Pure. The state of a cycle is a value; whoever keeps a session's events keeps it. Knows nothing of messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

RESERVE = 20_000  # tokens that a host keeps free for its answer
SOFT_THRESHOLD = 4_000  # tokens before that: the flush itself needs some
FLUSHED, COMPACTED = "flushed", "compacted"  # events of a session


def flush_point(window: int, *, reserve: int = RESERVE, soft_threshold: int = SOFT_THRESHOLD) -> int:
    """The number of tokens from which on a window should be flushed.

    A window that is hardly larger than the reserve would always be due: half of it may fill first.
    """
    return max(window - reserve - soft_threshold, window // 2)


class FlushCycle(NamedTuple):
    """From one compaction to the next."""

    flushed: bool = False

    def is_due(
        self,
        current: int,
        window: int,
        *,
        reserve: int = RESERVE,
        soft_threshold: int = SOFT_THRESHOLD,
    ) -> bool:
        """Is it time, with `current` tokens in a window of that size?"""
        if self.flushed or window <= 0:
            return False
        return current >= flush_point(window, reserve=reserve, soft_threshold=soft_threshold)

    def flush(self) -> FlushCycle:
        """The cycle after a flush whose result is durable; one that failed stays due."""
        return FlushCycle(flushed=True)

    def reset(self) -> FlushCycle:
        """The next cycle, at a compaction."""
        return FlushCycle()


def cycle_after(events: Iterable[str]) -> FlushCycle:
    """The cycle that a session is in, by its events in order; other events do not count."""
    cycle = FlushCycle()
    for event in events:
        if event == FLUSHED:
            cycle = cycle.flush()
        elif event == COMPACTED:
            cycle = cycle.reset()
    return cycle
