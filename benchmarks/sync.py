"""What it costs to keep an index: the first sync of the scale corpus, and everything after it.

The first sync runs in a fresh process, so that its peak of memory is its own. Keyword search is tried from a
second connection while that sync runs. The corpus is worked on as a copy.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Table, main, shown
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.errors import HindbrainError
from hindbrain.index.progress import Progress
from hindbrain.search.query import SearchQuery
from hindbrain.vault.path_rules import NotePath

_CHANGES = 10
_FIND_TIMEOUT_S = 20.0
_START_TIMEOUT_S = 300.0
_POLL_S = 0.01
_CHILD = "from benchmarks.sync import first_sync; first_sync()"


def run(options: Options) -> Outcome:
    source = find_one(options.data, "scale corpus", ("md_mdn.tar.gz", "md_mdn*"))
    with options.work("sync") as work:
        vault, state = own_copy(source, work), work / "state"
        shutil.rmtree(state, ignore_errors=True)  # the first sync is the point
        notes = sorted(path for path in vault.rglob("*.md") if path.is_file())
        text_bytes = sum(path.stat().st_size for path in notes)
        first = _in_fresh_process(vault, state)
        figures = rates(first, index_bytes(state), text_bytes)
        app = build_app(bench_config(state), vault)
        app.sync()  # the embedder is loaded now, as it is in a process that stays
        figures["reconcile_s"] = round(median(_seconds(app.sync) for _ in range(3)), 3)
        chosen = notes[:: max(1, len(notes) // (2 * _CHANGES))]
        figures["one_file_ms"] = round(1e3 * median(_change_times(app, vault, chosen[::2])), 1)
        figures |= save_to_findable(app, vault, chosen[1::2])
        app.close()
    data: dict[str, str | int] = {"name": source.name, "files": len(notes), "text_bytes": text_bytes}
    return Outcome(metrics=figures, data=data, tables=(_table(figures),))


def own_copy(source: Path, work: Path) -> Path:
    """A copy of the corpus that may be changed."""
    if source.is_file():
        return single_root(unpacked(source, work))
    copy = work / "copy"
    if not copy.exists():
        shutil.copytree(single_root(source), copy)
    return copy


def _in_fresh_process(vault: Path, state: Path) -> Figures:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    told = json.dumps({"vault": str(vault), "state": str(state)})
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=told,
        capture_output=True,
        text=True,
        env=environ,
        check=False,
        encoding="utf-8",
    )
    if done.returncode:
        raise RuntimeError(f"the first sync failed: {done.stderr.strip()[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def first_sync() -> None:
    """Runs in the fresh process: reads what to sync from stdin, prints the figures."""
    told = json.loads(sys.stdin.read())
    config, vault = bench_config(Path(told["state"])), Path(told["vault"])
    app, reader = build_app(config, vault), build_app(config, vault)
    answered: dict[str, float] = {}
    start = time.perf_counter()

    def listen(progress: Progress) -> None:
        if progress.done and progress.phase not in answered and _answers(reader):
            answered[progress.phase] = time.perf_counter() - start

    report = app.sync(listen)
    seconds = time.perf_counter() - start
    if not report.clean or report.pending:
        raise SystemExit(f"the corpus was not indexed as a whole: {report}")
    figures = {
        "seconds": seconds,
        "cpu_s": time.process_time(),
        "files": report.indexed,
        "passages": report.embedded,
        "peak_mb": peak_memory_mb(),
        "first_answer_s": answered.get("text", -1.0),
        "answer_before_vectors_s": answered.get("vectors", -1.0),
    }
    print(json.dumps(figures))


def _answers(app: App) -> bool:
    try:
        return bool(app.search(SearchQuery("the browser", mode="keyword")).hits)
    except HindbrainError:
        return False  # nothing to read yet


def peak_memory_mb() -> float:
    """The most memory this process has held. `ru_maxrss` may tell of the parent's: it comes second."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    if sys.platform == "win32":
        return float("nan")  # the standard library can't tell
    import resource

    unit = 1024 * 1024 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def index_bytes(state: Path) -> int:
    return sum(path.stat().st_size for path in state.rglob("index.db*"))


