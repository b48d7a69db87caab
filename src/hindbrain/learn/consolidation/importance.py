"""How important an event of a daily log is: the formula of the reference, with its reasons. Pure.

    score = (0.5 + 0.3 decision + 0.2 "important" + 0.25 "remember" + 0.15 recurring)
            x max(0.1, 1 - days / 365), at most 1

From a threshold on an event becomes a fact. With the usual 0.6 a decision counts for 91 days, what only came
back again and again for 28, and a plain event never: it stays in its daily note.
"""

from __future__ import annotations

from typing import NamedTuple

from hindbrain.base.plural import plural

BASE = 0.5
DECISION, IMPORTANT, REMEMBER, RECURRING = 0.3, 0.2, 0.25, 0.15
YEAR_DAYS = 365
LEAST_DECAY = 0.1


class Thresholds(NamedTuple):
    """What the owner may set of consolidation."""

    age_days: int = 7  # daily notes that are older become facts
    importance: float = 0.6  # of an event that becomes a fact
    daily_days: int = 30  # that a daily note stays before it is archived


class Importance(NamedTuple):
    value: float  # 0..1
    why: tuple[str, ...]  # "decision +0.3", "8 days old x0.98"


def importance(
    *, decision: bool = False, feedback: str = "", recurring: bool = False, days_old: int = 0
) -> Importance:
    """`feedback`: what the user said of the event; "" when they said nothing."""
    said = feedback.lower()
    parts = [
        ("decision", DECISION, decision),
        ("important", IMPORTANT, "important" in said),
        ("remember", REMEMBER, "remember" in said),
        ("recurring", RECURRING, recurring),
    ]
    given = [(name, worth) for name, worth, holds in parts if holds]
    score = BASE + sum(worth for _, worth in given)
    left = decay(days_old)
    why = [f"{name} +{worth:g}" for name, worth in given]
    if days_old:
        why.append(f"{plural(days_old, 'day')} old x{left:.2f}")
    # Rounded where floats would put 0.6 just below 0.6.
    return Importance(min(1.0, round(score * left, 6)), tuple(why))


def decay(days: float) -> float:
    """What is left of an importance after so many days: linear over a year, a tenth ever after."""
    return max(LEAST_DECAY, 1.0 - max(0.0, days) / YEAR_DAYS)
