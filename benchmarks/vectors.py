"""Vector search on real passages: time, memory and recall, for what ships and for other engines.

    python -m benchmarks.vectors [--data PATH] [--json FILE] [--sizes 10000,100000,1000000]

Passages are the paragraphs of the scale corpus, embedded with the built-in embedder. A query is three to
eight content words of one passage, weighted by how rare they are. When there are fewer paragraphs than asked
for, they are repeated with noise of 0.35 of a vector's length. Recall is against exact float32 cosines. Notes
hold many equal paragraphs: a hit counts when it is as good as the true k-th, whichever of the equals it is.
"""

import os

# Before numpy is loaded: one thread, so that CPU time and wall time tell the same story.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gc
import math
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.frame import (
    Benchmark,
    Options,
    Outcome,
    Table,
    add_arguments,
    command_line,
    options_of,
    perform,
    write_json,
)
from benchmarks.scale import scale_corpus
from benchmarks.vector_engines import DIM, Engine, Index, available_engines
from hindbrain.models.static import load_static, words_of

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

_BLOCK = 50_000
_NOISE = 0.35
_MAX_CHARS = 600
_DEEP = 200  # candidates that the search engine asks for
_FEW = 10
_EQUAL = 1e-6  # float32 cosines of equal vectors differ by less


@dataclass(frozen=True, slots=True)
class Measured:
    engine: str
    passages: int
    k: int
    cpu_ms_p50: float
    cpu_ms_p95: float
    wall_ms_p50: float
    wall_ms_p95: float
    recall: float  # of the true best k, 0..1
    build_cpu_s: float
    memory_mb: float | None  # growth of the process; None where the system does not say


def read_paragraphs(folder: Path) -> list[str]:
    found = []
    for path in sorted(folder.rglob("*.md")):
        for text in re.split(r"\n\s*\n", path.read_text(encoding="utf-8", errors="replace")):
            text = text.strip()
            found += [text[at : at + _MAX_CHARS] for at in range(0, len(text), _MAX_CHARS)]
    return found


def embed_all(texts: list[str]) -> Floats:
    embedder = load_static()
    parts = [embedder.embed_documents(texts[at : at + _BLOCK]) for at in range(0, len(texts), _BLOCK)]
    return np.concatenate(parts)


def make_queries(texts: list[str], count: int) -> Floats:
    seen = Counter(word for text in texts for word in set(words_of(text)))
    rarity = {word: math.log((len(texts) + 1) / (times + 1)) for word, times in seen.items()}
    chance, embedder = random.Random(7), load_static()
    queries: list[Floats] = []
    while len(queries) < count:
        content = sorted({w for w in words_of(chance.choice(texts)) if w.isalpha() and rarity[w] > 3.5})
        if len(content) >= 4:
            chosen = chance.sample(content, min(len(content), chance.randint(3, 8)))
            queries.append(embedder.embed_weighted([(word, rarity[word]) for word in chosen]))
    return np.array(queries, dtype=np.float32)


def repeated(vectors: Floats, size: int) -> Floats:
    """`size` rows: the vectors, and when they run out the vectors again with noise."""
    rows = np.empty((size, DIM), dtype=np.float32)
    for start in range(0, size, _BLOCK):
        numbers = np.arange(start, min(start + _BLOCK, size))
        block = vectors[numbers % len(vectors)]
        again = numbers >= len(vectors)
        noise = np.random.default_rng(start).standard_normal((int(again.sum()), DIM), dtype=np.float32)
        block[again] += noise * np.float32(_NOISE / math.sqrt(DIM))
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        rows[numbers] = np.divide(block, lengths, out=block, where=lengths > 0)
    return rows


def true_edges(rows: Floats, queries: Floats, k: int) -> list[float]:
    """The cosine of the true k-th best, for each query."""
    place = len(rows) - k
    return [float(np.partition(rows @ query, place)[place]) for query in queries]


