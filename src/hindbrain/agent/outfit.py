"""What one run works with, put together for its request: tools, gate, checks, and the words before it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.agent.channels.tables import owner_channels
from hindbrain.agent.messages import to_messages
from hindbrain.agent.orchestrator import Kit, KnownFixes
from hindbrain.agent.preparing import Knowledge, prepare
from hindbrain.agent.prompt.system_prompt import PromptParts
from hindbrain.agent.run import RunRequest
from hindbrain.agent.safety.approval import SHELL
from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.safety.gate import Around, Gate
from hindbrain.agent.safety.own_things import OwnThings
from hindbrain.agent.tools.box import Mailbox, Parts, toolbox_for
from hindbrain.agent.tools.shell import Shell
from hindbrain.agent.verify.by_shell import senses_by
from hindbrain.agent.verify.engine import VerificationEngine
from hindbrain.agent.verify.judge import Judge
from hindbrain.base.errors import HindbrainError
from hindbrain.context.capture.tool_calls import call_text
from hindbrain.context.turn import SessionKey
from hindbrain.memory.policy.provenance import lowest
from hindbrain.models.chat import priced

if TYPE_CHECKING:
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.agent.preparing import Beginning
    from hindbrain.agent.room import Talk
    from hindbrain.agent.tools.tool import Toolbox
    from hindbrain.base.clock import Clock
    from hindbrain.context.messages import Message
    from hindbrain.learn.service import Learning
    from hindbrain.memory.service import Memory
    from hindbrain.memory.tools.tool import Arguments
    from hindbrain.models.chat import ChatMessage, ChatModel, Usage


class Supplies(NamedTuple):
    """What the application has for every run."""

    root: Path  # the vault
    state: Path
    clock: Clock
    environ: Mapping[str, str]  # of this process: programs get what is no secret of it
    closed: tuple[Path, ...]  # files and folders that decide about the agent
    policy: AgentPolicy
    memory: Callable[[], Memory]
    learning: Callable[[], Learning]
    knowledge: Knowledge
    mailbox: Mailbox
    model: str = ""  # its name in the owner's prices


def outfit(supplies: Supplies, request: RunRequest, chat: ChatModel, cancelled: Callable[[], bool]) -> Kit:
    """`request` names its workspace."""
    workspace = Path(request.workspace)
    path = supplies.environ.get("PATH", os.defpath)
    place = shell_place(workspace, path)
    shell = Shell(place, supplies.environ, cancelled)
    toolbox = toolbox_for(_parts(supplies, shell), workspace)
    own = OwnThings(supplies.memory, owner_channels(supplies.policy.channels))
    around = Around(place, supplies.root, supplies.closed, partial(_lesson, supplies), own.why_own)
    gate = Gate(supplies.policy, around)
    senses = senses_by(shell, workspace, gate.allows, _screen_reader(toolbox))._replace(vault=supplies.root)
    words = PromptParts(
        frozenset(toolbox.tools),
        channels=tuple(supplies.mailbox.outbox.channels),
        workspace=str(workspace),
    )
    return Kit(
        chat=chat,
        toolbox=toolbox,
        gate=gate,
        engine=VerificationEngine(senses, Judge(chat) if request.judged else None),
        prepare=lambda request: _with_screen(prepare(request, words, supplies.knowledge), toolbox),
        learn=lambda with_model: supplies.learning().learn(with_model=with_model),
        priced=partial(_priced, supplies),
        keep=partial(_keep, supplies.knowledge) if request.preset else None,
        fixes=_known_fixes(supplies.knowledge) if request.preset else None,
    )


def _parts(supplies: Supplies, shell: Shell) -> Parts:
    return Parts(
        memory=supplies.memory,
        vault=supplies.root,
        state=supplies.state,
        closed=supplies.closed,
        clock=supplies.clock,
        environ=supplies.environ,
        shell=shell,
        mailbox=supplies.mailbox,
    )


def _lesson(supplies: Supplies, tool: str, arguments: Mapping[str, Any]) -> str:
    """Why a lesson, or a note with a guard, has a person asked about a call."""
    from hindbrain.learn.lessons.guards import stop

    guard = stop(supplies.state, tool, arguments, at=supplies.clock.now())
    return f"a lesson asks for it ({guard.id}): {guard.reason}" if guard is not None else ""


def _with_screen(beginning: Beginning, toolbox: Toolbox) -> Beginning:
    """With a picture of the screen, where there are desktop tools. What it shows is anybody's word."""
    look = toolbox.tools.get("take_screenshot")
    if look is None:
        return beginning
    seen = toolbox.run(look, {})
    if seen.failed:
        return beginning._replace(notices=(*beginning.notices, f"the screen can't be seen: {seen.text}"))
    prepared = beginning.prepared
    heard = lowest(filter(None, (prepared.heard, seen.source)))
    told = f"## The screen\n\nThe picture with the command shows it as it is now. {seen.text}"
    changing = f"{prepared.changing}\n\n{told}".strip()
    return beginning._replace(prepared=prepared._replace(changing=changing, heard=heard, screen=seen.images))


def _screen_reader(toolbox: Toolbox) -> Callable[[], str | None] | None:
    """None where there is no screen, or nothing that could read it."""
    look = toolbox.tools.get("take_screenshot")
    if look is None:
        return None
    from hindbrain.agent.verify.ocr import screen_reader

    return screen_reader(lambda: look.handler({}).images[0].data)


def _keep(knowledge: Knowledge, talk: Talk) -> Sequence[str]:
    """Into the memory, what lasts of a conversation before it is condensed."""
    context, session = knowledge.context(), SessionKey("own", talk.session)
    if talk.anew:
        context.compacted(session)
    # That it is time was decided, sooner than a host would: so the window counts as full.
    flushed = context.flush(session, talk.messages, tokens=talk.tokens, window=talk.tokens)
    return flushed.notices if flushed is not None else ()


def _known_fixes(knowledge: Knowledge) -> KnownFixes:
    def tell(run: str, tool: str, arguments: Arguments, text: str) -> str:
        if tool != SHELL:
            return ""
        session, command = SessionKey("own", run), call_text(tool, arguments)
        try:
            return knowledge.context().failure(session, tool=tool, command=command, error=text).text
        except HindbrainError:
            return ""  # the call failed all the same, and that is what the model has to know

    def keep(run: str, messages: Sequence[ChatMessage]) -> None:
        knowledge.context().learn_fixes(
            SessionKey("own", run), [_as_command(one) for one in to_messages(messages)]
        )

    return KnownFixes(tell, keep)


def _as_command(message: Message) -> Message:
    """A call of the shell as the line that it runs."""
    called = message.role == "assistant" and message.tool == SHELL
    return message._replace(text=call_text(message.tool, message.text)) if called else message


def _priced(supplies: Supplies, usage: Usage) -> Usage:
    price = supplies.policy.prices.get(supplies.model)
    return usage if price is None else priced(usage, price.sent, price.made)
