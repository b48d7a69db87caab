"""What an agent reads out of a text about the past, as a model would, and in the simplest way.

template   two or more numbered lines that are calls of tools: `1. open_application(Mail)`
advice     a call in `backticks`: to be avoided when "do not", "don't", "avoid", "never", "instead of" or
           "failed" stands before it in its clause, else recommended when "use", "do", "worked", "first" or
           "instead" stands there
examples   a command in quotes or after `Command:`, with `Success` and `Key actions:` below it
taste      a sentence that says "prefer", "use", "always", "want", ... beside one of two things; the one
           behind "over", "instead of", "rather than" or "not" is the one that is not liked

Knows no arm, no file and nothing of our notes but these marks, which any memory may use.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

_STEP = re.compile(r"^\W{0,4}\d+\.\s+`?([a-z_]+\(.*?\))`?\s*(?://.*|\(\d+ ?%.*\))?$")
_CALL = re.compile(r"`([a-z_]+\([^`]*\))`")
_CLAUSE = re.compile(r"(?<=[;.])\s+|\n|—| but ")
_AVOID = re.compile(r"\b(?:do not|don['’]t|avoid|never|instead of|failed)\b", re.IGNORECASE)
_DO = re.compile(r"\b(?:use|do|did|does|works?|worked|first|instead|try)\b", re.IGNORECASE)
_COMMAND = re.compile(r"^\W*command:[ *]*(?:[\"“]([^\"”\n]+)[\"”]|([^\n]+))", re.IGNORECASE | re.MULTILINE)
_ACTIONS = re.compile(r"key actions:[\s*]*([^\n]+)", re.IGNORECASE)
_OUTCOME = re.compile(r"\bsuccess\b", re.IGNORECASE)
_ONE_CALL = re.compile(r"([a-z_]+\((?:[^()]|\([^()]*\))*\))(?:\s*[x×](\d+))?")
_LIKES = re.compile(
    r"\b(?:prefer\w*|likes?|wants?|always|uses?|sign|address|corrected|added|instead of|rather than)\b",
    re.IGNORECASE,
)
_NOT = (
    r"(?:over|instead of|rather than|not|never|no longer|than|removed:?)\s+(?:in\s+|with\s+|to\s+)?[\"“'*`]*"
)


class Example(NamedTuple):
    command: str
    actions: tuple[str, ...]


class Advice(NamedTuple):
    template: tuple[str, ...] = ()  # the first one that stands there
    avoid: tuple[str, ...] = ()
    prefer: tuple[str, ...] = ()
    examples: tuple[Example, ...] = ()  # of runs that went well, as they stand
    text: str = ""


def read(text: str) -> Advice:
    avoid, prefer = _recommended(text)
    return Advice(_template(text), avoid, prefer, _examples(text), text)


def _template(text: str) -> tuple[str, ...]:
    steps: list[str] = []
    for line in text.split("\n"):
        found = _STEP.match(line.strip())
        if found:
            steps.append(found[1])
        elif len(steps) > 1:
            break
        elif line.strip():
            steps = []
    return tuple(steps) if len(steps) > 1 else ()


def _recommended(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    avoid: list[str] = []
    prefer: list[str] = []
    for clause in _CLAUSE.split(text):
        for found in _CALL.finditer(clause):
            before = clause[: found.start()]
            if _AVOID.search(before):
                avoid.append(found[1])
            elif _DO.search(before) or _DO.search(clause[found.end() :]):
                prefer.append(found[1])
    return tuple(dict.fromkeys(avoid)), tuple(dict.fromkeys(prefer))


def _examples(text: str) -> tuple[Example, ...]:
    found: list[Example] = []
    places = [match.start() for match in _COMMAND.finditer(text)]
    for start, stop in pairwise([*places, len(text)]):
        entry = text[start:stop]
        command, actions = _COMMAND.search(entry), _ACTIONS.search(entry)
        if command and actions and _OUTCOME.search(entry):
            calls = [
                call for call, times in _ONE_CALL.findall(actions[1]) for _ in range(min(9, int(times or 1)))
            ]
            found.append(Example((command[1] or command[2]).strip(), tuple(calls)))
    return tuple(found)


def liked(text: str, options: Sequence[str]) -> str:
    """Which of the two the text says the user likes; "" when it does not say. The majority wins."""
    votes: Counter[str] = Counter()
    for line in text.split("\n"):
        if not _LIKES.search(line):
            continue
        for option in options:
            named = re.escape(option)
            if re.search(rf"(?<!\w){named}(?!\w)", line) and not re.search(rf"{_NOT}{named}(?!\w)", line):
                votes[option] += 1
    return votes.most_common(1)[0][0] if votes else ""


def fits(pattern: str, action: str) -> bool:
    """Is it this action? `{name}` and `<url>` in a pattern stand for anything."""
    parts = re.split(r"\{[^{}]*\}|<\w+>|…|\.\.\.", pattern)
    return re.fullmatch(".*".join(map(re.escape, parts)), action, re.IGNORECASE | re.DOTALL) is not None
