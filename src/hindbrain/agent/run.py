"""What a run is asked for, what it says while it goes on, and how it ends. Values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from hindbrain.agent.verify.check import Check
from hindbrain.models.chat import ChatMessage, Usage

if TYPE_CHECKING:
    from hindbrain.learn.service import Learned

COMPLETION_TOKEN = "TASK_COMPLETE"  # on a line of its own: the model says that it is done
LEAST_WINDOW = 2_000  # tokens; with less, there is no room for the instructions


def says_done(text: str) -> bool:
    return any(line.strip() == COMPLETION_TOKEN for line in text.splitlines())


def without_token(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if line.strip() != COMPLETION_TOKEN).strip()


End: TypeAlias = Literal["complete", "fail", "stuck", "cancelled", "waiting"]


class Limits(NamedTuple):
    """What a run may use; it ends as failed when one is reached. 0: no limit."""

    iterations: int = 30
    seconds: float = 1_800.0
    tokens: int = 400_000  # sent and made
    cost: float = 0.0  # US dollars, where the service says what it costs
    window: int = 200_000  # tokens of the model's window; this one always has a limit


class RunRequest(NamedTuple):
    """One command, and what belongs to it."""

    command: str
    checks: tuple[Check, ...] = ()  # what must hold at the end, besides those of a matching skill
    limits: Limits = Limits()
    history: tuple[ChatMessage, ...] = ()  # of a conversation that goes on; oldest first
    session: str = ""  # of that conversation; "" when there is none
    via: str = "terminal"  # terminal, http, or the channel's name
    preset: str = "agent"  # of the pack that is loaded; "" is no memory at all
    workspace: str = ""  # folder of the files it works on; "" is the one of agent.toml, else the current one
    allowed: tuple[str, ...] = ()  # tools that the owner has allowed for this run before it began
    judged: bool = False  # a judge model looks at the result, too


class Said(NamedTuple):
    """Something a run tells whoever looks on. Nobody needs to listen.

    memory: what was recalled (text for people) · text: a piece of the model's answer · call: a tool is about
    to be called · result: what it answered · rejected: verification said no · approval: a person is asked ·
    note: anything else worth a line
    """

    kind: Literal["memory", "text", "call", "result", "rejected", "approval", "note"]
    text: str
    data: Mapping[str, Any] = {}


Listener: TypeAlias = Callable[[Said], None]


def nobody(_: Said) -> None:
    """Listens to nothing."""


class RunResult(NamedTuple):
    """How a run ended. `waiting`: it stopped for a person's approval, and goes on when that is given."""

    run: str
    command: str
    end: End
    answer: str = ""  # the model's last words
    score: int | None = None  # 0..100; None when nothing was verified
    reason: str = ""  # why it did not complete, or why nothing proves that it did
    proven: bool = True  # False: it ended, but nothing shows that it is done; it is recorded as unknown
    iterations: int = 0
    usage: Usage = Usage()
    seconds: float = 0.0
    recalled: tuple[str, ...] = ()  # ids and paths of what memory entered the prompt
    messages: tuple[ChatMessage, ...] = ()  # what the conversation has become, for the next command
    learned: Learned | None = None  # from this run and those before; None: nothing could be learned now

    @property
    def ok(self) -> bool:
        return self.end == "complete"
