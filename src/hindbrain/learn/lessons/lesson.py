"""A lesson: what to avoid when a command of some kind is given, and what worked instead. Values only."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal["active", "escalated", "retired"]


class Lesson(NamedTuple):
    """One avoidance rule with its evidence."""

    id: str  # "l-7f3k2a9q", made from the first failure: the same runs give the same id
    text: str  # one sentence, for an agent that is about to do it again
    commands: tuple[str, ...]  # some that it is about, the most typical first
    avoid: str = ""  # the action that failed runs have in common, as `Action.shown`; "" when none
    prefer: str = ""  # the action that successful runs have in common; "" when none
    before: str = ""  # the action that `prefer` has to come before; "" when the order does not matter
    reason: str = ""  # what went wrong, in the words of the runs
    app: str = ""
    failures: int = 0  # runs that failed so
    successes: int = 0  # similar runs that went well and are the contrast
    heeded: int = 0  # later similar runs that kept to it and went well
    in_vain: int = 0  # later similar runs that kept to it and failed all the same
    confidence: float = 0.0  # 0..1
    state: State = "active"
    evidence: tuple[str, ...] = ()  # runs that failed, the newest last
    worked: tuple[str, ...] = ()  # runs that went well, the newest last
    source: str = "tool"  # the lowest trust of its evidence
    first: float = 0.0  # the first failure; seconds since the epoch
    last: float = 0.0
    guard: str = ""  # a check before tool calls, as its owner wrote it; "" when none
