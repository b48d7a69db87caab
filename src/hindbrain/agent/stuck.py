"""Does a run go round in circles? The same actions with the same results, three times in a row. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

TIMES = 3
_LONGEST_CIRCLE = 2  # actions: one that is repeated, or two by turns


class Deed(NamedTuple):
    """One action and what came of it, as far as two of them can be told apart."""

    name: str
    arguments: str  # as one text, the same for the same arguments
    result: str  # a digest


def circle(deeds: Sequence[Deed]) -> frozenset[Deed]:
    """The actions that the last deeds do again and again; none while something changes."""
    for length in range(1, _LONGEST_CIRCLE + 1):
        last = deeds[-length * TIMES :]
        if len(last) == length * TIMES and all(
            deed == last[at % length] for at, deed in enumerate(last)
        ):  # fmt: skip
            return frozenset(last)
    return frozenset()


def advice(found: frozenset[Deed]) -> str:
    """What a model is told that goes round in circles."""
    names = " and ".join(sorted({f"`{deed.name}`" for deed in found}))
    return (
        f"You have done {names} {TIMES} times with the same arguments and the same result. "
        "Doing it again will change nothing: try something else, or say what keeps you from going on."
    )
