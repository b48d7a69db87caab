"""Codex CLI: a rollout file of lines {timestamp, type, payload}; older ones have the payload alone.

The conversation is in the `response_item` lines. `event_msg` lines tell the same again for the screen, and
are left out. Developer messages are instructions, ours among them.
"""

from __future__ import annotations

import json
import re

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

TYPES = frozenset(("session_meta", "response_item", "event_msg", "turn_context", "compacted"))
ITEMS = frozenset((
    "message", "function_call", "function_call_output", "local_shell_call", "custom_tool_call",
    "custom_tool_call_output", "reasoning", "web_search_call",
))  # fmt: skip
# What is written above the output of a command: when it ran, for how long, how it ended.
_HEADER = re.compile(r"(?:Chunk ID|Exit code|Wall time)\b.{0,400}?\nOutput:\n", re.DOTALL)


class CodexReader:
    def __init__(self) -> None:
        self.cwd = ""
        self._tools: dict[str, str] = {}

    def take(self, record: Record) -> list[Message]:
        kind = texts(record.get("type"))
        at = seconds(record.get("timestamp"))
        if kind in ("session_meta", "turn_context"):
            self.cwd = texts(mapping(record.get("payload")).get("cwd")) or self.cwd
            return []
        if kind == "compacted":
            text = texts(mapping(record.get("payload")).get("message"))
            return speech("system", Content(text), at=at, given="")
        if kind == "response_item":
            return self._item(mapping(record.get("payload")), at)
        return self._item(record, at) if kind in ITEMS else []

    def _item(self, item: Record, at: float) -> list[Message]:
        kind = texts(item.get("type"))
        pairs = item.get("call_id") or item.get("id")
        given = texts(item.get("id"))
        if kind == "message":
            role = item.get("role")
            if role == "assistant" or (role == "user" and _is_typed(item)):
                return speech(role, content_of(item.get("content")), at=at, given=given)
            return []
        if kind in ("function_call", "custom_tool_call", "local_shell_call"):
            name = "local_shell" if kind == "local_shell_call" else texts(item.get("name"))
            arguments = item.get("arguments") or item.get("input") or item.get("action")
            self._tools[texts(pairs)] = name
            return [call(name, arguments, call_id=pairs, at=at, given="")]
        if kind in ("function_call_output", "custom_tool_call_output"):
            content, failed = _output(item.get("output"))
            tool = self._tools.get(texts(pairs), "")
            return [result(content, tool=tool, call_id=pairs, failed=failed, at=at, given="")]
        return []


def _is_typed(item: Record) -> bool:
    """Did a person type it? Newer versions say so; of older ones the wrappers tell."""
    told = mapping(item.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata")
    origins = [mapping(part.get("provenance")).get("type") for part in blocks_of(told)]
    return not origins or "user" in origins


def _output(output: object) -> tuple[Content, bool]:
    """What a tool answered and whether it failed, in the forms that Codex has had."""
    if isinstance(output, dict):
        failed = output.get("success") is False
        inner, inner_failed = _output(output.get("content") if "content" in output else output.get("output"))
        return inner, failed or inner_failed
    content = content_of(output)
    if content.text.startswith("{"):
        try:
            told = mapping(json.loads(content.text))
        except (ValueError, RecursionError):
            told = {}
        code = mapping(told.get("metadata")).get("exit_code")
        if "output" in told and isinstance(code, int):
            return Content(texts(told.get("output")), content.images), code != 0
    failed = (exit_code(content.text) or 0) != 0
    header = _HEADER.match(content.text)
    return (content._replace(text=content.text[header.end() :]) if header else content), failed
