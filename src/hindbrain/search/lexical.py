"""Which passages speak of the query's words: term by term, each passage judged with its neighbours.

The full-text index answers with the passages that hold a term. A term counts fully where it stands, and
partly for the passages around it: the answer to a question seldom repeats its words. The counts are combined
per term *before* they saturate, as BM25F does with fields, so that two neighbours with the same word add less
than two different words. Within a passage a word counts once: passages are short, and how often says little
(measured, docs/search.md).

Two ways to the same numbers: plain Python for short lists, which spares a cold command the import of numpy,
and numpy for long ones. A property test holds them together.
"""

from __future__ import annotations

import heapq
import math
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hindbrain.index.store import IndexStore
from hindbrain.search.terms import QueryTerms, quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# How much of a term a passage has from a neighbour: the three before it, the three after it. At most NOTE_GAP
# wide.
BEFORE = (0.5, 0.35, 0.2)
AFTER = (0.3, 0.2, 0.1)
_SPREAD = ((0, 1.0), *((i + 1, w) for i, w in enumerate(BEFORE)), *((-i - 1, w) for i, w in enumerate(AFTER)))
_K1 = 0.9  # saturation; the dev sets do not move between 0.6 and 1.2
_NOTE_K1, _NOTE_B = 1.2, 0.75  # of BM25 over whole notes
_PLAIN_POSTINGS = 100  # up to here plain Python is as fast as numpy
_PLAIN_POSTINGS_COLD = 5_000  # up to here it is faster than loading numpy
_PHRASE_BONUS = 1.5
_CELLS = 300_000  # terms times passages that are worked on at once

Span: TypeAlias = tuple[int, int]  # of a note: its first passage, and how many there are
Existing: TypeAlias = Callable[[Sequence[int]], set[int]]  # those of the numbers that are passages


class Term(NamedTuple):
    """One word or phrase of the query, and where it stands."""

    text: str
    idf: float  # how much it tells, in this vault
    held: int  # by how many passages
    ids: str  # these passages, ascending, comma-separated


class LexicalScores:
    """The best passages by words, and the means to look up any other."""

    def __init__(self, best: list[tuple[int, float]], scores: Scores) -> None:
        self.best = best  # (passage id, score), best first
        self.scores = scores


def look_up(store: IndexStore, terms: QueryTerms, passages: int) -> tuple[Term, ...]:
    """Ask the full-text index for each term of the query."""
    found = []
    phrases = [phrase for phrase in terms.phrases if phrase not in terms.words]
    for text, factor in [
        *((word, 1.0) for word in terms.words),
        *((phrase, _PHRASE_BONUS) for phrase in phrases),
    ]:
        ids = store.postings(quoted(text))
        count = ids.count(",") + 1 if ids else 0
        found.append(Term(text, factor * idf(count, passages), count, ids))
    return tuple(found)


def idf(count: int, total: int) -> float:
    """The weight of a term that `count` of `total` passages hold (BM25's, never negative)."""
    return math.log(1 + (max(total, count) - count + 0.5) / (count + 0.5))


def score_passages(
    terms: Sequence[Term], limit: int, keep: Keep | None = None, existing: Existing | None = None
) -> LexicalScores:
    """Score every passage that holds a term or stands near one; `keep` leaves out what a filter excludes.

    Scores reach into the unused numbers between notes: `existing` says which numbers are passages.
    """
    terms = tuple(terms)
    limit_of_plain = _PLAIN_POSTINGS if "numpy" in sys.modules else _PLAIN_POSTINGS_COLD
    if sum(term.held for term in terms) <= limit_of_plain:
        scores: Scores = PlainScores(terms)
    else:
        scores = ArrayScores(terms)
    if keep is not None or existing is None or limit <= 0:
        return LexicalScores(scores.best(limit, keep), scores)  # a filter lets only passages through
    return LexicalScores(_best_existing(scores, limit, existing), scores)


