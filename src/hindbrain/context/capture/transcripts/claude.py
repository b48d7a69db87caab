"""Claude Code: one JSON line per block of a message, `type` user or assistant, and lines about the session.

Not of the person's conversation, and left out: what subagents were told and said (isSidechain), what the host
writes in the user's name (isMeta), thinking. A summary after a compaction is the system's word.
"""

from __future__ import annotations

from hindbrain.context.capture.transcripts.blocks import (
    Record,
    blocks_of,
    call,
    content_of,
    mapping,
    result,
    seconds,
    speech,
    texts,
)
from hindbrain.context.messages import Message

TYPES = frozenset((
    "user", "assistant", "system", "summary", "attachment", "progress", "file-history-snapshot",
    "queue-operation", "last-prompt", "custom-title", "ai-title", "permission-mode", "mode",
))  # fmt: skip


class ClaudeReader:
    def __init__(self) -> None:
        self.cwd = ""
        self._tools: dict[str, str] = {}  # by the id of the call

    def take(self, record: Record) -> list[Message]:
        self.cwd = texts(record.get("cwd")) or self.cwd
        kind = texts(record.get("type"))
        if kind not in ("user", "assistant") or record.get("isSidechain") or record.get("isMeta"):
            return []
        message = mapping(record.get("message"))
        at, given = seconds(record.get("timestamp")), texts(record.get("uuid"))
        if record.get("isCompactSummary"):
            text = content_of(message.get("content")).text
            return [Message("system", text, at=at, id=given)] if text else []
        if message.get("model") == "<synthetic>":
            return []  # the host speaking in the model's name
        if kind == "user":
            return self._from_user(message.get("content"), at, given)
        return self._from_assistant(message.get("content"), at, given)

    def _from_user(self, content: object, at: float, given: str) -> list[Message]:
        found: list[Message] = []
        for block in blocks_of(content):
            if block.get("type") == "tool_result":
                pairs = texts(block.get("tool_use_id"))
                told = content_of(block.get("content"))
                failed, tool = block.get("is_error") is True, self._tools.get(pairs, "")
                nth = _nth(given, found)
                found.append(result(told, tool=tool, call_id=pairs, failed=failed, at=at, given=nth))
        return found + speech("user", content_of(content), at=at, given=_nth(given, found))

    def _from_assistant(self, content: object, at: float, given: str) -> list[Message]:
        found = speech("assistant", content_of(content), at=at, given=given)
        for block in blocks_of(content):
            if block.get("type") in ("tool_use", "server_tool_use", "mcp_tool_use"):
                pairs, name = texts(block.get("id")), texts(block.get("name"))
                self._tools[pairs] = name
                found.append(call(name, block.get("input"), call_id=pairs, at=at, given=_nth(given, found)))
        return found


def _nth(given: str, before: list[Message]) -> str:
    """An id for each message of one record; the first has the record's own."""
    return f"{given}/{len(before)}" if given and before else given
