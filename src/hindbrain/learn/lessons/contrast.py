"""What failed runs did and similar runs that went well did not, and the other way round. Pure.

A difference is judged by its two shares, each drawn half a run towards the middle, since few runs prove
little:

    score = (with + 1/2) / (runs + 1) of one side  -  the same of the other side

It counts from 0.6 on, when two thirds of its own side show it and two runs went well. The best one to avoid
and the best one to do are told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.learn.lessons.deeds import Deeds, Masking, is_bare, tool_of
from hindbrain.learn.lessons.failures import Failure, before, since
from hindbrain.learn.runs.episode import Episode

Kind: TypeAlias = Literal["done", "failed", "looped", "idle"]
LEAST_SCORE = 0.6  # 3 of 3 against 0 of 2 is 0.71; 4 of 4 against 1 of 3 is 0.53, and often chance
LEAST_WORKED = 2
LEAST_SHARE = 2 / 3
MOST_RUNS = 50  # of each side, the newest: more change nothing but the time it takes


class Difference(NamedTuple):
    """One deed that tells the sides apart."""

    deed: str  # "" for runs that did nothing
    kind: Kind = "done"
    failures: int = 0  # runs that failed and show it
    successes: int = 0  # runs that went well and show it
    score: float = 0.0
    then: str = ""  # what the deed has to come before; "" where the order does not matter
    said: str = ""  # what the tool answered


class Contrast(NamedTuple):
    failed: int  # runs on each side
    worked: int  # that tell what they did
    avoid: Difference | None = None
    prefer: Difference | None = None
    tried: tuple[str, ...] = ()  # what most failed runs did, for when nothing has worked yet

    def avoids(self, run: Deeds) -> bool:
        """Did the run leave out what is to be avoided?"""
        if self.avoid is None:
            return True
        if self.avoid.kind == "idle":
            return bool(run.done)
        shown = {"done": run.done, "failed": run.failed, "looped": run.looped}[self.avoid.kind]
        return self.avoid.deed not in shown

    def keeps(self, run: Deeds) -> bool:
        """Did the run keep to what is told? False where nothing is told."""
        if self.avoid is None and self.prefer is None:
            return False
        wanted = self.prefer
        did = wanted is None or (
            run.before(wanted.deed, wanted.then) if wanted.then else wanted.deed in run.done
        )
        return did and self.avoids(run)

    @property
    def score(self) -> float:
        """How well the sides are told apart, 0..1."""
        return max((found.score for found in (self.avoid, self.prefer) if found), default=0.0)


class _Sides(NamedTuple):
    failed: list[Deeds]
    worked: list[Deeds]  # since the last rejection
    spoilt: list[frozenset[str]]  # of each that worked: what it did before, which tells nothing


def masking_of(failures: Sequence[Failure], successes: Sequence[Episode]) -> Masking:
    return Masking(
        [(failure.episode.command, failure.actions) for failure in failures[-MOST_RUNS:]],
        [(episode.command, since(episode)) for episode in successes[-MOST_RUNS:]],
    )


def contrast(failures: Sequence[Failure], successes: Sequence[Episode], masking: Masking) -> Contrast:
    """Compare the two. Runs that tell nothing of what they did are left out, unless others do."""
    failures, successes = failures[-MOST_RUNS:], successes[-MOST_RUNS:]
    if not any(failure.actions for failure in failures) and not any(run.actions for run in successes):
        return Contrast(len(failures), len(successes))
    known = [episode for episode in successes if episode.actions]
    sides = _Sides(
        [masking.deeds(failure.actions) for failure in failures],
        [masking.deeds(since(episode)) for episode in known],
        [frozenset(masking.deeds(before(episode)).done) for episode in known],
    )
    if len(sides.worked) < LEAST_WORKED:
        return Contrast(len(sides.failed), len(sides.worked), tried=_common(sides.failed))
    avoid = _best(_to_avoid(sides))
    prefer = _best(_to_do(sides)) or _best(_orders(sides))
    if avoid is not None and prefer is not None and avoid.deed == prefer.deed:
        avoid = None  # an order: the deed itself is right
    return Contrast(len(sides.failed), len(sides.worked), avoid, prefer, _common(sides.failed))


def _to_avoid(sides: _Sides) -> Iterable[Difference]:
    shows: dict[Kind, Callable[[Deeds], frozenset[str] | tuple[str, ...]]] = {
        "done": lambda run: run.done,
        "failed": lambda run: run.failed,
        "looped": lambda run: run.looped,
        "idle": lambda run: () if run.done else ("",),
    }
    for kind, show in shows.items():
        failed = Counter(deed for run in sides.failed for deed in set(show(run)))
        worked = Counter(deed for run in sides.worked for deed in set(show(run)))
        # What was done only before a rejection says nothing of a run that went well.
        unknown = Counter(
            deed
            for run, spoilt in zip(sides.worked, sides.spoilt, strict=True)
            for deed in spoilt.difference(show(run))
        )
        for deed in dict.fromkeys(deed for run in sides.failed for deed in show(run)):
            own = (failed[deed], len(sides.failed))
            # `click({target})` forbids every click: only where nobody who went well clicked at all.
            shared = _users(deed, sides.worked) if is_bare(deed) else worked[deed]
            other = (shared, max(shared, len(sides.worked) - unknown[deed]))
            found = _difference(deed, kind, own, other)
            if found is not None:
                yield found._replace(said=_answer(deed, sides.failed))


def _to_do(sides: _Sides) -> Iterable[Difference]:
    worked = Counter(deed for run in sides.worked for deed in run.done)
    failed = Counter(deed for run in sides.failed for deed in run.done)
    for deed, count in worked.items():
        others = _users(deed, sides.failed) if is_bare(deed) else failed[deed]
        found = _difference(deed, "done", (count, len(sides.worked)), (others, len(sides.failed)))
        if found is not None:
            yield found._replace(failures=others, successes=count, then=_next(deed, sides))


def _users(deed: str, runs: Sequence[Deeds]) -> int:
    """How many runs used the deed's tool, in whatever way."""
    tool = tool_of(deed)
    return sum(any(tool_of(done) == tool for done in run.done) for run in runs)


