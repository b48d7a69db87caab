"""The agent's message tools as MCP tools: an agent of another host writes to the owner, and reads along.

Messages go only where the owner's tables in agent.toml say. What is read here stays unread for our own agent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.errors import ChannelDown, UsageError
from hindbrain.memory.tools.tool import Arguments, Tool, ToolResult

if TYPE_CHECKING:
    from hindbrain.agent.tools.tool import ActionTool
    from hindbrain.app import App
    from hindbrain.memory.service import Memory

_READER = "mcp"


def message_tools(app: App) -> tuple[Tool, ...]:
    """`openclaw_send` and `openclaw_check`. UsageError when no channel is configured."""
    tools = app.message_tools(_READER)
    if not tools:
        raise UsageError(
            "--messages needs a channel; add a table [channels.NAME] to agent.toml beside the settings "
            "(docs/agent.md)"
        )
    return tuple(_as_tool(tool) for tool in tools)


def _as_tool(tool: ActionTool) -> Tool:
    def handle(_: Memory, arguments: Arguments) -> ToolResult:
        result = tool.handler(tool.settled(arguments))
        if result.failed:
            raise ChannelDown(result.text)
        return ToolResult(result.text, {"text": result.text})

    return Tool(tool.name, tool.doc, tool.params, "read" if tool.effect == "read" else "send", handle)
