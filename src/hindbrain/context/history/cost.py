"""What messages cost in a window. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from hindbrain.context.messages import Message
from hindbrain.context.tokens import TokenCounter

IMAGE_TOKENS = 1_600  # a screenshot as hosts send it: about 1.2 million pixels at 750 to a token
_PER_MESSAGE = 4
_PER_LIST = 2


def message_tokens(message: Message, counter: TokenCounter) -> int:
    """Return what one message costs: text, role, the tool's name, images, and what is written around it."""
    tool = counter.count(message.tool) if message.tool else 0
    text = counter.count(message.text) + counter.count(message.role)
    return _PER_MESSAGE + text + tool + IMAGE_TOKENS * message.images


def history_tokens(messages: Iterable[Message], counter: TokenCounter) -> int:
    """Return what the messages cost together; 2 for none."""
    return _PER_LIST + sum(message_tokens(message, counter) for message in messages)
