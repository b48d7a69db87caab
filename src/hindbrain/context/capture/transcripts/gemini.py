"""Gemini CLI: a session is one JSON object with `messages`, or lines of the same messages.

Messages have ids and are rewritten as they grow, with calls and their results inside the message that made
them. Not run here with the real program: after its published sources.
"""

from __future__ import annotations

import json

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


class GeminiReader:
    def __init__(self) -> None:
        self.cwd = ""

    def take(self, record: Record) -> list[Message]:
        if isinstance(record.get("messages"), list):
            return [message for inner in blocks_of(record["messages"]) for message in self._one(inner)]
        if "$set" in record:
            return self.take(mapping(record["$set"]))
        return self._one(record)

    def _one(self, record: Record) -> list[Message]:
        kind = texts(record.get("type"))
        at, given = seconds(record.get("timestamp")), texts(record.get("id"))
        if kind == "user":
            return speech("user", content_of(record.get("content")), at=at, given=given)
        if kind not in ("gemini", "model", "assistant"):
            return []
        found = speech("assistant", content_of(record.get("content")), at=at, given=given)
        for number, made in enumerate(blocks_of(record.get("toolCalls"))):
            found += _call(made, at, f"{given}/{number}" if given else "")
        return found


def _call(made: Record, at: float, given: str) -> list[Message]:
    name, pairs = texts(made.get("name")), texts(made.get("id"))
    when = seconds(made.get("timestamp")) or at
    asked = call(name, made.get("args"), call_id=pairs, at=when, given=given)
    status = made.get("status")
    if status not in ("success", "error", "cancelled"):
        return [asked]
    content = _answer(made.get("result"))
    failed = status == "error" or (exit_code(content.text) or 0) != 0
    answered = result(
        content, tool=name, call_id=pairs, failed=failed, at=when, given=given and f"{given}/result"
    )
    return [asked, answered]


def _answer(value: object) -> Content:
    """The answer in a list of parts, of which one is {functionResponse: {response: {output or error}}}."""
    found: list[str] = []
    images = 0
    for part in blocks_of(value):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        if response:
            said = response.get("output", response.get("error", ""))
            found.append(texts(said) if isinstance(said, str) else json.dumps(said, default=str))
        else:
            content = content_of(part)
            found.append(content.text)
            images += content.images
    return Content("\n".join(text for text in found if text), images)
