"""The engines that `benchmarks.vectors` compares: ours, plain numpy, and others where they are installed.

Each takes float32 blocks in order and gives back row numbers, best first. Knows nothing of timing or recall.
"""

import importlib
import importlib.util
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hindbrain.index.vectors import open_vector_index, quantise

DIM = 256
Floats = NDArray[np.float32]


class Index(Protocol):
    def add(self, start: int, vectors: Floats) -> None: ...

    def finish(self) -> None: ...

    def search(self, query: Floats, k: int) -> NDArray[np.int64]: ...


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    open: Callable[[int], Index]  # takes the number of passages to come
    needs: str = "numpy"  # a module
    largest: int = 10_000_000  # beyond, the build takes too long or the scan is known


class _Ours:
    def __init__(self, size: int, **options: int) -> None:
        self._index = open_vector_index(DIM, size, **options)

    def add(self, start: int, vectors: Floats) -> None:
        self._index.add(np.arange(start, start + len(vectors)), quantise(vectors))

    def finish(self) -> None: ...

    def search(self, query: Floats, k: int) -> NDArray[np.int64]:
        return self._index.search(query, k)[0]


class _Float32:
    def __init__(self, size: int) -> None:
        self._rows = np.empty((size, DIM), dtype=np.float32)

    def add(self, start: int, vectors: Floats) -> None:
        self._rows[start : start + len(vectors)] = vectors

    def finish(self) -> None: ...

    def search(self, query: Floats, k: int) -> NDArray[np.int64]:
        scores = self._rows @ query
        best = np.argpartition(scores, len(scores) - k)[-k:]
        return best[np.argsort(-scores[best])]


class _Faiss:
    def __init__(self, recipe: str, probes: int = 0) -> None:
        self._faiss: Any = importlib.import_module("faiss")
        self._faiss.omp_set_num_threads(1)
        self._index = self._faiss.index_factory(DIM, recipe, self._faiss.METRIC_INNER_PRODUCT)
        self._probes = probes
        self._held: list[Floats] = []

    def add(self, start: int, vectors: Floats) -> None:  # noqa: ARG002  rows are numbered as they come
        self._held.append(vectors)

    def finish(self) -> None:
        rows = np.concatenate(self._held)
        self._held.clear()
        if not self._index.is_trained:
            self._index.train(rows[:: max(1, len(rows) // 50_000)])
        self._index.add(rows)
        if self._probes:
            self._index.nprobe = self._probes

    def search(self, query: Floats, k: int) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._index.search(query[np.newaxis], k)[1][0]
        return found


class _Usearch:
    def __init__(self, kind: str) -> None:
        engine: Any = importlib.import_module("usearch.index")
        self._index = engine.Index(ndim=DIM, metric="cos", dtype=kind, expansion_search=256)

    def add(self, start: int, vectors: Floats) -> None:
        self._index.add(np.arange(start, start + len(vectors), dtype=np.uint64), vectors, threads=1)

    def finish(self) -> None: ...

    def search(self, query: Floats, k: int) -> NDArray[np.int64]:
        return np.asarray(self._index.search(query, k, threads=1).keys, dtype=np.int64)


class _SqliteVec:
    def __init__(self) -> None:
        apsw: Any = importlib.import_module("apsw")
        self._db = apsw.Connection(":memory:")
        self._db.enable_load_extension(True)
        self._db.load_extension(importlib.import_module("sqlite_vec").loadable_path())
        self._db.execute(f"CREATE VIRTUAL TABLE v USING vec0(e int8[{DIM}] distance_metric=cosine)")

    def add(self, start: int, vectors: Floats) -> None:
        rows = ((start + at, code.tobytes()) for at, code in enumerate(quantise(vectors)))
        with self._db:
            self._db.executemany("INSERT INTO v(rowid, e) VALUES (?, vec_int8(?))", rows)

    def finish(self) -> None: ...

    def search(self, query: Floats, k: int) -> NDArray[np.int64]:
        code = struct.pack(f"{DIM}b", *quantise(query[np.newaxis])[0])
        sql = "SELECT rowid FROM v WHERE e MATCH vec_int8(?) AND k = ? ORDER BY distance"
        return np.array([row for (row,) in self._db.execute(sql, (code, k))], dtype=np.int64)


_ENGINES = (
    Engine("hindbrain", _Ours),
    Engine("hindbrain, scoring all", lambda size: _Ours(size, exact_numbers=1 << 62)),
    Engine("numpy float32", _Float32),
    Engine("faiss flat", lambda _: _Faiss("Flat"), needs="faiss"),
    Engine("faiss IVF512 SQ8, 64 probes", lambda _: _Faiss("IVF512,SQ8", 64), needs="faiss"),
    Engine("usearch HNSW i8", lambda _: _Usearch("i8"), needs="usearch", largest=100_000),
    Engine("sqlite-vec int8", lambda _: _SqliteVec(), needs="sqlite_vec", largest=100_000),
)


def available_engines(size: int, *, containing: str = "") -> Iterator[Engine]:
    for engine in _ENGINES:
        if containing in engine.name and size <= engine.largest and importlib.util.find_spec(engine.needs):
            yield engine
