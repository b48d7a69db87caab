"""Where a run stands: what its entries come to, one after the other, and what they mean for its journal.

A run that goes on and one that is taken up again are the same here: both are their entries. Does nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from hindbrain.agent.entries import (
    Advised,
    Answered,
    Begun,
    Closed,
    Decided,
    Ended,
    Entry,
    Judged,
    Opened,
    Prepared,
    Returned,
    Started,
)
from hindbrain.agent.run import RunRequest, says_done, without_token
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.stuck import Deed, circle
from hindbrain.agent.tools.tool import Result
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    VerificationRejected,
)
from hindbrain.learn.runs.journal import digest_of, executed
from hindbrain.memory.policy.provenance import lowest
from hindbrain.models.chat import ChatAnswer, ChatMessage, ToolCall, Usage

FINISH = "finish"  # the deed of saying that it is done
OURS = "hindbrain"  # who tells the model, in a user's place, what no person has said
UNKNOWN = (
    "It is not known whether this was done: the run was cut off while it went on. Look whether it has "
    "happened before you repeat it."
)
_NOT_DONE = "This was not carried out: the run ended before."


class Progress:
    """Of one run. Only `take` changes it."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.request = RunRequest("")
        self.began = 0.0  # seconds since the epoch
        self.prepared: Prepared | None = None
        self.messages: list[ChatMessage] = []  # of this run, behind its command
        self.iterations = 0  # that have begun
        self.is_open = False  # an iteration is going on
        self.answer: ChatAnswer | None = None  # of that iteration
        self.judged: Judged | None = None
        self.advised = False
        self.started: set[str] = set()  # calls
        self.results: dict[str, Returned] = {}  # by call
        self.decided: dict[str, Decided] = {}
        self.allowed: set[str] = set()  # tools, or single calls, for the rest of the run
        self.taint = Taint()  # by whose words the conversation holds, besides the owner's
        self.deeds: list[Deed] = []
        self.warned: set[frozenset[Deed]] = set()  # circles that the model was told of
        self.rejections: list[Judged] = []
        self.usage = Usage()
        self.spent = 0.0
        self.said = ""  # the model's last words
        self.ended: Ended | None = None

    @property
    def pending(self) -> list[ToolCall]:
        """Calls of the current answer that have no result yet."""
        calls = self.answer.calls if self.answer is not None else ()
        return [call for call in calls if call.id not in self.results]

    def conversation(self) -> tuple[ChatMessage, ...]:
        """All that was said, the command included, for a next one: each call in it has a result."""
        lost = [
            ChatMessage(
                "tool",
                UNKNOWN if call.id in self.started else _NOT_DONE,
                call=call.id,
                tool=call.name,
                failed=True,
            )
            for call in self.pending
        ]
        return (*self.request.history, ChatMessage("user", self.request.command), *self.messages, *lost)

    def take(self, entry: Entry) -> list[Event]:
        """What the journal is told of it."""
        self.spent = max(self.spent, entry.spent)
        match entry:
            case Begun():
                return self._begin(entry)
            case Prepared():
                self.prepared = entry
                self.taint = self.taint.heard(entry.heard) if entry.heard else self.taint
                injected = ContextInjected(self.run, entry.at, entry.recalled, entry.tokens)
                return [injected] if entry.recalled else []
            case Opened():
                self.iterations, self.is_open = entry.number, True
                self.answer, self.judged, self.advised = None, None, False
                return [IterationStarted(self.run, entry.at, entry.number)]
            case Answered():
                self._hear(entry.answer)
            case Decided():
                self.decided[entry.call] = entry
                self.allowed |= {entry.grant} - {""}
            case Started():
                self.started.add(entry.call)
            case Returned():
                return self._return(entry)
            case Judged():
                return self._judge(entry)
            case Advised():
                self.advised = True
                self.warned |= {circle(self.deeds)} - {frozenset()}
                self.messages.append(ChatMessage("user", entry.text, tool=OURS))
            case Closed():
                return self._close(entry.at)
            case Ended():
                return self._end(entry)
        return []

    def _begin(self, entry: Begun) -> list[Event]:
        request = self.request = entry.request
        self.began = entry.at
        self.taint = self.taint.after(request.history)
        self.allowed |= set(request.allowed)
        return [RunCreated(self.run, entry.at, request.command, session=request.session)]

    def _hear(self, answer: ChatAnswer) -> None:
        self.answer = answer
        self.usage = self.usage.plus(answer.usage)
        self.said = answer.text or self.said
        self.messages.append(ChatMessage("assistant", answer.text, calls=answer.calls))

    def _return(self, entry: Returned) -> list[Event]:
        call = next((call for call in self.pending if call.id == entry.call), None)
        if call is None:
            return []
        self.results[entry.call] = entry
        text, failed, images, app, source = entry.result
        self.messages.append(ChatMessage("tool", text, images, call=call.id, tool=call.name, failed=failed))
        self.taint = self.taint.heard(lowest(("tool", source)))
        self.deeds.append(Deed(call.name, _as_text(call), _digest(entry.result)))
        if entry.refused:
            return []  # a journal tells what was done
        result = _digest(entry.result) if images and not failed else text
        return [executed(self.run, entry.at, call.name, call.arguments, result, ok=not failed, app=app)]

    def _judge(self, entry: Judged) -> list[Event]:
        self.judged = entry
        self.usage = self.usage.plus(entry.usage)
        if entry.passed or entry.by_default:
            return []
        reason = "; ".join(entry.reasons)
        self.rejections.append(entry)
        self.deeds.append(Deed(FINISH, digest_of(self.said), digest_of(reason)))
        self.taint = self.taint.heard("tool")  # reasons quote what programs and files say
        self.messages.append(ChatMessage("user", entry.feedback, tool=OURS))
        return [VerificationRejected(self.run, entry.at, reason, entry.score)]

    def _close(self, at: float) -> list[Event]:
        if not self.is_open:
            return []
        self.is_open = False
        score = self.judged.score if self.judged is not None else None
        return [IterationEnded(self.run, at, self.iterations, score)]

    def _end(self, entry: Ended) -> list[Event]:
        self.ended = entry
        # What had started may have happened: a journal that is over must not keep quiet about it.
        perhaps = [call for call in self.pending if call.id in self.started]
        return [
            *(executed(self.run, entry.at, call.name, call.arguments, UNKNOWN, ok=False) for call in perhaps),
            *self._close(entry.at),
            # What nobody did wrong is no failure to learn from.
            RunEnded(
                self.run,
                entry.at,
                "unknown" if entry.blameless or entry.unproven else entry.end,
                self.score,
                "" if entry.unproven else entry.reason,  # it is no failure: its line tells the answer
                without_token(self.said),
            ),
        ]

    @property
    def says_done(self) -> bool:
        """Whether its last answer has the completion mark; a model that is led chooses to finish."""
        chose = self.answer is not None and self.answer.stop == "finished"
        return chose or says_done(self.said)

    @property
    def score(self) -> int | None:
        """Of the last verification."""
        last = self.judged or (self.rejections[-1] if self.rejections else None)
        return last.score if last is not None else None


def missing(meant: Sequence[Event], written: Sequence[Event]) -> list[Event]:
    """What a journal lacks. Events are known by kind and time: what they say may be purged meanwhile."""
    there: dict[tuple[type, float], int] = {}
    for event in written:
        key = (type(event), event.at)
        there[key] = there.get(key, 0) + 1
    lacking = []
    for event in meant:
        key = (type(event), event.at)
        if there.get(key, 0):
            there[key] -= 1
        else:
            lacking.append(event)
    return lacking


def _digest(result: Result) -> str:
    pictures = "".join(digest_of(image.data) for image in result.images)
    return digest_of(result.text + pictures)


def _as_text(call: ToolCall) -> str:
    return call.unreadable or json.dumps(dict(call.arguments), sort_keys=True, default=str)
