"""Stage 0 of pruning: how near each message of a conversation is to what it is about now.

Pure, by words alone: there may be hundreds of messages, and tool results are long.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.context.messages import Message
from hindbrain.context.topic.drift import Topic
from hindbrain.search.telling import telling_words

_CHARS = 2_000  # of a message; tool results begin with what they are about


def relevance_of(messages: Sequence[Message], topic: Topic) -> list[float]:
    """One number for each message, 0 (nothing in common with the topic) to 1. Without a topic: all 1.

    The answer to a tool's call is as near as the nearer of the two: "ok" alone says nothing.
    """
    if not topic.words:
        return [1.0] * len(messages)
    near = [_share(message.text[:_CHARS], topic) for message in messages]
    by_call: dict[str, float] = {}
    for message, own in zip(messages, near, strict=True):
        if message.call:
            by_call[message.call] = max(own, by_call.get(message.call, 0.0))
    return [by_call.get(message.call, own) for message, own in zip(messages, near, strict=True)]


def _share(text: str, topic: Topic) -> float:
    """How much of the topic's weight a text holds: a long text is not far off because it says more."""
    words = telling_words(text).weights
    held = sum(weight for stem, weight in topic.words.items() if stem in words)
    return min(1.0, held / sum(topic.words.values()))
