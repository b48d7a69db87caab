"""Single signals that need a line of arithmetic, and the confidence that is made of them. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

from hindbrain.index.store import NoteInfo
from hindbrain.search.profiles import Candidate

if TYPE_CHECKING:
    from hindbrain.search.dates import DateWindow

# A logistic curve over what a hit shares with the query, fitted by `python -m benchmarks.calibrate`.
_INTERCEPT = -4.49
_COVERAGE = 1.99
_COSINE = 4.8
# The same where words alone were looked at: then coverage has to tell everything.
_WORDS_INTERCEPT = -3.94
_WORDS_COVERAGE = 3.66
_NAMED = 0.95  # of a note that is called by its very name


def in_windows(note: NoteInfo, windows: Sequence[DateWindow]) -> float:
    """1 when the note's date lies in a window that the query names; half where its width is a guess."""
    if not windows or not note.date:
        return 0.0
    day = date.fromisoformat(note.date)
    return max((1.0 if w.exact else 0.5 for w in windows if w.start <= day < w.end), default=0.0)


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
