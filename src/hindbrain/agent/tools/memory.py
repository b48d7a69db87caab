"""The memory's tools as the agent has them: the same declarations, with what they do to the world.

Reading is free, adding memories and tasks is under the memory's own rules: each keeps whose word it is. Of
what is added to a note nothing says that, so it is an act, as changing the note is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hindbrain.agent.safety.own_things import with_source
from hindbrain.agent.tools.tool import ActionTool, Effect, Result
from hindbrain.memory.policy.provenance import agent_claim, lowest
from hindbrain.memory.tools import TOOLS
from hindbrain.memory.tools.tool import Arguments, Tool
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

NAMES = (
    "recall",
    "remember",
    "vault_search",
    "vault_read",
    "vault_list",
    "vault_write",
    "vault_append",
    "task_list",
    "task_create",
    "task_update",
)
_WRITES_NOTES = ("vault_write", "vault_append")
_ADDS_SOURCED = ("task_create", "task_update")
_EFFECTS: Mapping[str, Effect] = {
    "read": "read",
    "add": "keep",
    "change": "act",
    "remove": "act",
    "send": "act",
}
_SOURCE = "tool"  # of what does not say whose word it is


def memory_tools(memory: Callable[[], Memory]) -> tuple[ActionTool, ...]:
    """`memory` is asked for at the first call: to list the tools opens nothing."""
    declared = {tool.name: tool for tool in TOOLS}
    return tuple(_adapted(declared[name], memory) for name in NAMES if name in declared)


def _adapted(tool: Tool, memory: Callable[[], Memory]) -> ActionTool:
    def handle(args: Arguments) -> Result:
        with action(tool.name, via="tool"):
            answer = tool.handler(memory(), args)
        return Result(answer.text, source=_source_of(answer.data))

    adapted = ActionTool(tool.name, tool.doc, tool.params, _EFFECTS[tool.effect], handle)
    if tool.name in _WRITES_NOTES:
        return adapted._replace(
            effect="act", sourced=lambda arguments, level: with_source(memory(), arguments, level)
        )
    return adapted._replace(sourced=_sourced) if tool.name in _ADDS_SOURCED else adapted


def _sourced(arguments: Arguments, level: str) -> Arguments:
    """An agent's word at most; where it has heard less trusted ones, theirs."""
    return {**arguments, "source": lowest((agent_claim(level), arguments.get("source", "agent")))}


def _source_of(data: Mapping[str, Any]) -> str:
    """The least trusted of what an answer tells. Only memories say whose word they are."""
    lists = [found for found in data.values() if isinstance(found, list)]
    told = [entry for found in lists for entry in found if isinstance(entry, Mapping)]
    return lowest(str(entry.get("source", _SOURCE)) for entry in told) if told else _SOURCE
