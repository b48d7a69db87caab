"""What went wrong in a run: that it failed, or what was done before a verification said no. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.learn.runs.episode import Action, Episode, Rejection
from hindbrain.learn.wishes import wish_of

ANEW = 0.5  # of the attempt before is done again by one that begins anew and does not go on from there


class Failure(NamedTuple):
    """One thing that went wrong in one run."""

    episode: Episode
    reason: str  # in the run's words; "" when it does not say
    actions: tuple[Action, ...]  # what led there: what was done since the attempt began
    score: int | None = None  # 0..100, of the verification that said no
    attempt: int = -1  # which of the run's rejections it is; -1 for the last thing that went wrong

    @property
    def wish(self) -> str:
        """The command without what this run filled in."""
        return wish_of(self.episode)

    @property
    def names(self) -> tuple[str, ...]:
        """What an id is made of."""
        run = self.episode.run
        return (run,) if self.attempt < 0 else (run, str(self.attempt))


class Good(NamedTuple):
    """A run that went well."""

    run: str
    command: str
    actions: tuple[Action, ...]  # what went well: since the last rejection
    spoilt: tuple[Action, ...] = ()  # what was done before it

    @property
    def whole(self) -> tuple[Action, ...]:
        """With what it went on from, which was not wrong; without it where it began anew."""
        return self.actions if _is_anew(self.actions, self.spoilt) else self.spoilt + self.actions


def good_of(episode: Episode) -> Good:
    return Good(episode.run, episode.command, since(episode), before(episode))


def failures_of(episodes: Sequence[Episode]) -> list[Failure]:
    """In the order of the episodes; of one run, each thing that went wrong for another reason."""
    found: list[Failure] = []
    for episode in episodes:
        if episode.failed or (episode.rejections and episode.outcome == "success"):
            found += _of(episode)
    return found


def _of(episode: Episode) -> list[Failure]:
    ends = [rejection for rejection in episode.rejections if rejection.after >= 0]
    if episode.failed and not (ends and ends[-1].after >= len(episode.actions)):
        ends.append(Rejection(episode.reason, episode.score, len(episode.actions)))
    if not ends:  # it went well after a rejection whose place is not known
        return [Failure(episode, one.reason, (), one.score) for one in episode.rejections[-1:]]
    starts = [0, *(end.after for end in ends)]
    found: dict[str, Failure] = {}
    for number, (start, end) in enumerate(zip(starts, ends, strict=False)):
        last = end is ends[-1]
        reason = episode.reason or end.reason if last and episode.failed else end.reason
        if last or reason:
            actions = episode.actions[start : end.after]
            again = found.pop(reason, None)  # the same again: the last time counts
            if again is not None and not _is_anew(actions, again.actions):
                actions = again.actions + actions  # it mended what was there, and the cause stayed
            found[reason] = Failure(episode, reason, actions, end.score, -1 if last else number)
    return list(found.values())


def _is_anew(actions: Sequence[Action], before: Sequence[Action]) -> bool:
    known = {(action.name, action.arguments[:1]) for action in before}
    again = known.intersection((action.name, action.arguments[:1]) for action in actions)
    return len(again) >= ANEW * len(known)


def before(episode: Episode) -> tuple[Action, ...]:
    """What was done before the last rejection; () when nothing was rejected or its place is not known."""
    if not episode.rejections or episode.rejections[-1].after < 0:
        return ()
    return episode.actions[: episode.rejections[-1].after]


def since(episode: Episode) -> tuple[Action, ...]:
    """What was done after the last rejection: what went well. Everything where nothing was rejected."""
    return episode.actions[len(before(episode)) :]
