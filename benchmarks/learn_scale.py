"""What learning costs when there is much to learn from: seconds and memory, each size in a fresh process.

Journals: the real runs of tau-bench again and again, with other ids, numbers, cities and times, until there
are so many events; import them, then `learn` (record, lessons, templates), then `learn` again with nothing
new. Beside 200,000 events a tenth of them: the ratio says whether cost grows faster than what there is.

Consolidation: a year of daily notes, some twenty lines a day of real sentences, by rules alone; then again
with nothing left to do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from benchmarks.datasets import described, find_one, unpacked
from benchmarks.facts import read_facts
from benchmarks.frame import Benchmark, Options, Outcome, Table, main, shown
from benchmarks.learning.vault_memory import opened_vault
from benchmarks.metrics import Figures, prefixed
from benchmarks.sync import peak_memory_mb
from hindbrain.base.clock import FakeClock
from hindbrain.learn.importing.importing import import_runs
from hindbrain.learn.importing.logs import Log
from hindbrain.learn.importing.tau import runs_of_tau
from hindbrain.learn.runs.events import Event, RunCreated, ToolExecuted, to_line
from hindbrain.memory.notes.own_lines import OwnLines

EVENTS = (20_000, 200_000)
DAYS = 365
_LINES_A_DAY = 20
_NOW = 1_790_000_000.0
_RUNS_EVERY_S = 2_000.0  # a year for 200,000 events
_CHILD = "import benchmarks.learn_scale as child; child.measure_here()"
_DIGITS = re.compile(r"\d+")
CITIES = (
    "New York", "Seattle", "Houston", "Chicago", "Boston", "Denver", "Phoenix", "Dallas", "Atlanta", "Miami",
    "Orlando", "Detroit", "Philadelphia", "Charlotte", "Minneapolis", "Las Vegas", "Los Angeles", "Newark",
)  # fmt: skip
_CITY = re.compile("|".join(CITIES))


def run(options: Options) -> Outcome:
    sizes = tuple(size for size in EVENTS if not options.limit or size <= options.limit) or (options.limit,)
    days = min(DAYS, options.limit) if options.limit else DAYS
    figures: Figures = {}
    with options.work("learn_scale") as work:
        source = find_one(options.data, "runs of tau-bench", ("runs_tau_bench*",))
        logs = sorted(unpacked(source, work).rglob("historical_trajectories/*.json"))
        runs = [run for log in logs for run in runs_of_tau(Log(log))]
        for size in sizes:
            journal = work / f"events-{size}.jsonl"
            write_journal(journal, runs, size)
            told = {"journal": str(journal), "folder": str(_emptied(work / f"learn-{size}"))}
            figures |= prefixed(f"{size}.", _in_fresh_process("learning", told))
        sentences = read_facts(options.data, work, days * _LINES_A_DAY)
        year = _emptied(work / "year")
        write_year(year / "vault", sentences, days)
        told = {"folder": str(year), "days": str(days)}
        figures |= prefixed("year.", _in_fresh_process("consolidating", told))
    if len(sizes) > 1:
        small, large = sizes[0], sizes[-1]
        for name in ("import_s", "learn_s", "again_s", "peak_mb"):
            figures[f"growth.{name}"] = figures[f"{large}.{name}"] / max(1e-9, figures[f"{small}.{name}"])
    return Outcome(
        metrics=figures,
        data=described(source, days=days) | {"events": ", ".join(map(str, sizes))},
        tables=_tables(figures, sizes, days),
    )


# --- what is measured


def made_runs(runs: Sequence[Sequence[Event]], events: int) -> Iterator[Event]:
    """The runs again and again, each time with other names and later, until there are so many events."""
    made = 0
    number = 0
    started = _NOW - _RUNS_EVERY_S * events / max(1.0, sum(map(len, runs)) / len(runs))
    while made < events:
        for run in runs:
            at = started + number * _RUNS_EVERY_S
            yield from _renamed(run, number, at)
            made += len(run)
            number += 1
            if made >= events:
                return


def _renamed(run: Sequence[Event], number: int, at: float) -> Iterator[Event]:
    first = run[0].at
    new = f"r-made-{number:06d}"
    turn = number // 200

    def named(text: str) -> str:
        text = _DIGITS.sub(lambda found: str(int(found[0]) + turn * 7)[-len(found[0]) :], text)
        return _CITY.sub(lambda found: CITIES[(CITIES.index(found[0]) + turn) % len(CITIES)], text)

    for place, event in enumerate(run):
        event = event._replace(run=new, at=at + min(600.0, event.at - first) + place)
        if isinstance(event, RunCreated):
            event = event._replace(command=named(event.command), session=f"made-{number}")
        elif isinstance(event, ToolExecuted):
            event = event._replace(arguments=_with_texts(event.arguments, named))
        yield event


def _with_texts(value: Any, named: Callable[[str], str]) -> Any:
    """What JSON holds, with each text in it changed."""
    if isinstance(value, Mapping):
        return {key: _with_texts(one, named) for key, one in value.items()}
    if isinstance(value, list):
        return [_with_texts(one, named) for one in value]
    return named(value) if isinstance(value, str) else value


def write_journal(path: Path, runs: Sequence[Sequence[Event]], events: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{to_line(event)}\n" for event in made_runs(runs, events))


def write_year(vault: Path, sentences: Sequence[str], days: int) -> None:
    """Daily notes up to a week ago, as agents leave them: Hindbrain's own, so that old ones are archived."""
    (vault / "Daily").mkdir(parents=True, exist_ok=True)
    (vault / ".hindbrain").mkdir(exist_ok=True)
    own_lines = OwnLines(vault, lambda name, line: _append(vault / ".hindbrain" / name, line))
    last = date.fromtimestamp(_NOW) - timedelta(days=8)
    cues = ("Decided: ", "", "Important: ", "", "", "Remember: ", "", "")
    for back in range(days):
        day = (last - timedelta(days=back)).isoformat()
        own = sentences[back * _LINES_A_DAY : (back + 1) * _LINES_A_DAY]
        lines = [
            f"- {8 + at // 2:02d}:{at % 2 * 30:02d} {cues[at % len(cues)]}{one}" for at, one in enumerate(own)
        ]
        head = f"---\ntype: daily\ndate: {day}\ntags: [agent]\n---\n# Daily Log: {day}\n\n## Events\n"
        text = head + "\n".join(lines) + "\n"
        (vault / "Daily" / f"{day}.md").write_text(text, encoding="utf-8")
        own_lines.note_written(f"Daily/{day}.md", text.splitlines())


