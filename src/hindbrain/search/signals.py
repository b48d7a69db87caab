"""Single signals that need a line of arithmetic, and the confidence that is made of them. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from hindbrain.index.store import NoteInfo
from hindbrain.search.profiles import Candidate
from hindbrain.search.terms import understand_terms

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

# A logistic curve over what a hit shares with the query, fitted by `python -m benchmarks.calibrate`.
_INTERCEPT = -4.49
_COVERAGE = 1.99
_COSINE = 4.8
# The same where words alone were looked at: then coverage has to tell everything.
_WORDS_INTERCEPT = -3.94
_WORDS_COVERAGE = 3.66
_FADING_DAYS = 14
_LATELY_DAYS = 7
# Plain strings: ten times as fast as a pattern, and every candidate of such a query is looked through.
_FIRST_PERSON = (" I ", " I'", " I’", " my ", " My ", " me ", " me.", " me?", " me,")
_NAMED = 0.95  # of a note that is called by its very name


def in_windows(note: NoteInfo, windows: Sequence[DateWindow], today: date) -> float:
    """1 when the note's date lies in a window that the query names; half where its width is a guess.

    It fades in the two weeks after a window that is past: what happened is told of later, seldom before. Who
    asks about yesterday means that day.
    """
    if not windows or not note.date:
        return 0.0
    day = date.fromisoformat(note.date)
    return max((1.0 if w.exact else 0.5) * _nearness(day, w, today) for w in windows)


def _nearness(day: date, window: DateWindow, today: date) -> float:
    if day < window.start:
        return 0.0
    days_after = (day - window.end).days + 1
    if days_after > 0 and (today - window.end).days < _LATELY_DAYS:
        return 0.0
    return min(1.0, max(0.0, 1 - days_after / _FADING_DAYS))


def speaks(text: str, words: Collection[str]) -> bool:
    """Is the passage a turn of a conversation whose speaker the words name? They are lower case."""
    label = _speaker().match(text)
    return label is not None and any(part in words for part in (label[1] or label[2]).casefold().split())


@lru_cache(maxsize=20_000)
def name_words(name: str) -> frozenset[str]:
    """The words of a name as those of a query are split."""
    return frozenset(understand_terms(name).words)


def is_first_person(text: str) -> bool:
    """Does somebody speak of themselves? English only."""
    spaced = f" {text} "
    return any(word in spaced for word in _FIRST_PERSON)


@cache
def _speaker() -> re.Pattern[str]:
    # "**Anna:** text", "**Anna Smith**: text", "- Anna: text". Plain labels begin with a capital.
    name = r"[^\W\d_][\w.'-]*(?: [\w.'-]+){0,2}"
    return re.compile(rf"\s*(?:[-*+]\s+|>\s*)?(?:\*\*({name})(?::\*\*|\*\*:)|((?=[A-Z]){name}):\s)")


def overlap_of(query: str, text: str) -> float:
    """Jaccard of the words, plus 0.2 when the whole query stands in the text; at most 1."""
    asked, held = set(query.lower().split()), set(text.lower().split())
    if not asked:
        return 0.0
    bonus = 0.2 if query.lower() in text.lower() else 0.0
    return min(1.0, len(asked & held) / len(asked | held) + bonus)


def confidence(candidate: Candidate, coverage: float) -> float:
    """How likely it is that this passage is what was sought, 0..1, comparable between queries."""
    if math.isnan(candidate.semantic):
        strength = _WORDS_INTERCEPT + _WORDS_COVERAGE * coverage
    else:
        strength = _INTERCEPT + _COVERAGE * coverage + _COSINE * candidate.semantic
    likely = 1 / (1 + math.exp(-strength))
    return max(likely, _NAMED) if candidate.entity >= 1.0 else likely
