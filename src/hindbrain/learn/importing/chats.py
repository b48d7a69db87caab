"""Message logs of OpenAI and Anthropic clients: JSON lines or a list, of messages or of requests.

A request holds the whole conversation so far, so a log of requests tells each conversation again and again,
one answer longer; only its longest form is taken. Tool calls and results are paired by their ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hindbrain.context.capture.transcripts.blocks import blocks_of, mapping, seconds, texts
from hindbrain.context.capture.transcripts.plain import LISTS, PlainReader
from hindbrain.context.messages import Message
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.responses import as_messages
from hindbrain.learn.importing.turns import Cutter, runs_in
from hindbrain.learn.runs.events import Event

FORMATS = ("openai", "anthropic")
_SERVICE = ("system", "result")  # lines of Claude Code's stream of messages that hold none
_INPUT = "input"  # where a request of OpenAI's Responses has its messages
_MOST_OPEN = 64  # conversations that may still grow; of a log in which more are told at once, some come twice
_SESSIONS = ("session_id", "conversation_id", "thread_id", "sessionId", "conversationId", "trace_id")
_TIMES = ("timestamp", "created_at", "created", "time")
_STEP_S = 0.001  # between the conversations of a log that tells no times


class _Conversation(NamedTuple):
    messages: tuple[Message, ...]
    tail: tuple[Message, ...]  # the answer to the last request, which the next one holds
    chain: tuple[str, ...]  # a hash for each message, of it and all before it
    session: str
    first: float  # when the first request was made that began so; 0.0: the log does not say
    last: float


def runs_of_chats(log: Log, format: str) -> Iterator[list[Event]]:
    """The runs of all conversations in a log, as soon as nothing goes on with them."""
    start = log.written
    for number, found in enumerate(_conversations(log)):
        cutter = Cutter(format, found.session, source="import", start=found.first or start + number * _STEP_S)
        messages = (*found.messages, *found.tail)
        if found.last and messages[-1].role != "user":
            # When a prompt was given is not known, but for the end of the last run.
            messages = (*messages[:-1], messages[-1]._replace(at=messages[-1].at or found.last))
        yield from runs_in(messages, cutter)


def runs_of_messages(log: Log, format: str) -> Iterator[list[Event]]:
    """The runs of a log of single messages, which may be of several conversations, one after the other."""
    reader, cutter = PlainReader(), Cutter(format, source="import", start=log.written)
    session, opening = "", list[Message]()  # a conversation without a name has one from its beginning
    for number, record in log.records():
        given = _given(record)
        if given != session:
            yield from _ended(cutter, opening)
            session, opening = given, []
            cutter = Cutter(format, given, source="import", start=log.written)
        found = [message for one in as_messages([record]) for message in reader.take(one)]
        if not found and "role" not in record and record.get("type") not in _SERVICE:
            log.refuse(number, f"no message; it has {_keys(record)}")
        if not cutter.session:
            opening += found
            if not any(message.role == "assistant" for message in found):
                continue
            cutter.session, found, opening = named(opening), opening, []
        for message in found:
            if run := cutter.take(message):
                yield run
    yield from _ended(cutter, opening)


def is_request(record: Record) -> bool:
    """Does it hold messages, and is none itself?"""
    return any(isinstance(_asked(record).get(name), list) for name in (*LISTS, _INPUT)) or (
        isinstance(_asked(record).get(_INPUT), str) and "model" in _asked(record)
    )


def named(messages: Sequence[Message]) -> str:
    """A name for a conversation without one: of its beginning, so that it keeps it when it grows."""
    first = next((i for i, message in enumerate(messages) if message.role == "assistant"), len(messages))
    said = [message for message in messages[: first + 1] if message.role != "system"]
    return "c-" + (_chain(said) or ("",))[-1]


def _ended(cutter: Cutter, opening: Sequence[Message]) -> Iterator[list[Event]]:
    if opening:
        cutter.session = cutter.session or named(opening)
    yield from runs_in(opening, cutter)


def _conversations(log: Log) -> Iterator[_Conversation]:
    open_ones: list[_Conversation] = []
    for number, record in log.records():
        found = _request(record) if is_request(record) else None
        if found is None or not found.messages:
            log.refuse(number, f"no request with messages; it has {_keys(record)}")
            continue
        before = [one for one in open_ones if _goes_on(found, one)]
        open_ones = [one for one in open_ones if one not in before]
        first = min((one.first for one in before if one.first), default=found.first)
        open_ones.append(found._replace(first=first))
        if len(open_ones) > _MOST_OPEN:
            yield open_ones.pop(0)
    yield from open_ones


def _asked(record: Record) -> Record:
    return mapping(record.get("request")) or mapping(record.get("body")) or record


def _request(record: Record) -> _Conversation:
    at = next((seconds(record[name]) for name in _TIMES if name in record), 0.0)
    reader = PlainReader()
    asked = _asked(record)
    if (items := asked.get(_INPUT)) and not any(isinstance(asked.get(name), list) for name in LISTS):
        items = [{"role": "user", "content": items}] if isinstance(items, str) else items
        asked = {"messages": as_messages(blocks_of(items))}
    messages = tuple(reader.take(asked))
    tail = tuple(_answer(record, reader))
    session = _given(record) or named((*messages, *tail))
    return _Conversation(messages, tail, _chain(messages), session, at, at)


def _answer(record: Record, reader: PlainReader) -> list[Message]:
    """What the model answered to a request, where the log has that beside it."""
    response = mapping(record.get("response")) or record
    response = mapping(response.get("body")) or response
    for choice in blocks_of(response.get("choices")):  # OpenAI
        return reader.take(mapping(choice.get("message")))
    if isinstance(response.get("output"), list):  # OpenAI's Responses
        return reader.take({"messages": as_messages(blocks_of(response["output"]))})
    if isinstance(response.get("content"), list):  # Anthropic
        return reader.take({"role": "assistant", "content": response["content"]})
    return []


def _given(record: Record) -> str:
    return next((texts(record.get(name)) for name in _SESSIONS if texts(record.get(name))), "")


def _chain(messages: Sequence[Message]) -> tuple[str, ...]:
    made: list[str] = []
    for message in messages:
        told = "\0".join((made[-1] if made else "", message.role, message.tool, message.call, message.text))
        made.append(hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16])
    return tuple(made)


def _goes_on(later: _Conversation, earlier: _Conversation) -> bool:
    """Does a request begin with all of an earlier one?"""
    count = len(earlier.chain)
    return len(later.chain) >= count and later.chain[count - 1] == earlier.chain[-1]


def _keys(record: Record) -> str:
    return ", ".join(map(repr, list(record)[:8])) or "nothing"
