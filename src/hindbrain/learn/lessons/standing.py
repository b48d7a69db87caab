"""How far a lesson is to be trusted, and whether it still applies. Pure.

    confidence = n / (n + 1.5)  x  (0.7 + 0.3 contrast)  x  (heeded + 2) / (heeded + in vain + 2)

n: runs that failed so, and later ones that kept to it and went well; contrast: the best score, 0..1. A lesson
that is followed and still fails loses: twice in vain halves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.lessons.lesson import State

RECURS = 3  # failures after the lesson was there, from which on it is escalated
FADED = 0.3  # confidence below which it is retired
REFUTED = 5  # so many last similar runs did what it says to avoid and went well
STALE_S = 180 * 86400.0  # without a similar run


class Later(NamedTuple):
    """A similar run after the lesson was there."""

    at: float  # when it ended
    ok: bool
    kept: bool  # to the lesson
    avoided: bool  # did not do what the lesson says to avoid


class Tally(NamedTuple):
    heeded: int
    in_vain: int
    recurred: int  # failed again, not keeping to it


def tally(later: Sequence[Later]) -> Tally:
    return Tally(
        sum(run.ok and run.kept for run in later),
        sum(not run.ok and run.kept for run in later),
        sum(not run.ok and not run.kept for run in later),
    )


def confidence(failures: int, contrast: float, counts: Tally) -> float:
    n = failures + counts.heeded
    kept = (counts.heeded + 2) / (counts.heeded + counts.in_vain + 2)
    return round(n / (n + 1.5) * (0.7 + 0.3 * contrast) * kept, 2)


def state(
    trust: float, counts: Tally, later: Sequence[Later], *, has_avoid: bool, last: float, now: float
) -> State:
    """`last`: the end of the last similar run; `now`: of the last run of all."""
    ending = later[-REFUTED:]
    refuted = has_avoid and len(ending) == REFUTED and all(run.ok and not run.avoided for run in ending)
    if refuted or trust < FADED or now - last > STALE_S:
        return "retired"
    return "escalated" if counts.recurred >= RECURS else "active"
