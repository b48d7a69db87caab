"""Are questions about time answered with the right runs?

30 runs over three weeks and two open tasks, recorded day by day on a fake clock; then 60 questions ("what did
we do last week?", "what is still open?", "when did we last deploy?"), each with the runs and tasks that are
the right answer (`data/day_questions.tsv`; none for a day without runs). A run counts as shown where its
command is, and its answer or reason as well where several runs had that command.

exact      the right runs and tasks, and no others
recall     of the right ones, those that are shown
precision  of those that are shown, the right ones

recall     what `recall` answers     pack    what enters the prompt, in 4,000 characters
search     the ten best hits of a search with the question as it is
latest     the latest five runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, cast

from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.learn.runs.events import End, Event, RunCreated, RunEnded, ToolExecuted
from hindbrain.memory.timeline import entry_text
from hindbrain.search.query import SearchQuery

_DATA = Path(__file__).with_name("data")
_BEGIN, NOW = "2026-10-28 08:00", "2026-11-18 18:00"
_NIGHT = "23:00"
_TASKS = {"t1": "Renew the boat insurance", "t2": "Answer Mara about the winter storage"}
_LATEST, _HITS = 5, 10
_RUN_S = 120.0


class Run(NamedTuple):
    at: str  # YYYY-MM-DD HH:MM
    end: End
    command: str
    result: str  # its answer, or why it failed


class Question(NamedTuple):
    text: str
    wanted: frozenset[str]  # numbers of runs, from 1, and names of tasks


def run(options: Options) -> Outcome:
    runs, questions = read_runs(), read_questions()[: options.limit or None]
    with options.work("day_questions") as work, worked(work, runs) as app:
        arms: dict[str, Callable[[str], set[str]]] = {
            "recall": lambda text: shown(runs, _recalled(app, text)),
            "pack": lambda text: shown(runs, app.context.rendered(app.context.pack(text))),
            "search": lambda text: shown(runs, _searched(app, text)),
            "latest": lambda _: {str(number) for number in range(len(runs) - _LATEST + 1, len(runs) + 1)},
        }
        rows = {name: _judged(questions, arm) for name, arm in arms.items()}
    keys = ("exact", "recall", "precision")
    ours = {f"{row}.{key}": rows[row][key] for row in ("recall", "pack") for key in keys}
    return Outcome(
        metrics=ours,
        baselines={row: rows[row] for row in ("search", "latest")},
        data={"runs": len(runs), "questions": len(questions)},
        tables=(
            Table(
                "Questions about time: the right runs (%)",
                ("", *keys),
                tuple((row, *(f"{figures[key]:.1f}" for key in keys)) for row, figures in rows.items()),
            ),
        ),
    )


def read_runs() -> list[Run]:
    lines = (_DATA / "day_runs.tsv").read_text("utf-8").splitlines()
    return [Run(at, cast(End, end), command, result) for at, end, command, result in map(_cells, lines)]


def read_questions() -> list[Question]:
    lines = (_DATA / "day_questions.tsv").read_text("utf-8").splitlines()
    return [Question(text, frozenset(wanted.split())) for text, wanted in map(_cells, lines)]


def _cells(line: str) -> list[str]:
    return line.split("\t")


@contextmanager
def worked(folder: Path, runs: Sequence[Run]) -> Iterator[App]:
    """A vault whose agent has done these runs, each recorded when it was over, the days tidied at night."""
    (folder / "vault").mkdir(parents=True, exist_ok=True)
    clock = FakeClock(moment(_BEGIN))
    app = build_app(bench_config(folder / "state"), folder / "vault", clock=clock, warm=True)
    app.state.mkdir(parents=True, exist_ok=True)
    day = ""
    for number, one in enumerate(runs, 1):
        if day and day != one.at[:10]:
            clock.advance(moment(f"{day} {_NIGHT}") - clock.now())
            app.learning.consolidate()
        day = one.at[:10]
        clock.advance(moment(one.at) + _RUN_S - clock.now())
        app.learning.runs.add_imported("bench", [_events(number, one)])
        app.learning.learn()
    for title in _TASKS.values():
        app.memory.tasks.create(title)
    clock.advance(moment(NOW) - clock.now())
    app.learning.learn()
    app.sync()
    try:
        yield app
    finally:
        app.close()


def moment(text: str) -> float:
    return datetime.strptime(text, "%Y-%m-%d %H:%M").astimezone().timestamp()


def _events(number: int, one: Run) -> list[Event]:
    began = moment(one.at)
    run = f"r-{datetime.fromtimestamp(began, UTC):%Y%m%d-%H%M%S}-{number:04d}"
    well = one.end == "complete"
    return [
        RunCreated(run, began, one.command, "bench"),
        ToolExecuted(run, began + 30, "web_search", {"query": one.command}, ok=one.end != "fail"),
        RunEnded(
            run, began + _RUN_S, one.end, answer=one.result if well else "", reason="" if well else one.result
        ),
    ]


def _recalled(app: App, text: str) -> str:
    found = app.memory.recall(text, counted=False)
    lines = [entry_text(entry) for entry in found.timeline.entries] if found.timeline is not None else []
    lines += [f"{one.date} {one.command} {one.answer}" for one in found.runs]
    lines += [one.item.text for one in found.memories]
    return "\n".join((*lines, *(hit.text for hit in found.passages)))


def _searched(app: App, text: str) -> str:
    hits = app.search(SearchQuery(text, k=_HITS)).hits
    return "\n".join(f"{hit.date} {line}" for hit in hits for line in hit.text.split("\n"))


def shown(runs: Sequence[Run], text: str) -> set[str]:
    """Which runs and tasks a text tells."""
    text = text.replace("\\", "")
    found = {name for name, title in _TASKS.items() if title in text}
    for number, one in enumerate(runs, 1):
        alone = sum(one.command == other.command for other in runs) == 1
        if one.command in text and (alone or one.result.rstrip(".") in text):
            found.add(str(number))
    return found


def _judged(questions: Sequence[Question], arm: Callable[[str], set[str]]) -> Figures:
    answers = [(question.wanted, arm(question.text)) for question in questions]
    exact = sum(wanted == got for wanted, got in answers)
    right = sum(len(wanted & got) for wanted, got in answers)
    return {
        "exact": 100 * exact / len(answers),
        "recall": 100 * right / sum(len(wanted) for wanted, _ in answers),
        "precision": 100 * right / max(1, sum(len(got) for _, got in answers)),
    }


def _draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    found = {row: result["metrics"][f"{row}.exact"] for row in ("recall", "pack")}
    found |= {row: figures["exact"] for row, figures in result["baselines"].items()}
    items = [(row, share, f"{share:.0f} %") for row, share in found.items()]
    flat_bars(axes, "Questions about time answered with exactly the right runs", items, [100.0] * len(items))


BENCHMARK = Benchmark("day_questions", run, _draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
