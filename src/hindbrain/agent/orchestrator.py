"""One run, from its command to its end: prepare, iterate, verify, and then either accept or feed back.

Whatever happens, the run has an end that its journal tells, or it can be taken up again. Knows no tool, no
check and no model: those are the kit's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.carrying_out import Hands
from hindbrain.agent.entries import Advised, Closed, Ended, Judged, Opened
from hindbrain.agent.loop import Means, Outcome, iterate
from hindbrain.agent.progress import FINISH, Progress
from hindbrain.agent.room import Room, Talk
from hindbrain.agent.run import End, Limits, Listener, RunRequest, RunResult, Said, nobody, without_token
from hindbrain.agent.stuck import advice, circle
from hindbrain.agent.summaries import Summaries, Summarizer
from hindbrain.agent.verify.default_checks import Finished
from hindbrain.agent.verify.engine import VerificationEngine, feedback
from hindbrain.agent.verify.judge import Step
from hindbrain.base.errors import Cancelled, HindbrainError, ModelError, UsageError
from hindbrain.learn.importing.last_words import gives_up
from hindbrain.learn.runs.gist import gist
from hindbrain.models.chat_manner import too_long

if TYPE_CHECKING:
    from hindbrain.agent.preparing import Beginning
    from hindbrain.agent.record import RunRecord
    from hindbrain.agent.safety.approval import Approver
    from hindbrain.agent.safety.gate import Gate
    from hindbrain.agent.tools.tool import Toolbox
    from hindbrain.learn.service import Learned
    from hindbrain.memory.tools.tool import Arguments
    from hindbrain.models.chat import ChatMessage, ChatModel, ToolCall, Usage

_LONGEST_REASON = 300
_CUT = "Your answer was cut off: it was too long. Go on with a shorter one."
_SILENT = "You said nothing and called no tool. Go on with the task, or say how it ended."


class Kit(NamedTuple):
    """What one run works with."""

    chat: ChatModel
    toolbox: Toolbox
    gate: Gate
    engine: VerificationEngine
    prepare: Callable[[RunRequest], Beginning]
    learn: Callable[[bool], Learned]  # with the chat model, or without
    priced: Callable[[Usage], Usage] = lambda usage: usage
    # Told of a conversation before it is condensed; answers with what a person should know of it.
    keep: Callable[[Talk], Sequence[str]] | None = None
    fixes: KnownFixes | None = None


class KnownFixes(NamedTuple):
    """What earlier sessions know of failed commands, and what this run adds to it."""

    tell: Callable[[str, str, Arguments, str], str]  # run, tool, arguments, what it said: "" for nothing
    keep: Callable[[str, Sequence[ChatMessage]], None]  # run, what was said and done in it


class Company(NamedTuple):
    """Who is there while a run goes on."""

    approver: Approver
    listener: Listener = nobody
    cancelled: Callable[[], bool] = lambda: False


class Orchestrator:
    """Of one run, which `record` has begun or taken up."""

    def __init__(
        self, record: RunRecord, kit: Kit, company: Company, summaries: Summaries | None = None
    ) -> None:
        self._record = record
        self._kit = kit
        self._company = company
        window = record.progress.request.limits.window
        summarizer = Summarizer(
            kit.chat, summaries or Summaries(), lambda text: self._say(Said("note", text)), kit.priced
        )
        room = Room(window, kit.toolbox.specs(), company.listener, kit.keep, summarizer)
        hands = Hands(kit.toolbox, kit.gate, company.approver, company.listener, company.cancelled)
        if kit.fixes is not None:
            hands = hands._replace(known_fix=partial(kit.fixes.tell, record.run))
        self._means = Means(kit.chat, room, hands, kit.priced)

    def carry_through(self) -> RunResult:
        """To its end, or to where a person has to decide. Raises what is our own mistake, or the disk's."""
        now = self._record.progress
        if now.ended is None:
            try:
                ended = self._work()
                if ended is None:
                    return self._result("waiting", "a person has to allow what it wants to do")
                self._record.note(ended)
            except BaseException as error:
                self._give_up(error)
                raise
        assert now.ended is not None
        self._record.remove()
        learned = self._learn(now.ended)
        result = self._result(now.ended.end, now.ended.reason)
        return result._replace(proven=not now.ended.unproven, learned=learned)

    # The order of a run

    def _work(self) -> Ended | None:
        """How it ends; None when it waits for a person."""
        try:
            self._prepare()
            while True:
                ended = self._begin_iteration()
                if ended is None:
                    outcome = self._iterate()
                    if outcome == "waiting":
                        return None
                    ended = self._consider(outcome)
                if ended is not None:
                    return ended
        except Cancelled as error:
            return Ended("cancelled", str(error))
        except ModelError as error:
            return Ended("fail", str(error), blameless=not self._is_refused())
        except UsageError as error:
            return Ended("fail", str(error))

    def _prepare(self) -> None:
        now = self._record.progress
        if now.prepared is not None:
            return
        beginning = self._kit.prepare(now.request)
        self._record.note(beginning.prepared)
        for notice in beginning.notices:
            self._say(Said("note", notice))
        if beginning.memory:
            self._say(Said("memory", beginning.memory))

    def _begin_iteration(self) -> Ended | None:
        now = self._record.progress
        if self._company.cancelled():
            raise Cancelled(f"the run {self._record.run!r} was cancelled")
        if now.is_open:
            return None  # taken up in the middle of one
        if reached := limit_reached(now.request.limits, now, self._record.spent):
            self._say(Said("note", reached))
            # What is learned from is what was wrong with the work, where that is known.
            return Ended("fail", "; ".join(now.rejections[-1].reasons) if now.rejections else reached)
        self._record.note(Opened(now.iterations + 1))
        return None

    def _iterate(self) -> Outcome:
        while True:
            try:
                return iterate(self._record, self._means)
            except ModelError as error:
                if not too_long(error) or not self._means.room.narrow():
                    raise

    def _consider(self, outcome: Outcome) -> Ended | None:
        """After an iteration: is it done, is it stuck, is there something to be said?"""
        now = self._record.progress
        ended = None
        if outcome == "done":
            ended = self._judge()
        elif outcome in ("cut", "silent") and not now.advised:
            self._record.note(Advised(_CUT if outcome == "cut" else _SILENT))
        if ended is None:
            ended = self._look_for_circles()
        if ended is None:
            self._record.note(Closed())
        return ended

    def _judge(self) -> Ended | None:
        now = self._record.progress
        if now.judged is None:
            self._record.note(self._verified())
        judged = now.judged
        assert judged is not None
        if judged.passed or judged.by_default:
            return self._end_of(judged)
        reasons = "; ".join(judged.reasons)
        self._say(Said("rejected", reasons, {"score": judged.score}))
        return None if judged.mendable else Ended("fail", reasons)

    def _end_of(self, judged: Judged) -> Ended:
        """Where the last call failed and it says that it could not, it has failed; else it is not proven."""
        if judged.passed:
            return Ended("complete")
        now = self._record.progress
        answer, steps = without_token(now.said), _steps(now)
        if steps and not steps[-1].ok and gives_up(answer, now.request.command):
            return Ended("fail", gist(answer, _LONGEST_REASON))
        return Ended("complete", "; ".join(judged.reasons), unproven=True)

    def _verified(self) -> Judged:
        now = self._record.progress
        command, answer, steps = now.request.command, without_token(now.said), _steps(now)
        checks = (*now.request.checks, *(now.prepared.checks if now.prepared is not None else ()))
        found = self._kit.engine.verify(checks, command, answer, steps)
        usage = self._kit.priced(found.usage)
        if found.score is None:
            found = self._kit.engine.verify_by_default(Finished(command, answer, now.says_done, steps))
            return Judged(found.passed, found.score, found.reasons, usage=usage, by_default=True)
        told = "" if found.passed else feedback(found)
        mendable = found.passed or found.mendable
        return Judged(found.passed, found.score, found.reasons, told, mendable, usage)

    def _look_for_circles(self) -> Ended | None:
        now = self._record.progress
        found = circle(now.deeds)
        if not found or now.advised:
            return None
        if found in now.warned:
            names = sorted({deed.name for deed in found} - {FINISH})
            done = f"{' and '.join(names)}, again and again with the same result"
            return Ended("stuck", done if names else "; ".join(now.rejections[-1].reasons))
        self._record.note(Advised(advice(found)))
        self._say(Said("note", "it goes round in circles, and was told so"))
        return None

    # The end

    def _give_up(self, error: BaseException) -> None:
        """An end of our own making. Where not even that can be written, the run can be taken up again."""
        cancelled = isinstance(error, KeyboardInterrupt | Cancelled)
        reason = str(error) if isinstance(error, HindbrainError) else type(error).__name__
        try:
            self._record.settle()
            if self._record.progress.ended is None:
                self._record.note(Ended("cancelled" if cancelled else "fail", reason))
            self._record.remove()
        except (HindbrainError, OSError):
            pass  # what comes first is what went wrong first

    def _is_refused(self) -> bool:
        """By the model's own word, not by its service."""
        answer = self._record.progress.answer
        return answer is not None and answer.stop == "refused"

    def _learn(self, ended: Ended) -> Learned | None:
        """What a cancelled run teaches is learned with the next one: whoever cancels wants to go."""
        if ended.end == "cancelled" or self._company.cancelled():
            return None
        try:
            if self._kit.fixes is not None:
                self._kit.fixes.keep(self._record.run, self._record.progress.messages)
            return self._kit.learn(not ended.blameless)  # a service that is down is not asked once more
        except Exception as error:  # noqa: BLE001  what was done is done, whatever can be learned from it
            told = str(error) if isinstance(error, HindbrainError) else type(error).__name__
            self._say(Said("note", f"nothing was learned now: {told}"))
            return None

    def _result(self, end: End, reason: str) -> RunResult:
        now = self._record.progress
        return RunResult(
            run=self._record.run,
            command=now.request.command,
            end=end,
            answer=without_token(now.said),
            score=now.score,
            reason=reason,
            iterations=now.iterations,
            usage=now.usage,
            seconds=self._record.spent,
            recalled=now.prepared.recalled if now.prepared is not None else (),
            messages=now.conversation(),
        )

    def _say(self, said: Said) -> None:
        self._company.listener(said)


def limit_reached(limits: Limits, now: Progress, spent: float) -> str:
    """Which limit keeps a run from another iteration, in words; "" when none does."""
    if limits.iterations and now.iterations >= limits.iterations:
        return f"the limit of {limits.iterations} iterations was reached"
    if limits.seconds and spent >= limits.seconds:
        return f"the limit of {limits.seconds / 60:g} minutes was reached"
    if limits.tokens and now.usage.tokens >= limits.tokens:
        return f"the limit of {limits.tokens:,} tokens was reached"
    if limits.cost and now.usage.cost >= limits.cost:
        return f"the limit of ${limits.cost:g} was reached"
    return ""


def _steps(now: Progress) -> list[Step]:
    """What was done, for a judge."""
    calls = [call for message in now.messages for call in message.calls if call.id in now.results]
    results = [(call, now.results[call.id].result) for call in calls]
    return [Step(call.name, not result.failed, result.text, _words(call)) for call, result in results]


def _words(call: ToolCall) -> tuple[str, ...]:
    """The texts among its arguments, also those in lists."""
    values = [
        one for value in call.arguments.values() for one in (value if isinstance(value, list) else [value])
    ]
    return tuple(value for value in values if isinstance(value, str))
