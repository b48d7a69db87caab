"""The tokens of a query, and what a reader of date phrases returns.

Knows numbers and units of time, which all readers share; not what a date looks like.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from hindbrain.search.periods import Period, Unit

_UNITS: dict[str, Unit] = {
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
}
_UNITS["decade"] = "decade"
_PLURALS = {f"{name}s": unit for name, unit in _UNITS.items()}
_SMALL_NUMBERS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBERS = {"a": 1, "an": 1} | {name: number for number, name in enumerate(_SMALL_NUMBERS, start=1)}
_TOKEN = re.compile(r"\d+(?:st|nd|rd|th)\b|\d+|[^\W\d_]+|[^\w\s]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Words:
    """The tokens of a text: runs of letters, runs of digits, ordinals such as 8th, single other signs."""

    lower: tuple[str, ...]
    raw: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    def at(self, index: int) -> str:
        """Return the lower-case token, "" outside of the text."""
        return self.lower[index] if 0 <= index < len(self.lower) else ""

    def is_capital(self, index: int) -> bool:
        return 0 <= index < len(self.raw) and self.raw[index][:1].isupper()

    def glued(self, index: int) -> bool:
        """Whether nothing stands between this token and the one before it."""
        return 0 < index < len(self.spans) and self.spans[index - 1][1] == self.spans[index][0]


class Found(NamedTuple):
    """A phrase that was read."""

    stop: int  # the first token after it
    period: Period
    exact: bool = True  # False: the width is our guess ("a few weeks ago", "late May")
    yearless: bool = False  # the year is our guess: the most recent one


# (words, token, today, cued): reads one kind of phrase at that token, looking at a bounded number of tokens.
# `cued` says that a word before it announces a time ("in", "since"): only then "May" alone is a month.
Reader = Callable[[Words, int, date, bool], Found | None]


def split_words(text: str) -> Words:
    matches = list(_TOKEN.finditer(text))
    return Words(
        lower=tuple(match[0].lower().replace("’", "'") for match in matches),
        raw=tuple(match[0] for match in matches),
        spans=tuple(match.span() for match in matches),
    )


def read_count(words: Words, i: int) -> tuple[int, int, bool] | None:
    """Read "3", "a", "two", "a couple of", "the few": return (next token, count, exact)."""
    if words.at(i) == "a" and words.at(i + 1) in ("couple", "few"):
        i += 1
    word = words.at(i)
    if word == "couple":
        return i + (2 if words.at(i + 1) == "of" else 1), 2, False
    if word in ("few", "several"):
        return i + 1, 3 if word == "few" else 4, False
    if word.isdecimal() and len(word) <= 3:
        return i + 1, int(word), True
    return (i + 1, _NUMBERS[word], True) if word in _NUMBERS else None


def read_unit(words: Words, i: int) -> Unit | None:
    return _UNITS.get(words.at(i)) or _PLURALS.get(words.at(i))


def one_unit(words: Words, i: int) -> Unit | None:
    """Read a unit in the singular."""
    return _UNITS.get(words.at(i))


def found_at(stop: int, period: Period | None) -> Found | None:
    return None if period is None else Found(stop, period)
