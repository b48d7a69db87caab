"""From the events of runs to episodes. Pure; holds only runs that have begun and not ended.

A run begins with its first run.created and ends with its first end; what comes before that or after it is
passed over.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from sys import intern  # names come a thousand times: one object each
from typing import Any

from hindbrain.learn.runs.episode import Action, Episode, Outcome, Rejection
from hindbrain.learn.runs.events import (
    ContextInjected,
    End,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
)
from hindbrain.learn.runs.journal import text_of
from hindbrain.memory.policy.provenance import lowest

_OUTCOMES: Mapping[End, Outcome] = {
    "complete": "success",
    "fail": "failed",
    "stuck": "stuck",
    "cancelled": "cancelled",
    "unknown": "unknown",
}
_MOST_ACTIONS = 2_000  # of one run; the rest is counted among its iterations and not kept
_MOST_REJECTIONS = 200  # the last ones
_LONGEST_VALUE = 300  # characters; a journal that others wrote may hold more
_LONGEST_REASON = 1_000
_LONGEST_ANSWER = 2_000
_LONGEST_COMMAND = 4_000
_MOST_ARGUMENTS = 20
_OPENS_APP = re.compile(
    r"(?:open|launch|start|activate|switch|focus|run)_?(?:to_?)?(?:the_?)?app(?:lication)?", re.IGNORECASE
)


def fold(events: Iterable[Event]) -> Episode | None:
    """The episode of one run's events; None when it has not begun or not ended."""
    return next(fold_all(events), None)


def fold_all(events: Iterable[Event]) -> Iterator[Episode]:
    """The episodes of many runs' events, interleaved or not, in the order in which they end."""
    folding = Folding()
    for event in events:
        episode = folding.add(event)
        if episode is not None:
            yield episode


def outcome_of(events: Iterable[Event]) -> Outcome | None:
    """How the run of these events ended, which is far cheaper than its episode; None when `fold` has none."""
    begun = False
    for event in events:
        if isinstance(event, RunCreated):
            begun = True
        elif begun and isinstance(event, RunEnded):
            return _OUTCOMES[event.end]
    return None


class Folding:
    """Takes events one by one; the state of runs that are going on."""

    def __init__(self) -> None:
        self._open: dict[str, _OpenRun] = {}

    def add(self, event: Event) -> Episode | None:
        """The episode that this event ends."""
        run = self._open.get(event.run)
        if run is None:
            if isinstance(event, RunCreated):
                self._open[event.run] = _OpenRun(event)
            return None
        if isinstance(event, RunEnded):
            return self._open.pop(event.run).ended(event)
        run.take(event)
        return None

    def unfinished(self) -> list[RunCreated]:
        """The runs that have begun and not ended, in that order."""
        return [run.created for run in self._open.values()]


class _OpenRun:
    def __init__(self, created: RunCreated) -> None:
        self.created = created
        self._actions: list[Action] = []
        self._calls = 0
        self._turns = 0  # calls of one moment were made at once
        self._moment = -1.0  # of the last call
        self._rejections: list[Rejection] = []
        self._injected: dict[str, None] = {}
        self._tokens = 0
        self._score: int | None = None
        self._begun = 0  # iterations
        self._done = 0
        self._app = ""  # in front

    def take(self, event: Event) -> None:
        if isinstance(event, ToolExecuted):
            self._act(event)
        elif isinstance(event, IterationStarted):
            self._begun += 1
        elif isinstance(event, IterationEnded):
            self._done += 1
            self._judge(event.score)
        elif isinstance(event, VerificationRejected):
            reason = event.reason[:_LONGEST_REASON]
            self._rejections.append(Rejection(reason, _bounded(event.score), len(self._actions)))
            del self._rejections[:-_MOST_REJECTIONS]
            self._judge(event.score)
        elif isinstance(event, ContextInjected):
            self._injected.update(dict.fromkeys(event.items))
            self._tokens += event.tokens

    def ended(self, end: RunEnded) -> Episode:
        self._judge(end.score)
        outcome = _OUTCOMES[end.end]
        last = self._rejections[-1].reason if self._rejections and outcome != "success" else ""
        created = self.created
        return Episode(
            run=created.run,
            command=created.command[:_LONGEST_COMMAND],
            outcome=outcome,
            started=created.at,
            ended=end.at,
            score=self._score,
            iterations=self._begun or self._done or self._acted(),
            actions=tuple(self._actions),
            rejections=tuple(self._rejections),
            reason=end.reason[:_LONGEST_REASON] or last,
            app=created.app or self._most_used(),
            host=created.host,
            session=created.session,
            # A journal can't make its run's word the user's or the agent's: what tools said is a tool's.
            source=lowest(("tool", created.source)),
            injected=tuple(self._injected),
            tokens=self._tokens,
            answer=end.answer[:_LONGEST_ANSWER],
        )

    def _act(self, event: ToolExecuted) -> None:
        self._calls += 1
        self._turns += event.at != self._moment
        self._moment = event.at
        if len(self._actions) >= _MOST_ACTIONS:
            return
        arguments = _as_text(event.arguments)
        if event.ok and arguments and _OPENS_APP.fullmatch(event.name):
            self._app = arguments[0][1].strip()
        self._app = event.app or self._app
        said = "" if event.ok else event.said[:_LONGEST_VALUE]
        self._actions.append(Action(intern(event.name), arguments, event.ok, said, intern(self._app)))

    def _judge(self, score: int | None) -> None:
        if score is not None:
            self._score = _bounded(score)

    def _acted(self) -> int:
        """How often, where nobody counted. Where no call has a time of its own, each is one."""
        return self._calls if self._turns == 1 else self._turns

    def _most_used(self) -> str:
        """The application of most actions; of two with as many, the one that came first."""
        used = Counter(action.app for action in self._actions if action.app)
        return used.most_common(1)[0][0] if used else ""


def _as_text(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple([
        (intern(key), (value if type(value) is str else _told(value))[:_LONGEST_VALUE])
        for key, value in islice(arguments.items(), _MOST_ARGUMENTS)
    ])  # fmt: skip


def _told(value: object) -> str:
    """A list of words as the command line that a person would type; all else as JSON."""
    if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
        return shlex.join(value)
    return text_of(value)


def _bounded(score: int | None) -> int | None:
    return None if score is None else min(100, max(0, score))