def _best_existing(scores: Scores, limit: int, existing: Existing) -> list[tuple[int, float]]:
    """The best that are passages: look at more numbers until there are enough."""
    looked_at = 2 * limit
    while True:
        best = scores.best(looked_at, None)
        there = existing([id_ for id_, _ in best])
        if len(there) >= limit or len(best) < looked_at:
            return [one for one in best if one[0] in there][:limit]
        looked_at *= 4


class Keep:
    """The passages that a filter lets through: those of some notes."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.spans = sorted(spans)
        self._firsts = [first for first, _ in self.spans]

    def __contains__(self, passage_id: int) -> bool:
        from bisect import bisect_right

        at = bisect_right(self._firsts, passage_id) - 1
        return at >= 0 and passage_id < self._firsts[at] + self.spans[at][1]

    def holds_note(self, first_passage: int) -> bool:
        """May the note whose passages begin here be a hit? It need not have any."""
        at = bisect_left(self._firsts, first_passage)
        return at < len(self._firsts) and self._firsts[at] == first_passage

    def mask(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        import numpy as np

        if not self.spans:
            return np.zeros(len(ids), dtype=np.bool_)
        firsts, counts = np.array(self.spans, dtype=np.int64).T
        at = np.searchsorted(firsts, ids, side="right") - 1
        inside: NDArray[np.bool_] = (at >= 0) & (ids < firsts[at] + counts[at])
        return inside

    def ids(self) -> NDArray[np.int64]:
        import numpy as np

        parts = [np.arange(first, first + count, dtype=np.int64) for first, count in self.spans]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


class PlainScores:
    """Scores in a dictionary."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self._ids = [_listed(term.ids) for term in terms]
        self._idfs = [term.idf for term in terms]
        self._scores: dict[int, float] = defaultdict(float)
        for weight, ids in zip(self._idfs, self._ids, strict=True):
            near: dict[int, float] = defaultdict(float)
            for id_ in ids:
                for offset, share in _SPREAD:
                    near[id_ + offset] += share
            for id_, count in near.items():
                self._scores[id_] += weight * count * (_K1 + 1) / (count + _K1)

    def best(self, limit: int, keep: Keep | None) -> list[tuple[int, float]]:
        kept = (
            self._scores.items() if keep is None else ((i, s) for i, s in self._scores.items() if i in keep)
        )
        return heapq.nsmallest(limit, kept, key=lambda item: (-item[1], item[0]))

    def of(self, ids: Sequence[int]) -> list[float]:
        return [self._scores.get(id_, 0.0) for id_ in ids]

    def of_notes(self, spans: Sequence[Span], average: float) -> list[float]:
        """BM25 of whole notes: how many of their passages hold each term. `average`: passages a note."""
        scores = []
        for first, count in spans:
            size = _NOTE_K1 * (1 - _NOTE_B + _NOTE_B * count / average)
            held = [bisect_left(ids, first + count) - bisect_left(ids, first) for ids in self._ids]
            given = (weight * n / (n + size) for weight, n in zip(self._idfs, held, strict=True) if n)
            scores.append((_NOTE_K1 + 1) * sum(given))
        return scores

    def held_in(self, span: Span) -> int:
        """How many passages of a note hold a term."""
        first, count = span
        held = (ids[bisect_left(ids, first) : bisect_left(ids, first + count)] for ids in self._ids)
        return len({id_ for ids in held for id_ in ids})

    def terms_in(self, passage_id: int) -> list[int]:
        """Which of the terms stand in the passage, by their places."""
        return [at for at, ids in enumerate(self._ids) if _holds(ids, passage_id)]


def _holds(ids: Sequence[int], passage_id: int) -> bool:
    at = bisect_left(ids, passage_id)
    return at < len(ids) and ids[at] == passage_id


def _listed(ids: str) -> list[int]:
    return [int(id_) for id_ in ids.split(",")] if ids else []


