"""What our loop adds to a model's answers: milliseconds an iteration, in a vault of 100,000 passages.

bare      the model's own call, measured in the same run: it answers at once and streams forty words
overhead  all of an iteration that is neither the model's call nor a tool's own work
note      of that: transcript and journal, durable
window    the conversation within the model's window
gate      may the call be carried out?
listener  whoever looks on is told, piece by piece

A run has ten iterations; its tools read and write files of 2 KB. `long` is the end of one run whose
conversation has grown to 100,000 tokens. What a run costs once: `start` until the model is first asked (with
the pack), `learn` after its end. A bare append and fsync of 2 KB is measured beside, as the disk's share.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks import metrics
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from benchmarks.scale import build_index, make_queries, read_notes, scale_corpus
from hindbrain.agent.record import RunRecord
from hindbrain.agent.room import Room
from hindbrain.agent.run import Limits, RunRequest, Said
from hindbrain.agent.safety.gate import Gate
from hindbrain.agent.tools.tool import Toolbox
from hindbrain.app import App, build_app
from hindbrain.learn.service import Learning
from hindbrain.models.chat import NOBODY, ChatAnswer, ChatRequest, ToolCall, Watch
from hindbrain.models.chat_fake import tell

_PASSAGES = 100_000
_RUNS, _ITERATIONS, _LONG = 20, 10, 45
_SMALL, _LARGE = 2_000, 8_000  # characters of a file that are read
_WORDS = " ".join(["I look at the next file of the report."] * 5)
_LINE = "The ferry leaves at eight from the north quay, except on Sundays.\n"
PARTS = ("note", "window", "gate", "listener")
ROWS = ("bare", "overhead", *PARTS, "tools")


class Stopwatch:
    """Milliseconds by name since it was last read."""

    def __init__(self) -> None:
        self._taken: dict[str, float] = defaultdict(float)
        self._watch = time.perf_counter

    def timed(self, name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            began = self._watch()
            try:
                return do(*args, **kwargs)
            finally:
                self._taken[name] += 1e3 * (self._watch() - began)

        return timed

    def read(self) -> dict[str, float]:
        taken, self._taken = self._taken, defaultdict(float)
        return taken


class Eager:
    """A model that answers at once: reads a file, writes every third time, and is done after so many."""

    name, calls_tools = "eager", True

    def __init__(self, stopwatch: Stopwatch, listening: Callable[[], float]) -> None:
        self.length, self.iterations = _SMALL, _ITERATIONS
        self.spans: list[tuple[float, float]] = []  # from when until when it answered, ms
        self.parts: list[dict[str, float]] = []  # what was taken since the answer before
        self._stopwatch = stopwatch
        self._listening = listening

    def answer(self, request: ChatRequest, watch: Watch = NOBODY) -> ChatAnswer:
        began = 1e3 * time.perf_counter()
        self.parts.append(self._stopwatch.read())
        number = sum(message.role == "assistant" for message in request.messages)
        listened = self._listening()
        tell(_WORDS, watch)
        listened = self._listening() - listened  # told while it answers, and no part of its call
        answer = ChatAnswer(_WORDS, (self._call(number),), "calls")
        if number + 1 >= self.iterations:
            answer = ChatAnswer("It is done.\nTASK_COMPLETE")
        self.spans.append((began, 1e3 * time.perf_counter() - listened))
        return answer

    def _call(self, number: int) -> ToolCall:
        if number % 3 == 2:
            content = f"{number}\n" + "All is well in the harbour. " * (_SMALL // 28)
            return ToolCall(f"c{number}", "write_file", {"path": f"out-{number}.txt", "content": content})
        lines = {"line_start": number + 1, "line_end": number + self.length // len(_LINE)}
        return ToolCall(f"c{number}", "read_file", {"path": "lines.txt", **lines})

    def iterations_of(self) -> list[dict[str, float]]:
        """What each iteration took, the last one left out: what follows it is no iteration's."""
        found = []
        for at in range(len(self.spans) - 1):
            (began, ended), (again, _) = self.spans[at : at + 2]
            parts = self.parts[at + 1]
            tools = parts.get("tools", 0.0)
            found.append({**parts, "bare": ended - began, "overhead": again - ended - tools, "tools": tools})
        return found


def run(options: Options) -> Outcome:
    with options.work("agent_overhead") as work:
        notes = read_notes(scale_corpus(options.data, work))
        many = min(options.sizes[-1], _PASSAGES)
        runs = min(options.limit, _RUNS) if options.limit else _RUNS
        app = _opened(work / str(many), notes, many)
        commands = make_queries(notes)["question"]
        figures = measure(app, work, [commands[at % len(commands)] for at in range(runs + 1)])
        figures |= _spread("fsync", _appends(work / "appended"))
        app.close()
    rows = tuple((row, *(f"{figures[f'{row}.{of}_ms']:.2f}" for of in ("p50", "p95"))) for row in ROWS)
    once = tuple((row, *(f"{figures[f'{row}.{of}_ms']:.1f}" for of in ("p50", "p95"))) for row in _ONCE)
    return Outcome(
        metrics=figures,
        data={"name": "md_mdn", "passages": many, "runs": runs, "iterations": _ITERATIONS},
        tables=(
            Table(f"Our loop beside the model's call, {many:,} passages (ms an iteration)", _HEAD, rows),
            Table("Long conversations, and what a run costs once (ms)", _HEAD, once),
        ),
    )


