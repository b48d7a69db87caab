"""How long a warm search takes at 10k, 100k and 1M passages, with the bare FTS5 query as the unit.

Every query is asked in all ways right after each other, in turning order, so that what else the machine does
falls on all of them alike.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import metrics
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config, exact_vectors, query_vector
from benchmarks.scale import build_index, make_queries, pathological, read_notes, scale_corpus
from hindbrain.app import App, build_app
from hindbrain.index.schema import open_reader
from hindbrain.search.query import SearchQuery
from hindbrain.search.semantic import LoadedVectors
from hindbrain.search.terms import match_expression, understand_terms

WAYS = ("bare", "hybrid", "keyword")
_BARE = "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rank LIMIT 10"
_ENGINE_CANDIDATES = 120  # vectors that a search asks for
_EQUAL = 1e-6  # cosines of equal vectors differ by less
_FEW_ROUNDS_FROM = 500_000  # passages


def run(options: Options) -> Outcome:
    with options.work("latency") as work:
        notes = read_notes(scale_corpus(options.data, work))
        queries = [text for kind in make_queries(notes).values() for text in kind][: options.limit or None]
        figures: Figures = {}
        for size in sorted(options.sizes):
            app = _opened(work / str(size), notes, size)
            figures |= metrics.prefixed(f"{size}.", measure(app, queries, pathological(notes)))
            app.close()
    figures |= growth(figures, sorted(options.sizes))
    return Outcome(
        metrics=figures,
        data={"name": "md_mdn", "notes": len(notes), "queries": len(queries)},
        tables=_tables(figures, sorted(options.sizes)),
    )


def _opened(work: Path, notes: Sequence[tuple[str, str]], size: int) -> App:
    """An app over an index of this size; a kept one is used again."""
    (work / "vault").mkdir(parents=True, exist_ok=True)
    app = build_app(bench_config(work / "state"), work / "vault", warm=True)
    done = work / "built"
    if not done.exists():
        print(f"latency: making an index of {size:,} passages", file=sys.stderr, flush=True)
        build_index(app, notes, size)
        done.touch()
    return app


def measure(app: App, queries: Sequence[str], bad: Mapping[str, str]) -> Figures:
    """Ask all queries in all ways, then the bad ones, then compare the vectors with exact search."""
    db = open_reader(app.index_path)
    ways: dict[str, Callable[[str], object]] = {
        "bare": lambda text: db.execute(_BARE, (match_expression(understand_terms(text)),)).fetchall(),
        "hybrid": lambda text: app.search(SearchQuery(text)),
        "keyword": lambda text: app.search(SearchQuery(text, mode="keyword")),
    }
    for text in queries:  # warm up: files into memory, vectors loaded, words cut into pieces
        for way in ways.values():
            way(text)
    passages = app.store.sizes()[0]
    walls, cpus = timed(ways, queries, 1 if passages >= _FEW_ROUNDS_FROM else 3)
    figures: Figures = {"passages": passages}
    for name in WAYS:
        figures[f"{name}.p50_ms"] = round(metrics.quantile(walls[name], 0.5), 3)
        figures[f"{name}.p95_ms"] = round(metrics.quantile(walls[name], 0.95), 3)
        figures[f"{name}.cpu_p50_ms"] = round(metrics.quantile(cpus[name], 0.5), 3)
    figures["hybrid.ratio"] = round(figures["hybrid.p50_ms"] / figures["bare.p50_ms"], 3)
    figures["keyword.ratio"] = round(figures["keyword.p50_ms"] / figures["bare.p50_ms"], 3)
    for name, text in bad.items():
        ways["hybrid"](text)
        took = timed({"hybrid": ways["hybrid"]}, [text], 5)[0]["hybrid"][0]
        figures[f"{name}.ms"] = round(took, 3)
        figures[f"{name}.ratio"] = round(took / figures["hybrid.p50_ms"], 2)
    figures["vector.recall@10"] = round(vector_recall(app, queries), 4)
    return figures


def timed(
    ways: Mapping[str, Callable[[str], object]], queries: Sequence[str], rounds: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Wall and processor milliseconds per way and query, each the median of the rounds."""
    walls: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in queries])
    cpus: dict[str, list[list[float]]] = defaultdict(lambda: [[] for _ in queries])
    order = list(ways)
    for _ in range(rounds):
        for at, text in enumerate(queries):
            order.append(order.pop(0))
            for name in order:
                cpu, wall = time.process_time(), time.perf_counter()
                ways[name](text)
                walls[name][at].append(1e3 * (time.perf_counter() - wall))
                cpus[name][at].append(1e3 * (time.process_time() - cpu))
    return (
        {name: [median(taken) for taken in own] for name, own in walls.items()},
        {name: [median(taken) for taken in own] for name, own in cpus.items()},
    )


