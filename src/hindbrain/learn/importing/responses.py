"""The items of OpenAI's Responses and of ShareGPT's conversations as messages with a role. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable

from hindbrain.context.capture.transcripts.blocks import mapping, texts
from hindbrain.learn.importing.logs import Record

_ROLES = {
    "gpt": "assistant", "chatgpt": "assistant", "bot": "assistant", "human": "user", "observation": "tool",
    "function_response": "tool", "tool_response": "tool",
}  # fmt: skip


def as_messages(items: Iterable[Record]) -> list[Record]:
    """Each item as a message; what is one already stays as it is."""
    return [message for item in items if (message := _message(item))]


def _message(item: Record) -> Record:
    kind = texts(item.get("type"))
    if kind in ("function_call", "custom_tool_call") and item.get("name"):
        arguments = item.get("arguments", item.get("input"))
        return _call(item.get("name"), arguments, item.get("call_id") or item.get("id"))
    if kind in ("function_call_output", "custom_tool_call_output"):
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    speaker, value = texts(item.get("from")), item.get("value")
    if not speaker or "role" in item:
        return item
    if speaker in ("function_call", "tool_call"):
        try:
            told = mapping(json.loads(texts(value)))
        except (ValueError, RecursionError):
            told = {}
        return _call(told.get("name"), told.get("arguments", told.get("parameters")), None)
    return {**item, "role": _ROLES.get(speaker, speaker), "content": value}


def _call(name: object, arguments: object, call_id: object) -> Record:
    made = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [made]}