class ArrayScores:
    """The same scores in arrays, one place per passage number."""

    def __init__(self, terms: Sequence[Term]) -> None:
        import numpy as np

        self._ids = [np.fromstring(term.ids, dtype=np.int64, sep=",") for term in terms]
        self._idfs = [term.idf for term in terms]
        reach = max(len(BEFORE), len(AFTER))
        size = max((int(ids[-1]) for ids in self._ids if len(ids)), default=0) + reach + 1
        self._scores = np.zeros(size, dtype=np.float32)
        weights = np.array([term.idf * (_K1 + 1) for term in terms], dtype=np.float32)
        # Small indexes take all terms in one go: there, each call of numpy costs more than its work.
        together = max(1, _CELLS // size)
        for start in range(0, len(terms), together):
            self._add(self._ids[start : start + together], weights[start : start + together])

    def _add(self, lists: Sequence[NDArray[np.int64]], weights: NDArray[np.float32]) -> None:
        """Add what these terms give to the passages that hold them, and to their neighbours."""
        import numpy as np

        size = len(self._scores)
        cells = np.concatenate([ids + row * size for row, ids in enumerate(lists)])
        near = np.zeros(len(lists) * size, dtype=np.float32)
        for offset, share in _SPREAD:
            near[cells + offset] += share  # the ids of one term are distinct, so nothing is lost
        touched = np.flatnonzero(near > 0)  # of booleans: several times as fast as of numbers
        counts = near[touched]
        if len(lists) == 1:
            self._scores[touched] += weights[0] * (counts / (counts + np.float32(_K1)))
            return
        rows, places = np.divmod(touched, size)
        given = weights[rows] * (counts / (counts + np.float32(_K1)))
        self._scores += np.bincount(places, weights=given, minlength=size)

    def best(self, limit: int, keep: Keep | None) -> list[tuple[int, float]]:
        import numpy as np

        if limit <= 0:
            return []  # semantic mode looks the words up and ranks nothing by them
        scores = self._scores
        ids = np.flatnonzero(scores > 0)
        if keep is not None:
            ids = ids[keep.mask(ids)]
        if len(ids) > limit:
            values = scores[ids]
            least = np.partition(values, len(values) - limit)[len(values) - limit]
            ids = ids[values >= least]
        order = np.lexsort((ids, -scores[ids]))[:limit]
        return [(int(id_), float(scores[id_])) for id_ in ids[order]]

    def of(self, ids: Sequence[int]) -> list[float]:
        size = len(self._scores)
        return [float(self._scores[id_]) if id_ < size else 0.0 for id_ in ids]

    def of_notes(self, spans: Sequence[Span], average: float) -> list[float]:
        """BM25 of whole notes: how many of their passages hold each term. `average`: passages a note."""
        import numpy as np

        firsts, counts = np.array(spans, dtype=np.int64).reshape(-1, 2).T
        size = _NOTE_K1 * (1 - _NOTE_B + _NOTE_B * counts / average)
        ends = np.concatenate((firsts, firsts + counts))
        scores = np.zeros(len(spans))
        for weight, ids in zip(self._idfs, self._ids, strict=True):
            below = ids.searchsorted(ends)
            held = below[len(spans) :] - below[: len(spans)]
            scores += weight * (_NOTE_K1 + 1) * held / (held + size)
        listed: list[float] = scores.tolist()
        return listed

    def held_in(self, span: Span) -> int:
        """How many passages of a note hold a term."""
        ends = (span[0], sum(span))
        return len({id_ for ids in self._ids for id_ in ids[slice(*ids.searchsorted(ends))].tolist()})

    def terms_in(self, passage_id: int) -> list[int]:
        """Which of the terms stand in the passage, by their places."""
        places = [int(ids.searchsorted(passage_id)) for ids in self._ids]
        return [
            at
            for at, (ids, place) in enumerate(zip(self._ids, places, strict=True))
            if place < len(ids) and ids[place] == passage_id
        ]


Scores = PlainScores | ArrayScores
