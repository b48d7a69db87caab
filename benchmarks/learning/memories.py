"""What arms have in common: a memory is told what happened, and gives the text that enters the next prompt.

Here also: no memory at all. Knows nothing of the world: whoever judges what was injected is elsewhere.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from benchmarks.learning.tasks import Task
from benchmarks.learning.world import Verdict


class Recalled(NamedTuple):
    """What enters a prompt."""

    text: str = ""
    found: tuple[str, ...] = ()  # what was looked for by the command, one memory each: a log entry, a lesson
    always: tuple[str, ...] = ()  # what enters whatever is asked: who the user is, what happened last
    tokens: int = 0
    ids: tuple[str, ...] = ()  # of what was injected, where the memory has ids


class Attempt(NamedTuple):
    origin: str  # followed, own, best
    verdict: Verdict


class Ran(NamedTuple):
    """One run as it went."""

    task: Task
    recalled: Recalled
    attempts: tuple[Attempt, ...]
    outcome: str  # success, failed, cancelled

    @property
    def iterations(self) -> int:
        return sum(len(attempt.verdict.done) for attempt in self.attempts)

    @property
    def reason(self) -> str:
        return self.attempts[-1].verdict.reason if self.attempts else ""

    @property
    def score(self) -> int:
        return self.attempts[-1].verdict.score if self.attempts else 0


class Memory(Protocol):
    def recall(self, command: str, at: float) -> Recalled: ...

    def record(self, ran: Ran) -> None: ...

    def close(self) -> None: ...


class NoMemory:
    def recall(self, command: str, at: float) -> Recalled:  # noqa: ARG002
        return Recalled()

    def record(self, ran: Ran) -> None: ...

    def close(self) -> None: ...
