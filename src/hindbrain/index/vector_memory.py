"""The vector index of a warm process: all rows in memory, and the choice between scoring all or a few.

Owns what changes over time: appending, tombstones, compaction. The arithmetic is in `vector_rows` and
`vector_signs`. Knows nothing of storage, notes or embedders, and starts no thread.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hindbrain.base.errors import EmbedderError, EmbedderMismatch, UsageError
from hindbrain.index import vector_rows, vector_signs
from hindbrain.index.vector_rows import Shelf

if TYPE_CHECKING:
    from hindbrain.index.vectors import Codes, Floats, Ids

_DEAD_SHARE = 0.25  # compaction copies all that lives, so it waits until it is worth it
_FIRST_CAPACITY = 256


class MemoryVectors:
    """The `VectorIndex` of one process. Searches take no lock: they read one `Shelf` from start to end."""

    def __init__(self, dim: int, expected: int = 0, *, exact_numbers: int) -> None:
        if dim < 1:
            raise UsageError(f"a vector has at least one number, not {dim!r}")
        self._dim = dim
        self._exact_numbers = exact_numbers
        self._shelf = vector_rows.empty_shelf(dim, max(expected, _FIRST_CAPACITY))
        self._highest: int | None = None  # kept apart: its passage may have been compacted away
        self._changing = threading.Lock()

    @property
    def size(self) -> int:
        shelf = self._shelf
        return shelf.count - shelf.dead

    def add(self, ids: Ids, codes: Codes) -> None:
        ids = np.asarray(ids, dtype=np.int64)
        with self._changing:
            self._check_batch(ids, codes)
            if len(ids):
                self._shelf = vector_rows.appended(self._shelf, ids, codes)
                self._highest = int(ids[-1])

    def remove(self, ids: Ids) -> None:
        with self._changing:
            shelf = self._shelf
            rows = np.unique(vector_rows.rows_of(shelf, np.asarray(ids, dtype=np.int64)))
            rows = rows[rows >= 0]
            shelf.alive[rows] = False
            self._shelf = _compacted(replace(shelf, dead=shelf.dead + len(rows)))

    def search(self, query: Floats, k: int, allowed: Ids | None = None) -> tuple[Ids, Floats]:
        query = self._unit(query)
        shelf = self._shelf
        if k < 1 or not shelf.count or not query.any():
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)
        rows = vector_rows.living_rows(
            shelf, None if allowed is None else np.asarray(allowed, dtype=np.int64)
        )
        if shelf.count * self._dim >= self._exact_numbers:
            wanted = rescored(k, shelf.count if rows is None else len(rows))
            if wanted:
                rows = vector_signs.nearest_by_signs(shelf.signs, query, wanted, shelf.count, rows)
                return vector_rows.best_of_rows(shelf, query, k, rows)
        if allowed is None or rows is None:
            return vector_rows.best_of_all(shelf, query, k)
        return vector_rows.best_of_rows(shelf, query, k, rows)

    def score(self, query: Floats, ids: Ids) -> Floats:
        query = self._unit(query)
        shelf = self._shelf
        rows = vector_rows.rows_of(shelf, np.asarray(ids, dtype=np.int64))
        known = rows >= 0
        cosines = np.full(len(rows), np.nan, dtype=np.float32)
        cosines[known] = vector_rows.exact_cosines(shelf, rows[known], query)
        return cosines

    def _unit(self, query: Floats) -> Floats:
        query = np.asarray(query, dtype=np.float32)
        if query.shape != (self._dim,):
            raise EmbedderMismatch(
                f"the query vector has shape {query.shape!r} and the index holds vectors of {self._dim!r} "
                "numbers; search with the embedder that made the index, or rebuild it"
            )
        length = float(np.linalg.norm(query))
        if not np.isfinite(length):
            raise EmbedderError("the query vector holds a number that is not finite; embed the query again")
        return query / np.float32(length) if length else query

    def _check_batch(self, ids: Ids, codes: Codes) -> None:
        if codes.dtype != np.int8:
            raise UsageError(f"codes are int8, not {codes.dtype}; make them with quantise()")
        if codes.shape != (len(ids), self._dim):
            raise EmbedderMismatch(
                f"{len(ids)} ids came with codes of shape {codes.shape!r}, and the index holds vectors of "
                f"{self._dim!r} numbers; rebuild it for the new embedder"
            )
        if len(ids) > 1 and not (np.diff(ids) > 0).all():
            raise UsageError("ids must ascend within a batch; sort them")
        if len(ids) and self._highest is not None and ids[0] <= self._highest:
            raise UsageError(f"id {int(ids[0])} is not above {self._highest}, the highest one so far")


def rescored(k: int, size: int) -> int:
    """How many rows to score exactly after the look at signs; 0 when scoring all costs no more.

    Measured on real passages (docs/decisions/0004): this many hold .99 of the true best ten.
    """
    wanted = max(600, 10 * k) + min(size // 40, 2000) + size // 200
    return wanted if size > 4 * wanted else 0


def _compacted(shelf: Shelf) -> Shelf:
    """The shelf without its dead, once there are enough of them."""
    if shelf.dead <= shelf.count * _DEAD_SHARE:
        return shelf
    living = np.flatnonzero(shelf.alive[: shelf.count])
    return vector_rows.copied(shelf, living, capacity=len(living) + _FIRST_CAPACITY)
