"""What failed runs did and like runs that went well did not, and the other way round. Pure.

A difference is judged by its two shares, each drawn half a run towards the middle, since few runs prove
little:

    score = (with + 1/2) / (runs + 1)  -  (with + 1/2) / (runs + 1)

It counts from 0.6 on. What to do is learned from runs that failed, began again and went well, where there
are such: same command, same world. A call all of whose arguments vary is the work itself and never forbidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hindbrain.learn.failures import Failure, Good
from hindbrain.learn.recording.shapes import deeds_of, is_open
from hindbrain.learn.runs.episode import Action

LEAST_SCORE = 0.6  # 3 of 3 against 0 of 1 is 0.63; 4 of 4 against 1 of 3 is 0.53, and often chance
MENDED = 2  # runs that were put right within the run, from which on they alone are compared
MOST_RUNS = 50  # of each side, the newest
_LEAST_SHARE = 2 / 3


class Difference(NamedTuple):
    """One deed that tells the sides apart."""

    deed: str
    failures: int  # runs that failed and did it
    successes: int  # runs that went well and did it
    score: float
    then: str = ""  # what the deed has to come before; "" where the order does not matter
    said: str = ""  # what the tool answered where it failed


class Contrast(NamedTuple):
    failed: int  # runs on each side
    worked: int
    avoid: Difference | None = None
    prefer: Difference | None = None
    instead: str = ""  # a tool that only runs that failed used

    def avoids(self, done: Sequence[str]) -> bool:
        """Did a run leave out what is to be avoided?"""
        return self.avoid is None or self.avoid.deed not in done

    def keeps(self, done: Sequence[str]) -> bool:
        """Did a run keep to what is told? False where nothing is told."""
        if self.avoid is None and self.prefer is None:
            return False
        wanted = self.prefer
        did = wanted is None or (
            _before(done, wanted.deed, wanted.then) if wanted.then else wanted.deed in done
        )
        return did and self.avoids(done)

    @property
    def score(self) -> float:
        """How well the sides are told apart, 0..1."""
        return max((found.score for found in (self.avoid, self.prefer) if found), default=0.0)


class _Sides(NamedTuple):
    failed: list[tuple[str, ...]]
    worked: list[tuple[str, ...]]


def contrast(failures: Sequence[Failure], goods: Sequence[Good]) -> Contrast:
    """Compare the two."""
    failures, goods = failures[-MOST_RUNS:], goods[-MOST_RUNS:]
    own = {failure.episode.run for failure in failures}
    mended = [good for good in goods if good.run in own]
    failed = _done((failure.actions, failure.episode.command) for failure in failures)
    worked = _done((good.actions, good.command) for good in goods)
    told = Contrast(len(failed), len(worked))
    if not worked or (len(worked) < 2 and not any(failure.reason for failure in failures)):
        return told  # one good run tells nothing of failures that do not say why
    whole = _done((good.whole, good.command) for good in goods)
    avoid = _best(_to_avoid(_Sides(failed, whole), _errors(failures)))
    sides = _Sides(failed, worked)
    if len(mended) >= MENDED:
        sides = _Sides(failed, _done((good.actions, good.command) for good in mended))
    prefer = _best(_to_do(sides)) or _best(_orders(sides))
    instead = "" if avoid or not prefer else _instead(prefer.then, sides)
    return told._replace(worked=len(sides.worked), avoid=avoid, prefer=prefer, instead=instead)


def _done(runs: Iterable[tuple[Sequence[Action], str]]) -> list[tuple[str, ...]]:
    """What each run did; runs that tell nothing of it are left out."""
    return list(filter(None, (deeds_of(actions, command) for actions, command in runs)))


def _errors(failures: Sequence[Failure]) -> dict[str, str]:
    """Of deeds that a tool answered with an error, what it said last."""
    return {
        deed: action.said
        for failure in failures
        for action in failure.actions
        if not action.ok and action.said
        for deed in deeds_of([action], failure.episode.command)
    }


def _to_avoid(sides: _Sides, errors: Mapping[str, str]) -> Iterator[Difference]:
    for deed in _common(sides.failed):
        found = _difference(deed, sides)
        if not is_open(deed) and -found.score >= LEAST_SCORE:
            yield found._replace(score=-found.score, said=errors.get(deed, ""))


def _to_do(sides: _Sides) -> Iterator[Difference]:
    for deed in _common(sides.worked):
        found = _difference(deed, sides)
        if found.score >= LEAST_SCORE:
            yield found._replace(then=_next(deed, sides))


def _difference(deed: str, sides: _Sides) -> Difference:
    """How much more often runs that went well did it."""
    failed, worked = (sum(deed in done for done in side) for side in (sides.failed, sides.worked))
    score = (worked + 0.5) / (len(sides.worked) + 1) - (failed + 0.5) / (len(sides.failed) + 1)
    return Difference(deed, failed, worked, round(score, 4))


def _orders(sides: _Sides) -> Iterator[Difference]:
    """What runs that went well do first, where the others do the second thing without it or before it."""
    common = [deed for deed in _common(sides.worked) if any(deed in done for done in sides.failed)]
    for first in common:
        for then in common:
            right = [
                sum(_before(done, first, then) for done in side) for side in (sides.failed, sides.worked)
            ]
            wrong = sum(then in done and not _before(done, first, then) for done in sides.failed)
            score = (right[1] + 0.5) / (len(sides.worked) + 1) - (right[0] + 0.5) / (len(sides.failed) + 1)
            if first != then and wrong >= _LEAST_SHARE * len(sides.failed) and score >= LEAST_SCORE:
                yield Difference(first, right[0], right[1], round(score, 4), then)


def _best(found: Iterator[Difference]) -> Difference | None:
    """The highest score; among equals what names more, then what was done first."""
    return max(found, key=lambda one: (one.score, not is_open(one.deed)), default=None)


def _next(deed: str, sides: _Sides) -> str:
    """What follows it in most runs that went well, and is done by most that failed without it."""
    following = Counter(
        done[at + 1] for done in sides.worked if deed in done and (at := done.index(deed)) + 1 < len(done)
    )
    for then, count in following.most_common(1):
        often = sum(then in done for done in sides.failed) >= _LEAST_SHARE * len(sides.failed)
        if often and count >= _LEAST_SHARE * len(sides.worked):
            return then
    return ""


def _instead(then: str, sides: _Sides) -> str:
    """The tool that most failed runs used right before `then`, for this and that, and none that went well."""
    worked = {tool_of(deed) for done in sides.worked for deed in done}
    used = Counter(tool_of(done[done.index(then) - 1]) for done in sides.failed if then in done[1:])
    often = (tool for tool, count in used.items() if count >= _LEAST_SHARE * len(sides.failed))
    return next((f"{tool}(…)" for tool in often if tool and tool not in worked), "")


def tool_of(deed: str) -> str:
    """ "" for a command line."""
    name, bracket, _ = deed.partition("(")
    return name if bracket and deed.endswith(")") and " " not in name else ""


def _common(runs: Sequence[tuple[str, ...]]) -> list[str]:
    """What two thirds of them did, in the order in which it was done first."""
    counts = Counter(deed for done in runs for deed in done)
    return [deed for deed, count in counts.items() if count >= _LEAST_SHARE * len(runs)]


def _before(done: Sequence[str], first: str, then: str) -> bool:
    return first in done and then in done and done.index(first) < done.index(then)
