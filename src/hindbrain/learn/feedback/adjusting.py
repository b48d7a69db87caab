"""From facts about a memory to its importance: what each fact adds, never more than 0.2 in all. Pure.

    runs      0.3 x lift, between -0.15 and +0.15       (lift: learn/feedback/returns)
    recalled  0.05 x min(1, ln(1 + n) / 3)              n: times it answered, an old one counts less
    edited    +0.10                                     somebody else than us put its words right
    kept      +0.02 each, +0.04 at most                 they edited its note and let it stand

The importance that stands in the note is never rewritten: this is added where things are ranked.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hindbrain.search.adjustments import MOST, moved

_RUNS, _MOST_BY_RUNS = 0.3, 0.15
_RECALLED = 0.05
_EDITED = 0.10
_KEPT, _MOST_KEPT = 0.02, 2
RECALL_HALF_LIFE_DAYS = 90.0
_DIGITS = 3
BOUND = "bound"  # the part that brings the others back within what is allowed


class Facts(NamedTuple):
    """What is known of one memory or note."""

    lift: float = 0.0  # -1..1
    recalled: float = 0.0  # times that it answered; one of 90 days ago counts as half
    edited: bool = False
    kept: int = 0  # edits of its note, by others than us, that left it as it was


class Adjusted(NamedTuple):
    value: float  # 0..1
    parts: tuple[tuple[str, float], ...]  # what was added, by name; value = base + their sum


def adjusted(base: float, facts: Facts) -> Adjusted:
    """At most 0.2 from the base, and within 0..1."""
    parts = parts_of(facts)
    wanted = base + sum(part for _, part in parts)
    value = moved(base, _total(parts))
    over = round(value - wanted, _DIGITS)
    return Adjusted(value, (*parts, (BOUND, over)) if over else parts)


def parts_of(facts: Facts) -> tuple[tuple[str, float], ...]:
    """What each fact adds, whatever the base; those that add nothing are left out."""
    told = (
        ("runs", max(-_MOST_BY_RUNS, min(_MOST_BY_RUNS, _RUNS * facts.lift))),
        ("recalled", _RECALLED * min(1.0, math.log1p(max(0.0, facts.recalled)) / 3)),
        ("edited", _EDITED if facts.edited else 0.0),
        ("kept", _KEPT * min(_MOST_KEPT, facts.kept)),
    )
    rounded = ((name, round(part, _DIGITS)) for name, part in told)
    return tuple((name, part) for name, part in rounded if part)


def change_of(facts: Facts) -> tuple[float, tuple[tuple[str, float], ...]]:
    """What is added to an importance in the middle of its range, and its parts, which add up to it."""
    parts = parts_of(facts)
    change = _total(parts)
    over = round(change - sum(part for _, part in parts), _DIGITS)
    return change, (*parts, (BOUND, over)) if over else parts


def _total(parts: tuple[tuple[str, float], ...]) -> float:
    return max(-MOST, min(MOST, round(sum(part for _, part in parts), _DIGITS)))
