"""The shape of OpenAI's chat/completions, which most servers speak: llama.cpp, Ollama, vLLM, OpenRouter, ...

Pure: a request out, events in.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatRequest, Image, Stop, ToolCall, Usage
from hindbrain.models.chat_manner import Manner, with_schema_told
from hindbrain.models.chat_shape import (
    EMPTY,
    ServiceFailed,
    Shape,
    base64_of,
    count,
    ended,
    failure,
    part,
    read_call,
    whole,
    without_system,
)

# OpenAI's reasoning models refuse the older name, and any temperature of one's own.
OPENAI_LACKS = frozenset({"max_tokens", "temperature"})
_STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "content_filter": "refused",
}


def payload(model: str, request: ChatRequest, manner: Manner) -> dict[str, object]:
    request = with_schema_told(request, manner)
    room = request.max_tokens + max(0, manner.room)
    body: dict[str, object] = {"model": model, "messages": _messages(request.messages), "stream": True}
    body["max_completion_tokens" if "max_tokens" in manner.without else "max_tokens"] = room
    if "temperature" not in manner.without:
        body["temperature"] = 0
    if "stream_options" not in manner.without:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.doc, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    if request.schema is not None:
        body |= _response_format(request.schema, manner)
    return body


def _response_format(schema: Mapping[str, Any], manner: Manner) -> dict[str, object]:
    if manner.format == "schema":
        named = {"name": "answer", "schema": schema, "strict": is_closed(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    return {"response_format": {"type": "json_object"}} if manner.format == "object" else {}


def is_closed(schema: object) -> bool:
    """Does it leave nothing open? OpenAI is strict only about schemas whose every property is required."""
    if isinstance(schema, Mapping):
        names = schema.get("properties", {})
        is_object = schema.get("type") == "object" or "properties" in schema
        if is_object and (
            schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(names)
        ):
            return False
        return all(is_closed(value) for value in schema.values())
    return not isinstance(schema, list) or all(is_closed(value) for value in schema)


def _messages(messages: Sequence[ChatMessage]) -> list[dict[str, object]]:
    system, rest = without_system(messages)
    told: list[dict[str, object]] = []
    if system:
        # In one: the templates of many local models allow no second.
        told.append({"role": "system", "content": whole("\n\n".join(m.text for m in system))})
    seen: list[Image] = []  # by tools; their answers here are text alone
    for message in rest:
        if message.role != "tool" and seen:
            told.append(_with_images("What the tools saw:", seen))
            seen = []
        told.append(_message(message))
        if message.role == "tool":
            seen += message.images
    return [*told, _with_images("What the tools saw:", seen)] if seen else told


def _message(message: ChatMessage) -> dict[str, object]:
    if message.role == "tool":
        text = whole(message.text) or EMPTY
        if message.failed and not text.lower().startswith("error"):
            text = f"error: {text}"
        return {"role": "tool", "tool_call_id": message.call, "content": text}
    if message.role == "assistant":
        told: dict[str, object] = {"role": "assistant", "content": whole(message.text)}
        return told | {"tool_calls": [_call(call) for call in message.calls]} if message.calls else told
    if message.images:
        return _with_images(message.text, message.images)
    return {"role": "user", "content": whole(message.text)}


def _with_images(text: str, images: Sequence[Image]) -> dict[str, object]:
    words = [{"type": "text", "text": whole(text)}] if text else []
    pictures = [
        {"type": "image_url", "image_url": {"url": f"data:{image.kind};base64,{base64_of(image)}"}}
        for image in images
    ]
    return {"role": "user", "content": [*words, *pictures]}


def _call(call: ToolCall) -> dict[str, object]:
    arguments = whole(call.unreadable) or json.dumps(dict(call.arguments))
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


class _Pieces:
    """A call that comes in pieces."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.name = ""
        self.arguments: list[str] = []
        self.read: object = None  # arguments that a server sends as an object

    def call(self) -> ToolCall:
        joined = "".join(self.arguments)
        return read_call(self.id, self.name, joined if self.read is None else self.read)


class OpenAiFold:
    def __init__(self, _model: str) -> None:
        self.ended = False
        self.done = False
        self._text: list[str] = []
        self._refused = False
        self._reason: object = None
        self._calls: list[_Pieces] = []
        self._open: dict[int, _Pieces] = {}
        self._usage = Usage()

    def take(self, data: Mapping[str, Any]) -> str:
        if data.get("error"):
            raise failure(data["error"])
        if isinstance(data.get("usage"), Mapping):
            self._usage = _usage(data["usage"])
        choices = data.get("choices") or []
        if not choices:
            return ""
        choice = choices[0]
        added = self._part(choice["delta"] if "delta" in choice else choice["message"])
        self._reason = choice.get("finish_reason") or self._reason
        if self._reason == "error":
            raise ServiceFailed("finish_reason is 'error'", passes=True)
        self.ended = self.ended or bool(self._reason) or "delta" not in choice
        return added

    def _part(self, part: Mapping[str, Any]) -> str:
        for place, piece in enumerate(part.get("tool_calls") or ()):
            self._call(piece, place)
        added = _words(part.get("content"))
        if refusal := _words(part.get("refusal")):
            self._refused, added = True, added + refusal
        self._text.append(added)
        return added

    def _call(self, piece: Mapping[str, Any], place: int) -> None:
        index, id = piece.get("index", place), piece.get("id") or ""
        pieces = self._open.get(index)
        # Some servers give every call the same index: a new id is a new call.
        if pieces is None or (id and pieces.id and id != pieces.id):
            pieces = self._open[index] = _Pieces(id)
            self._calls.append(pieces)
        function = piece.get("function") or {}
        pieces.name = pieces.name or function.get("name") or ""
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            pieces.arguments.append(arguments)
        elif arguments is not None:
            pieces.read = arguments

    def answer(self) -> ChatAnswer:
        calls = tuple(pieces.call() for pieces in self._calls)
        told = ended(self._reason, _STOPS, ChatAnswer("".join(self._text), calls, usage=self._usage))
        return told._replace(stop="refused") if self._refused else told


def _words(content: object) -> str:
    """Text, or the texts among parts; TypeError for anything else."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise TypeError("content is neither text nor parts")
    return "".join(item.get("text") or "" for item in content if item.get("type") == "text")


def _usage(told: Mapping[str, Any]) -> Usage:
    cached = count(part(told, "prompt_tokens_details"), "cached_tokens")
    cost = told.get("cost")
    return Usage(
        count(told, "prompt_tokens"),
        cached,
        count(told, "completion_tokens"),
        float(cost) if isinstance(cost, int | float) and 0 < cost < math.inf else 0.0,
    )


OPENAI_SHAPE = Shape(lambda _: "/chat/completions", payload, OpenAiFold)
