"""The agent of one vault: what edges ask for. One run at a time; what was cut off can be taken up again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.gateway import FOLDER, RUN_LOCK
from hindbrain.agent.orchestrator import Company, Kit, Orchestrator
from hindbrain.agent.record import RunRecord, progress_of
from hindbrain.agent.run import Limits, Listener, RunRequest, RunResult, Said, nobody
from hindbrain.agent.summaries import Summaries
from hindbrain.agent.transcript import Transcript, transcripts
from hindbrain.base.errors import Busy, ConfigError, HindbrainError, NotFound, UsageError
from hindbrain.learn.runs.journal import new_run_id
from hindbrain.models.schema_steps import with_tools
from hindbrain.vault.lock import FileLock

if TYPE_CHECKING:
    from hindbrain.agent.channels.channel import Channel
    from hindbrain.agent.channels.outbox import Outbox
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.agent.safety.approval import Approver, Asked, Decision
    from hindbrain.agent.safety.waiting import Waiting
    from hindbrain.agent.tools.box import Mailbox
    from hindbrain.base.clock import Clock
    from hindbrain.learn.runs.store import RunStore
    from hindbrain.models.chat import ChatModel

_NO_MODEL = (
    "the agent needs a chat model, and none is set; name one, for example: "
    "hindbrain config chat.provider openai, then hindbrain config chat.model gpt-4o-mini"
)


def _never() -> bool:
    return False


def _tell_nobody(_run: str, _ended: bool) -> None:
    return


class Around(NamedTuple):
    """What the agent needs from the application; each is called at first need."""

    state: Path
    clock: Clock
    chat: Callable[[], ChatModel | None]
    runs: Callable[[], RunStore]
    policy: Callable[[], AgentPolicy]
    waiting: Callable[[], Waiting]  # approvals that nobody has given yet
    mailbox: Callable[[], Mailbox]  # the owner's channels
    workspace: Callable[[RunRequest], Path]  # the folder that a run works in
    # What a run works with: its request, its model, and whether no more of it is wanted.
    kit: Callable[[RunRequest, ChatModel, Callable[[], bool]], Kit]
    elapsed: Callable[[], float] = time.monotonic
    at_work: Callable[[str, bool], None] = _tell_nobody  # that a run is at work; True: that it has ended


class OpenRun(NamedTuple):
    """A run that has begun and not ended: cut off, waiting for a person, or going on in another process."""

    run: str
    command: str
    iterations: int = 0
    at: float = 0.0  # when it was begun; seconds since the epoch


class _AnsweredBefore:
    """What a person has said already is not asked again; what they say now is said for good."""

    def __init__(self, waiting: Waiting, approver: Approver) -> None:
        self._waiting = waiting
        self._approver = approver

    def decide(self, asked: Asked) -> Decision:
        decision = self._waiting.use(asked)
        if decision != "wait":
            return decision
        decision = self._approver.decide(asked)
        if decision != "wait":
            self._waiting.note(asked, decision, "asked")
            with contextlib.suppress(NotFound, UsageError):  # mostly nothing of it has waited
                self._waiting.answer(asked.id, decision, "asked again")
                self._waiting.use(asked)
        return decision


class Agent:
    """For one thread; any number of processes."""

    def __init__(self, around: Around) -> None:
        self._around = around
        self._summaries = Summaries()

    # Runs

    def run(
        self,
        request: RunRequest,
        listener: Listener = nobody,
        approver: Approver | None = None,
        cancelled: Callable[[], bool] = _never,
    ) -> RunResult:
        """Carry a command through. Busy while another run goes on; ConfigError without a chat model.

        `approver` None: nobody is there, and what needs a person's word waits.
        """
        if not request.command.strip():
            raise UsageError("the command is empty; say what is to be done")
        chat = self._chat()
        # Whoever goes on with it may stand in another folder.
        request = request._replace(workspace=str(self._around.workspace(request)))
        with self._alone():
            self._sweep()
            kit = self._around.kit(request, chat, cancelled)
            record = self._record(self._new_run(request.command))
            record.begin(request)
            return self._carried_through(record, kit, listener, approver, cancelled)

    def resume(
        self,
        run: str,
        listener: Listener = nobody,
        approver: Approver | None = None,
        cancelled: Callable[[], bool] = _never,
    ) -> RunResult:
        """Go on with a run that was cut off or waits. NotFound when nothing of it is left to go on with."""
        chat = self._chat()
        with self._alone():
            record = self._taken_up(run)
            kit = self._around.kit(record.progress.request, chat, cancelled)
            return self._carried_through(record, kit, listener, approver, cancelled)

    def abandon(self, run: str) -> None:
        """End a run that was cut off or waits: it is recorded as cancelled."""
        from hindbrain.agent.entries import Ended

        with self._alone():
            record = self._taken_up(run)
            if record.progress.ended is None:
                record.note(Ended("cancelled", "given up by its owner"))
            record.remove()
            self._ask_no_more(record.run)

    def open_runs(self) -> list[OpenRun]:
        """Oldest first."""
        found = []
        for transcript in transcripts(self._around.state):
            with contextlib.suppress(NotFound):
                now = progress_of(transcript)
                if now.ended is None:
                    found.append(OpenRun(now.run, now.request.command, now.iterations, now.began))
        return found

    # What a person decides

    def waiting(self) -> list[Asked]:
        """What cannot go on without a person's word, oldest first."""
        return [question.asked for question in self._around.waiting().pending()]

    def answer(self, asked: str, decision: Decision, by: str = "owner", *, shown: str = "") -> None:
        """A person's word for what waits. NotFound when nothing of that id does.

        `shown`: the digest of the call that the person was shown; NotFound when another one waits by now.
        """
        waiting = self._around.waiting()
        waiting.note(waiting.answer(asked, decision, by, shown=shown).asked, decision, by)

    def unattended(self) -> Approver:
        """Who decides while nobody is there: what was answered before, else it waits."""
        from hindbrain.agent.safety.waiting import WaitingApprover

        return WaitingApprover(self._around.waiting())

    # The ways to the owner

    def channels(self) -> Mapping[str, Channel]:
        """By name, the usual one first. ConfigError where agent.toml is wrong."""
        return self.outbox().channels

    def outbox(self) -> Outbox:
        return self._around.mailbox().outbox

    def commanders(self, channel: str) -> frozenset[str]:
        """Whose messages on this channel are the owner's own word."""
        from hindbrain.agent.channels.tables import owners_of

        return owners_of(self._around.policy().channels).get(channel, frozenset())

    def now(self) -> float:
        """Seconds since the epoch, by the vault's clock."""
        return self._around.clock.now()

    # What the owner has set

    @property
    def limits(self) -> Limits:
        return self._around.policy().limits

    def check(self) -> None:
        """Raises ConfigError where a run could not even begin."""
        self._chat()
        self._around.policy()

    def tool_names(self, request: RunRequest) -> tuple[str, ...]:
        """What a run of this request could call here."""
        return tuple(self._around.kit(request, self._chat(), _never).toolbox.tools)

    # What the verbs are made of

    def _chat(self) -> ChatModel:
        chat = self._around.chat()
        if chat is None:
            raise ConfigError(_NO_MODEL)
        return with_tools(chat)

    def _carried_through(
        self,
        record: RunRecord,
        kit: Kit,
        listener: Listener,
        approver: Approver | None,
        cancelled: Callable[[], bool],
    ) -> RunResult:
        who = self.unattended() if approver is None else _AnsweredBefore(self._around.waiting(), approver)

        def heard(event: Said) -> None:
            self._around.at_work(record.run, False)
            listener(event)

        self._around.at_work(record.run, False)
        try:
            result = Orchestrator(
                record, kit, Company(who, heard, cancelled), self._summaries
            ).carry_through()
        finally:
            self._around.at_work(record.run, True)
        if result.end != "waiting":
            self._ask_no_more(result.run)
        return result

    def _ask_no_more(self, run: str) -> None:
        """Nobody needs to decide about a run that is over. It is over all the same where that fails."""
        with contextlib.suppress(HindbrainError, OSError):
            for asked in self.waiting():
                if asked.run == run:
                    self._around.waiting().answer(asked.id, "deny", "the run is over")

    def _record(self, run: str) -> RunRecord:
        around = self._around
        return RunRecord(Transcript(around.state, run), around.runs(), around.clock, around.elapsed)

    def _taken_up(self, run: str) -> RunRecord:
        """By its id, or by the beginning of it where that is enough."""
        near = [one.run for one in transcripts(self._around.state) if one.run.startswith(run)]
        record = self._record(run if run in near or len(near) != 1 else near[0])
        record.take_up()
        return record

    def _new_run(self, command: str) -> str:
        """An id that nobody has: two equal commands may come within one tick of a clock."""
        runs, at = self._around.runs(), self._around.clock.now()
        taken = {one.run for one in transcripts(self._around.state)}
        number = 0
        while (run := new_run_id(f"{command}{number or ''}", at)) in taken or runs.knows(run):
            number += 1
        return run

    def _sweep(self) -> None:
        """Put an end to what a crash left behind an end. What can't be done now is done another time."""
        for transcript in transcripts(self._around.state):
            with contextlib.suppress(HindbrainError):
                try:
                    ended = progress_of(transcript).ended
                except NotFound:
                    transcript.remove()
                    continue
                if ended is not None:
                    self._taken_up(transcript.run).remove()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        with contextlib.ExitStack() as held:
            try:
                held.enter_context(FileLock(self._around.state / FOLDER / RUN_LOCK).held(0))
            except Busy as error:
                raise Busy("another run goes on in this vault; try again when it is over") from error
            yield
