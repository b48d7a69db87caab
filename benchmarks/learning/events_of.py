"""A simulated run as the events of a journal: what the loop of an agent would have written. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchmarks.learning.memories import Ran
from benchmarks.learning.world import call_of
from hindbrain.learn.runs.events import (
    ContextInjected,
    End,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    VerificationRejected,
)
from hindbrain.learn.runs.journal import executed

_ACTION_S = 4.0
_ENDS: Mapping[str, End] = {"success": "complete", "failed": "fail", "cancelled": "cancelled"}


def events_of(run: str, ran: Ran) -> Iterator[Event]:
    """Each action is an iteration; an attempt that is not the last ends with a rejection."""
    at, number = ran.task.at, 0
    yield RunCreated(run, at, ran.task.command, session="desk")
    if ran.recalled.ids:
        yield ContextInjected(run, at, ran.recalled.ids, ran.recalled.tokens)
    for place, attempt in enumerate(ran.attempts):
        for done in attempt.verdict.done:
            number, at = number + 1, at + _ACTION_S
            tool, arguments = call_of(done.action)
            yield IterationStarted(run, at, number)
            yield executed(run, at, tool, arguments, done.said, ok=done.ok)
            yield IterationEnded(run, at, number)
        if place < len(ran.attempts) - 1:
            yield VerificationRejected(run, at, attempt.verdict.reason, attempt.verdict.score)
    if ran.outcome == "cancelled":
        yield RunEnded(run, at, "cancelled")
    else:
        yield RunEnded(run, at, _ENDS[ran.outcome], ran.score, ran.reason)
