"""LoCoMo: which turns of a long conversation, and which sessions, hold the evidence for a question.

One vault per conversation, one note per session, one paragraph per turn. A hit counts for the turns whose
lines it covers; k counts hits, so a turn that was cut in two takes two places.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, compared, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import Found, Rankers, measured, write_note

BUDGETS = (250, 500, 1_000, 2_000, 4_000)
_CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open", "4": "single-hop", "5": "adversarial"}
_ADVERSARIAL = "5"  # asks with the wrong speaker: a search that heeds speakers loses there
_HITS = 60
_SESSIONS = 20
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    category: str
    gold: frozenset[str]  # turn ids


@dataclass(frozen=True, slots=True)
class Conversation:
    notes: Mapping[str, str]  # file name to text
    turns: Mapping[tuple[str, int], str]  # (file name, line) to turn id
    questions: tuple[Question, ...]
    asked_at: float


def run(options: Options) -> Outcome:
    source = find_one(options.data, "LoCoMo", ("locomo*.json",))
    conversations = [read_conversation(sample) for sample in read_json(source)]
    judged: dict[str, list[tuple[str, Figures]]] = defaultdict(list)
    with options.work("locomo") as work:
        for at, conversation in enumerate(conversations):
            vault = work / f"vault{at}"
            for name, text in conversation.notes.items():
                write_note(vault / name, text)
            with measured(vault, work / f"state{at}") as index:
                index.set_time(conversation.asked_at)
                for question in conversation.questions[: options.limit or None]:
                    for row in options.rows:
                        judged[row].append((question.category, ask(index, row, question, conversation)))
    figures = {row: summary(judged[row]) for row in options.rows}
    ours, baselines = split_rows(figures)
    asked = len(judged[options.rows[0]])
    return Outcome(
        metrics=ours,
        baselines=baselines,
        data=described(source, conversations=len(conversations), questions=asked),
        tables=_tables(figures, asked),
    )


def read_conversation(sample: Mapping[str, Any]) -> Conversation:
    talk = sample["conversation"]
    notes: dict[str, str] = {}
    turns: dict[tuple[str, int], str] = {}
    last = datetime.min.replace(tzinfo=UTC)
    for key in sorted((key for key in talk if _SESSION.fullmatch(key)), key=lambda key: int(key[8:])):
        name = f"s{int(key[8:]):04d}.md"
        when = session_time(talk[f"{key}_date_time"])
        last = max(last, when)
        lines = ["---", f"date: {when:%Y-%m-%d}", "---", ""]
        for turn in talk[key]:
            lines.append(_turn_text(turn))
            turns[name, len(lines)] = turn["dia_id"]
            lines.append("")
        notes[name] = "\n".join(lines)
    known = frozenset(turns.values())
    questions = [
        Question(item["question"], str(item["category"]), evidence(item.get("evidence", ()), known))
        for item in sample["qa"]
    ]
    asked_at = (last + timedelta(days=1)).timestamp()
    return Conversation(notes, turns, tuple(q for q in questions if q.gold), asked_at)


def _turn_text(turn: Mapping[str, Any]) -> str:
    shared = f" [shares: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return " ".join(f"**{turn['speaker']}:** {turn['text']}{shared}".split())


def session_time(text: str) -> datetime:
    """Read "1:56 pm on 8 May, 2023"."""
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def evidence(written: Sequence[str] | str, known: frozenset[str]) -> frozenset[str]:
    """The turns meant by lists such as ["D1:3; D2:4", "D:11:26"]; what does not exist is left out."""
    parts = [written] if isinstance(written, str) else written
    found = (f"D{int(a)}:{int(b)}" for part in parts for a, b in _EVIDENCE.findall(part))
    return frozenset(turn for turn in found if turn in known)


def ask(index: Rankers, row: str, question: Question, conversation: Conversation) -> Figures:
    figures = {} if row == "fts5" else _ask_turns(index, row, question, conversation)
    sessions = [{session_of(path)} for path in index.notes(row, question.text, _SESSIONS)]
    gold = {turn.partition(":")[0] for turn in question.gold}
    return figures | metrics.prefixed("session.", metrics.judge(sessions, gold))


def _ask_turns(index: Rankers, row: str, question: Question, conversation: Conversation) -> Figures:
    hits = index.passages(row, question.text, _HITS)
    covered = [covered_turns(hit, conversation.turns) for hit in hits]
    costs = [metrics.tokens_of(hit.text) for hit in hits]
    figures = metrics.prefixed("turn.", metrics.judge(covered, question.gold))
    for budget in BUDGETS:
        share = metrics.within_budget(list(zip(costs, covered, strict=True)), question.gold, budget)
        figures[f"tokens{budget}.fraction"] = share
    return figures


def covered_turns(hit: Found, turns: Mapping[tuple[str, int], str]) -> list[str]:
    lines = ((hit.path, line) for line in range(hit.first_line, hit.last_line + 1))
    return [turns[line] for line in lines if line in turns]


def session_of(path: str) -> str:
    """`s0012.md` is the note of session D12."""
    return f"D{int(path[1:-3])}"


def summary(judged: Sequence[tuple[str, Figures]]) -> Figures:
    """The means over all questions, over those that have an answer, and over each category."""
    figures = metrics.percent(metrics.mean([own for _, own in judged]))
    answered = [own for category, own in judged if category != _ADVERSARIAL]
    figures |= metrics.prefixed("answered.", metrics.percent(metrics.mean(answered)))
    for category in sorted({category for category, _ in judged}):
        own = metrics.percent(metrics.mean([figure for name, figure in judged if name == category]))
        for name, value in own.items():
            level, _, rest = name.partition(".")
            figures[f"{level}.cat{category}.{rest}"] = value
    return figures


def _tables(figures: dict[str, Figures], asked: int) -> tuple[Table, ...]:
    levels = [f"{kind}@{k}" for kind in ("fraction", "any", "all") for k in (5, 10)]
    categories = sorted({name.split(".")[1] for own in figures.values() for name in own if ".cat" in name})
    return (
        compared(
            f"LoCoMo, turns, {asked} questions (%)",
            [f"turn.{name}" for name in (*levels, "fraction@20", "mrr")],
            figures,
            [*levels, "fraction@20", "mrr"],
        ),
        compared(
            "LoCoMo, evidence inside a budget of tokens (%)",
            [f"tokens{budget}.fraction" for budget in BUDGETS],
            figures,
            [f"{budget:,}" for budget in BUDGETS],
        ),
        compared(
            "LoCoMo, sessions (%)",
            [f"session.{name}" for name in (*levels, "mrr")],
            figures,
            [*levels, "mrr"],
        ),
        compared(
            "LoCoMo without category 5 (%)",
            [f"answered.{name}" for name in _MAIN],
            figures,
            _MAIN,
        ),
        compared(
            "LoCoMo, turns, fraction@10 by category (%)",
            [f"turn.{name}.fraction@10" for name in categories],
            figures,
            [f"{name[3:]} {_CATEGORIES.get(name[3:], '')}".strip() for name in categories],
        ),
    )


_MAIN = ("turn.fraction@10", "turn.mrr", "tokens1000.fraction", "session.fraction@5")


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    names = ("turn.fraction@5", "turn.fraction@10", "turn.mrr", "tokens1000.fraction", "session.fraction@5")
    labels = ("turns\n@5", "turns\n@10", "turns\nMRR", "within\n1,000 tok.", "sessions\n@5")
    bars(axes, "LoCoMo: evidence found (%)", result, names, labels)


BENCHMARK = Benchmark("locomo", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
