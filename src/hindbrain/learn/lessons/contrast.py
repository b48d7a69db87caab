"""What failed runs did and similar runs that went well did not, and the other way round. Pure.

A difference is judged by its two shares, each drawn half a run towards the middle, since few runs prove
little; what is usual among all runs of the application that went the other way counts as seen there:

    score = (with + 1/2) / (runs + 1)  -  (with + 1/2 + 1.5 u) / (runs + 1 + 1.5 u)  +  0.4 p / (pairs + 1)

u: share of all such runs of the application that do it. Pairs are runs that failed so, began again and went
well: same command, same world. p: pairs that show the difference, less those that deny it. It counts from
0.6 on, when two thirds of its own side, or most of the pairs, show it. The best one to avoid and the best one
to do are told; a call all of whose arguments vary is the work itself, and never to be avoided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from hindbrain.learn.lessons.calls import Calls
from hindbrain.learn.lessons.deeds import Deeds, Masking, is_bare, tool_of
from hindbrain.learn.lessons.failures import Failure, Good
from hindbrain.learn.lessons.usual import Usual

Kind: TypeAlias = Literal["done", "failed", "looped", "idle"]
LEAST_SCORE = 0.6  # 3 of 3 against 0 of 1 is 0.63; 4 of 4 against 1 of 3 is 0.53, and often chance
HINT = 0.4  # from which on a deed is told where there is nothing better: 3 of 4 against 1 of 4
USUAL = 1.5  # runs that what everybody does counts for: with a share of 0.8, 3 of 3 against 0 of 3 is 0.55
PAIRED = 0.4  # one pair adds 0.2, two add 0.27
ANEW = 0.5  # of the failed attempt is done again by one that begins anew and does not go on from there
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
    worked_for: int = 0  # runs that went well and did it too: it is no deed to avoid, though it can fail


class Contrast(NamedTuple):
    failed: int  # runs on each side
    worked: int  # that tell what they did
    avoid: Difference | None = None
    prefer: Difference | None = None
    last: str = ""  # what most failed runs did last, for when nothing tells them apart
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


class _Pair(NamedTuple):
    """Two attempts of one run."""

    failed: Deeds
    worked: Deeds

    @property
    def is_anew(self) -> bool:
        again = set(self.failed.done).intersection(self.worked.done)
        return bool(self.failed.done) and len(again) >= ANEW * len(self.failed.done)


class _Sides(NamedTuple):
    failed: list[Deeds]
    worked: list[Deeds]  # since the last rejection
    spoilt: list[frozenset[str]]  # of each that worked: what it did before, which tells nothing
    pairs: list[_Pair]


class _Ways(NamedTuple):
    """One comparison: the runs, in which words, and what is usual elsewhere."""

    sides: _Sides
    masking: Masking
    usual: Usual
    app: str

    def works_elsewhere(self, deed: str) -> float:
        return self.usual.where_it_worked(self.app, tool_of(deed), self.masking.literals(deed))

    def fails_elsewhere(self, deed: str) -> float:
        return self.usual.where_it_failed(self.app, tool_of(deed), self.masking.literals(deed))


def masking_of(failures: Sequence[Failure], successes: Sequence[Good], calls: Calls) -> Masking:
    return Masking(
        calls,
        [(failure.episode.command, failure.actions) for failure in failures[-MOST_RUNS:]],
        [(good.command, good.actions) for good in successes[-MOST_RUNS:]],
    )


def contrast(
    failures: Sequence[Failure], successes: Sequence[Good], masking: Masking, usual: Usual
) -> Contrast:
    """Compare the two. Runs that tell nothing of what they did are left out, unless others do."""
    failures, successes = failures[-MOST_RUNS:], successes[-MOST_RUNS:]
    if not any(failure.actions for failure in failures) and not any(
        good.actions or good.spoilt for good in successes
    ):
        return Contrast(len(failures), len(successes))
    sides = _sides(failures, successes, masking)
    last = _last(sides.failed)
    if len(sides.worked) < _least_worked(failures, sides):
        return Contrast(len(sides.failed), len(sides.worked), last=last, tried=_common(sides.failed))
    app = next((failure.episode.app for failure in failures if failure.episode.app), "")
    ways = _Ways(sides, masking, usual, app)
    avoid = _best(_to_avoid(ways))
    prefer = _best(_to_do(ways)) or _best(_orders(ways))
    if avoid is None and prefer is None:
        prefer = _best(_to_do(ways, HINT))
    if avoid is not None and prefer is not None and avoid.deed == prefer.deed:
        avoid = None  # an order: the deed itself is right
    return Contrast(len(sides.failed), len(sides.worked), avoid, prefer, last)


def _least_worked(failures: Sequence[Failure], sides: _Sides) -> int:
    """One run that went well says little of failures of which nothing else is known: much differs."""
    return 1 if sides.pairs or any(failure.reason for failure in failures) else 2


def _sides(failures: Sequence[Failure], successes: Sequence[Good], masking: Masking) -> _Sides:
    known = [good for good in successes if good.actions or good.spoilt]
    ends = {good.run: good.actions for good in known if good.actions}
    pairs = {
        run: _Pair(masking.deeds(failure.actions), masking.deeds(ends[run]))
        for failure in failures
        if failure.actions and (run := failure.episode.run) in ends
    }
    anew = {run for run, pair in pairs.items() if pair.is_anew}
    return _Sides(
        [masking.deeds(failure.actions) for failure in failures],
        [masking.deeds(good.actions) for good in known],
        [frozenset() if good.run in anew else frozenset(masking.deeds(good.spoilt).done) for good in known],
        list(pairs.values()),
    )


def _to_avoid(ways: _Ways) -> Iterable[Difference]:
    shows: dict[Kind, Callable[[Deeds], frozenset[str] | tuple[str, ...]]] = {
        "done": lambda run: run.done,
        "failed": lambda run: run.failed,
        "looped": lambda run: run.looped,
        "idle": lambda run: () if run.done else ("",),
    }
    sides = ways.sides
    pairs = [pair for pair in sides.pairs if pair.is_anew]
    for kind, show in shows.items():
        failed = Counter(deed for run in sides.failed for deed in set(show(run)))
        if not failed:
            continue
        worked = Counter(deed for run in sides.worked for deed in set(show(run)))
        # What was done only before a rejection says nothing of a run that went well.
        unknown = Counter(
            deed
            for run, spoilt in zip(sides.worked, sides.spoilt, strict=True)
            for deed in spoilt.difference(show(run))
        )
        for deed in dict.fromkeys(deed for run in sides.failed for deed in show(run)):
            if kind == "done" and is_bare(deed):
                continue
            own = (failed[deed], len(sides.failed))
            other = (worked[deed], max(worked[deed], len(sides.worked) - unknown[deed]))
            shown = sum((deed in show(pair.failed)) - (deed in show(pair.worked)) for pair in pairs)
            usual = ways.works_elsewhere(deed) if kind == "done" else 0.0
            found = _difference(deed, kind, own, other, usual, (shown, len(pairs)))
            if found is not None:
                worked_for = sum(deed in run.done for run in sides.worked)
                yield found._replace(said=_answer(deed, sides.failed), worked_for=worked_for)


def _to_do(ways: _Ways, least: float = LEAST_SCORE) -> Iterable[Difference]:
    sides = ways.sides
    worked = Counter(deed for run in sides.worked for deed in run.done)
    failed = Counter(deed for run in sides.failed for deed in run.done)
    users = Counter(tool for run in sides.failed for tool in {tool_of(deed) for deed in run.done})
    for deed, count in worked.items():
        others = users[tool_of(deed)] if is_bare(deed) else failed[deed]
        shown = sum((deed in pair.worked.done) - (deed in pair.failed.done) for pair in sides.pairs)
        own, other = (count, len(sides.worked)), (others, len(sides.failed))
        found = _difference(
            deed, "done", own, other, ways.fails_elsewhere(deed), (shown, len(sides.pairs)), least
        )  # fmt: skip
        if found is not None:
            yield found._replace(failures=others, successes=count, then=_next(deed, sides))


def _orders(ways: _Ways) -> Iterable[Difference]:
    """What runs that went well do first, where the others do the second thing without it or before it."""
    sides = ways.sides
    common = [deed for deed in _common(sides.worked) if any(deed in run.done for run in sides.failed)]
    for then in common:
        for first in common:
            worked = sum(run.before(first, then) for run in sides.worked)
            wrong = sum(then in run.done and not run.before(first, then) for run in sides.failed)
            right = len(sides.failed) - wrong
            if first == then or wrong < LEAST_SHARE * len(sides.failed):
                continue
            shown = sum(
                pair.worked.before(first, then) - pair.failed.before(first, then) for pair in sides.pairs
            )
            own, other = (worked, len(sides.worked)), (right, len(sides.failed))
            found = _difference(first, "done", own, other, 0.0, (shown, len(sides.pairs)))
            if found is not None:
                yield found._replace(failures=right, successes=worked, then=then)


def _difference(
    deed: str,
    kind: Kind,
    own: tuple[int, int],
    other: tuple[int, int],
    usual: float,
    paired: tuple[int, int],
    least: float = LEAST_SCORE,
) -> Difference | None:
    """`own`, `other`, `paired`: how many show it, of how many."""
    if not own[0] or not other[1] or (own[0] < LEAST_SHARE * own[1] and 2 * paired[0] <= paired[1]):
        return None
    known = USUAL * usual
    score = (own[0] + 0.5) / (own[1] + 1) - (other[0] + 0.5 + known) / (other[1] + 1 + known)
    score += PAIRED * paired[0] / (paired[1] + 1)
    if score < least:
        return None
    return Difference(deed, kind, own[0], other[0], round(min(1.0, score), 4))


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


def _last(runs: Sequence[Deeds]) -> str:
    """What most of them did last; "" when that is not the same."""
    ends = Counter(run.last for run in runs if run.last)
    return next((deed for deed, count in ends.most_common(1) if count >= LEAST_SHARE * len(runs)), "")


def _answer(deed: str, runs: Sequence[Deeds]) -> str:
    """What the tool said most often where it was done and failed."""
    said = [answer for run in runs for done, answer in run.said if done == deed and answer]
    return max(dict.fromkeys(said), key=said.count, default="")
