"""An episode: one finished run as learning sees it. Values, and the words by which actions are compared."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from hindbrain.learn.runs.calls import shown_call

Outcome: TypeAlias = Literal["success", "failed", "stuck", "cancelled", "unknown"]
FAILED: tuple[Outcome, ...] = ("failed", "stuck")
GOOD_SCORE = 80  # from which on a success is worth being copied


class Action(NamedTuple):
    """One call of a tool."""

    name: str
    arguments: tuple[tuple[str, str], ...] = ()  # in the order of the call; values as text, cut
    ok: bool = True
    said: str = ""  # what a call that failed answered, cut; else ""
    app: str = ""  # the application in front; "" when it is not known

    @property
    def shown(self) -> str:
        """For people and models: `press_key(l, command: true)`, `npm test`."""
        return shown_call(self.name, self.arguments)


class Rejection(NamedTuple):
    """A verification that said no."""

    reason: str
    score: int | None = None
    after: int = -1  # so many actions had been done; -1 when that is not known


class Episode(NamedTuple):
    """One run from its command to its end."""

    run: str
    command: str
    outcome: Outcome
    started: float  # seconds since the epoch
    ended: float
    score: int | None = None  # 0..100 of the last verification
    iterations: int = 0
    actions: tuple[Action, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    reason: str = ""  # why it failed; the last rejection's where the end gives none
    app: str = ""  # the application it is mostly about; "" when it is not known
    host: str = "own"
    session: str = ""
    source: str = "tool"  # the trust of what is learned from it
    injected: tuple[str, ...] = ()  # ids of what memory entered its prompt
    tokens: int = 0  # of that
    answer: str = ""  # the agent's last words

    @property
    def failed(self) -> bool:
        return self.outcome in FAILED

    @property
    def is_model(self) -> bool:
        """Is it worth being copied?"""
        return self.outcome == "success" and (self.score is None or self.score >= GOOD_SCORE)

    @property
    def seconds(self) -> float:
        return max(0.0, self.ended - self.started)
