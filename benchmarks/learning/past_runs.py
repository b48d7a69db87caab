"""The plainest memories: past runs as text, the latest ones or those that BM25 finds nearest to the command.

A run is told in full: command, outcome, the steps of each attempt and why it was rejected. Runs of this
desktop find nothing that could be answered. Nothing is learned, summarised or left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.learning.memories import Ran, Recalled
from benchmarks.real_runs import MOST, Bm25


class _Run(NamedTuple):
    key: str  # what BM25 compares: command and reason, as for real runs
    text: str
    outcome: str


class LatestRuns:
    """The latest three, newest first."""

    def __init__(self) -> None:
        self._runs: list[_Run] = []

    def recall(self, command: str, at: float) -> Recalled:  # noqa: ARG002
        return _recalled(self._chosen(command))

    def record(self, ran: Ran) -> None:
        self._runs.append(_Run(f"{ran.task.command} {ran.reason}", run_text(ran), ran.outcome))

    def close(self) -> None: ...

    def _chosen(self, command: str) -> Sequence[_Run]:  # noqa: ARG002
        return self._runs[: -MOST - 1 : -1]


class NearestRuns(LatestRuns):
    """Of each of the outcomes, the three runs that are nearest to the command."""

    def __init__(self, *outcomes: str) -> None:
        super().__init__()
        self._outcomes = outcomes

    def _chosen(self, command: str) -> Sequence[_Run]:
        return [
            one for outcome in self._outcomes
            for one in _nearest(command, [run for run in self._runs if run.outcome == outcome])
        ]  # fmt: skip


def run_text(ran: Ran) -> str:
    lines = [f"Command: {ran.task.command}", f"Outcome: {ran.outcome}"]
    for at, attempt in enumerate(ran.attempts, 1):
        lines.append(f"Steps: {', '.join(done.action for done in attempt.verdict.done)}")
        if attempt.verdict.reason:
            lines.append(f"{'Reason' if at == len(ran.attempts) else 'Rejected'}: {attempt.verdict.reason}")
    return "\n".join(lines)


def _nearest(command: str, runs: Sequence[_Run]) -> list[_Run]:
    scores = Bm25([run.key for run in runs]).scores(command)
    best = sorted(range(len(runs)), key=lambda at: (-scores[at], -at))[:MOST]
    return [runs[at] for at in best if scores[at] > 0]


def _recalled(runs: Sequence[_Run]) -> Recalled:
    texts = tuple(run.text for run in runs)
    text = "\n\n".join(texts)
    return Recalled(text, texts, tokens=-(-len(text) // 4))
