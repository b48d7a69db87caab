"""What a host without a transcript hands over: messages with ids of their own, each spooled once.

The spool makes them durable; how far they were captured is told by the session's cursor. No third file says
how far a host has come, so none can disagree: what is durable is what waits or was captured. Whoever sends
the same again, since an answer was lost, adds nothing. Plain files, from any thread, whatever the vault does.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from hindbrain.base.errors import WriteFailed
from hindbrain.context.capture import spool
from hindbrain.context.capture.cursors import Cursor, Cursors, short_id
from hindbrain.context.capture.keeping import without_secrets
from hindbrain.context.capture.transcripts.blocks import HASH_ID, seconds
from hindbrain.context.messages import Message
from hindbrain.context.turn import SessionKey

SAID = "said"  # the kind of these events
_PART_CHARS = 100_000  # of messages in one event; longer ones stand alone
_LONGEST = 2_000_000  # characters of one message; no person and no tool says more that lasts


def keep_said(
    state: Path, session: SessionKey, messages: Sequence[Message], *, cwd: str, now: float
) -> float:
    """Keep those that are not kept yet, durably; returns what `kept_until` does. Raises WriteFailed.

    A message is known by its id and never by its time: clocks jump, and several are said in one instant.
    """
    with _explained(state, session):
        waiting = _waiting(state, session)
        cursor = Cursors(state).load(session)
        new = [_plain(given, message) for given, message in _unknown(messages, waiting, cursor)]
        for part in _parts(new):
            event = {"event": SAID, "host": session.host, "session": session.id, "cwd": cwd, "messages": part}
            spool.append_event(state, event | {"at": now}, mark=_mark(session))
    return _last_time([*waiting, *new], cursor.until, now)


def count_new(state: Path, session: SessionKey, messages: Sequence[Message]) -> int:
    """How many of them are not kept yet."""
    with _explained(state, session):
        waiting = _waiting(state, session)
        return sum(1 for _ in _unknown(messages, waiting, Cursors(state).load(session)))


def kept_until(state: Path, session: SessionKey, *, now: float) -> float:
    """When the last message that is durable was said, by the host's clock; 0 when none is.

    Never later than now: a host whose clock was ahead would keep back what is said after it was put right.
    Raises WriteFailed.
    """
    with _explained(state, session):
        # In this order: what is captured in between is dropped from the spool after its cursor is written.
        waiting = _waiting(state, session)
        return _last_time(waiting, Cursors(state).load(session).until, now)


@contextlib.contextmanager
def _explained(state: Path, session: SessionKey) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        told = error.strerror or type(error).__name__
        raise WriteFailed(
            f"what was said in {session.id!r} can't be kept: {told}; look at {str(state)!r} and send it again"
        ) from error


def _waiting(state: Path, session: SessionKey) -> list[dict[str, object]]:
    events = spool.read_events(state, mark=_mark(session)).events
    ours = (event for event in events if (event.host, event.session) == (session.host, session.id))
    return [dict(message) for event in ours for message in event.messages]


def _last_time(waiting: Sequence[dict[str, object]], captured: float, now: float) -> float:
    times = (seconds(message.get("at")) for message in reversed(waiting))
    return min(next(filter(None, times), captured), now)


def _unknown(
    messages: Sequence[Message], waiting: Sequence[dict[str, object]], cursor: Cursor
) -> Iterator[tuple[str, Message]]:
    known = {short_id(_text(given, "id")) for given in waiting} | cursor.ids
    for given, message in _with_ids(messages):
        if short_id(given) not in known:
            known.add(short_id(given))
            yield given, message


def _with_ids(messages: Sequence[Message]) -> Iterator[tuple[str, Message]]:
    """Each with its id; one without is known by its words, its time and which of several alike it is."""
    alike: Counter[str] = Counter()
    for message in messages:
        if message.id:
            yield message.id, message
            continue
        parts = (message.role, message.tool, message.call, message.text, repr(message.at))
        digest = hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=10).hexdigest()
        alike[digest] += 1
        yield f"{HASH_ID}{digest}-{alike[digest]}", message


def _plain(given: str, message: Message) -> dict[str, object]:
    """As it may lie on a disk: no secrets, and only what says something."""
    fields: dict[str, object] = {
        "role": message.role,
        "text": without_secrets(message.text[:_LONGEST]),
        "tool": message.tool,
        "call": message.call,
        "failed": message.failed,
        "at": message.at,
    }
    return {"id": given} | {name: value for name, value in fields.items() if value}


def _parts(messages: Sequence[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    part: list[dict[str, object]] = []
    size = 0
    for message in messages:
        length = len(_text(message, "text"))
        if part and size + length > _PART_CHARS:
            yield part
            part, size = [], 0
        part.append(message)
        size += length
    if part:
        yield part


def _text(message: dict[str, object], field: str) -> str:
    return str(message.get(field) or "")


def _mark(session: SessionKey) -> str:
    return short_id(f"{session.host}\0{session.id}")
