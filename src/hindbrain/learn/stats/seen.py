"""Runs in the light of the runs before them. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.repeating import MOST_RUNS, kind_numbers, repeats

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode


class Seen(NamedTuple):
    """A run, and what the runs before it make of it."""

    episode: Episode
    kind: int
    earlier: int  # runs of its kind before it
    repeat: bool  # it failed as one before it had failed

    @property
    def known(self) -> bool:
        return self.earlier > 0


def seen_of(episodes: Sequence[Episode]) -> list[Seen]:
    """The newest 5,000 runs, oldest first."""
    episodes = sorted(episodes, key=lambda episode: (episode.ended, episode.run))[-MOST_RUNS:]
    again = frozenset(repeats(episodes))
    before: Counter[int] = Counter()
    seen: list[Seen] = []
    for at, (episode, kind) in enumerate(zip(episodes, kind_numbers(episodes), strict=True)):
        seen.append(Seen(episode, kind, before[kind], at in again))
        before[kind] += 1
    return seen
