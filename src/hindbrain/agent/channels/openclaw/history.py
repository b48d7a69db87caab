"""A session of OpenClaw as its gateway tells it: which of its messages people wrote to us. Pure."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

from hindbrain.agent.channels.channel import Incoming

_TEXT_KINDS = ("text", "input_text")
MOST_CHARS = 100_000  # of one message; the gateway gives 8,000 to who does not ask for more


class Target(NamedTuple):
    """Where a message goes, in OpenClaw's words, and whose answers are read."""

    channel: str  # telegram, whatsapp, ...
    to: str
    session: str = "main"
    since: float = 0.0  # what was said before is not ours; seconds since the epoch


def incoming(name: str, messages: object, target: Target) -> list[Incoming]:
    """What people said in the session, oldest first; `name` is our name for the channel."""
    found = []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict) or message.get("role") != "user":
            continue
        about = message.get("__openclaw")
        about = about if isinstance(about, dict) else {}
        at = _seconds(about.get("recordTimestampMs")) or _seconds(message.get("timestamp"))
        text = _text(message.get("content", message.get("text")))
        if text and (not at or at >= target.since):
            sender = str(about.get("senderId") or about.get("senderName") or "")
            found.append(Incoming(_id(about, at, text), name, sender, text, at))
    return found


def _text(content: object) -> str:
    if isinstance(content, str):
        return content.strip()[:MOST_CHARS]
    blocks = content if isinstance(content, list) else []
    texts = [
        block["text"]
        for block in blocks
        if isinstance(block, dict) and block.get("type") in _TEXT_KINDS and isinstance(block.get("text"), str)
    ]
    return "\n".join(texts).strip()[:MOST_CHARS]


def _id(about: dict[str, Any], at: float, text: str) -> str:
    given = about.get("id")
    if isinstance(given, str) and given:
        return given
    return hashlib.sha256(f"{at}\n{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _seconds(value: object) -> float:
    return value / 1000 if isinstance(value, int | float) and not isinstance(value, bool) else 0.0
