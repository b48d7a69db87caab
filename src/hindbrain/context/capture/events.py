"""What spooled events say: whose they are, and what was said where no transcript tells it. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.context.capture.spool import Event
from hindbrain.context.capture.transcripts.blocks import Content, speech, texts
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey


def by_session(events: Sequence[Event]) -> list[tuple[SessionKey, list[Event]]]:
    """Events of each session, the session that waits longest first."""
    found: dict[SessionKey, list[Event]] = {}
    for event in events:
        found.setdefault(SessionKey(event.host, event.session), []).append(event)
    return list(found.items())


def last_told(events: Sequence[Event], field: str) -> str:
    """What the last event that says so says."""
    return next((getattr(event, field) for event in reversed(events) if getattr(event, field)), "")


def messages_of(event: Event) -> list[Message]:
    """What an event itself says."""
    found: list[Message] = []
    if event.event in ("tool-failed", "tool-ok") and event.command:
        command, output, failed = texts(event.command), texts(event.output), event.event == "tool-failed"
        found = [
            Message("assistant", command, event.tool, event.id, at=event.at, id=f"{event.id}/call"),
            Message("tool", output, event.tool, event.id, failed, at=event.at, id=f"{event.id}/result"),
        ]
    found += speech("user", Content(texts(event.prompt)), at=event.at, given=f"{event.id}/prompt")
    found += speech("assistant", Content(texts(event.answer)), at=event.at, given=f"{event.id}/answer")
    return found
