"""Fit the confidence: how likely is a hit what was sought, from what it shares with the query?

A logistic curve over coverage and cosine of the first ten hits of each LoCoMo and SciFact
question. Half of the questions fit it, the other half tell whether it holds: the table compares what was said
with what was so. The coefficients printed here are those of `hindbrain.search.signals`.
"""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import locomo, scifact
from benchmarks.datasets import find_one, read_json, read_lines, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.rankers import Measured, measured, write_note
from hindbrain.search.query import SearchQuery

_HITS = 10
_BINS = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.01)
Row = tuple[float, float, float]  # coverage, cosine, 1 when it was sought


def run(options: Options) -> Outcome:
    with options.work("calibrate") as work:
        questions = [*_from_locomo(options.data, work), *_from_scifact(options.data, work)]
    fitted = _fit(np.array([row for rows in questions[::2] for row in rows]))
    held = np.array([row for rows in questions[1::2] for row in rows])
    said = _curve(held[:, :2], fitted)
    rows = []
    for low, high in pairwise(_BINS):
        inside = (said >= low) & (said < high)
        if inside.any():
            shown = (f"{low:.1f}-{min(high, 1.0):.1f}", str(int(inside.sum())))
            rows.append((*shown, f"{said[inside].mean():.2f}", f"{held[inside, 2].mean():.2f}"))
    names = ("intercept", "coverage", "cosine")
    metrics = dict(zip(names, map(float, fitted), strict=True))
    words_only = np.array([(covered, 0.0, so) for rows in questions[::2] for covered, _, so in rows])
    metrics |= zip(("words.intercept", "words.coverage"), map(float, _fit(words_only)), strict=False)
    metrics["brier"] = float(np.mean((said - held[:, 2]) ** 2))
    metrics["brier.constant"] = float(np.mean((held[:, 2].mean() - held[:, 2]) ** 2))
    coefficients = tuple((name, f"{value:.3f}") for name, value in metrics.items())
    return Outcome(
        metrics=metrics,
        baselines={},
        data={"questions": len(questions)},
        tables=(
            Table("Confidence, fitted on half of the questions", ("", "value"), coefficients),
            Table("On the other half", ("said", "hits", "mean said", "was so"), tuple(rows)),
        ),
    )


def _rows(index: Measured, text: str, unit: str, sought: set[tuple[str, int]] | set[str]) -> list[Row]:
    found = index.app.engine.find(SearchQuery(text, k=_HITS, unit="note" if unit == "note" else "passage"))
    rows: list[tuple[float, Row]] = []
    for candidate, info in zip(found.candidates, found.passages, strict=True):
        path = found.notes[info.note_id].path
        held = (
            {path}
            if unit == "note"
            else {(path, line) for line in range(info.first_line, info.last_line + 1)}
        )
        cosine = 0.0 if math.isnan(candidate.semantic) else candidate.semantic
        row = (found.coverage(candidate), cosine, float(bool(held & sought)))
        rows.append((candidate.lexical + candidate.semantic, row))
    rows.sort(key=lambda item: -item[0])
    return [row for _, row in rows[:_HITS]]


def _from_locomo(data: Path, work: Path) -> list[list[Row]]:
    questions = []
    for at, sample in enumerate(read_json(find_one(data, "LoCoMo", ("locomo*.json",)))):
        talk = locomo.read_conversation(sample)
        for name, text in talk.notes.items():
            write_note(work / f"vault{at}" / name, text)
        places = {turn: place for place, turn in talk.turns.items()}
        with measured(work / f"vault{at}", work / f"state{at}") as index:
            index.set_time(talk.asked_at)
            for question in talk.questions:
                sought = {places[turn] for turn in question.gold}
                questions.append(_rows(index, question.text, "passage", sought))
    return questions


def _from_scifact(data: Path, work: Path) -> list[list[Row]]:
    source = find_one(data, "SciFact", ("corpus.jsonl", "*scifact*.tar.gz", "*scifact*"))
    folder = scifact.corpus_folder(source.parent if source.name == "corpus.jsonl" else unpacked(source, work))
    documents = read_lines(folder / "corpus.jsonl")
    names = {str(document["_id"]): f"s{at:05d}.md" for at, document in enumerate(documents)}
    for document in documents:
        title = " ".join(document["title"].split())
        write_note(work / "vault" / names[str(document["_id"])], f"# {title}\n\n{document['text']}\n")
    gains = scifact.read_judgements(folder / "qrels.tsv")
    queries = {str(query["_id"]): query["text"] for query in read_lines(folder / "queries.jsonl")}
    with measured(work / "vault", work / "state") as index:
        return [
            _rows(index, queries[id_], "note", {names[document] for document in sought})
            for id_, sought in gains.items()
            if id_ in queries
        ]


def _curve(signals: NDArray[np.float64], fitted: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-(fitted[0] + signals @ fitted[1:]))))


def _fit(rows: NDArray[np.float64], steps: int = 50) -> NDArray[np.float64]:
    """Newton's method on the logistic loss, with a little ridge so that it always converges."""
    signals = np.column_stack([np.ones(len(rows)), rows[:, :2]])
    fitted = np.zeros(signals.shape[1])
    for _ in range(steps):
        said = _curve(signals[:, 1:], fitted)
        gradient = signals.T @ (rows[:, 2] - said) - 0.01 * fitted
        curvature = (signals * (said * (1 - said))[:, None]).T @ signals + 0.01 * np.eye(len(fitted))
        fitted = fitted + np.linalg.solve(curvature, gradient)
    return fitted


BENCHMARK = Benchmark("calibrate", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
