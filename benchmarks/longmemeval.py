"""LongMemEval: which sessions of a long chat history hold what a question needs.

Once as published, with one history per question, and once pooled: the sessions of all questions in one index.
Questions that have no answer (abstentions) are left out, as the official `recall_all` does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, compared, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import Measured, Rankers, measured, write_note

_SESSIONS = 20
Judged = dict[str, list[tuple[str, Figures]]]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    type: str
    asked_at: str  # "2023/05/30 (Tue) 22:42"
    gold: frozenset[str]  # session ids
    sessions: Mapping[str, str]  # id to date


def run(options: Options) -> Outcome:
    source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    data = read_json(source)
    pool, questions = read_questions(data)
    dates = {**all_dates(data), **pooled_dates(questions)}
    questions = questions[: options.limit or None]
    alone: Judged = defaultdict(list)
    pooled: Judged = defaultdict(list)
    with options.work("longmemeval") as work:
        for at, question in enumerate(questions):
            ask(work / f"q{at:04d}", pool, question.sessions, [question], options.rows, alone)
        ask(work / "pooled", pool, dates, questions, options.rows, pooled)
    figures = {
        row: summary(alone[row]) | metrics.prefixed("pooled.", summary(pooled[row])) for row in options.rows
    }
    ours, baselines = split_rows(figures)
    return Outcome(
        metrics=ours,
        baselines=baselines,
        data=described(source, questions=len(questions), sessions=len(dates)),
        tables=_tables(figures, questions),
    )


def read_questions(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[Question]]:
    questions = [
        Question(
            item["question"],
            item["type"],
            item["question_date"],
            frozenset(item["gold_session_ids"]),
            {session["id"]: session["date"] for session in item["sessions"]},
        )
        for item in data["questions"]
        if not item["abstention"]
    ]
    return data["pool"], [question for question in questions if question.gold]


def all_dates(data: Mapping[str, Any]) -> dict[str, str]:
    """Every session of every question, those without an answer included: they are what the others hide in."""
    return {session["id"]: session["date"] for item in data["questions"] for session in item["sessions"]}


def pooled_dates(questions: Sequence[Question]) -> dict[str, str]:
    """Every session once. Some stand in several histories with other dates: gold comes first."""
    dates: dict[str, str] = {}
    for question in questions:
        dates |= {id_: question.sessions[id_] for id_ in question.gold if id_ in question.sessions}
    for question in questions:
        dates = {**question.sessions, **dates}
    return dates


def ask(
    work: Path,
    pool: Mapping[str, Any],
    dates: Mapping[str, str],
    questions: Sequence[Question],
    rows: Sequence[str],
    judged: Judged,
    looking: Callable[[Measured], Rankers] = lambda index: index,
) -> None:
    """Index these sessions and put these questions to them. `looking`: other rows of the same index."""
    names = {f"s{at:05d}.md": id_ for at, id_ in enumerate(sorted(dates))}
    for name, id_ in names.items():
        write_note(work / "vault" / name, session_note(pool[id_], dates[id_]))
    with measured(work / "vault", work / "state") as index:
        rankers = looking(index)
        for question in questions:
            index.set_time(moment(question.asked_at).timestamp())
            for row in rows:
                found = [{names[path]} for path in rankers.notes(row, question.text, _SESSIONS)]
                judged[row].append((question.type, metrics.judge(found, question.gold, (5, 10))))


def session_note(turns: Sequence[Mapping[str, Any]], date: str) -> str:
    said = "\n\n".join(f"**{turn['role']}:** {turn['content'].strip()}" for turn in turns)
    return f"---\ndate: {moment(date):%Y-%m-%d}\n---\n\n{said}\n"


def moment(text: str) -> datetime:
    """Read "2023/05/30 (Tue) 22:42"."""
    return datetime.strptime(text.strip(), "%Y/%m/%d (%a) %H:%M").replace(tzinfo=UTC)


def summary(judged: Sequence[tuple[str, Figures]]) -> Figures:
    figures = metrics.percent(metrics.mean([own for _, own in judged]))
    for kind in sorted({kind for kind, _ in judged}):
        own = metrics.percent(metrics.mean([figure for name, figure in judged if name == kind]))
        figures |= metrics.prefixed(f"{kind}.", own)
    return figures


def _tables(figures: dict[str, Figures], questions: Sequence[Question]) -> tuple[Table, ...]:
    names = [*(f"{kind}@{k}" for kind in ("all", "any", "fraction") for k in (5, 10)), "mrr"]
    kinds = sorted({question.type for question in questions})
    many = len(questions)
    return (
        compared(f"LongMemEval, one history per question, {many} questions (%)", names, figures),
        compared(
            "LongMemEval, all sessions pooled in one index (%)",
            [f"pooled.{name}" for name in names],
            figures,
            names,
        ),
        compared("LongMemEval, all@5 by type (%)", [f"{kind}.all@5" for kind in kinds], figures, kinds),
        compared(
            "LongMemEval, pooled all@5 by type (%)",
            [f"pooled.{kind}.all@5" for kind in kinds],
            figures,
            kinds,
        ),
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    names = ("any@5", "all@5", "all@10", "pooled.any@5", "pooled.all@5")
    labels = ("any\n@5", "all\n@5", "all\n@10", "pooled\nany@5", "pooled\nall@5")
    bars(axes, "LongMemEval: sessions found (%)", result, names, labels)


BENCHMARK = Benchmark("longmemeval", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
