"""The shape of Anthropic's messages.

Pure: a request out, events in. What is never sent, since its newer models refuse it: a temperature, a forced
tool, the beginning of an answer. They also think unasked; the thoughts before a call are sealed, and must
come back with it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatRequest, Image, Stop, ToolCall, Usage
from hindbrain.models.chat_manner import Manner, with_schema_told
from hindbrain.models.chat_shape import (
    EMPTY,
    Shape,
    base64_of,
    count,
    ended,
    failure,
    read_call,
    seal,
    unsealed,
    whole,
    without_system,
)

_MOST_MARKS = 4
_NAME = "anthropic"
_STOPS: Mapping[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
# Limits that a schema may hold and that this service refuses; who asked checks the answer anyway.
_UNKNOWN_LIMITS = frozenset({
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "minItems", "maxItems", "uniqueItems",
})  # fmt: skip

Block = dict[str, object]


def payload(model: str, request: ChatRequest, manner: Manner) -> dict[str, object]:
    request = with_schema_told(request, manner)
    system, rest = without_system(request.messages)
    marked = _marked(request.messages)
    body: dict[str, object] = {
        "model": model,
        "max_tokens": request.max_tokens + max(0, manner.room),
        "stream": True,
        "messages": _turns(rest, model, marked[len(system) :]),
    }
    if system:
        body["system"] = [
            block
            for message, mark in zip(system, marked, strict=False)
            for block in _mark(_text(message.text), mark)
        ]
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.doc, "input_schema": tool.schema}
            for tool in request.tools
        ]
    if request.schema is not None and manner.format == "schema":
        body["output_config"] = {"format": {"type": "json_schema", "schema": closed(request.schema)}}
    return body


def closed(schema: Any) -> Any:
    """The schema as this service takes it: objects without further properties, and no limits."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    told = {
        name: {key: closed(one) for key, one in value.items()} if name == "properties" else closed(value)
        for name, value in schema.items()
        if name not in _UNKNOWN_LIMITS or isinstance(value, Mapping)
    }
    return {"additionalProperties": False, **told} if told.get("type") == "object" else told


def _marked(messages: Sequence[ChatMessage]) -> list[bool]:
    """Where the service shall keep ready what came so far: at most four places, the first and the last."""
    places = [at for at, message in enumerate(messages) if message.stable]
    if len(places) > _MOST_MARKS:
        places = [places[0], *places[1 - _MOST_MARKS :]]
    return [at in places for at in range(len(messages))]


def _mark(blocks: list[Block], mark: bool) -> list[Block]:
    if mark and blocks:
        blocks[-1] = blocks[-1] | {"cache_control": {"type": "ephemeral"}}
    return blocks


def _turns(messages: Sequence[ChatMessage], model: str, marked: Sequence[bool]) -> list[Block]:
    """User and assistant by turns: the results of all calls of an answer are one message."""
    turns: list[tuple[str, list[Block]]] = []
    for message, mark in zip(messages, marked, strict=True):
        role = "assistant" if message.role == "assistant" else "user"
        blocks = _mark(_blocks(message, model), mark)
        if turns and turns[-1][0] == role:
            turns[-1][1].extend(blocks)
        else:
            turns.append((role, blocks))
    return [{"role": role, "content": blocks or _text(EMPTY)} for role, blocks in turns]


def _blocks(message: ChatMessage, model: str) -> list[Block]:
    if message.role == "tool":
        inside = [*_text(message.text), *_images(message.images)] or _text(EMPTY)
        result: Block = {"type": "tool_result", "tool_use_id": _id(message.call), "content": inside}
        return [result | {"is_error": True}] if message.failed else [result]
    if message.role == "assistant":
        words, blocks = _text(message.text), []
        for call in message.calls:
            thoughts = unsealed(call, _NAME, model) or []
            blocks += [*thoughts, *words, _call(call)]
            words = []
        return blocks + words
    return [*_images(message.images), *_text(message.text)]


def _call(call: ToolCall) -> Block:
    arguments = {"unreadable": whole(call.unreadable)} if call.unreadable else dict(call.arguments)
    return {"type": "tool_use", "id": _id(call.id), "name": call.name, "input": arguments}


def _text(text: str) -> list[Block]:
    return [{"type": "text", "text": whole(text)}] if text.strip() else []


def _images(images: Sequence[Image]) -> list[Block]:
    return [
        {"type": "image", "source": {"type": "base64", "media_type": image.kind, "data": base64_of(image)}}
        for image in images
    ]


def _id(id: str) -> str:
    """A conversation may have begun with another service, whose ids this one refuses."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", id)


class AnthropicFold:
    def __init__(self, model: str) -> None:
        self.ended = False
        self.done = False
        self._model = model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._reason: object = None
        self._counts: dict[str, int] = {}

    def take(self, data: Mapping[str, Any]) -> str:
        kind = data.get("type")
        if kind == "error":
            raise failure(data["error"])
        if kind == "message_start":
            self._count(data["message"])
        elif kind == "content_block_start":
            return self._start(data["index"], data["content_block"])
        elif kind == "content_block_delta":
            return self._add(self._blocks[data["index"]], data["delta"])
        elif kind == "message_delta":
            self._count(data)
            self._end(data["delta"].get("stop_reason"))
        elif kind == "message_stop":
            self.done = True
        elif kind == "message":  # an answer that was not sent in pieces
            self._count(data)
            self._end(data.get("stop_reason"))
            return "".join(self._start(at, block) for at, block in enumerate(data["content"]))
        return ""

    def _start(self, index: int, block: Mapping[str, Any]) -> str:
        self._blocks[index] = {"json": [], **block}
        return str(block.get("text") or "") if block["type"] == "text" else ""

    def _add(self, block: dict[str, Any], delta: Mapping[str, Any]) -> str:
        kind = delta.get("type")
        if kind == "input_json_delta":
            block["json"].append(delta["partial_json"])
        elif kind == "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        elif kind == "signature_delta":
            block["signature"] = block.get("signature", "") + delta["signature"]
        elif kind == "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
            return str(delta["text"])
        return ""

    def _count(self, told: Mapping[str, Any]) -> None:
        """Figures are of the whole answer so far; one that is not told again stays."""
        usage = told.get("usage") or {}
        self._counts |= {name: found for name in usage if (found := count(usage, name))}

    def _end(self, reason: object) -> None:
        self._reason = reason
        self.ended = self.ended or bool(reason)

    def answer(self) -> ChatAnswer:
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        text = "".join(block.get("text") or "" for block in blocks if block["type"] == "text")
        told = ChatAnswer(text, tuple(self._calls(blocks)), usage=self._usage())
        return ended(self._reason, _STOPS, told)

    def _calls(self, blocks: Sequence[Mapping[str, Any]]) -> list[ToolCall]:
        calls, thoughts = [], []
        for block in blocks:
            if block["type"] in ("thinking", "redacted_thinking"):
                thoughts.append({name: value for name, value in block.items() if name != "json"})
            elif block["type"] == "tool_use":
                arguments = "".join(block["json"]) or block.get("input")
                sealed = seal(_NAME, self._model, thoughts) if thoughts else ""
                calls.append(read_call(block["id"], block["name"], arguments, sealed))
                thoughts = []
        return calls

    def _usage(self) -> Usage:
        counts = self._counts.get
        cached = counts("cache_read_input_tokens", 0)
        sent = counts("input_tokens", 0) + counts("cache_creation_input_tokens", 0) + cached
        return Usage(sent, cached, counts("output_tokens", 0))


ANTHROPIC_SHAPE = Shape(lambda _: "/messages", payload, AnthropicFold, ("schema", "plain"))
