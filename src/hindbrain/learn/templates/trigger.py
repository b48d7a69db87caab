"""A template's trigger: a regular expression that fires on commands of its kind. Runs on RE2 only.

    send.*email|compose.*email|write.*email

Made from the words that its commands share, in their order. A pattern in a note may be anybody's, so none
is ever given to an engine that can take exponential time: where RE2 is not installed, no trigger fires.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

from hindbrain.learn.alike import words_of

MOST_ALTERNATIVES = 4
LONGEST = 300  # characters of a pattern
STRAY = 0.02  # of the other commands: on more than that a trigger must not fire
PRECISION = 0.8  # of the commands that an alternative fires on, that are its own
_COMMAND_CHARS = 2_000
_MOST_WORDS = 24  # of a command that are looked at
# What differs from run to run can still be known by its look.
_LOOKS = {"<url>": r"\w\.\w", "<email>": "@"}
_MEMORY = 1 << 20  # bytes that RE2 may use for one pattern


def fires(trigger: str, command: str) -> bool:
    """Does the trigger fit the command? "" and what RE2 does not understand never do."""
    pattern = _compiled(trigger)
    return pattern is not None and pattern.search(command[:_COMMAND_CHARS]) is not None


def trigger_problem(trigger: str) -> str:
    """What is wrong with a trigger that a note has; "" when nothing is."""
    if not trigger:
        return ""
    if len(trigger) > LONGEST:
        return f"a trigger of {len(trigger)} characters is too long; {LONGEST} are enough"
    if _engine() is None:
        return "triggers need the package google-re2, which is not installed here"
    if _compiled(trigger) is None:
        return f"{trigger!r} is no regular expression that RE2 understands"
    return "it fits every command" if fires(trigger, "") else ""


def trigger_of(commands: Sequence[str], others: Sequence[str] = ()) -> str:
    """A pattern that fires on all `commands` and on few of `others`; "" when no words tell them apart."""
    own = [_content(command) for command in dict.fromkeys(commands)]
    strange = [_content(command) for command in dict.fromkeys(others)]
    uncovered = set(range(len(own)))
    chosen: list[tuple[str, ...]] = []
    candidates = _candidates(own, strange)
    while uncovered and len(chosen) < MOST_ALTERNATIVES:
        best = max(candidates, key=lambda words: _worth(words, candidates[words], uncovered), default=None)
        if best is None or not candidates[best][0] & uncovered:
            return ""
        chosen.append(best)
        uncovered -= candidates[best][0]
    trigger = "|".join(".*".join(map(_escaped, words)) for words in chosen)
    return trigger if not uncovered and len(trigger) <= LONGEST else ""


def _worth(words: tuple[str, ...], on: tuple[set[int], int], uncovered: set[int]) -> tuple[float, ...]:
    """The more of the uncovered commands the better; then fewer strange ones, then two words, then order."""
    own, strange = on
    return len(own & uncovered), -strange, -abs(len(words) - 2), *(-ord(char) for char in words[0][:8])


def _candidates(
    own: Sequence[Sequence[str]], strange: Sequence[Sequence[str]]
) -> dict[tuple[str, ...], tuple[set[int], int]]:
    """Runs of one to three words, in order: the own commands that they fire on, and how many strange ones."""
    where: dict[tuple[str, ...], set[int]] = {}
    for number, words in enumerate(own):
        for length in (1, 2, 3):
            for run in combinations(words[: _MOST_WORDS if length < 3 else 8], length):
                where.setdefault(run, set()).add(number)
    holds: dict[str, set[int]] = {}
    for number, words in enumerate(strange):
        for word in words:
            holds.setdefault(word, set()).add(number)
    kept = {}
    for run, numbers in where.items():
        # Whatever their order: an upper bound, and cheap.
        stray = len(set.intersection(*(holds.get(word, set()) for word in run)))
        if stray <= STRAY * len(strange) and len(numbers) >= PRECISION * (len(numbers) + stray):
            # One word alone only where commands have no second one: "calendar" is in many a command.
            short = sum(len(own[number]) == 1 for number in numbers)
            alone = short * 2 >= len(numbers) and len(run[0]) > 3 and run[0] not in _LOOKS
            if alone or (len(run) > 1 and any(word not in _LOOKS for word in run)):
                kept[run] = (numbers, stray)
    return kept


def _content(command: str) -> list[str]:
    from hindbrain.learn.alike import _PLAIN

    words = words_of(command[:_COMMAND_CHARS])
    return [
        word
        for word in words
        if word in _LOOKS or (not word.startswith("<") and word not in _PLAIN and len(word) > 1)
    ]


def _escaped(word: str) -> str:
    if word in _LOOKS:
        return _LOOKS[word]
    # RE2 knows the borders of ASCII words only.
    return ("\\b" if word[0].isascii() else "") + re.escape(word)


@lru_cache(maxsize=512)
def _compiled(trigger: str) -> Any:
    """The pattern, without regard to case; None for what can't be used."""
    engine = _engine()
    if engine is None or not trigger or len(trigger) > LONGEST:
        return None
    options = engine.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = _MEMORY
    try:
        return engine.compile(trigger, options)
    except engine.error:
        return None


def _engine() -> Any:
    try:
        import re2
    except ImportError:
        return None
    return re2