_HEAD = ("", "p50", "p95")
_ONCE = ("long", "start", "learn", "fsync")


def measure(app: App, work: Path, commands: Sequence[str]) -> Figures:
    """The first run warms up."""
    place = work / "files"
    place.mkdir(exist_ok=True)
    (place / "lines.txt").write_text(_LINE * (_LONG + _LARGE // len(_LINE)), encoding="utf-8")
    taken: dict[str, list[float]] = defaultdict(list)
    with _measured() as (stopwatch, listener, listened):
        for number, command in enumerate(commands):
            model = Eager(stopwatch, listened)
            began = time.perf_counter()
            _carry_out(app, model, command, place, listener)
            if number:
                taken["start"].append(model.spans[0][0] - 1e3 * began)
                taken["learn"].append(stopwatch.read()["learn"])
                for parts in model.iterations_of():
                    for row in ROWS:
                        taken[row].append(parts.get(row, 0.0))
        model = Eager(stopwatch, listened)
        model.length, model.iterations = _LARGE, _LONG
        _carry_out(app, model, commands[0], place, listener)
        taken["long"] = [parts["overhead"] for parts in model.iterations_of()[-_ITERATIONS:]]
    figures: Figures = {}
    for row, milliseconds in taken.items():
        figures |= _spread(row, milliseconds)
    return figures


def _carry_out(app: App, model: Eager, command: str, place: Path, listener: Callable[[Said], None]) -> None:
    app.chat = model
    request = RunRequest(
        command, workspace=str(place), limits=Limits(iterations=_LONG + 1, tokens=0), allowed=("write_file",)
    )
    result = app.agent.run(request, listener)
    assert result.ok, result.reason
    assert result.recalled  # else the pack costs nothing


@contextmanager
def _measured() -> Iterator[tuple[Stopwatch, Callable[[Said], None], Callable[[], float]]]:
    """The parts of the loop, timed; somebody who listens and prints; and how long that has taken, ms."""
    stopwatch = Stopwatch()
    listened = 0.0
    timed: tuple[tuple[Any, str, str], ...] = (
        (RunRecord, "note", "note"),
        (Room, "fit", "window"),
        (Gate, "judge", "gate"),
        (Toolbox, "run", "tools"),
        (Learning, "learn", "learn"),
    )
    with ExitStack() as stack, open(os.devnull, "w", encoding="utf-8") as screen:
        for owner, name, part in timed:
            stack.enter_context(patch.object(owner, name, stopwatch.timed(part, getattr(owner, name))))

        def printed(said: Said) -> None:
            nonlocal listened
            began = time.perf_counter()
            screen.write(f"{said.kind}: {said.text}\n")
            listened += 1e3 * (time.perf_counter() - began)

        yield stopwatch, stopwatch.timed("listener", printed), lambda: listened


def _opened(work: Path, notes: Sequence[tuple[str, str]], many: int) -> App:
    """An app over an index of this size; a kept one is used again."""
    (work / "vault").mkdir(parents=True, exist_ok=True)
    app = build_app(bench_config(work / "state"), work / "vault", warm=True)
    done = work / "built"
    for folder in ("Agent", ".hindbrain/runs"):  # of an earlier measurement: learning grows with its runs
        shutil.rmtree(work / "vault" / folder, ignore_errors=True)
    if not done.exists():
        print(f"agent_overhead: making an index of {many:,} passages", file=sys.stderr, flush=True)
        build_index(app, notes, many)
        done.touch()
    return app


def _appends(file: Path) -> list[float]:
    taken = []
    for _ in range(100):
        began = time.perf_counter()
        with file.open("ab") as opened:
            opened.write(b"x" * _SMALL)
            opened.flush()
            os.fsync(opened.fileno())
        taken.append(1e3 * (time.perf_counter() - began))
    return taken


def _spread(row: str, milliseconds: Sequence[float]) -> Figures:
    return {
        f"{row}.p50_ms": round(metrics.quantile(milliseconds, 0.5), 3),
        f"{row}.p95_ms": round(metrics.quantile(milliseconds, 0.95), 3),
    }


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    figures = result["metrics"]
    rows = (*ROWS, "fsync", "long")
    for of, shade in (("p95", "#c9d6e8"), ("p50", "#35618f")):
        axes.barh(rows, [figures[f"{row}.{of}_ms"] for row in rows], color=shade, label=of)
    headline(axes, f"Our loop, {result['data']['passages']:,} passages (ms an iteration)")
    legend(axes)


BENCHMARK = Benchmark("agent_overhead", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
