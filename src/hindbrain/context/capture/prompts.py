"""What hooks were told at a prompt, paired with the host's record of the conversation, to capture it once.

A host writes its record late, and one that is killed may never write it; the event of a prompt is durable
before the host goes on. Whichever of the two is captured first is remembered, as a digest of its words, until
the other one comes. Counts are kept, not sets: who says "go on" in two turns has said it twice. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hindbrain.context.capture.events import TOOL_EVENTS, answer_of, others_of, prompt_of
from hindbrain.context.capture.spool import PROMPT, Event
from hindbrain.context.messages import Message

_LATE_S = 60.0  # a host that lives has written down what was said so long ago
_EARLY_S = 60.0  # by which a record may date a prompt before its event
_MOST_AHEAD = 200
_MOST_BEHIND = 20
_LOOKED_AT = 4_000  # characters of a text that is compared
_COMPARED = 1_000  # of its letters and digits: of a long prompt the spool has no middle
_COMPACTING = "pre-compact"
_TURN_ENDS = frozenset(("stop", "session-end", "message"))
_WORDS = re.compile(r"\w+")


class Pairs(NamedTuple):
    """What was captured from an event or from the record, and has not come in the other one yet."""

    ahead: tuple[str, ...] = ()  # digests of prompts and answers that were captured from events
    behind: tuple[tuple[str, float], ...] = ()  # of prompts from the record, and when they were said
    prompt: str = ""  # of the last prompt that an event told
    answer: str = ""  # of what it was answered with at its stop; "" while its turn goes on


class Told(NamedTuple):
    """What events say and the record has not said."""

    messages: tuple[Message, ...]
    pairs: Pairs
    silent: tuple[str, ...] = ()  # ids of messages that need no capture of their own
    answer: str = ""  # digest of the answer before the first of them, which a person's "yes" answers to


def waiting_prompts(events: Sequence[Event], *, now: float) -> frozenset[str]:
    """The events of prompts whose turn goes on: the record gets the time to tell them itself."""
    last_end = max((number for number, event in enumerate(events) if event.event in _TURN_ENDS), default=-1)
    return frozenset(
        event.id
        for event in events[last_end + 1 :]
        if event.event == PROMPT and 0 <= now - event.at <= _LATE_S
    )


def pair_record(pairs: Pairs, messages: Iterable[Message], *, now: float) -> Told:
    """What a record says that events have not; `silent` are those that they have."""
    new: list[Message] = []
    silent: list[str] = []
    ahead, behind = list(pairs.ahead), list(pairs.behind)
    for message in messages:
        by_person = message.role == "user" and bool(message.text)
        mark = digest(message) if by_person or (ahead and message.role == "assistant") else ""
        if mark in ahead:
            ahead.remove(mark)
            silent.append(message.id)
            continue
        new.append(message)
        if by_person:
            behind.append((mark, message.at or now))
    paired = pairs._replace(ahead=tuple(ahead), behind=tuple(behind[-_MOST_BEHIND:]))
    return Told(tuple(new), paired, tuple(filter(None, silent)))


def pair_events(
    pairs: Pairs, events: Iterable[Event], *, recorded: bool, known: Callable[[str], bool]
) -> Told:
    """What events say that the record has not. `recorded`: their host keeps one, which may come late.

    `known`: was the message with this id captured or passed over before? Without a record events tell all.
    """
    found: list[Message] = []
    silent: list[str] = []
    answered = pairs.answer
    for event in events:
        answered = answered if found else pairs.answer
        for prompt in filter(lambda one: not known(one.id), prompt_of(event)):
            is_new, pairs = _pair_prompt(pairs, event, digest(prompt), recorded)
            if is_new:
                found.append(prompt)
            else:
                silent.append(prompt.id)
        for answer in filter(lambda one: not known(one.id), answer_of(event)):
            mark = digest(answer)
            if not recorded:
                found.append(answer)
            elif pairs.prompt in pairs.ahead:  # its prompt is not in the record either
                found.append(answer)
                pairs = _ahead(pairs, mark)
            else:
                silent.append(answer.id)
            if event.event != _COMPACTING:  # in the middle of a turn
                pairs = pairs._replace(answer=mark)
        if not recorded or event.event in TOOL_EVENTS:  # no record has those
            found += others_of(event)
    return Told(tuple(found), pairs, tuple(silent), answered)


def digest(message: Message) -> str:
    """The same for the same words, however they are spaced; secrets do not count."""
    from hindbrain.base.secrets import redact  # here: its rules cost time to compile

    words = "".join(_WORDS.findall(redact(message.text[:_LOOKED_AT])[0])) or message.text[:_COMPARED]
    named = f"{message.role}\0{words[:_COMPARED].casefold()}"
    return hashlib.blake2b(named.encode("utf-8", "replace"), digest_size=8).hexdigest()


def pairs_from(found: object) -> Pairs:
    """As JSON has them; none where they make no sense."""
    if not isinstance(found, Mapping):
        return Pairs()
    try:
        return Pairs(
            tuple(str(mark) for mark in found["ahead"]),
            tuple((str(mark), float(at)) for mark, at in found["behind"]),
            str(found["prompt"]),
            str(found["answer"]),
        )
    except (TypeError, ValueError, LookupError, OverflowError):
        return Pairs()


def _pair_prompt(pairs: Pairs, event: Event, mark: str, recorded: bool) -> tuple[bool, Pairs]:
    """Is it to be captured from the event, and how do the pairs stand then?"""
    if mark == pairs.prompt and not pairs.answer:  # told again: at a stop, or since the host tries once more
        return False, pairs
    pairs = pairs._replace(prompt=mark, answer="")
    since = event.at - _EARLY_S
    for number, (before, at) in enumerate(pairs.behind):
        if before == mark and at >= since:
            behind = (*pairs.behind[:number], *pairs.behind[number + 1 :])
            return False, pairs._replace(behind=behind)
    return True, _ahead(pairs, mark) if recorded else pairs


def _ahead(pairs: Pairs, mark: str) -> Pairs:
    return pairs._replace(ahead=(*pairs.ahead, mark)[-_MOST_AHEAD:])
