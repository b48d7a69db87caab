"""What failed, as lessons see it: a run that failed, or what was done before a verification said no. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.lessons.wishes import wish_of
from hindbrain.learn.runs.episode import Action, Episode


class Failure(NamedTuple):
    """One thing that went wrong in one run."""

    episode: Episode
    reason: str  # in the run's words; "" when it does not say
    actions: tuple[Action, ...]  # what led there

    @property
    def wish(self) -> str:
        """The command without what this run filled in."""
        return wish_of(self.episode)


def failures_of(episodes: Sequence[Episode]) -> list[Failure]:
    """In the order of the episodes. A run counts once: a run that failed with its end, another that was
    rejected on its way with the last thing that was rejected."""
    found: list[Failure] = []
    for episode in episodes:
        if episode.failed:
            found.append(Failure(episode, episode.reason, episode.actions))
        elif episode.rejections and episode.outcome == "success":
            last = episode.rejections[-1]
            found.append(Failure(episode, last.reason, before(episode)))
    return found


def before(episode: Episode) -> tuple[Action, ...]:
    """What was done before the last rejection; () when nothing was rejected or its place is not known."""
    if not episode.rejections or episode.rejections[-1].after < 0:
        return ()
    return episode.actions[: episode.rejections[-1].after]


def since(episode: Episode) -> tuple[Action, ...]:
    """What was done after the last rejection: what went well. Everything where nothing was rejected."""
    return episode.actions[len(before(episode)) :]
