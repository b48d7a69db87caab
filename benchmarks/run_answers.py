"""Can what a run found be asked for later, in other words?

100 runs, each with its command and its answer, in one vault; then each is asked for by a question that shares
few words with either. In the prompt: the answer is in the `turn` pack. By `recall`: it is among the runs that
are shown, at most three. Generic prompts should get none of them.

table    ours with the built-in table        encoder   ours with all-MiniLM-L6-v2, where it is installed
bm25     the three best of the runs by shared words, idf-weighted
latest   the three latest runs
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.datasets import find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.rankers import bench_config
from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded, ToolExecuted
from hindbrain.models.encoder import AUTO, find_encoder
from hindbrain.models.static import words_of
from hindbrain.search.telling import stem
from hindbrain.search.terms import STOP_WORDS

_PAIRS = Path(__file__).with_name("data") / "run_answers.tsv"
_NOW = 1_790_000_000.0
_SHOWN = 3
_IDLE_S = 60.0
_KINDS = ("agent_turns", "small_talk", "coding", "general")


class Pair(NamedTuple):
    command: str
    answer: str
    question: str


def run(options: Options) -> Outcome:
    pairs = read_pairs()[: options.limit or None]
    generic = read_json(find_one(options.data, "generic prompts", ("prompts_generic*.json",)))
    rows: dict[str, Figures] = {}
    with options.work("run_answers") as work:
        for row in ("table", "encoder"):
            if row == "table" or find_encoder(AUTO) is not None:
                with worked(work / row, pairs, encodes=row == "encoder") as app:
                    rows[row] = _asked(app, pairs, generic)
    rows["bm25"] = _naive(pairs, _by_words(pairs))
    rows["latest"] = _naive(pairs, lambda _: list(range(len(pairs)))[-_SHOWN:])
    ours = {f"{row}.{key}": value for row in ("table", "encoder") for key, value in rows.get(row, {}).items()}
    keys = ("in the prompt", "by recall", *_KINDS)
    lines = tuple(
        (row, *(f"{figures[key]:g}" if key in figures else "-" for key in keys))
        for row, figures in rows.items()
    )
    return Outcome(
        metrics=ours,
        baselines={row: rows[row] for row in ("bm25", "latest")},
        data={"pairs": len(pairs), "runs": len(pairs)},
        tables=(
            Table(
                "Answers of earlier runs: found by a paraphrase, and got by generic prompts (%)",
                ("", *(key.replace("_", " ") for key in keys)),
                lines,
            ),
        ),
    )


def read_pairs() -> list[Pair]:
    return [Pair(*line.split("\t")) for line in _PAIRS.read_text("utf-8").splitlines()]


@contextmanager
def worked(folder: Path, pairs: Sequence[Pair], *, encodes: bool) -> Iterator[App]:
    """A vault whose agent has done these runs, one an hour."""
    (folder / "vault").mkdir(parents=True, exist_ok=True)
    app = build_app(bench_config(folder / "state"), folder / "vault", clock=FakeClock(_NOW), warm=True)
    app.state.mkdir(parents=True, exist_ok=True)
    began = _NOW - 3_600.0 * (len(pairs) + 24)
    app.learning.runs.add_imported("bench", (_events(at, pair, began) for at, pair in enumerate(pairs)))
    app.learning.learn()
    app.sync()
    if encodes:
        app.encodes = "when idle"
        app.context.pack(pairs[0].question)
        while app.encode_pending(_IDLE_S):
            pass
    try:
        yield app
    finally:
        app.close()


def _events(at: int, pair: Pair, began: float) -> list[Event]:
    run, time = f"r-bench-{at:03d}", began + 3_600.0 * at
    return [
        RunCreated(run, time, pair.command, "bench"),
        ToolExecuted(run, time + 1, "web_search", {"query": pair.command}),
        RunEnded(run, time + 2, "complete", answer=pair.answer),
    ]


def _asked(app: App, pairs: Sequence[Pair], generic: dict[str, list[str]]) -> Figures:
    in_pack = by_recall = 0
    for pair in pairs:
        in_pack += _says(_prompted(app, pair.question), pair)
        found = app.memory.recall(pair.question, counted=False)
        by_recall += any(_says(run.answer, pair) for run in found.runs)
    answers = [pair.answer for pair in pairs]
    figures = {
        "in the prompt": 100 * in_pack / len(pairs),
        "by recall": 100 * by_recall / len(pairs),
    }
    for kind in _KINDS:
        packs = [_prompted(app, prompt) for prompt in generic[kind]]
        got = [any(answer in pack for answer in answers) for pack in packs]
        figures[kind] = round(100 * sum(got) / len(got), 1)
    return figures


def _prompted(app: App, prompt: str) -> str:
    """What enters the prompt."""
    return app.context.rendered(app.context.pack(prompt)).replace("\\", "")


def _says(text: str, pair: Pair) -> bool:
    return pair.answer in text.replace("\\", "")


def _naive(pairs: Sequence[Pair], best: Callable[[str], list[int]]) -> Figures:
    found = sum(at in best(pair.question) for at, pair in enumerate(pairs))
    return {"in the prompt": 100 * found / len(pairs)}


def _by_words(pairs: Sequence[Pair]) -> Callable[[str], list[int]]:
    runs = [_words(f"{pair.command} {pair.answer}") for pair in pairs]
    counts = Counter(word for own in runs for word in own)

    def best(question: str) -> list[int]:
        asked = _words(question)
        scores = [sum(math.log(1 + len(runs) / counts[word]) for word in own & asked) for own in runs]
        order = sorted(range(len(runs)), key=lambda at: -scores[at])
        return [at for at in order[:_SHOWN] if scores[at]]

    return best


def _words(text: str) -> frozenset[str]:
    return frozenset(stem(word.lower()) for word in words_of(text) if word.lower() not in STOP_WORDS)


def _draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import flat_bars

    found = {row: result["metrics"].get(f"{row}.in the prompt") for row in ("table", "encoder")}
    found |= {row: figures["in the prompt"] for row, figures in result["baselines"].items()}
    items = [(row, share, f"{share:.0f} %") for row, share in found.items() if share is not None]
    flat_bars(axes, "Answers of earlier runs in the prompt that asks for them", items, [100.0] * len(items))


BENCHMARK = Benchmark("run_answers", run, _draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
