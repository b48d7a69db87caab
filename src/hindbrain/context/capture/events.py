"""What spooled events say: whose they are, and what was said where no transcript tells it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hindbrain.context.capture.spool import Event
from hindbrain.context.capture.tool_calls import runs_command
from hindbrain.context.capture.transcripts.blocks import (
    Content,
    call,
    exit_code,
    result,
    seconds,
    speech,
    texts,
)
from hindbrain.context.capture.transcripts.wrappers import said_in_prompt
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey

TOOL_EVENTS = ("tool-failed", "tool-ok")


def by_session(events: Sequence[Event]) -> list[tuple[SessionKey, list[Event]]]:
    """Events of each session, the session that waits longest first."""
    found: dict[SessionKey, list[Event]] = {}
    for event in events:
        found.setdefault(SessionKey(event.host, event.session), []).append(event)
    return list(found.items())


def last_told(events: Sequence[Event], field: str) -> str:
    """What the last event that says so says."""
    return next((getattr(event, field) for event in reversed(events) if getattr(event, field)), "")


def prompt_of(event: Event) -> list[Message]:
    """What a person said in a prompt, in their own words; [] for a command of their host."""
    text = said_in_prompt(texts(event.prompt))
    return [Message("user", text, at=event.at, id=f"{event.id}/prompt")] if text else []


def answer_of(event: Event) -> list[Message]:
    """What the agent answered last."""
    return speech("assistant", Content(texts(event.answer)), at=event.at, given=f"{event.id}/answer")


def others_of(event: Event) -> list[Message]:
    """What else an event tells: the call of a tool, and messages that a host hands over."""
    found: list[Message] = []
    if event.event in TOOL_EVENTS and event.command:
        command, output, failed = texts(event.command), texts(event.output), event.event == "tool-failed"
        found = [
            Message("assistant", command, event.tool, event.id, at=event.at, id=f"{event.id}/call"),
            Message("tool", output, event.tool, event.id, failed, at=event.at, id=f"{event.id}/result"),
        ]
    return found + [message for given in event.messages for message in _handed_over(given)]


def ids_of(event: Event) -> list[str]:
    """Of the messages that it carries, also those in which nobody said anything."""
    return [given for message in event.messages if (given := texts(message.get("id")))]


def last_time(events: Sequence[Event]) -> float:
    """When the last message that they carry was said; 0 when none tells it."""
    times = (seconds(message.get("at")) for event in reversed(events) for message in reversed(event.messages))
    return next(filter(None, times), 0.0)


def in_parts(events: Sequence[Event], most_chars: int) -> Iterator[list[Event]]:
    """As many events at a time as say about that much; at least one part, which may be empty."""
    part: list[Event] = []
    size = 0
    for event in events:
        length = sum(len(texts(message.get("text"))) for message in event.messages)
        if part and length and size + length > most_chars:
            yield part
            part, size = [], 0
        part.append(event)
        size += length
    yield part


def _handed_over(message: Mapping[str, object]) -> list[Message]:
    role, text, tool = texts(message.get("role")), texts(message.get("text")), texts(message.get("tool"))
    at, given, pairs = seconds(message.get("at")), texts(message.get("id")), message.get("call")
    if role == "tool":
        failed = bool(message.get("failed")) or (runs_command(tool) and exit_code(text) not in (None, 0))
        return [result(Content(text), tool=tool, call_id=pairs, failed=failed, at=at, given=given)]
    if role == "assistant" and tool:
        return [call(tool, text, call_id=pairs, at=at, given=given)]
    if role in ("user", "assistant"):
        return speech("user" if role == "user" else "assistant", Content(text), at=at, given=given)
    return []
