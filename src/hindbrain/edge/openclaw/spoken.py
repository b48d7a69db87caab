"""What was said in a session of OpenClaw, as its own records have it: whose words, without what OpenClaw puts
around them, each with an id that stays. Pure.

Gives the same ids as the plugin (plugin/said.js), so that what it has handed over and what an import finds
are one.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hindbrain.context.capture.transcripts.blocks import blocks_of, mapping, seconds, texts
from hindbrain.context.messages import Message

Record = Mapping[str, Any]
_TOOL_CHARS = 20_000  # of a tool's result; whole files are not what was said
_OUR_TOOLS = frozenset(("memory_search", "memory_get", "memory_save"))
# OpenClaw's own blocks around the words of a person, as their beginning and their end. Not one pattern for
# each: where an end is missing, it would be looked for from every beginning on.
_BLOCKS = (
    (
        re.compile("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"),
        re.compile("<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
    ),
    (re.compile(r"<memory_context\b"), re.compile(r"</memory_context\b[^<>]*>")),
)
_STATUS = re.compile(r"<memory_status\b[^<>]*/>")
_LABELLED = re.compile(
    r"^(?>[^\n]*?(?P<label>Conversation info|Sender|Conversation context|Chat history))[^\n]*\n"
    r"```(?:json)?\n",
    re.MULTILINE,
)
_FENCE_END = re.compile(r"\n```")
# Its lines.
_AROUND = tuple(
    re.compile(pattern, flags)
    for pattern, flags in (
        (r"\A\[[^\]\n]{0,200}\d{4}-\d\d-\d\d[^\]\n]{0,80}\] ", 0),
        (r"^\[(?:media|image|audio|video|document|sticker)[^\]\n]{0,300}\]$", re.IGNORECASE | re.MULTILINE),
        (r"^\[message_id: [^\]\n]{1,200}\]$", re.MULTILINE),
    )
)
# Texts in the user's role that no person wrote, where nothing else tells it.
_NOBODY = re.compile(
    r"\s*(?:\[OpenClaw (?:heartbeat poll|session event|cron wake|exec completion|room event)\]\s*\Z"
    r"|\[cron:[0-9a-f]{8}-[0-9a-f-]{27}[ \]]|\[Subagent Context\] You are running as a subagent"
    r"|A background task completed\. (?:Use this result to reply|Keep internal details private)"
    r"|Read HEARTBEAT\.md|Pre-compaction memory flush)"
)
# What happened, told to the model in lines before the words of a person or without any.
_EVENT = re.compile(r"System: \[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [^\]\n]{1,40}\] ")
_INTER_SESSION = re.compile(r"^\[Inter-session message\][^\n]*isUser=false", re.MULTILINE)
_IN_GROUP = re.compile(
    r'"(?:is_group(?:_chat)?|isGroup)": ?true|"(?:chat_type|chatType)": ?"(?:group|channel)"|"group_subject":'
    r"|\A\[[^\]\n]{0,160}\bid:-\d+"
)
_ROLES = ("user", "assistant", "toolResult")
_PLAIN_ID = re.compile(r"[^A-Za-z0-9]")


class Spoken(NamedTuple):
    messages: tuple[Message, ...]
    in_group: bool = False  # a message says that others were there


def what_was_said(records: Iterable[Record], *, others: Collection[str] = ()) -> Spoken:
    """`records`: of one session, in their order. Turns in which no person spoke are left out whole, and so
    are those that came from one of the chats `others`, which some owners have in the same session."""
    found: list[Message] = []
    names: dict[str, str] = {}  # id of a call -> the tool's name
    person = in_group = False
    at = 0.0
    known = [record for record in records if mapping(record.get("message")).get("role") in _ROLES]
    for number, record in enumerate(known):
        message = mapping(record.get("message"))
        said: list[Message] = []
        if message["role"] == "user":
            text = _text(message.get("content"))
            person = not _is_nobodys(message, text) and _chat(message) not in others
            in_group = in_group or (person and _IN_GROUP.search(text) is not None)
            words = own_words(text) if person else ""
            said = [Message("user", words, id=_id_of_user(known, number))] if words else []
        elif message["role"] == "assistant":
            names.update((_plain_id(part.get("id")), _tool(part)) for part in _calls(message))
            said = _of_assistant(message, _moment(record)) if person else []
        elif person:
            said = _of_tool(message, _moment(record), names)
        when = seconds(_stamp(message)) or seconds(record.get("timestamp"))
        for one in said:
            at = max(when, at + 0.001)  # a message gets an earlier time once its turn is over
            found.append(one._replace(at=at))
    return Spoken(tuple(found), in_group)


def own_words(text: str) -> str:
    for begin, end in _BLOCKS:
        text = _without_blocks(text, begin, end)
    text = _without_blocks(_STATUS.sub("", text), _LABELLED, _FENCE_END)
    for around in _AROUND:
        text = around.sub("", text)
    text = _after_events(text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _without_blocks(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> str:
    """Without all that stands between a beginning and the next end; a block that does not end is words."""
    kept: list[str] = []
    at = 0
    while (opened := begin.search(text, at)) and (closed := end.search(text, opened.end())):
        kept.append(text[at : opened.start("label" if begin.groups else 0)])
        at = closed.end()
    return "".join((*kept, text[at:]))


def _id_of_user(records: Sequence[Record], number: int) -> str:
    """By the time of the answer: key and time of a user's message may change once its turn is over."""
    record = records[number]
    message = mapping(record.get("message"))
    for later in range(number + 1, len(records)):
        answer = mapping(records[later].get("message"))
        if answer["role"] == "user":
            break
        if answer["role"] == "assistant" and _stamp(answer):
            return f"user:{_stamp(answer)}"
    if key := texts(message.get("idempotencyKey")):
        return key
    return f"user:{_mark(_text(message.get('content')))}" if _stamp(message) else f"user:{_moment(record)}"


