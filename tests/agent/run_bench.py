"""What tests of runs work on: a real vault, journal, transcript, gate and checks; the model is scripted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hindbrain.agent.agent import Agent, Around
from hindbrain.agent.channels.outbox import Outbox
from hindbrain.agent.channels.unread import Unread
from hindbrain.agent.entries import Prepared
from hindbrain.agent.orchestrator import Kit
from hindbrain.agent.policy_file import AgentPolicy
from hindbrain.agent.preparing import Beginning
from hindbrain.agent.room import Talk
from hindbrain.agent.run import RunRequest, Said
from hindbrain.agent.safety.approval import Asked, Decision
from hindbrain.agent.safety.command import ShellPlace
from hindbrain.agent.safety.gate import Around as Surroundings
from hindbrain.agent.safety.gate import Gate
from hindbrain.agent.safety.waiting import Waiting
from hindbrain.agent.tools.box import Mailbox
from hindbrain.agent.tools.tool import ActionTool, Effect, Result, Toolbox
from hindbrain.agent.verify.checks import Senses
from hindbrain.agent.verify.engine import VerificationEngine
from hindbrain.agent.verify.judge import Judge
from hindbrain.base.clock import FakeClock
from hindbrain.learn.runs.episode import Episode
from hindbrain.learn.runs.events import Event
from hindbrain.learn.runs.store import RunStore
from hindbrain.learn.service import Learned
from hindbrain.memory.tools.tool import Arguments, Param
from hindbrain.models.chat import ChatModel, ChatRequest
from hindbrain.models.chat_fake import Scripted, ScriptedChat
from hindbrain.vault.write import VaultWriter

NOW = 1_778_846_400.0
Handler = Callable[[Arguments], Result]


def tool(
    name: str, effect: Effect = "read", handler: Handler | None = None, *, side_by_side: bool = False
) -> ActionTool:
    """With one argument, `what`; answers with it where the test says nothing else."""
    told = handler or (lambda args: Result(f"{name}: {args['what']}"))
    what = Param("what", "string", "what it is about", required=True)
    return ActionTool(name, f"Does {name}.", (what,), effect, told, side_by_side)


class Person:
    """Decides as the test says; asked more often than that, there is nobody."""

    def __init__(self, *decisions: Decision) -> None:
        self.decisions = list(decisions)
        self.asked: list[Asked] = []

    def decide(self, asked: Asked) -> Decision:
        self.asked.append(asked)
        return self.decisions.pop(0) if self.decisions else "wait"


@dataclass
class Bench:
    """One vault, and an agent whose parts a test can change before a run."""

    folder: Path
    clock: FakeClock = field(default_factory=lambda: FakeClock(NOW))
    tools: Sequence[ActionTool] = (tool("look"), tool("write", "act"))
    judge: ChatModel | None = None
    recalled: str = ""  # whose word the memory in the prompt is
    keep: Callable[[Talk], Sequence[str]] | None = None
    said: list[Said] = field(default_factory=list)
    learned: list[bool] = field(default_factory=list)  # each time that it was: with a model?
    learn: Callable[[], Learned] = Learned

    def __post_init__(self) -> None:
        self.root, self.state = self.folder / "vault", self.folder / "state"
        self.workspace = self.folder / "work"
        for folder in (self.root, self.state, self.workspace):
            folder.mkdir(parents=True, exist_ok=True)
        self.chat: ChatModel = ScriptedChat()
        self.writer = VaultWriter(self.root, self.state, self.clock)
        self.runs = RunStore(self.root, self.state, lambda: self.writer)
        self.elapsed = 0.0

    def script(self, *answers: Scripted) -> ScriptedChat:
        self.chat = ScriptedChat(answers)
        return self.chat

    @property
    def asked(self) -> list[ChatRequest]:
        assert isinstance(self.chat, ScriptedChat)
        return self.chat.asked

    @property
    def agent(self) -> Agent:
        return Agent(
            Around(
                state=self.state,
                clock=self.clock,
                chat=lambda: self.chat,
                runs=lambda: self.runs,
                policy=AgentPolicy,
                waiting=lambda: Waiting(self.state, self.clock),
                mailbox=self._mailbox,
                workspace=lambda _: self.workspace,
                kit=self._kit,
                elapsed=lambda: self.elapsed,
            )
        )

    def _mailbox(self) -> Mailbox:
        return Mailbox(Outbox(self.state, {}, self.clock), Unread(self.state, {}))

    def _kit(self, request: RunRequest, chat: ChatModel, cancelled: Callable[[], bool]) -> Kit:
        del request, cancelled
        place = ShellPlace(os.path.realpath(self.workspace), ("/usr/bin", "/bin"))
        return Kit(
            chat=chat,
            toolbox=Toolbox(self.tools),
            gate=Gate(AgentPolicy(), Surroundings(place)),
            engine=VerificationEngine(Senses(self.workspace), Judge(self.judge) if self.judge else None),
            prepare=self._prepare,
            learn=self._learn,
            keep=self.keep,
        )

    def _prepare(self, request: RunRequest) -> Beginning:
        del request
        recalled = ("^m-abc234",) if self.recalled else ()
        return Beginning(Prepared("You are a test.", "It is noon.", recalled, 7, self.recalled))

    def _learn(self, with_model: bool) -> Learned:
        self.learned.append(with_model)
        return self.learn()

    # What is there afterwards

    def events(self, run: str) -> list[Event]:
        return list(self.runs.events(run))

    def kinds(self, run: str) -> list[str]:
        return [type(event).__name__ for event in self.events(run)]

    def episode(self, run: str) -> Episode:
        return self.runs.episode(run)

    def files(self) -> list[str]:
        """What is left of runs beside the vault."""
        folder = self.state / "agent" / "runs"
        return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))

    def heard(self, kind: str) -> list[str]:
        return [said.text for said in self.said if said.kind == kind]


def texts(request: ChatRequest, role: str) -> list[str]:
    return [message.text for message in request.messages if message.role == role]


def count(values: Iterable[str], value: str) -> int:
    return sum(one == value for one in values)
