"""Which passages mean what the query means: cosines of vectors.

Owns where vectors come from: a warm process keeps all of them in memory; a cold command reads what it needs
from the file. Knows nothing of words, signals or hits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from hindbrain.base.errors import IndexDamaged
from hindbrain.base.segment import unsegmented_run
from hindbrain.index.store import IndexStore
from hindbrain.models.embedder import Embedder, PieceEmbedder

if TYPE_CHECKING:
    from hindbrain.index.sign_file import SignFile
    from hindbrain.index.vectors import Codes, Floats, Ids, VectorIndex

_COLD_TAIL = 2_000  # vectors that are read from the index rather than put into the file of signs
_MOST_WORDS = 128  # of a query; who pastes a page is understood by its beginning
_STOP_WEIGHT = 0.5  # a stop word says little, not nothing
_RELOAD_SHARE = 0.25  # of vectors gone: then loading anew is cheaper than carrying the dead


class QueryMeaning(NamedTuple):
    """A query as a vector."""

    vector: Floats
    trust: float = 1.0  # 0..1: how much of the query is in a script that the embedder knows


def embed_query(embedder: Embedder, text: str) -> QueryMeaning:
    """Embed the query by an embedder that knows nothing of single words."""
    return QueryMeaning(embedder.embed_query(text))


def weigh_query(embedder: PieceEmbedder, text: str, idfs: Mapping[str, float]) -> QueryMeaning:
    """Embed the query, each word counting as much as it tells in this vault."""
    from hindbrain.models.static import words_of

    weighted = [(word, _weight(word, idfs)) for word in words_of(text)[:_MOST_WORDS]]
    return QueryMeaning(embedder.embed_weighted(weighted), _trust(text))


def _trust(text: str) -> float:
    """The built-in vectors know alphabets; of Chinese or Thai they know single signs, and little of words."""
    if text.isascii():
        return 1.0
    unknown = sum(map(len, unsegmented_run().findall(text)))
    return 1.0 - unknown / max(1, sum(map(str.isalnum, text)))


def _weight(word: str, idfs: Mapping[str, float]) -> float:
    folded = word.lower()
    known = idfs.get(folded)
    if known is not None:
        return known
    # The full-text index splits where the embedder does not ("add_listener"): the rarest part speaks for all.
    return max((idfs.get(part, 0.0) for part in folded.split("_")), default=0.0) or _STOP_WEIGHT


class Vectors(Protocol):
    """Where the vectors of an index are looked for."""

    def refresh(self, generation: int) -> None:
        """Take in what a sync has changed, if the index is of another generation than before."""
        ...

    def count(self) -> int:
        """How many passages have a vector."""
        ...

    def search(self, query: Floats, k: int, allowed: Ids | None) -> list[tuple[int, float]]:
        """The nearest passages: (id, cosine), best first."""
        ...

    def score(self, query: Floats, ids: Sequence[int]) -> list[float]:
        """The cosine of each passage; NaN where it has no vector yet."""
        ...


class StoredVectors:
    """Reads vectors from the index file, for a process that asks once."""

    def __init__(self, store: IndexStore, dim: int) -> None:
        self._store = store
        self._dim = dim

    def refresh(self, generation: int) -> None:
        """Nothing is kept, so nothing grows old."""

    def count(self) -> int:
        return self._store.vector_count()

    def search(self, query: Floats, k: int, allowed: Ids | None) -> list[tuple[int, float]]:
        import numpy as np

        rows = self._candidates(query, k, allowed)
        if not rows:
            return []
        index = _loaded(self._dim, rows)
        ids, scores = index.search(query, k, allowed)
        return list(zip(ids.tolist(), np.asarray(scores).tolist(), strict=True))

    def _candidates(self, query: Floats, k: int, allowed: Ids | None) -> list[tuple[int, bytes]]:
        """The vectors to score exactly: all of a small index; of a large one, by the signs of all."""
        from hindbrain.index.vectors import EXACT_NUMBERS

        total = self._store.vector_count()
        epoch = self._store.meta("vector_epoch")
        if total * self._dim <= EXACT_NUMBERS or not isinstance(epoch, int):
            return self._store.vectors_after(0)
        from hindbrain.index.sign_file import SIGN_FILE, read_sign_file, update_sign_file

        path = self._store.path.with_name(SIGN_FILE)
        made = read_sign_file(path, epoch, self._dim)
        if made is None or self._store.vectors_beyond(made.last_id, _COLD_TAIL):
            made = update_sign_file(path, epoch, self._dim, total, self._checked_after)
        later = self._store.vectors_after(made.last_id)
        gone = len(made.ids) + len(later) - total
        return [*self._store.vectors_of(_nearest(made, query, k, gone, allowed)), *later]

    def _checked_after(self, passage_id: int) -> list[tuple[int, bytes]]:
        rows = self._store.vectors_after(passage_id)
        if any(len(codes) != self._dim for _, codes in rows):
            raise _damaged()
        return rows

    def score(self, query: Floats, ids: Sequence[int]) -> list[float]:
        import numpy as np

        rows = self._store.vectors_of(ids)
        if not rows:
            return [math.nan] * len(ids)
        scores = _loaded(self._dim, rows).score(query, np.array(ids, dtype=np.int64))
        return [float(score) for score in scores]


class LoadedVectors:
    """All vectors in memory, brought up to date from the file before each search."""

    def __init__(self, store: IndexStore, dim: int) -> None:
        self._store = store
        self._dim = dim
        self._index: VectorIndex | None = None
        self._last = 0
        self._stored = 0
        self._generation = -1

    def refresh(self, generation: int) -> None:
        """Take in what a sync has added. What it removed stays until a reload: such hits are dropped."""
        if generation == self._generation:
            return
        self._stored = self._store.vector_count()
        if self._index is not None and self._index.size > self._stored * (1 + _RELOAD_SHARE) + 1_000:
            self._index, self._last = None, 0
        rows = self._store.vectors_after(self._last)
        if self._index is None:
            self._index = _loaded(self._dim, rows)
        elif rows:
            self._index.add(*_unpacked(self._dim, rows))
        if rows:
            self._last = rows[-1][0]
        self._generation = generation

    def count(self) -> int:
        return self._stored

    def search(self, query: Floats, k: int, allowed: Ids | None) -> list[tuple[int, float]]:
        assert self._index is not None
        ids, scores = self._index.search(query, k, allowed)
        return list(zip(ids.tolist(), scores.tolist(), strict=True))

    def score(self, query: Floats, ids: Sequence[int]) -> list[float]:
        import numpy as np

        assert self._index is not None
        scores: list[float] = self._index.score(query, np.array(ids, dtype=np.int64)).tolist()
        return scores


def _nearest(made: SignFile, query: Floats, k: int, gone: int, allowed: Ids | None) -> list[int]:
    """Ids of passages whose signs agree with the query's in most places. `gone`: rows without a vector."""
    import numpy as np

    from hindbrain.index.vector_memory import rescored
    from hindbrain.index.vector_signs import nearest_by_signs

    among = None
    if allowed is not None:
        among = np.flatnonzero(np.isin(made.ids, allowed, assume_unique=True))
    size = len(made.ids) if among is None else len(among)
    wanted = rescored(k, size)
    if not wanted:
        chosen = made.ids if among is None else made.ids[among]
    else:
        wanted += wanted * gone // max(1, size - gone)
        rows = nearest_by_signs(made.signs, query, wanted, len(made.ids), among)
        chosen = made.ids[rows]
    ids: list[int] = chosen.tolist()
    return ids


def _loaded(dim: int, rows: Sequence[tuple[int, bytes]]) -> VectorIndex:
    from hindbrain.index.vectors import open_vector_index

    index = open_vector_index(dim, len(rows))
    if rows:
        index.add(*_unpacked(dim, rows))
    return index


def _unpacked(dim: int, rows: Iterable[tuple[int, bytes]]) -> tuple[Ids, Codes]:
    import numpy as np

    ids, blobs = zip(*rows, strict=True)
    numbers = np.array(ids, dtype=np.int64)
    # Stored in this order and of this length: anything else was not written by us.
    if any(len(blob) != dim for blob in blobs) or not (np.diff(numbers) > 0).all():
        raise _damaged()
    return numbers, np.frombuffer(b"".join(blobs), dtype=np.int8).reshape(len(ids), dim)


def _damaged() -> IndexDamaged:
    return IndexDamaged(
        "the vectors in the index are damaged; no note is affected: run hindbrain doctor --fix to rebuild it"
    )