def _append(file: Path, line: str) -> None:
    with open(file, "a", encoding="utf-8") as opened:
        opened.write(f"{line}\n")


def _emptied(folder: Path) -> Path:
    """What an earlier run has kept is learned already."""
    shutil.rmtree(folder, ignore_errors=True)
    return folder


# --- in a process of its own


def _in_fresh_process(what: str, told: Mapping[str, str]) -> Figures:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], input=json.dumps({"what": what, **told}), capture_output=True,
        text=True, env=environ, check=False,
     encoding="utf-8")  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{what} failed: {done.stderr.strip()[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def measure_here() -> None:
    """Runs in the fresh process: reads what to do from stdin, prints the figures."""
    told = json.loads(sys.stdin.read())
    ways: Mapping[str, Callable[[Mapping[str, str]], Figures]] = {
        "learning": _learning,
        "consolidating": _consolidating,
    }
    print(json.dumps(ways[told["what"]](told) | {"peak_mb": peak_memory_mb()}))


def _learning(told: Mapping[str, str]) -> Figures:
    app = opened_vault(Path(told["folder"]), FakeClock(_NOW))
    start = time.perf_counter()
    imported = import_runs(app.learning.runs, [Path(told["journal"])], format="journal")
    import_s = time.perf_counter() - start
    import_mb = peak_memory_mb()
    start = time.perf_counter()
    app.learning.learn()
    learn_s = time.perf_counter() - start
    start = time.perf_counter()
    app.learning.learn()
    again_s = time.perf_counter() - start
    figures = {
        "runs": float(imported.runs),
        "events": float(imported.events),
        "import_s": import_s,
        "import_mb": import_mb,
        "learn_s": learn_s,
        "again_s": again_s,
        "lessons": float(len(app.learning.lessons())),
        "templates": float(len(app.learning.templates())),
    }
    app.close()
    return figures


def _consolidating(told: Mapping[str, str]) -> Figures:
    app = opened_vault(Path(told["folder"]), FakeClock(_NOW))
    start = time.perf_counter()
    first = app.learning.consolidate()
    consolidate_s = time.perf_counter() - start
    start = time.perf_counter()
    app.learning.consolidate()
    again_s = time.perf_counter() - start
    app.close()
    return {
        "consolidate_s": consolidate_s,
        "again_s": again_s,
        "facts": float(first.facts),
        "archived": float(first.archived),
    }


# --- what is shown


def _tables(figures: Figures, sizes: Sequence[int], days: int) -> tuple[Table, ...]:
    names = {
        "runs": "runs",
        "import_s": "import, s",
        "learn_s": "learn, s",
        "again_s": "nothing new, s",
        "import_mb": "import, peak MB",
        "peak_mb": "all, peak MB",
        "lessons": "lessons",
        "templates": "templates",
    }
    rows = [(f"{size:,} events", *(shown(figures[f"{size}.{name}"]) for name in names)) for size in sizes]
    if len(sizes) > 1:
        rows.append(("ratio", *(shown(figures.get(f"growth.{name}")) for name in names)))
    year = ("consolidate_s", "again_s", "facts", "archived", "peak_mb")
    labels = ("consolidate, s", "nothing to do, s", "facts", "archived", "peak MB")
    return (
        Table("Import and learn", ("", *names.values()), tuple(rows)),
        Table(
            "Consolidation by rules",
            ("", *labels),
            ((f"{days} daily notes", *(shown(figures[f"year.{name}"]) for name in year)),),
        ),
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    found = result["metrics"]
    size = max(int(name.split(".")[0]) for name in found if name.endswith(".import_s") and name[0].isdigit())
    both = found[f"{size}.import_s"] + found[f"{size}.learn_s"]
    items = [
        (f"{size:,} events", both, f"{both:.0f} s to import and learn"),
        ("peak memory", found[f"{size}.peak_mb"], f"{found[f'{size}.peak_mb']:.0f} MB"),
        ("a year of daily notes", found["year.consolidate_s"], f"{found['year.consolidate_s']:.1f} s"),
    ]
    flat_bars(axes, "Learning at scale", items, [60, 1_000, 10])


BENCHMARK = Benchmark("learn_scale", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
