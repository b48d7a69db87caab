"""The shape of Gemini's generateContent.

Pure: a request out, events in. Its thinking models sign the calls that they make, and refuse a conversation
in which a signature is missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from hindbrain.models.chat import ChatAnswer, ChatMessage, ChatRequest, Image, Stop, ToolCall, Usage
from hindbrain.models.chat_manner import Manner, with_schema_told
from hindbrain.models.chat_shape import (
    EMPTY,
    MADE_ID,
    ServiceFailed,
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

_NAME = "gemini"
# What the service takes for a call that it did not make itself.
_NOT_SIGNED = "skip_thought_signature_validator"
_SIGNS_SINCE = 3
_STOPS: Mapping[str, Stop] = {
    "STOP": "end",
    "MAX_TOKENS": "length",
    "SAFETY": "refused",
    "RECITATION": "refused",
    "LANGUAGE": "refused",
    "BLOCKLIST": "refused",
    "PROHIBITED_CONTENT": "refused",
    "SPII": "refused",
}
_BAD_CALLS = ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL")

Part = dict[str, object]


def path(model: str) -> str:
    return f"/models/{quote(model.removeprefix('models/'), safe='')}:streamGenerateContent?alt=sse"


def payload(model: str, request: ChatRequest, manner: Manner) -> dict[str, object]:
    request = with_schema_told(request, manner)
    system, rest = without_system(request.messages)
    settings: dict[str, object] = {"maxOutputTokens": request.max_tokens + max(0, manner.room)}
    body: dict[str, object] = {"contents": _contents(rest, model)}
    if system:
        body["systemInstruction"] = {"parts": [{"text": whole(message.text)} for message in system]}
    if request.tools:
        declared = [
            {"name": tool.name, "description": tool.doc, "parametersJsonSchema": tool.schema}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declared}]
    if request.schema is not None and manner.format != "plain":
        settings["responseMimeType"] = "application/json"
        if manner.format == "schema":
            settings["responseJsonSchema"] = request.schema
    return body | {"generationConfig": settings}


def _contents(messages: Sequence[ChatMessage], model: str) -> list[Part]:
    """The results of all calls of an answer are one turn, and stand right behind it."""
    names = {call.id: call.name for message in messages for call in message.calls}
    turns: list[tuple[str, list[Part]]] = []
    seen: list[Image] = []
    for message in messages:
        if message.role == "tool":
            result = _result(message, names)
            if turns and turns[-1][0] == "tool":
                turns[-1][1].append(result)
            else:
                turns.append(("tool", [result]))
            seen += message.images
            continue
        if seen:
            turns.append(("user", [{"text": "What the tools saw:"}, *_images(seen)]))
            seen = []
        is_model = message.role == "assistant"
        turns.append(("model", _said(message, model)) if is_model else ("user", _told(message)))
    if seen:
        turns.append(("user", [{"text": "What the tools saw:"}, *_images(seen)]))
    return [{"role": "user" if role == "tool" else role, "parts": parts} for role, parts in turns]


def _told(message: ChatMessage) -> list[Part]:
    words: list[Part] = [{"text": whole(message.text)}] if message.text else []
    return [*words, *_images(message.images)] or [{"text": EMPTY}]


def _said(message: ChatMessage, model: str) -> list[Part]:
    parts: list[Part] = [{"text": whole(message.text)}] if message.text else []
    for at, call in enumerate(message.calls):
        arguments = {"unreadable": whole(call.unreadable)} if call.unreadable else dict(call.arguments)
        told: Part = {"functionCall": {"name": call.name, "args": arguments, **_id(call.id)}}
        signature = unsealed(call, _NAME, model)
        if not signature and at == 0 and _signs(model):
            signature = _NOT_SIGNED
        parts.append(told | {"thoughtSignature": signature} if signature else told)
    return parts or [{"text": EMPTY}]


def _result(message: ChatMessage, names: Mapping[str, str]) -> Part:
    name = message.tool or names.get(message.call, "")
    response = {"error" if message.failed else "output": whole(message.text)}
    return {"functionResponse": {"name": name, "response": response, **_id(message.call)}}


def _id(id: str) -> dict[str, str]:
    """Models that give no ids are not told of those that we made."""
    return {} if id.startswith(MADE_ID) else {"id": id}


def _images(images: Sequence[Image]) -> list[Part]:
    return [{"inlineData": {"mimeType": image.kind, "data": base64_of(image)}} for image in images]


def _signs(model: str) -> bool:
    found = re.search(r"gemini-(\d+)", model)
    return found is not None and int(found[1]) >= _SIGNS_SINCE


class GeminiFold:
    def __init__(self, model: str) -> None:
        self.ended = False
        self.done = False  # the end of the stream says it
        self._model = model
        self._text: list[str] = []
        self._calls: list[ToolCall] = []
        self._reason: object = None
        self._blocked = False
        self._usage = Usage()

    def take(self, data: Mapping[str, Any]) -> str:
        if data.get("error"):
            raise failure(data["error"])
        if "usageMetadata" in data:
            self._usage = _usage(data["usageMetadata"])
        if (data.get("promptFeedback") or {}).get("blockReason"):
            self._blocked = self.ended = True
        added = ""
        for candidate in (data.get("candidates") or ())[:1]:
            parts = (candidate.get("content") or {}).get("parts") or ()
            added = "".join([self._part(part) for part in parts])
            self._end(candidate)
        return added

    def _part(self, part: Mapping[str, Any]) -> str:
        if called := part.get("functionCall"):
            signature = part.get("thoughtSignature")
            sealed = seal(_NAME, self._model, signature) if signature else ""
            call = read_call(called.get("id") or "", called["name"], called.get("args"), sealed)
            self._calls.append(call)
        if part.get("thought") or not part.get("text"):
            return ""
        self._text.append(part["text"])
        return str(part["text"])

    def _end(self, candidate: Mapping[str, Any]) -> None:
        self._reason = candidate.get("finishReason") or self._reason
        if self._reason in _BAD_CALLS:
            raise ServiceFailed(f"{self._reason}: {candidate.get('finishMessage', '')}", passes=True)
        self.ended = self.ended or bool(self._reason)

    def answer(self) -> ChatAnswer:
        told = ChatAnswer("".join(self._text), tuple(self._calls), usage=self._usage)
        return told._replace(stop="refused") if self._blocked else ended(self._reason, _STOPS, told)


def _usage(told: Mapping[str, Any]) -> Usage:
    return Usage(
        count(told, "promptTokenCount") + count(told, "toolUsePromptTokenCount"),
        count(told, "cachedContentTokenCount"),
        count(told, "candidatesTokenCount") + count(told, "thoughtsTokenCount"),
    )


GEMINI_SHAPE = Shape(path, payload, GeminiFold)
