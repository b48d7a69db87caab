"""The tools that a host can offer to a model, and the sets it can choose from: every schema costs tokens.

Only data. What the tools do is in the modules beside this one, and in the verbs they call.
"""

from __future__ import annotations

from collections.abc import Mapping

from hindbrain.base.errors import UsageError
from hindbrain.memory.tools.memory_tools import MEMORY_TOOLS
from hindbrain.memory.tools.recall_tools import RECALL_TOOLS
from hindbrain.memory.tools.task_tools import TASK_TOOLS
from hindbrain.memory.tools.tool import Tool
from hindbrain.memory.tools.vault_tools import VAULT_TOOLS

TOOLS: tuple[Tool, ...] = (*RECALL_TOOLS, *VAULT_TOOLS, *TASK_TOOLS, *MEMORY_TOOLS)

TOOL_SETS: Mapping[str, tuple[str, ...]] = {
    "core": ("recall", "remember", "vault_read", "vault_append", "task_create", "task_update", "task_list"),
    "vault": tuple(tool.name for tool in (*RECALL_TOOLS, *VAULT_TOOLS, *TASK_TOOLS)),
    "openclaw": (
        "memory_search",
        "memory_get",
        "memory_write",
        "memory_update",
        "memory_forget",
        "memory_status",
    ),
    "all": tuple(tool.name for tool in TOOLS),
}
DEFAULT_SET = "core"


def tools_of(set_name: str) -> tuple[Tool, ...]:
    """The tools of a set, in its order."""
    if set_name not in TOOL_SETS:
        raise UsageError(f"there is no tool set {set_name!r}; choose one of: {', '.join(TOOL_SETS)}")
    by_name = {tool.name: tool for tool in TOOLS}
    return tuple(by_name[name] for name in TOOL_SETS[set_name])


def tool_named(name: str) -> Tool:
    found = next((tool for tool in TOOLS if tool.name == name), None)
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [tool.name for tool in TOOLS], 1, 0.5)
        raise UsageError(f"there is no tool {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return found
