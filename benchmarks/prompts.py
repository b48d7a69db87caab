"""How long a prompt waits for its context: 100,000 notes, a warm process, and services that are dead.

assembly  filling the slots, without the search: what a pack adds to it
pack      search and assembly, by words and meaning, with the built-in embedder
refused   the same index, its embeddings by a service at which nobody answers: the prompt is answered by words
hanging   a service that takes the question and never answers

The bare FTS5 query of the same words is asked in the same run, right beside.
"""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from benchmarks.scale import build_index, make_queries, read_notes, recorded, scale_corpus
from hindbrain.app import App, build_app
from hindbrain.context.turn import SessionKey
from hindbrain.index.schema import open_reader
from hindbrain.index.writer import IndexWriter
from hindbrain.search.hit import SearchResult
from hindbrain.search.query import SearchQuery
from hindbrain.search.terms import match_expression, understand_terms

_NOTES = 100_000
_BARE = "SELECT rowid FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rank LIMIT 10"
ROWS = ("bare", "assembly", "pack", "refused", "hanging")


def run(options: Options) -> Outcome:
    with options.work("prompts") as work:
        notes = read_notes(scale_corpus(options.data, work))
        prompts = make_queries(notes)["question"][: options.limit or None]
        many = min(options.sizes[-1], _NOTES) if options.limit else _NOTES
        app = _opened(work, notes, many)
        taken = {"bare": _bare(app, prompts), **_packs(app, prompts)}
        app.close()
        with _nobody() as url:
            taken["refused"] = _turns(work, url, prompts)
        with _hanging() as url:
            taken["hanging"] = _turns(work, url, prompts)
    figures: Figures = {}
    for row, milliseconds in taken.items():
        figures[f"{row}.p50_ms"] = round(metrics.quantile(milliseconds, 0.5), 3)
        figures[f"{row}.p95_ms"] = round(metrics.quantile(milliseconds, 0.95), 3)
        figures[f"{row}.max_ms"] = round(max(milliseconds), 3)
    rows = tuple((row, *(f"{figures[f'{row}.{of}_ms']:.1f}" for of in ("p50", "p95", "max"))) for row in ROWS)
    return Outcome(
        metrics=figures,
        data={"name": "md_mdn, a passage a note", "notes": many, "prompts": len(prompts)},
        tables=(Table(f"Context for a prompt, {many:,} notes (ms)", ("", "p50", "p95", "longest"), rows),),
    )


def _opened(work: Path, notes: Sequence[tuple[str, str]], many: int) -> App:
    (work / "vault").mkdir(parents=True, exist_ok=True)
    app = build_app(bench_config(work / "state"), work / "vault", warm=True)
    if not app.index_path.exists():
        print(f"prompts: making an index of {many:,} notes", file=sys.stderr, flush=True)
        build_index(app, list(_small(notes, many)), many)
    return app


def _small(notes: Sequence[tuple[str, str]], many: int) -> Iterator[tuple[str, str]]:
    """Every passage as a note of its own."""
    made = 0
    for path, text in notes:
        for number, passage in enumerate(recorded(path, text).passages):
            yield f"{path.removesuffix('.md')}-{number}.md", passage.text
            made += 1
            if made == many:
                return


def _bare(app: App, prompts: Sequence[str]) -> list[float]:
    db = open_reader(app.index_path)
    taken = _timed(
        lambda text: db.execute(_BARE, (match_expression(understand_terms(text)),)).fetchall(), prompts
    )
    db.close()
    return taken


def _packs(app: App, prompts: Sequence[str]) -> dict[str, list[float]]:
    """All of a pack, and what of it is not searching."""
    searching = 0.0
    search = app.memory.search

    def timed_search(query: SearchQuery) -> SearchResult:
        nonlocal searching
        began = time.perf_counter()
        try:
            return search(query)
        finally:
            searching += time.perf_counter() - began

    vars(app.memory)["search"] = timed_search
    whole: list[float] = []
    assembly: list[float] = []
    for text in (*prompts, *prompts):  # the first round warms up
        searching = 0.0
        began = time.perf_counter()
        app.context.rendered(app.context.pack(text))
        took = time.perf_counter() - began
        whole.append(1e3 * took)
        assembly.append(1e3 * (took - searching))
    return {"pack": whole[len(prompts) :], "assembly": assembly[len(prompts) :]}


def _turns(work: Path, url: str, prompts: Sequence[str]) -> list[float]:
    """A turn for each prompt, as a daemon answers it; the first one waits for the service, and counts."""
    settings = {
        "HINDBRAIN_EMBEDDING_PROVIDER": "openai",
        "HINDBRAIN_EMBEDDING_BASE_URL": url,
        "HINDBRAIN_EMBEDDING_MODEL": "dead",
    }
    app = build_app(bench_config(work / "state-of-a-service", settings), work / "vault", warm=True)
    app.state.mkdir(parents=True, exist_ok=True)
    shutil.copy(next((work / "state").glob("*/index.db")), app.index_path)
    _claim_vectors(app)
    sessions = iter(range(len(prompts)))
    taken = _timed(lambda text: app.context.turn(SessionKey("own", f"bench-{next(sessions)}"), text), prompts)
    app.close()
    return taken


def _claim_vectors(app: App) -> None:
    """As if the service had made them: else nobody would ask it."""
    assert app.embedder is not None
    writer = IndexWriter(app.index_path)
    with writer.transaction():
        writer.set_meta({"embedder": app.embedder.name})
    writer.close()


def _timed(do: Callable[[str], object], prompts: Sequence[str]) -> list[float]:
    taken = []
    for text in prompts:
        began = time.perf_counter()
        do(text)
        taken.append(1e3 * (time.perf_counter() - began))
    return taken


@contextmanager
def _nobody() -> Iterator[str]:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and never listened at: connections are refused
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@contextmanager
def _hanging() -> Iterator[str]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(64)  # the system accepts for us, and nobody ever reads
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    figures = result["metrics"]
    for of, shade in (("p95", "#c9d6e8"), ("p50", "#35618f")):
        axes.barh(ROWS, [figures[f"{row}.{of}_ms"] for row in ROWS], color=shade, label=of)
    headline(axes, "Context for a prompt, 100,000 notes (ms)")
    legend(axes)


BENCHMARK = Benchmark("prompts", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