def _orders(sides: _Sides) -> Iterable[Difference]:
    """What runs that went well do first, where the others do the second thing without it or before it."""
    common = [deed for deed in _common(sides.worked) if any(deed in run.done for run in sides.failed)]
    for then in common:
        for first in common:
            worked = sum(run.before(first, then) for run in sides.worked)
            wrong = sum(then in run.done and not run.before(first, then) for run in sides.failed)
            right = len(sides.failed) - wrong
            if first == then or wrong < LEAST_SHARE * len(sides.failed):
                continue
            found = _difference(first, "done", (worked, len(sides.worked)), (right, len(sides.failed)))
            if found is not None:
                yield found._replace(failures=right, successes=worked, then=then)


def _difference(deed: str, kind: Kind, own: tuple[int, int], other: tuple[int, int]) -> Difference | None:
    """`own`, `other`: how many show it, of how many."""
    if not own[1] or not other[1] or own[0] < LEAST_SHARE * own[1]:
        return None
    score = (own[0] + 0.5) / (own[1] + 1) - (other[0] + 0.5) / (other[1] + 1)
    return Difference(deed, kind, own[0], other[0], round(score, 4)) if score >= LEAST_SCORE else None


def _best(found: Iterable[Difference]) -> Difference | None:
    """The highest score; among equals what names more, then what comes first."""
    return max(found, key=lambda one: (one.score, one.deed.count("{") == 0), default=None)


def _next(deed: str, sides: _Sides) -> str:
    """What follows it in most runs that went well, and is done by most that failed without it."""
    following = [run.done[at + 1 : at + 2] for run in sides.worked for at in _places(run, deed)]
    for then in dict.fromkeys(pair[0] for pair in following if pair):
        often = sum(pair == (then,) for pair in following) >= LEAST_SHARE * len(sides.worked)
        if often and sum(then in run.done for run in sides.failed) >= LEAST_SHARE * len(sides.failed):
            return then
    return ""


def _places(run: Deeds, deed: str) -> list[int]:
    return [run.done.index(deed)] if deed in run.done else []


def _common(runs: Sequence[Deeds]) -> tuple[str, ...]:
    """What two thirds of them did, in the order in which it was done first."""
    counts = Counter(deed for run in runs for deed in run.done)
    return tuple(deed for deed, count in counts.items() if count >= LEAST_SHARE * len(runs))


def _answer(deed: str, runs: Sequence[Deeds]) -> str:
    """What the tool said most often where it was done and failed."""
    said = [answer for run in runs for done, answer in run.said if done == deed and answer]
    return max(dict.fromkeys(said), key=said.count, default="")
