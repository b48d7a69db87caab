"""A deterministic check before a tool call, as an owner wrote it: "Bash: git push .*--force". Pure.

Before the colon stands the tool (`*` for all of them, capitals do not matter), behind it a regular expression
for RE2, whose time grows with the text alone. It is searched in the values of the call's arguments, one a
line in the order of the call; what is nested is compact JSON. `^` and `$` mean the ends of a line.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

_LONGEST_PATTERN = 500  # characters
_MOST_TEXT = 200_000  # characters of a call's arguments
_ANY = "*"


class Guard(NamedTuple):
    id: str  # of the lesson, or the note's path
    tool: str
    pattern: str
    reason: str = ""  # what to tell who is stopped
    path: str = ""  # the note


class Unusable(NamedTuple):
    """A guard that can't be checked, and why: for a report."""

    id: str
    text: str
    problem: str


def parse_guard(text: str, *, id: str = "", reason: str = "", path: str = "") -> Guard | Unusable:
    """`tool: pattern`. Never raises."""
    tool, colon, pattern = (part.strip() for part in text.partition(":"))
    if not colon or not tool or not pattern:
        return Unusable(id, text, "it is written as tool: pattern")
    if len(pattern) > _LONGEST_PATTERN:
        return Unusable(id, text, f"the pattern is longer than {_LONGEST_PATTERN} characters")
    found = _compiled(pattern)
    if isinstance(found, str):
        return Unusable(id, text, found)
    return Guard(id, tool, pattern, reason, path)


def check(guards: Iterable[Guard], tool: str, arguments: Mapping[str, Any]) -> Guard | None:
    """The first guard that the call runs into; None when it may go on."""
    asked = [guard for guard in guards if guard.tool == _ANY or guard.tool.casefold() == tool.casefold()]
    if not asked:
        return None
    text = checked_text(arguments)
    for guard in asked:
        pattern = _compiled(guard.pattern)
        if not isinstance(pattern, str) and pattern.search(text) is not None:
            return guard
    return None


def checked_text(arguments: Mapping[str, Any]) -> str:
    """The text in which patterns are searched."""
    return "\n".join(_text(value) for value in arguments.values())[:_MOST_TEXT]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> Any:
    """The pattern, ready to search; a string that says what is wrong with it."""
    try:
        import re2
    except ImportError:
        return "guards need google-re2, which is not installed here"
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?m){pattern}", options=options)
    except re2.error as error:
        return f"no regular expression of RE2: {error}"
