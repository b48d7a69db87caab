"""Rows of codes in memory, and the exact arithmetic on them: block scores, cosines, the best k.

Codes stay int8, a quarter of float32. To score them, a block is widened into a buffer that stays in the
processor's cache, and BLAS does the rest. Knows nothing of tiers, of when to compact, or of storage.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hindbrain.index.vector_signs import pack_signs, words_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hindbrain.index.vector_signs import Signs
    from hindbrain.index.vectors import Codes, Floats, Ids

    Rows: TypeAlias = NDArray[np.intp]  # positions in the arrays of a `Shelf`

_BLOCK_NUMBERS = 1 << 19  # 2 MiB of float32: measured best between 0.25 and 4 MiB
_WIDE_NUMBERS = 1 << 22  # 16 MiB of float32, 16,384 passages of 256: small enough not to be widened each time
_FLOOR = -2.0  # below every cosine; dead rows are at minus infinity
# float32 sums differ in the last digits with a row's place in its block. Scores this near to each other are
# compared again in float64, so that equal vectors tie and ties go by id.
_NOISE = 4e-6
_MAX_RESCORED = 8192  # more equal passages (boilerplate) than this at the border: the lowest ids are enough


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a search reads. Replaced as a whole, so that no search sees half a change.

    The arrays are longer than `count`: the rows beyond it are spare. Only `alive` is changed in place.
    """

    ids: Ids  # ascending
    codes: NDArray[Any]  # int8, or the same numbers as float32 while they are few
    scales: Floats  # 1 / length of the code; 0 for a zero vector, whose cosine is 0 by agreement
    signs: Signs
    alive: NDArray[np.bool_]
    count: int
    dead: int

    @property
    def dim(self) -> int:
        return int(self.codes.shape[1])


def empty_shelf(dim: int, capacity: int) -> Shelf:
    return Shelf(
        ids=np.empty(capacity, dtype=np.int64),
        codes=np.empty((capacity, dim), dtype=np.float32 if capacity * dim <= _WIDE_NUMBERS else np.int8),
        scales=np.empty(capacity, dtype=np.float32),
        signs=np.empty((words_for(dim), capacity), dtype=np.uint64),
        alive=np.ones(capacity, dtype=np.bool_),
        count=0,
        dead=0,
    )


def appended(shelf: Shelf, ids: Ids, codes: Codes) -> Shelf:
    """The shelf with these rows at its end. The old shelf stays valid for whoever is reading it."""
    first, count = shelf.count, shelf.count + len(ids)
    if count > len(shelf.ids):
        # A large index grows by an eighth: doubling a quarter of a gigabyte would be felt.
        spare = max(256, min(count, (count >> 3) + 65536))
        shelf = copied(shelf, np.arange(first), capacity=count + spare)
    shelf.ids[first:count] = ids
    shelf.codes[first:count] = codes
    for start, stop in _blocks(len(ids), shelf.dim):
        block = slice(first + start, first + stop)
        shelf.scales[block] = _inverse_lengths(codes[start:stop])
        shelf.signs[:, block] = pack_signs(codes[start:stop])
    return replace(shelf, count=count)


def copied(shelf: Shelf, rows: Rows, *, capacity: int) -> Shelf:
    """A shelf with only these rows, which ascend, and spare ones up to `capacity`."""
    new, count = empty_shelf(shelf.dim, capacity), len(rows)
    for start, stop in _blocks(count, shelf.dim):
        new.codes[start:stop] = shelf.codes[rows[start:stop]]
        new.signs[:, start:stop] = shelf.signs[:, rows[start:stop]]
    new.ids[:count] = shelf.ids[rows]
    new.scales[:count] = shelf.scales[rows]
    new.alive[:count] = shelf.alive[rows]
    return replace(new, count=count, dead=count - int(np.count_nonzero(new.alive[:count])))


def rows_of(shelf: Shelf, ids: Ids) -> Rows:
    """The row of each id, -1 where it has none that lives."""
    if not shelf.count:
        return np.full(len(ids), -1, dtype=np.intp)
    known = shelf.ids[: shelf.count]
    rows = np.minimum(np.searchsorted(known, ids), shelf.count - 1)
    return np.where((known[rows] == ids) & shelf.alive[rows], rows, -1)


