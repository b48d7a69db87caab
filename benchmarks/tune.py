"""What each signal is worth, and whether another weight would do better, on the dev sets.

    python -m benchmarks.tune                      every signal left out once
    python -m benchmarks.tune SEMANTIC=0.5,0.9     these weights instead of the shipped one

The names are those of the weights in `hindbrain.search.profiles`, without the underscore. Candidates do not
depend on the weights, so they are looked up once and weighed again for each row.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import locomo, longmemeval, scifact, wikilinks
from benchmarks.frame import Benchmark, Options, Table, default_data
from hindbrain.search import profiles
from hindbrain.search.candidates import CandidateFinder, Found
from hindbrain.search.query import FullQuery

_SIGNALS = (
    "LEXICAL", "SEMANTIC", "FIELDS", "ENTITY", "DATE", "SPEAKER", "FIRST_PERSON", "NOTE_WORDS",
    "NOTE_MEANING", "NOTE_NAME", "NOTE_FIRST_PERSON", "NOTE_LINKED", "RECENCY", "IMPORTANCE", "ACCESS",
)  # fmt: skip
_SETS: tuple[tuple[Benchmark, tuple[str, ...]], ...] = (
    (locomo.BENCHMARK, ("turn.fraction@10", "turn.mrr", "tokens1000.fraction", "session.fraction@5")),
    (longmemeval.BENCHMARK, ("all@5", "any@5", "pooled.all@5")),
    (scifact.BENCHMARK, ("ndcg@10",)),
    (wikilinks.BENCHMARK, ("recall@10",)),
)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tune", description=__doc__.split("\n")[0])
    parser.add_argument("change", nargs="*", metavar="NAME=VALUES", help="weights to try instead")
    parser.add_argument("--data", metavar="PATH", default=str(default_data()))
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only N questions of each set")
    arguments = parser.parse_args(argv)
    rows = [("as shipped", "", 0.0), *_changes(arguments.change)]
    columns = [f"{benchmark.name} {name}" for benchmark, names in _SETS for name in names]
    with TemporaryDirectory(prefix="hindbrain-tune-") as work, _remembered_candidates():
        options = Options(Path(arguments.data), rows=("ours",), keep=Path(work), limit=arguments.limit)
        table = []
        for label, name, value in rows:
            table.append((label, *_measured(options, name, value)))
            print("  ".join(table[-1]), flush=True)
    print(f"\n{Table('The weights on the dev sets', ('', *columns), tuple(table))}")
    return 0


def _changes(asked: Sequence[str]) -> list[tuple[str, str, float]]:
    if not asked:
        return [(f"without {name.lower()}", name, 0.0) for name in _SIGNALS]
    pairs = [change.split("=", 1) for change in asked]
    return [(f"{name} {value}", name, float(value)) for name, values in pairs for value in values.split(",")]


def _measured(options: Options, name: str, value: float) -> list[str]:
    shipped = getattr(profiles, f"_{name}", 0.0)
    if name:
        setattr(profiles, f"_{name}", value)
    try:
        figures = [
            outcome.metrics[metric]
            for benchmark, names in _SETS
            for outcome in [benchmark.run(options)]
            for metric in names
        ]
    finally:
        if name:
            setattr(profiles, f"_{name}", shipped)
    return [f"{figure:.4f}" if figure <= 1 else f"{figure:.1f}" for figure in figures]


@contextmanager
def _remembered_candidates() -> Iterator[None]:
    find = CandidateFinder.find
    known: dict[tuple[str, FullQuery], Found] = {}

    def remembering(self: CandidateFinder, query: FullQuery) -> Found:
        key = (str(self._store.path), query)
        if key not in known:
            known[key] = find(self, query)
        return known[key]

    CandidateFinder.find = remembering  # type: ignore[method-assign]
    try:
        yield
    finally:
        CandidateFinder.find = find  # type: ignore[method-assign]


if __name__ == "__main__":
    raise SystemExit(main())
