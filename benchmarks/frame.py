"""What all benchmarks share: arguments, the machine, tables in plain text, JSON, pictures.

Knows nothing of any data set and nothing of Hindbrain but its version.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.metrics import Figures

ROWS = ("ours", "fts5", "bm25", "dense", "rrf")
OURS = "ours"


class Skipped(Exception):
    """A benchmark that can't run here; the message says what is missing and how to give it."""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for on the command line."""

    data: Path
    rows: tuple[str, ...] = ROWS
    keep: Path | None = None  # a folder that keeps notes and indexes from run to run; None: a temporary one
    sizes: tuple[int, ...] = (10_000, 100_000, 1_000_000)  # passages; for latency
    limit: int = 0  # questions; 0: all

    @contextmanager
    def work(self, name: str) -> Iterator[Path]:
        """A folder to work in."""
        if self.keep is not None:
            folder = self.keep / name
            folder.mkdir(parents=True, exist_ok=True)
            yield folder
        else:
            with tempfile.TemporaryDirectory(prefix=f"hindbrain-bench-{name}-") as temporary:
                yield Path(temporary)


@dataclass(frozen=True, slots=True)
class Table:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return plain_table(self)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a benchmark found."""

    metrics: Figures
    data: dict[str, str | int]
    tables: tuple[Table, ...]
    baselines: dict[str, Figures] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Benchmark:
    name: str
    run: Callable[[Options], Outcome]
    draw: Callable[[dict[str, Any], Any], None] | None  # a result, and the axes for it


def main(benchmark: Benchmark, argv: Sequence[str] | None = None) -> int:
    """The command line of one benchmark."""
    arguments = _parser(benchmark.name).parse_args(argv)
    options = options_of(arguments)
    words = sys.argv[1:] if argv is None else argv
    result = perform(benchmark, options, command_line(benchmark.name, words))
    if arguments.json:
        write_json(Path(arguments.json), result)
    if arguments.plot and not result.get("skipped"):
        from benchmarks.plots import save

        save(Path(arguments.plot), [(benchmark, result)])
    return 0


def command_line(name: str, words: Sequence[str]) -> str:
    return shlex.join(["python", "-m", f"benchmarks.{name}", *words])


def perform(benchmark: Benchmark, options: Options, command: str) -> dict[str, Any]:
    """Run one benchmark, print its tables, and return what its JSON file holds."""
    started = time.perf_counter()
    try:
        outcome = benchmark.run(options)
    except Skipped as reason:
        print(f"skipped {benchmark.name}: {reason}", flush=True)
        return {"metrics": {}, "baselines": {}, "command": command, "skipped": str(reason)}
    for table in outcome.tables:
        print(f"{table}\n", flush=True)
    seconds = time.perf_counter() - started
    print(f"{benchmark.name}: {seconds:.0f} s with {command}\n", flush=True)
    return {
        "metrics": outcome.metrics,
        "baselines": outcome.baselines,
        "command": command,
        "machine": machine(),
        "data": outcome.data,
        "seconds": round(seconds, 1),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", metavar="PATH", help="file or folder; else HINDBRAIN_DATA, else ../shared/data"
    )
    parser.add_argument("--rows", default=",".join(ROWS), help="what to compare (default: %(default)s)")
    parser.add_argument("--keep", metavar="DIR", help="keep notes and indexes here for the next run")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="of latency (default: %(default)s)")
    parser.add_argument("--limit", type=int, default=0, metavar="N", help="only N questions of each set")


def options_of(arguments: argparse.Namespace) -> Options:
    rows = tuple(part for part in arguments.rows.split(",") if part)
    unknown = set(rows) - set(ROWS)
    if unknown:
        raise SystemExit(f"error: no row named {min(unknown)!r}; choose from {', '.join(ROWS)}")
    return Options(
        data=Path(arguments.data) if arguments.data else default_data(),
        rows=rows,
        keep=Path(arguments.keep) if arguments.keep else None,
        sizes=tuple(int(part) for part in arguments.sizes.split(",") if part),
        limit=arguments.limit,
    )


def default_data() -> Path:
    """HINDBRAIN_DATA, else `shared/data` beside the project."""
    named = os.environ.get("HINDBRAIN_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"


def _parser(name: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}")
    add_arguments(parser)
    parser.add_argument("--json", metavar="FILE", help="write the figures here")
    parser.add_argument("--plot", metavar="FILE", help="draw the figures here (PNG)")
    return parser


def write_json(path: Path, result: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def machine() -> dict[str, str | int]:
    import apsw
    import numpy

    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "numpy": numpy.__version__,
    }


def _cpu_model() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def plain_table(table: Table) -> str:
    """The first column to the left, the others to the right."""
    lines = [table.columns, *table.rows]
    widths = [max(len(line[at]) for line in lines) for at in range(len(table.columns))]

    def laid(line: tuple[str, ...]) -> str:
        rest = (cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
        return "  ".join((line[0].ljust(widths[0]), *rest)).rstrip()

    rule = "-" * (sum(widths) + 2 * len(widths) - 2)
    return "\n".join([table.title, laid(table.columns), rule, *map(laid, table.rows)])


def compared(
    title: str, names: Sequence[str], figures: dict[str, Figures], labels: Sequence[str] = ()
) -> Table:
    """A table with a line per row (ours, bm25, ...) and a column per figure."""
    return Table(
        title,
        ("", *(labels or names)),
        tuple((row, *(shown(own.get(name)) for name in names)) for row, own in figures.items()),
    )


def shown(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.4f}" if 0 < abs(value) < 1 else f"{value:.1f}" if abs(value) < 1_000 else f"{value:,.0f}"


def split_rows(figures: dict[str, Figures]) -> tuple[Figures, dict[str, Figures]]:
    """Ours, and the rows beside it."""
    return figures.get(OURS, {}), {row: own for row, own in figures.items() if row != OURS}