def living_rows(shelf: Shelf, allowed: Ids | None) -> Rows | None:
    """The rows that may be found, ascending; None when that is all of them. `allowed` ascends."""
    if allowed is None:
        return np.flatnonzero(shelf.alive[: shelf.count]) if shelf.dead else None
    if len(allowed) * 4 < shelf.count:
        rows = rows_of(shelf, allowed)
        return rows[rows >= 0]
    # For a large part of all ids, one pass over a table is faster than a search for each.
    return np.flatnonzero(np.isin(shelf.ids[: shelf.count], allowed) & shelf.alive[: shelf.count])


def best_of_all(shelf: Shelf, query: Floats, k: int) -> tuple[Ids, Floats]:
    """The k best living rows; `query` has length 1."""
    scores = np.empty(shelf.count, dtype=np.float32)
    if shelf.codes.dtype == np.float32:
        np.dot(shelf.codes[: shelf.count], query, out=scores)
    else:
        buffer = np.empty((_block_rows(shelf.dim), shelf.dim), dtype=np.float32)
        for start, stop in _blocks(shelf.count, shelf.dim):
            wide = buffer[: stop - start]
            np.copyto(wide, shelf.codes[start:stop])
            np.dot(wide, query, out=scores[start:stop])
    scores *= shelf.scales[: shelf.count]
    if shelf.dead:
        scores[~shelf.alive[: shelf.count]] = -np.inf
    return _ranked(shelf, query, k, _near_the_top(scores, k))


def best_of_rows(shelf: Shelf, query: Floats, k: int, rows: Rows) -> tuple[Ids, Floats]:
    """The k best of these rows, all of which live."""
    if len(rows) > k:
        rows = rows[_near_the_top(_row_scores(shelf, query, rows), k)]
    return _ranked(shelf, query, k, rows)


def exact_cosines(shelf: Shelf, rows: Rows, query: Floats) -> Floats:
    """Cosines to the last digit of float32, whatever rows stand beside: equal codes get equal cosines."""
    cosines = np.empty(len(rows), dtype=np.float32)
    wide_query = query.astype(np.float64)
    query_length = np.sqrt(np.vecdot(wide_query, wide_query))
    for start, stop in _blocks(len(rows), shelf.dim):
        wide = shelf.codes[rows[start:stop]].astype(np.float64)
        # vecdot sums each row by itself, in one order; a matrix product takes several at once and does not.
        dots = np.vecdot(wide, wide_query)
        lengths = query_length * np.sqrt(np.vecdot(wide, wide))
        cosines[start:stop] = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return cosines


def _inverse_lengths(codes: Codes) -> Floats:
    wide = codes.astype(np.float32)
    squares = np.vecdot(wide, wide)
    scales: Floats = np.divide(1.0, np.sqrt(squares), out=np.zeros_like(squares), where=squares > 0)
    return scales


def _row_scores(shelf: Shelf, query: Floats, rows: Rows) -> Floats:
    """Cosines of single rows, wherever they are."""
    scores = np.empty(len(rows), dtype=np.float32)
    for start, stop in _blocks(len(rows), shelf.dim):
        chosen = rows[start:stop]
        np.dot(shelf.codes[chosen].astype(np.float32, copy=False), query, out=scores[start:stop])
        scores[start:stop] *= shelf.scales[chosen]
    return scores


def _near_the_top(scores: Floats, k: int) -> Rows:
    """Places of the k best scores, and of those that are as good as the k-th but for noise."""
    edge = _FLOOR
    if len(scores) > k:
        edge = max(_kth(scores, k) - _NOISE, _FLOOR)
    return np.flatnonzero(scores >= edge)


def _kth(scores: Floats, k: int) -> float:
    place = len(scores) - k
    return float(np.partition(scores, place)[place])


def _ranked(shelf: Shelf, query: Floats, k: int, rows: Rows) -> tuple[Ids, Floats]:
    if len(rows) > k + _MAX_RESCORED:
        rows = _thinned(shelf, query, k, rows)
    ids, cosines = shelf.ids[rows], exact_cosines(shelf, rows, query)
    order = np.lexsort((ids, -cosines))[:k]
    return ids[order], cosines[order]


def _thinned(shelf: Shelf, query: Floats, k: int, rows: Rows) -> Rows:
    """Of very many candidates, those above the border and then the lowest ids among those at it."""
    scores = _row_scores(shelf, query, rows)
    at_border = scores <= _kth(scores, k) + _NOISE
    return rows[np.lexsort((rows, at_border))[: k + _MAX_RESCORED]]


def _block_rows(dim: int) -> int:
    return max(1, _BLOCK_NUMBERS // dim)


def _blocks(count: int, dim: int) -> Iterator[tuple[int, int]]:
    step = _block_rows(dim)
    for start in range(0, count, step):
        yield start, min(start + step, count)
