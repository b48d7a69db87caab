"""SciFact (BEIR): which abstracts support or refute a claim. One note per abstract, its title as heading."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import described, find_one, read_lines, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, compared, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import Measured, measured, write_note

_NOTES = 20


def run(options: Options) -> Outcome:
    source = find_one(options.data, "SciFact", ("corpus.jsonl", "*scifact*.tar.gz", "*scifact*"))
    with options.work("scifact") as work:
        folder = corpus_folder(source.parent if source.name == "corpus.jsonl" else unpacked(source, work))
        documents = read_lines(folder / "corpus.jsonl")
        names = {f"s{at:05d}.md": str(document["_id"]) for at, document in enumerate(documents)}
        for name, document in zip(names, documents, strict=True):
            title = " ".join(document["title"].split())
            write_note(work / "vault" / name, f"# {title}\n\n{document['text']}\n")
        gains = read_judgements(folder / "qrels.tsv")
        queries = {str(query["_id"]): query["text"] for query in read_lines(folder / "queries.jsonl")}
        asked = [id_ for id_ in queries if id_ in gains][: options.limit or None]
        with measured(work / "vault", work / "state") as index:
            judged: dict[str, list[Figures]] = defaultdict(list)
            for id_ in asked:
                for row in options.rows:
                    judged[row].append(ask(index, row, queries[id_], names, gains[id_]))
    figures = {row: summary(judged[row]) for row in options.rows}
    ours, baselines = split_rows(figures)
    return Outcome(
        metrics=ours,
        baselines=baselines,
        data=described(source, documents=len(documents), questions=len(asked)),
        tables=(
            compared(
                f"SciFact, {len(asked)} claims (nDCG 0..1, the others %)",
                ["ndcg@10", "recall@10", "recall@5", "mrr"],
                figures,
            ),
        ),
    )


def corpus_folder(folder: Path) -> Path:
    found = sorted(folder.rglob("corpus.jsonl"))
    if not found:
        raise Skipped(f"{str(folder)!r} holds no corpus.jsonl beside queries.jsonl and qrels.tsv")
    return found[0].parent


def read_judgements(path: Path) -> dict[str, dict[str, float]]:
    """Query id to document id to gain; what was judged as no answer is left out."""
    gains: dict[str, dict[str, float]] = defaultdict(dict)
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, score = line.split("\t")
        if float(score) > 0:
            gains[query][document] = float(score)
    return dict(gains)


def ask(index: Measured, row: str, text: str, names: dict[str, str], gains: dict[str, float]) -> Figures:
    ranking = [names[path] for path in index.notes(row, text, _NOTES)]
    judged = metrics.judge([{document} for document in ranking], gains)
    return {
        "ndcg@10": metrics.ndcg(ranking, gains, 10),
        "recall@5": judged["fraction@5"],
        "recall@10": judged["fraction@10"],
        "mrr": judged["mrr"],
    }


def summary(judged: list[Figures]) -> Figures:
    means = metrics.mean(judged)
    return {
        name: round(value, 4) if name.startswith("ndcg") else round(100 * value, 2)
        for name, value in means.items()
    }


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    scaled = {
        "metrics": _in_percent(result["metrics"]),
        "baselines": {row: _in_percent(own) for row, own in result["baselines"].items()},
    }
    names = ("ndcg@10", "recall@10", "mrr")
    bars(axes, "SciFact: abstracts found (%)", scaled, names, ("nDCG\n@10", "recall\n@10", "MRR"))


def _in_percent(figures: Figures) -> Figures:
    return figures | {"ndcg@10": 100 * figures["ndcg@10"]}


BENCHMARK = Benchmark("scifact", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
