"""Which tools a run gets: everything that works here, and nothing that does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.agent.tools.desktop.tools import desktop_tools
from hindbrain.agent.tools.files import file_tools
from hindbrain.agent.tools.memory import memory_tools
from hindbrain.agent.tools.replaced import Replaced
from hindbrain.agent.tools.tool import ActionTool, Toolbox
from hindbrain.agent.tools.workspace import Workspace
from hindbrain.base.errors import ConfigError

if TYPE_CHECKING:
    from hindbrain.agent.channels.outbox import Outbox
    from hindbrain.agent.channels.unread import Unread
    from hindbrain.agent.policy_file import AgentPolicy
    from hindbrain.agent.tools.shell import Shell
    from hindbrain.base.clock import Clock
    from hindbrain.memory.service import Memory

_REPLACED = "agent/replaced"


class Mailbox(NamedTuple):
    """The ways to the owner and back."""

    outbox: Outbox
    unread: Unread


class Parts(NamedTuple):
    """What the application gives to the tools of a run."""

    memory: Callable[[], Memory]
    vault: Path
    state: Path  # of the vault
    closed: tuple[Path, ...]  # files and folders that decide about the agent: settings, rules, state
    clock: Clock
    environ: Mapping[str, str]  # of this process; applications that are opened get it without its keys
    shell: Shell | None = None  # None: no programs are run
    mailbox: Mailbox | None = None  # None: no channel is configured


def find_workspace(policy: AgentPolicy, here: Path) -> Path:
    """The folder that the owner named, made if need be; else the current one. ConfigError."""
    if policy.workspace is None:
        return here
    try:
        policy.workspace.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the workspace {str(policy.workspace)!r} can't be made: {error.strerror}; "
            "change workspace.path in agent.toml"
        ) from error
    return policy.workspace


def toolbox_for(parts: Parts, workspace: Path) -> Toolbox:
    return Toolbox(
        [
            *memory_tools(parts.memory),
            *_file_tools(parts, workspace),
            *([parts.shell.tool()] if parts.shell is not None else []),
            *_message_tools(parts),
            *desktop_tools(parts.environ),
        ]
    )


def _file_tools(parts: Parts, workspace: Path) -> tuple[ActionTool, ...]:
    replaced = Replaced(parts.state / _REPLACED, parts.clock)
    closed = (parts.state, *parts.closed)
    return file_tools(Workspace(workspace, replaced, vaults=[parts.vault], closed=closed))


def _message_tools(parts: Parts) -> tuple[ActionTool, ...]:
    if parts.mailbox is None:
        return ()
    from hindbrain.agent.tools.messages import message_tools

    return message_tools(parts.mailbox.outbox, parts.mailbox.unread, parts.clock)
