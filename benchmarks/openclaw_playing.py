"""Turns of a script played against a real gateway, with a model that answers from the script.

The model calls `memory_search` where the script says that one would, unless a note that answers, or a line of
MEMORY.md on it, stands in its window. The same rule for every memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.openclaw_requests import (
    Fact,
    Worth,
    excerpts,
    found_worth,
    injected_worth,
    is_of,
    prompt_of,
    results,
    static_worth,
    words_of,
)
from hindbrain.context.tokens import count_tokens

if TYPE_CHECKING:
    from tests.real_openclaw.completions_stub import Asked, Reply
    from tests.real_openclaw.rig import Rig

MAIN = "agent:main:main"
_SUMMARY = (
    "So far they spoke of a talk on collaborative editing, of names and identity, and of several notes."
)
_SYSTEM = ("system", "developer")


class Line(NamedTuple):
    """One turn of a script."""

    user: str
    answer: str
    gold: tuple[str, ...] = ()  # notes that answer; none: small talk, or work that needs no note
    search: str = ""  # what a model would look for


@dataclass
class Played:
    """A turn that was played, as the model saw it."""

    line: Line
    bodies: list[dict[str, Any]] = field(default_factory=list)  # requests of the turn itself
    others: list[dict[str, Any]] = field(default_factory=list)  # summaries, turns before a compaction
    calls: int = 0
    searched: str = ""  # what memory_search answered; "" when it was not called
    seconds: float = 0.0


def play(rig: Rig, line: Line, facts: Sequence[Fact] = (), session: str = MAIN) -> Played:
    turn = Played(line)
    rig.model.script()
    rig.model.otherwise = lambda asked: _reply(asked, turn, facts)
    began = time.perf_counter()
    rig.gateway.ask(line.user, session=session)
    turn.seconds = time.perf_counter() - began
    return turn


def _reply(asked: Asked, turn: Played, facts: Sequence[Fact]) -> Reply:
    from tests.real_openclaw.completions_stub import Call, Say

    tokens = count_tokens(prompt_of(asked.body))
    if not asked.main or turn.line.user not in asked.said:
        turn.others.append(asked.body)
        return Say("NO_REPLY" if asked.main else _SUMMARY, tokens)
    turn.bodies.append(asked.body)
    if turn.calls:
        turn.searched = asked.tool_results[-1]
    elif turn.line.search and not knows(asked.body, turn.line.gold, facts):
        turn.calls += 1
        query = {"query": turn.line.search}
        if "memory_search" in asked.tools:
            return Call("memory_search", query, tokens)
        return Call("tool_call", {"id": "memory_search", "args": query}, tokens)
    return Say(turn.line.answer, tokens)


def knows(body: Mapping[str, Any], gold: Sequence[str], facts: Sequence[Fact] = ()) -> bool:
    """Does a note that answers stand anywhere in the window?"""
    for message in body.get("messages") or ():
        text = words_of(message)
        if any(is_of(path, gold) for path, _ in (*excerpts(text), *results(text))):
            return True
        if message.get("role") in _SYSTEM and any(fact.text in text for fact in facts if fact.is_on(gold)):
            return True
    return False


def pushed_worth(turn: Played, facts: Sequence[Fact] = ()) -> Worth:
    """What memory brought unasked: lines of MEMORY.md, and notes before the prompt."""
    gold, messages = turn.line.gold, turn.bodies[0].get("messages") or ()
    system = "\n".join(words_of(one) for one in messages if one.get("role") in _SYSTEM)
    said = words_of(next((one for one in reversed(messages) if turn.line.user in words_of(one)), {}))
    return static_worth(system, gold, facts).plus(injected_worth(said, gold, facts))


def pulled_worth(turn: Played) -> Worth:
    """What the model got by its call of memory_search."""
    return found_worth(turn.searched, turn.line.gold) if turn.searched else Worth()
