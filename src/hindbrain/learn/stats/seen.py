"""Runs in the light of the runs before them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.repeating import MOST_RUNS, kind_numbers, like_last_failure, repeats

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode


class Seen(NamedTuple):
    """A run, and what the runs before it make of it."""

    episode: Episode
    kind: int
    earlier: int  # runs of its kind before it
    repeat: bool  # it failed as one before it had failed
    as_last: bool | None  # it failed as the last failure of its kind; None where its kind had none

    @property
    def known(self) -> bool:
        return self.earlier > 0


def seen_of(episodes: Sequence[Episode]) -> list[Seen]:
    """The newest 5,000 runs, oldest first."""
    episodes = sorted(episodes, key=lambda episode: (episode.ended, episode.run))[-MOST_RUNS:]
    again = frozenset(repeats(episodes))
    kinds = kind_numbers(episodes)
    before: Counter[int] = Counter()
    seen: list[Seen] = []
    for at, as_last in enumerate(like_last_failure(episodes, kinds)):
        kind = kinds[at]
        seen.append(Seen(episodes[at], kind, before[kind], at in again, as_last))
        before[kind] += 1
    return seen
