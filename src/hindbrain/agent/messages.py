"""A conversation of the agent within its model's window: what is old is trimmed, then summarised.

Of old tool results, those that have least to do with what the conversation is about now go first.

Converts between a chat model's messages, where one answer holds its calls, and those of context.history,
where each call is a message of its own. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.context.history.trimming import SCREENSHOT_REMOVED
from hindbrain.context.messages import Message
from hindbrain.context.topic.drift import Topic, TopicReader, judge_drift
from hindbrain.context.topic.relevance import relevance_of
from hindbrain.models.chat import ChatMessage

if TYPE_CHECKING:
    from hindbrain.context.history.window import ContextWindow

KEEP_SCREENSHOTS = 5  # iterations


class Fitted(NamedTuple):
    """A conversation as it can be sent."""

    messages: tuple[ChatMessage, ...]
    tokens: int  # that they take
    wanted: int  # that all of it would have taken
    condensed: bool = False  # not only tool results were shortened: messages are gone, or in a summary


def within(window: ContextWindow, messages: Sequence[ChatMessage], *, command: int) -> Fitted:
    """The conversation as it can be sent. `command`: where the owner's command stands, which always stays.

    UsageError when what must stay is alone too long.
    """
    light = without_old_screenshots(messages)
    # The newest message is often a tool's answer, so the command is no last word here: it stands in the
    # history, marked, and the request that the window puts behind it is empty.
    history = _marked(to_messages(light), command)
    near: Sequence[float] = ()
    if window.count(history) > window.budget.input:
        near = relevance_of(history, _topic(light[: command + 1]))
    built = window.build("", (), "", history, "", relevance=near)
    if not built.fits:
        raise UsageError(
            f"the command and the instructions take {built.tokens:,} tokens, which is more than the model's "
            f"window of {window.budget.input:,}; give a shorter command"
        )
    condensed = built.did("history_compacted") or built.did("history_cleared")
    return Fitted(tuple(from_messages(built.messages[:-1], light)), built.tokens, built.wanted, condensed)


def _topic(said: Sequence[ChatMessage]) -> Topic:
    """What the conversation is about now; after a change of topic, the command alone."""
    talk = [message for message in to_messages(said) if message.role in ("user", "assistant")]
    reader = TopicReader()
    command = reader.prompt(said[-1].text)
    return command if judge_drift(reader.talk(talk[:-1]), command).shifted else reader.talk(talk)


def without_old_screenshots(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Pictures stay for as many iterations: each costs as much as a page of text."""
    answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
    recent = answers[-KEEP_SCREENSHOTS] if len(answers) >= KEEP_SCREENSHOTS else 0
    return [
        _without_images(message) if message.images and at < recent else message
        for at, message in enumerate(messages)
    ]


def to_messages(messages: Sequence[ChatMessage]) -> list[Message]:
    """Each message, and each call in it, as one; `id` is the place it came from."""
    found: list[Message] = []
    for at, message in enumerate(messages):
        if message.text or not message.calls:
            found.append(
                Message(
                    message.role, message.text, message.tool, message.call, message.failed,
                    len(message.images), id=str(at),
                )
            )  # fmt: skip
        for call in message.calls:
            arguments = call.unreadable or json.dumps(dict(call.arguments), ensure_ascii=False, default=str)
            found.append(Message("assistant", arguments, call.name, call.id, id=str(at)))
    return found


def from_messages(messages: Sequence[Message], originals: Sequence[ChatMessage]) -> list[ChatMessage]:
    """What is left of the originals. A message without an id is new: a summary."""
    left: dict[int, list[Message]] = {}
    told: list[ChatMessage | int] = []
    for message in messages:
        if not message.id:
            told.append(ChatMessage(message.role, message.text))
            continue
        at = int(message.id)
        if at not in left:
            told.append(at)
        left.setdefault(at, []).append(message)
    return [one if isinstance(one, ChatMessage) else _restored(originals[one], left[one]) for one in told]


def _restored(original: ChatMessage, parts: Sequence[Message]) -> ChatMessage:
    """The original with the text that is left, and those of its calls that are."""
    calls = {part.call for part in parts if part.role == "assistant" and part.tool}
    words = next((part for part in parts if not (part.role == "assistant" and part.tool)), None)
    return original._replace(
        text=words.text if words is not None else "",
        images=original.images if words is not None and words.images else (),
        calls=tuple(call for call in original.calls if call.id in calls),
    )


def _marked(messages: Sequence[Message], command: int) -> list[Message]:
    return [message._replace(critical=message.id == str(command)) for message in messages]


def _without_images(message: ChatMessage) -> ChatMessage:
    text = "\n".join(filter(None, [message.text, *[SCREENSHOT_REMOVED] * len(message.images)]))
    return message._replace(text=text, images=())
