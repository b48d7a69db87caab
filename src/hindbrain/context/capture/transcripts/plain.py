"""Logs of messages with a role and a content: Cursor, OpenClaw, and what OpenAI and Anthropic clients keep.

A record is a message, or holds one under `message`, or holds several under `messages` or `traj`.
"""

from __future__ import annotations

from hindbrain.context.capture.transcripts.blocks import (
    Content,
    Record,
    blocks_of,
    call,
    content_of,
    exit_code,
    mapping,
    result,
    seconds,
    speech,
    texts,
)
from hindbrain.context.messages import Message

LISTS = ("messages", "traj", "conversation", "turns", "history")
_ROLES = {
    "user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant",
    "tool": "tool", "function": "tool", "toolresult": "tool", "tool_result": "tool",
    "system": "system", "developer": "system",
}  # fmt: skip
_CALLS = ("tool_use", "toolCall", "tool_call", "tool-call")


class PlainReader:
    def __init__(self) -> None:
        self.cwd = ""
        self._tools: dict[str, str] = {}

    def take(self, record: Record) -> list[Message]:
        for name in LISTS:
            if isinstance(record.get(name), list):
                return [message for inner in blocks_of(record[name]) for message in self.take(inner)]
        self.cwd = texts(record.get("cwd")) or self.cwd
        inner = mapping(record.get("message")) or record
        role = _ROLES.get(texts(inner.get("role") or record.get("role") or record.get("type")).casefold(), "")
        if not role:
            return []
        at = seconds(record.get("timestamp") or inner.get("timestamp") or record.get("created_at"))
        given = texts(record.get("id") or record.get("uuid") or inner.get("id"))
        content = inner.get("content", inner.get("text"))
        if role == "tool":
            return [self._result(inner, content_of(content), at, given)]
        if role == "system":
            text = content_of(content).text
            return [Message("system", text, at=at, id=given)] if text else []
        return self._speech_and_calls(inner, content, role == "user", at, given)

    def _speech_and_calls(
        self, inner: Record, content: object, by_user: bool, at: float, given: str
    ) -> list[Message]:
        found = speech("user" if by_user else "assistant", content_of(content), at=at, given=given)
        for block in blocks_of(content):
            nth = f"{given}/{len(found)}" if given and found else given
            if block.get("type") in _CALLS:
                found.append(
                    self._call(block.get("name"), block.get("input", block.get("arguments")), block, at, nth)
                )
            elif block.get("type") == "tool_result":
                found.append(self._result(block, content_of(block.get("content")), at, nth))
        for made in blocks_of(inner.get("tool_calls")):
            nth = f"{given}/{len(found)}" if given and found else given
            function = mapping(made.get("function")) or made
            found.append(self._call(function.get("name"), function.get("arguments"), made, at, nth))
        return found

    def _call(self, name: object, arguments: object, made: Record, at: float, given: str) -> Message:
        pairs = texts(made.get("id"))
        self._tools[pairs] = texts(name)
        return call(name, arguments, call_id=pairs, at=at, given=given)

    def _result(self, inner: Record, content: Content, at: float, given: str) -> Message:
        pairs = texts(inner.get("tool_call_id") or inner.get("tool_use_id") or inner.get("toolCallId"))
        tool = texts(inner.get("name") or inner.get("toolName")) or self._tools.get(pairs, "")
        failed = inner.get("is_error") is True or inner.get("isError") is True
        failed = failed or (exit_code(content.text) or 0) != 0
        return result(content, tool=tool, call_id=pairs, failed=failed, at=at, given=given)
