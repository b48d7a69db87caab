"""Runs over time: by calendar week where that shows something, else the same number of runs in each. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise

from hindbrain.base.clock import local_time
from hindbrain.learn.stats.figures import By, Counts, Period

_LEAST_WEEKS, _MOST_WEEKS = 4, 26
_MOST_PARTS = 20
_LEAST_RUNS = 5  # in a part: fewer jump between 0 and 100 %
_NONE = Counts()


def periods_of(ends: Sequence[float]) -> tuple[By, list[tuple[Period, slice]]]:
    """Which runs belong to which period. `ends`: seconds since the epoch, ascending."""
    if not ends:
        return "runs", []
    starts = _weeks(ends[0], ends[-1])
    if not starts:
        return "runs", _parts(ends)
    found: list[tuple[Period, slice]] = []
    at = 0
    for start, stop in pairwise(starts):
        first = at
        while at < len(ends) and ends[at] < stop:
            at += 1
        found.append((Period(start, stop, _NONE), slice(first, at)))
    return "week", found


def _weeks(first: float, last: float) -> list[float]:
    """Mondays at midnight, from the one before the first run to the one behind the last; [] when too few or
    too many. By the calendar, so that a week with another hour in it is a week."""
    day = local_time(first).replace(hour=0, minute=0, second=0, microsecond=0, tzinfo=None)
    monday = day - timedelta(days=day.weekday())
    found = [monday.timestamp()]
    while found[-1] <= last and len(found) <= _MOST_WEEKS + 1:
        monday += timedelta(days=7)
        found.append(monday.timestamp())
    return found if _LEAST_WEEKS <= len(found) - 1 <= _MOST_WEEKS else []


def _parts(ends: Sequence[float]) -> list[tuple[Period, slice]]:
    parts = max(1, min(_MOST_PARTS, len(ends) // _LEAST_RUNS))
    edges = [len(ends) * part // parts for part in range(parts + 1)]
    return [
        (Period(ends[start], ends[stop - 1], _NONE), slice(start, stop)) for start, stop in pairwise(edges)
    ]