def build(engine: Engine, rows: Floats) -> tuple[Index, float, float | None]:
    """The filled index, CPU seconds, and megabytes by which the process grew."""
    gc.collect()
    before, began = resident_mb(), time.process_time()
    index = engine.open(len(rows))
    for start in range(0, len(rows), _BLOCK):
        index.add(start, rows[start : start + _BLOCK])
    index.finish()
    cpu_s = time.process_time() - began
    gc.collect()
    after = resident_mb()
    return index, cpu_s, None if before is None or after is None else after - before


def measure(
    engine: Engine, rows: Floats, queries: Floats, edges: dict[int, list[float]]
) -> Iterator[Measured]:
    index, build_cpu_s, memory_mb = build(engine, rows)
    for k in edges:
        cpu, wall, found = [], [], []
        for query in queries:
            cpu_began, began = time.process_time(), time.perf_counter()
            found.append(index.search(query, k))
            wall.append((time.perf_counter() - began) * 1000)
            cpu.append((time.process_time() - cpu_began) * 1000)
        yield Measured(
            engine=engine.name,
            passages=len(rows),
            k=k,
            cpu_ms_p50=float(np.percentile(cpu, 50)),
            cpu_ms_p95=float(np.percentile(cpu, 95)),
            wall_ms_p50=float(np.percentile(wall, 50)),
            wall_ms_p95=float(np.percentile(wall, 95)),
            recall=recall(rows, queries, found, edges[k], k),
            build_cpu_s=build_cpu_s,
            memory_mb=memory_mb,
        )


def recall(rows: Floats, queries: Floats, found: list[Numbers], edges: list[float], k: int) -> float:
    hits = 0
    for query, numbers, edge in zip(queries, found, edges, strict=True):
        hits += int(np.count_nonzero(rows[np.unique(numbers)] @ query >= edge - _EQUAL))
    return hits / (k * len(queries))


def resident_mb() -> float | None:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(options: Options, queries_wanted: int, containing: str) -> Outcome:
    with options.work("vectors") as work:
        texts = read_paragraphs(scale_corpus(options.data, work))
    random.Random(1).shuffle(texts)  # else a small size would be one corner of the notes
    vectors, queries = embed_all(texts), make_queries(texts, queries_wanted)
    measured: list[Measured] = []
    for size in options.sizes:
        rows = repeated(vectors, size)
        edges = {k: true_edges(rows, queries, k) for k in (_FEW, _DEEP)}
        for engine in available_engines(size, containing=containing):
            measured += measure(engine, rows, queries, edges)
    data: dict[str, str | int] = {"name": "md_mdn", "paragraphs": len(texts), "queries": len(queries)}
    return Outcome(metrics=flat(measured), data=data, tables=(table(measured),))


def flat(measured: list[Measured]) -> dict[str, float]:
    """One figure per name: engine, passages, k, then what was measured."""
    figures: dict[str, float] = {}
    for row in measured:
        for name, value in asdict(row).items():
            if name not in ("engine", "passages", "k") and value is not None:
                figures[f"{row.engine}.{row.passages}.k{row.k}.{name}"] = round(value, 4)
    return figures


def table(measured: list[Measured]) -> Table:
    lines = []
    for row in measured:
        memory = "-" if row.memory_mb is None else f"{row.memory_mb:.0f}"
        times = (row.cpu_ms_p50, row.cpu_ms_p95, row.wall_ms_p50, row.wall_ms_p95)
        figures = (
            *(f"{value:.2f}" for value in times),
            f"{row.recall:.3f}",
            f"{row.build_cpu_s:.2f}",
            memory,
        )
        lines.append((row.engine, f"{row.passages:,}", str(row.k), *figures))
    columns = ("engine", "passages", "k", "cpu p50", "p95", "wall p50", "p95", "recall", "build s", "MB")
    return Table("Vector search (ms per query)", columns, tuple(lines))


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.vectors", description="Vector search, measured."
    )
    add_arguments(parser)
    parser.set_defaults(sizes="10000,100000")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--engines", default="", help="only engines whose name contains this")
    asked = parser.parse_args()
    benchmark = Benchmark("vectors", lambda options: run(options, asked.queries, asked.engines), draw=None)
    result = perform(benchmark, options_of(asked), command_line("vectors", sys.argv[1:]))
    if asked.json:
        write_json(asked.json, result)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