def rates(first: Figures, indexed: int, text_bytes: int) -> Figures:
    return {
        "first_s": round(first["seconds"], 2),
        "first_cpu_s": round(first["cpu_s"], 2),
        "files": first["files"],
        "passages": first["passages"],
        "files_per_s": round(first["files"] / first["seconds"], 1),
        "passages_per_s": round(first["passages"] / first["seconds"], 1),
        "peak_mb": round(first["peak_mb"], 1),
        "index_mb": round(indexed / 1e6, 1),
        "index_to_text": round(indexed / text_bytes, 3),
        "first_answer_s": round(first["first_answer_s"], 2),
        "keyword_during_vectors": float(first["answer_before_vectors_s"] >= 0),
    }


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _change_times(app: App, vault: Path, paths: Sequence[Path]) -> list[float]:
    taken = []
    for at, path in enumerate(paths):
        _append(path, f"changedword{at}")
        note = NotePath(path.relative_to(vault).as_posix())
        taken.append(_seconds(lambda note=note: app.sync_paths([note])))  # type: ignore[misc]
        _must_find(app, f"changedword{at}")
    return taken


def _append(path: Path, word: str) -> None:
    with open(path, "a", encoding="utf-8") as file:
        file.write(f"\nA new line with the word {word} in it.\n")


def _must_find(app: App, word: str) -> None:
    if not app.search(SearchQuery(word, k=1, mode="keyword")).hits:
        raise RuntimeError(f"the changed note was not found by {word!r}")


def save_to_findable(app: App, vault: Path, paths: Sequence[Path]) -> Figures:
    """Seconds from the end of a write until a search finds it, while the watcher runs."""
    stop, ready = threading.Event(), threading.Event()
    watching = build_app(app.config, vault)
    thread = threading.Thread(
        target=watching.follow,
        args=(stop, lambda event: ready.set() if event.kind in ("synced", "checked") else None),
    )
    thread.start()
    try:
        if not ready.wait(_START_TIMEOUT_S):
            raise RuntimeError("the watcher did not get ready")
        taken = [_time_to_find(app, path, f"savedword{at}") for at, path in enumerate(paths[:_CHANGES])]
    finally:
        stop.set()
        thread.join()
        watching.close()
    return {"save_to_findable_s": round(median(taken), 3), "save_to_findable_max_s": round(max(taken), 3)}


def _time_to_find(app: App, path: Path, word: str) -> float:
    _append(path, word)
    start = time.perf_counter()
    while not app.search(SearchQuery(word, k=1, mode="keyword")).hits:
        if time.perf_counter() - start > _FIND_TIMEOUT_S:
            raise RuntimeError(f"{path.name!r} was not found {_FIND_TIMEOUT_S:.0f} s after it was saved")
        time.sleep(_POLL_S)
    return time.perf_counter() - start


LIMITS: dict[str, tuple[str, float]] = {
    "files_per_s": ("first sync, files/s (at least)", 400),
    "passages_per_s": ("first sync, passages/s", 0),
    "peak_mb": ("first sync, peak memory MB", 500),
    "index_to_text": ("index size / text size", 4),
    "first_answer_s": ("first keyword answer during first sync, s", 0),
    "reconcile_s": ("nothing changed, s", 1.5),
    "one_file_ms": ("one changed file, ms", 100),
    "save_to_findable_s": ("from save to findable, s", 2),
}


def _table(figures: Figures) -> Table:
    lines = []
    for name, (label, limit) in LIMITS.items():
        lines.append((label, shown(figures[name]), f"{limit:g}" if limit else "-"))
    files, passages = f"{figures['files']:,.0f} files", f"{figures['passages']:,.0f} passages"
    title = f"Sync of {files}, {passages}, {figures['first_s']:.1f} s"
    return Table(title, ("", "figure", "limit"), tuple(lines))


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    figures = result["metrics"]
    seconds = figures["files"] / 400  # what 400 files a second would take
    first = f"{figures['first_s']:.0f} s, {figures['files_per_s']:,.0f} files/s"
    items = [
        ("first sync", figures["first_s"], first),
        ("peak memory", figures["peak_mb"], f"{figures['peak_mb']:.0f} MB"),
        ("index / text", figures["index_to_text"], f"{figures['index_to_text']:.1f}x"),
        ("nothing changed", figures["reconcile_s"], f"{figures['reconcile_s']:.2f} s"),
        ("one changed file", figures["one_file_ms"], f"{figures['one_file_ms']:.0f} ms"),
        ("save to findable", figures["save_to_findable_s"], f"{figures['save_to_findable_s']:.2f} s"),
    ]
    flat_bars(axes, f"Sync of {figures['files']:,.0f} notes", items, [seconds, 500, 4, 1.5, 100, 2])


BENCHMARK = Benchmark("sync", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