def _of_assistant(message: Record, mark: str) -> list[Message]:
    text = own_words(_text(message.get("content")))
    found = [Message("assistant", text, id=f"assistant:{mark}")] if text and text != "NO_REPLY" else []
    for part in _calls(message):
        tool, call = _tool(part), _plain_id(part.get("id"))
        if tool not in _OUR_TOOLS:
            words = _call_text(part)[:_TOOL_CHARS]
            found.append(Message("assistant", words, tool, call, id=f"call:{mark}:{call}"))
    return found


def _of_tool(message: Record, mark: str, names: Mapping[str, str]) -> list[Message]:
    call = _plain_id(message.get("toolCallId"))
    tool = names.get(call) or texts(message.get("toolName"))
    if tool in _OUR_TOOLS:
        return []  # what memory said is known to it
    text = _text(message.get("content"))[:_TOOL_CHARS]
    return [Message("tool", text, tool, call, bool(message.get("isError")), id=f"tool:{mark}:{call}")]


def _is_nobodys(message: Record, text: str) -> bool:
    kind = mapping(message.get("provenance")).get("kind") or mapping(message.get("inputProvenance")).get(
        "kind"
    )
    if kind is not None:
        return bool(kind != "external_user")
    if mapping(message.get("__openclaw")).get("senderId"):
        return False
    if _NOBODY.match(text) is not None or _INTER_SESSION.search(text) is not None:
        return True
    return text != "" and not _after_events(text).strip()


def _after_events(text: str) -> str:
    lines = text.split("\n")
    told = list(itertools.takewhile(lambda line: line.startswith("System: "), lines))
    return "\n".join(lines[len(told) :]) if any(map(_EVENT.match, told)) else text


def _chat(message: Record) -> str:
    return texts(mapping(mapping(message.get("__openclaw")).get("transport")).get("conversationRef"))


def _calls(message: Record) -> Iterator[Record]:
    content = message.get("content")
    return (part for part in blocks_of(content) if part.get("type") == "toolCall")


def _tool(part: Record) -> str:
    given = mapping(part.get("arguments")).get("id") if part.get("name") == "tool_call" else None
    return given.rpartition(":")[2] if isinstance(given, str) else texts(part.get("name"))


def _call_text(part: Record) -> str:
    arguments = part.get("arguments")
    if part.get("name") == "tool_call":
        arguments = mapping(arguments).get("args") or arguments
    if isinstance(arguments, str):
        return arguments
    command = mapping(arguments).get("command")
    return command if isinstance(command, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _text(content: object) -> str:
    if isinstance(content, str):
        return texts(content)
    parts = [texts(part.get("text")) for part in blocks_of(content) if part.get("type") == "text"]
    return "\n".join(filter(None, parts))


def _moment(record: Record) -> str:
    """What tells a record again: records of old versions tell no time inside, and have an id."""
    stamp = _stamp(mapping(record.get("message")))
    return str(stamp) if stamp else texts(record.get("id"))


def _stamp(message: Record) -> int:
    """Milliseconds; 0 when it is not told."""
    given = message.get("timestamp")
    return int(given) if isinstance(given, int | float) and not isinstance(given, bool) and given > 0 else 0


def _plain_id(given: object) -> str:
    """Ids of calls are spelled anew between turns (call_1, call1)."""
    return _PLAIN_ID.sub("", texts(given))


def _mark(text: str) -> str:
    """The plugin's short mark of a text: over UTF-16 units, in base 36."""
    hashed = 5381
    units = text.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        hashed = ((hashed * 33) ^ int.from_bytes(units[at : at + 2], "little")) & 0xFFFFFFFF
    digits = ""
    while hashed:
        hashed, digit = divmod(hashed, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits or "0"
