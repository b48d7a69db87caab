"""Pieces that the records of several hosts share: texts made of blocks, times, ids, calls and results.

Pure. Whatever a record holds instead of what it should is taken as absent.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from hindbrain.context.capture.tool_calls import call_text, is_our_tool
from hindbrain.context.capture.transcripts.wrappers import said_by_agent, said_by_person
from hindbrain.context.messages import Message, Role

Record = Mapping[str, Any]
HASH_ID = "h-"  # begins an id that was made from the words of a message, since its host gave it none
_TEXTS = ("text", "input_text", "output_text", "refusal")
_IMAGES = ("image", "input_image", "image_url", "inlineData", "inline_data")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MILLISECONDS = 1e11  # a time above this is not in seconds
_EXIT = re.compile(
    r"^(?:Exit code:? |Process exited with code |Exit Code: |exit status |\[exit code:? ?)(-?\d+)",
    re.MULTILINE,
)


class Content(NamedTuple):
    text: str
    images: int = 0


def mapping(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def texts(value: object) -> str:
    """`value`, if it is a text; without halves of characters, which nothing could store."""
    if not isinstance(value, str):
        return ""
    return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value).replace("\0", "")


def content_of(value: object) -> Content:
    """The text of a content, which is a text, a block or a list of blocks; how many images it carries."""
    if isinstance(value, str):
        return Content(texts(value))
    found: list[str] = []
    images = 0
    for block in blocks_of(value):
        kind = block.get("type", "")
        if kind in _IMAGES or any(key in block for key in ("inlineData", "inline_data")):
            images += 1
        elif kind in _TEXTS or (not kind and "text" in block):
            found.append(texts(block.get("text") or block.get("refusal")))
    return Content("\n".join(text for text in found if text), images)


def blocks_of(value: object) -> Iterator[Record]:
    if isinstance(value, dict):
        yield value
    elif isinstance(value, list):
        for block in value:
            if isinstance(block, dict):
                yield block
            elif isinstance(block, str):
                yield {"type": "text", "text": block}


def seconds(value: object) -> float:
    """Seconds since the epoch of a time in ISO form or as a number; 0.0 when it is neither."""
    if isinstance(value, bool):
        return 0.0
    if isinstance(value, int | float):
        return float(value) / (1000 if value > _MILLISECONDS else 1) if 0 < value < 1e15 else 0.0
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip()).timestamp()
        except (ValueError, OverflowError, OSError):
            return 0.0
    return 0.0


def exit_code(text: str) -> int | None:
    """The exit code that a host writes into the result of a command; None when it does not."""
    # At the beginning, or at the end: in between is what the command printed.
    match = _EXIT.search(text[:400]) or _EXIT.search(text[-400:])
    return int(match[1][:6]) if match else None


def speech(role: Role, content: Content, *, at: float, given: str) -> list[Message]:
    """A message of a person or an agent, unless nothing in it was said by them."""
    text = said_by_person(content.text) if role == "user" else said_by_agent(content.text)
    if not text and not content.images:
        return []
    return [Message(role, text, images=content.images, at=at, id=given or hash_id(role, text, at=at))]


def call(tool: object, arguments: object, *, call_id: object, at: float, given: str) -> Message:
    name = texts(tool)
    text = texts(call_text(name, arguments))
    pairs = texts(call_id)
    return Message(
        "assistant", text, name, pairs, at=at, id=given or hash_id("call", name, text, pairs, at=at)
    )


def result(content: Content, *, tool: str, call_id: object, failed: bool, at: float, given: str) -> Message:
    """What a tool answered. Of our own tools nothing is kept: it is known already."""
    text = "" if is_our_tool(tool) else content.text
    pairs = texts(call_id)
    made = given or hash_id("result", text, pairs, at=at)
    return Message("tool", text, tool, pairs, failed, content.images, at=at, id=made)


def hash_id(*parts: str, at: float) -> str:
    digest = hashlib.blake2b("\0".join((*parts, repr(at))).encode("utf-8", "replace"), digest_size=8)
    return HASH_ID + digest.hexdigest()
