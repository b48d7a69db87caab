"""What each memory cost, and what it returned: from the runs into whose prompts it was put.

A success is not a memory's merit where such runs succeed anyway, and a failure is not its fault where they
fail anyway. So each run is compared with runs of the same kind that did without that memory; one that has
none to be compared with counts for the bill and says nothing about the return. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.repeating import MOST_RUNS, kind_numbers
from hindbrain.learn.runs.episode import Episode
from hindbrain.memory.policy.provenance import THIRD_PARTY

# Two runs without it are worth half a comparison, six are worth three quarters.
_FEW_OTHERS = 2
# As many runs of which nothing is known are mixed in: a memory that was lucky once has proved little.
_DOUBT = 4


class Return(NamedTuple):
    """The account of one memory, lesson, template, skill or note."""

    injected: int = 0  # runs into whose prompt it was put
    tokens: int = 0  # its share of what was put there
    well: int = 0  # of these runs
    ill: int = 0  # failed or stuck; a run that was cancelled, or of which nobody knows, is neither
    compared: float = 0.0  # runs that could be compared, each weighed by the number of others
    gained: float = 0.0  # successes among them beyond what runs of their kind have without it
    last: float = 0.0  # seconds since the epoch

    @property
    def lift(self) -> float:
        """-1..1: how much likelier a run succeeds with it; near 0 while little is known."""
        return self.gained / (self.compared + _DOUBT)


class _Tally(NamedTuple):
    """Runs of one kind, and how many went well."""

    runs: int = 0
    well: int = 0

    def plus(self, well: bool) -> _Tally:
        return _Tally(self.runs + 1, self.well + well)

    def without(self, other: _Tally) -> _Tally:
        return _Tally(self.runs - other.runs, self.well - other.well)


def returns(episodes: Sequence[Episode], kinds: Sequence[int] | None = None) -> dict[str, Return]:
    """By id, without "^". Of the newest 5,000 runs, oldest first. `kinds`: of each, where they are known."""
    if kinds is None:
        episodes = episodes[-MOST_RUNS:]
        if not any(map(ids_of, episodes)):
            return {}  # nothing was injected, so nothing has to be compared
        kinds = kind_numbers(episodes)
    of_kind: dict[int, _Tally] = defaultdict(_Tally)
    with_it: dict[tuple[str, int], _Tally] = defaultdict(_Tally)
    accounts: dict[str, Return] = defaultdict(Return)
    for episode, kind in zip(episodes, kinds, strict=True):
        ids = ids_of(episode)
        well = succeeded(episode)
        if well is not None:
            of_kind[kind] = of_kind[kind].plus(well)
            for id_ in ids:
                with_it[id_, kind] = with_it[id_, kind].plus(well)
        for at, id_ in enumerate(ids):
            accounts[id_] = _billed(accounts[id_], episode, well, _share(episode.tokens, len(ids), at))
    for (id_, kind), mine in with_it.items():
        accounts[id_] = _compared(accounts[id_], mine, of_kind[kind].without(mine))
    return dict(accounts)


def ids_of(episode: Episode) -> list[str]:
    """What was injected, each once; "^m-..." and "m-..." are one.

    The log of a stranger may name any memory: what it says of them counts for nothing.
    """
    if episode.source in THIRD_PARTY:
        return []
    return list(dict.fromkeys(id_.removeprefix("^") for id_ in episode.injected if id_.strip("^")))


def succeeded(episode: Episode) -> bool | None:
    """None: nobody knows, or nobody waited for it."""
    if episode.outcome == "success":
        return True
    return False if episode.failed else None


def _share(tokens: int, ids: int, at: int) -> int:
    """Of one; the shares of all add up to the whole."""
    return tokens // ids + (at < tokens % ids)


def _billed(account: Return, episode: Episode, well: bool | None, tokens: int) -> Return:
    return account._replace(
        injected=account.injected + 1,
        tokens=account.tokens + tokens,
        well=account.well + (well is True),
        ill=account.ill + (well is False),
        last=max(account.last, episode.ended),
    )


def _compared(account: Return, mine: _Tally, others: _Tally) -> Return:
    if not others.runs:
        return account
    weight = others.runs / (others.runs + _FEW_OTHERS)
    expected = mine.runs * others.well / others.runs
    return account._replace(
        compared=account.compared + weight * mine.runs,
        gained=account.gained + weight * (mine.well - expected),
    )