def vector_recall(app: App, queries: Sequence[str]) -> float:
    """The share of the ten nearest passages that the engine's vector search puts into its first ten, 0..1."""
    embedder = app.embedder
    assert embedder is not None
    fast = LoadedVectors(app.store, embedder.dim)
    fast.refresh(app.store.generation())
    exact = exact_vectors(app)
    shares = []
    for text in queries:
        vector = query_vector(app, text)
        best = exact.search(vector, 10)[1]
        found = [cosine for _, cosine in fast.search(vector, _ENGINE_CANDIDATES, None)[:10]]
        if len(best):
            # Notes hold equal paragraphs: whatever is as good as the true tenth is right.
            shares.append(sum(cosine >= best[-1] - _EQUAL for cosine in found) / len(best))
    return float(sum(shares) / max(1, len(shares)))


def growth(figures: Figures, sizes: Sequence[int]) -> Figures:
    """How much longer a search takes from one size to the next."""
    return {
        f"growth.{small}-{large}": round(
            figures[f"{large}.hybrid.p50_ms"] / figures[f"{small}.hybrid.p50_ms"], 2
        )
        for small, large in pairwise(sizes)
    }


def _tables(figures: Figures, sizes: Sequence[int]) -> tuple[Table, ...]:
    lines = []
    for size in sizes:
        here = f"{size}."
        own = {name.removeprefix(here): value for name, value in figures.items() if name.startswith(here)}
        lines.append(
            (
                f"{own['passages']:,.0f}",
                *(f"{own[f'{way}.{q}_ms']:.2f}" for way in WAYS for q in ("p50", "p95")),
                f"{own['hybrid.ratio']:.2f}",
                f"{own['vector.recall@10']:.3f}",
                *(f"{own[f'{name}.ratio']:.1f}" for name in ("stop_words", "long", "one_letter")),
            )
        )
    columns = (
        "passages", "bare p50", "p95", "hybrid p50", "p95", "keyword p50", "p95", "hybrid/bare",
        "vector recall@10", "stop words", "5,000 words", "one letter",
    )  # fmt: skip
    grown = [
        (name.removeprefix("growth."), f"{value:.2f}") for name, value in figures.items() if "growth" in name
    ]
    return (
        Table("Warm search (ms; the last three: times the hybrid median)", columns, tuple(lines)),
        Table("Hybrid median, growth between sizes", ("from-to", "times"), tuple(grown)),
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from matplotlib.ticker import LogLocator

    from benchmarks.plots import COLOURS, headline, legend

    figures = result["metrics"]
    sizes = sorted(int(name.partition(".")[0]) for name in figures if name.endswith(".passages"))
    labels = {
        "hybrid": ("ours", "hybrid, explained"),
        "keyword": ("dense", "keywords only"),
        "bare": ("bm25", "bare FTS5 query"),
    }
    for way, (colour, label) in labels.items():
        p50 = [figures[f"{size}.{way}.p50_ms"] for size in sizes]
        p95 = [figures[f"{size}.{way}.p95_ms"] for size in sizes]
        axes.plot(sizes, p50, marker="o", color=COLOURS[colour], label=label)
        axes.plot(sizes, p95, linestyle=":", color=COLOURS[colour], linewidth=1)
        if way == "hybrid":
            for place in zip(sizes, p50, strict=True):
                above = {"textcoords": "offset points", "xytext": (0, 6), "ha": "center"}
                axes.annotate(f"{place[1]:.1f}", place, fontsize=8, **above)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{size // 1000:,}k" if size < 10**6 else f"{size // 10**6}M" for size in sizes])
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.minorticks_off()
    axes.set_ylabel("ms", fontsize=9)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    headline(axes, "Warm search by passages: median (dotted: p95)")
    legend(axes)


BENCHMARK = Benchmark("latency", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
