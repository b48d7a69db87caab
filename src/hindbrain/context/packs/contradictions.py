"""What was learned must not contradict itself in one pack: "do not `npm test`" beside "2. `npm test`".

A match contradicts another one when it says not to make a call that the other one says to make, or when it
says that exactly the calls failed that the other one says to make, or when its user took back a command that
went well in the other one. The side with the better evidence stays:
the more trusted source, then more runs, then the newer one, then the warning.
Pure. Knows nothing of notes, budgets and slots' texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hindbrain.context.packs.learned import Match, Matches
from hindbrain.memory.policy.provenance import trust_rank

_CALL = re.compile(r"[\w.:/-]+\((.*?)(?:, [\w.-]+: .*)?\)?", re.DOTALL)  # its first argument
_ANYTHING = re.compile(r"\\\{\w+\\\}|…")  # in a pattern that is escaped
_CUT = "…"


class Settled(NamedTuple):
    """Matches of which no two contradict each other, and those that had to go, each with its slot."""

    matches: Matches
    left_out: tuple[tuple[str, Match], ...] = ()


def settle(
    matches: Matches, slots: Sequence[str], shown_in: Callable[[Matches, str], Sequence[Match]]
) -> Settled:
    """Take the weaker side out of each contradiction. `shown_in` gives what a slot would show of them."""
    left_out: list[tuple[str, Match]] = []
    while True:
        shown = [(slot, one) for slot in slots for one in shown_in(matches, slot)]
        if (weaker := _weaker_side(shown)) is None:
            return Settled(matches, tuple(left_out))
        left_out.append(weaker)
        matches = _without(matches, weaker[1])


def contradicts(warning: Match, other: Match) -> bool:
    """Does `warning` say not to do what `other` says to do?"""
    if any(is_same_call(avoided, call) for avoided in warning.avoid for call in other.do):
        return True
    if warning.taken_back and _plain(warning.taken_back) in map(_plain, other.went_well):
        return True
    same_length = 0 < len(warning.failed) == len(other.do)
    return same_length and all(map(is_same_call, other.do, warning.failed))


def is_same_call(pattern: str, call: str) -> bool:
    """Is it the call that the pattern names? `{name}` in the pattern stands for anything, `…` for the rest.

    `npm test`, as people write it, is also the call of a tool whose first argument it is.
    """
    pattern, call = _plain(pattern), _plain(call)
    argument, other = _CALL.fullmatch(pattern), _CALL.fullmatch(call)
    if argument and not other:
        pattern = argument[1]
    elif other and not argument:
        call = other[1]
    if call.endswith(_CUT):
        return pattern.startswith(call.removesuffix(_CUT))
    return (
        bool(pattern) and re.fullmatch(_ANYTHING.sub(".*", re.escape(pattern)), call, re.DOTALL) is not None
    )


def _weaker_side(shown: Sequence[tuple[str, Match]]) -> tuple[str, Match] | None:
    """The side of the first contradiction that has to go; None where there is no contradiction."""
    for warning in shown:
        for other in shown:
            if warning[1] is not other[1] and contradicts(warning[1], other[1]):
                return other if _is_stronger(warning[1], other[1]) else warning
    return None


def _is_stronger(warning: Match, other: Match) -> bool:
    mine, theirs = ((-trust_rank(one.source), one.evidence) for one in (warning, other))
    if mine != theirs:
        return mine > theirs
    return not (warning.time and other.time) or warning.time >= other.time


def _without(matches: Matches, match: Match) -> Matches:
    def kept(some: tuple[Match, ...]) -> tuple[Match, ...]:
        return tuple(one for one in some if one is not match)

    return matches._replace(
        lessons=kept(matches.lessons), templates=kept(matches.templates), skills=kept(matches.skills),
        runs=kept(matches.runs),
    )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(text.casefold().replace("`", "").split())
