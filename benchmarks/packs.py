"""LongMemEval: is the evidence inside what enters the prompt? Whole turns, within a budget of tokens.

pack      a context pack: preset `turn` (four notes, 4,000 characters), or 2,000, 4,000 and 8,000 tokens
passages  the hits of the same search, best first, cut at the budget: no attribution, no choice
chunks    what the reference design does: chunks of 400 tokens with 80 shared, ranked by .7 vectors and .3
          words, best first, cut at the budget
static    a file that is injected whatever is asked, as MEMORY.md is: all that the user said, latest first,
          cut at the budget

A question counts when all of its evidence turns are inside, word for word. Tokens are counted exactly
(cl100k_base) where tiktoken is installed, and of a pack all of it is counted, tags included. The gate is
open: `false_injection` measures what it costs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.longmemeval import moment
from benchmarks.metrics import Figures
from benchmarks.rankers import measured, write_note
from hindbrain.app import App
from hindbrain.context.packs import speaker
from hindbrain.context.packs.attribution import by_note
from hindbrain.context.packs.preset import Preset, SlotRule, built_in
from hindbrain.context.tokens import TokenCounter, counter_for
from hindbrain.search.query import SearchQuery

BUDGETS = ("turn", "2000", "4000", "8000")
ROWS = ("pack", "pack, all speakers alike", "passages", "chunks", "static")
_CHARACTERS = 4_000  # of the turn
_HITS = 400
_OPEN_GATE = {"HINDBRAIN_CONTEXT_FALSE_RATE": "1"}
_CHUNKS = {"HINDBRAIN_CHUNK_TOKENS": "400", "HINDBRAIN_CHUNK_OVERLAP": "80"}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    type: str
    asked_at: str
    notes: Mapping[str, str]  # file name to text
    evidence: tuple[tuple[str, tuple[str, ...]], ...]  # (file name, the lines of a turn)
    said: tuple[str, ...]  # what the user said, latest session first


def run(options: Options) -> Outcome:
    source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    questions = [question for question in read_questions(read_json(source)) if question.evidence]
    questions = questions[: options.limit or None]
    counter = exact_counter()
    judged: dict[tuple[str, str], list[Figures]] = {}
    with options.work("packs") as work:
        for at, question in enumerate(questions):
            for key, figures in _ask(work / f"q{at:04d}", question, counter):
                judged.setdefault(key, []).append(figures)
    means = {key: metrics.mean(rows) for key, rows in judged.items()}
    flat = {row: _flat(means, row) for row in ROWS}
    return Outcome(
        metrics=flat.pop("pack"),
        baselines=flat,
        data=described(source, questions=len(questions)) | {"tokens": counter.name},
        tables=_tables(means, len(questions)),
    )


def _flat(means: Mapping[tuple[str, str], Figures], row: str) -> Figures:
    return {
        f"{budget}.{name}": value
        for budget in BUDGETS
        for name, value in means.get((row, budget), {}).items()
    }


def exact_counter() -> TokenCounter:
    from hindbrain.base.errors import HindbrainError

    try:
        return counter_for("cl100k_base")
    except HindbrainError:
        return counter_for()


def read_questions(data: Mapping[str, Any], *, abstentions: bool = False) -> Iterator[Question]:
    """Those that have an answer, or those that have none, each with its own history."""
    for item in data["questions"]:
        if item["abstention"] != abstentions:
            continue
        notes: dict[str, str] = {}
        evidence: list[tuple[str, tuple[str, ...]]] = []
        said: list[tuple[str, str]] = []
        for at, session in enumerate(sorted(item["sessions"], key=lambda one: str(one["id"]))):
            name = f"s{at:05d}.md"
            turns = data["pool"][session["id"]]
            notes[name] = _note(turns, session["date"])
            said += [(session["date"], turn["content"]) for turn in turns if turn["role"] == "user"]
            if session["id"] in item["gold_session_ids"]:
                evidence += [(name, _lines(turn)) for turn in turns if turn.get("has_answer")]
        said.sort(key=lambda one: moment(one[0]), reverse=True)
        yield Question(
            item["question"], item["type"], item["question_date"], notes, tuple(evidence),
            tuple(text for _, text in said),
        )  # fmt: skip


def _note(turns: Sequence[Mapping[str, Any]], date: str) -> str:
    said = "\n\n".join(f"**{turn['role']}:** {turn['content'].strip()}" for turn in turns)
    return f"---\ndate: {moment(date):%Y-%m-%d}\n---\n\n{said}\n"


def _lines(turn: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(filter(None, (folded(line) for line in turn["content"].split("\n"))))


def folded(text: str) -> str:
    """As it can be compared: what a prompt does not show differently."""
    return " ".join(text.replace("&lt;", "<").split())


def _ask(work: Path, question: Question, counter: TokenCounter) -> Iterator[tuple[tuple[str, str], Figures]]:
    for name, text in question.notes.items():
        write_note(work / "vault" / name, text)
    with measured(work / "vault", work / "state", _OPEN_GATE) as index:
        index.set_time(moment(question.asked_at).timestamp())
        for budget in BUDGETS:
            yield ("pack", budget), _pack(index.app, question, budget, counter)
            with all_speakers_alike():
                yield ("pack, all speakers alike", budget), _pack(index.app, question, budget, counter)
        hits = [hit.text for hit in index.app.search(SearchQuery(question.text, k=_HITS)).hits]
    with measured(work / "vault", work / "state-chunks", _CHUNKS) as index:
        index.set_time(moment(question.asked_at).timestamp())
        found = index.app.search(SearchQuery(question.text, k=60, profile="linear"))
        chunks = [hit.text for hit in found.hits]
    for row, texts in (("passages", hits), ("chunks", chunks), ("static", question.said)):
        for budget in BUDGETS:
            yield (row, budget), _judged(_cut(texts, budget, counter), question, counter, 0.0)


def _pack(app: App, question: Question, budget: str, counter: TokenCounter) -> Figures:
    preset = built_in("turn") if budget == "turn" else one_slot(int(budget))
    began = time.perf_counter()
    pack = app.context.pack(question.text, preset=preset, counter=counter)
    took = 1e3 * (time.perf_counter() - began)
    text = app.context.rendered(pack, preset.form)
    figures = _judged(text, question, counter, took)
    notes = (quoted for slot in pack.slots for quoted in by_note(slot.excerpts))
    noted = sum(counter.count(quoted.text) for quoted in notes)
    noted += sum(counter.count(f"{title} {day}") for title, day in {(o.title, o.date) for o in pack.excerpts})
    figures["text_share"] = 100 * min(1.0, noted / max(1, counter.count(text))) if text else 100.0
    return figures


def one_slot(tokens: int) -> Preset:
    return Preset(f"{tokens}", tokens, (SlotRule("relevant", tokens),), form="turn")


@contextmanager
def all_speakers_alike() -> Iterator[None]:
    """Without the weight for who speaks: what it adds is the difference."""
    kept = speaker.OWN_WORDS, speaker.NAMED
    speaker.OWN_WORDS = speaker.NAMED = 1.0
    try:
        yield
    finally:
        speaker.OWN_WORDS, speaker.NAMED = kept


def _cut(texts: Sequence[str], budget: str, counter: TokenCounter) -> str:
    """One text after the other until the budget is spent; the last one is cut where it ends."""
    measure: Callable[[str], int] = len if budget == "turn" else counter.count
    left = _CHARACTERS if budget == "turn" else int(budget)
    parts = []
    for text in texts:
        cost = measure(text) + 1
        if cost > left:
            parts.append(text[: max(0, int(len(text) * left / cost))])
            break
        parts.append(text)
        left -= cost
    return "\n".join(parts)


def _judged(text: str, question: Question, counter: TokenCounter, took: float) -> Figures:
    inside = folded(text)
    held = [all(line in inside for line in lines) for _, lines in question.evidence]
    tokens = counter.count(text)
    return {
        "all": 100.0 * all(held),
        "fraction": 100 * sum(held) / len(held),
        "tokens": float(tokens),
        "per_1000": 1000 * sum(held) / max(1, tokens),
        "ms": took,
    }


def _tables(figures: Mapping[tuple[str, str], Figures], asked: int) -> tuple[Table, ...]:
    names = ("turn", "2,000", "4,000", "8,000")
    tables = []
    for name, title in (
        ("all", f"LongMemEval, all evidence inside the prompt, {asked} questions (%)"),
        ("fraction", "LongMemEval, evidence turns inside the prompt (%)"),
        ("tokens", "LongMemEval, tokens spent"),
        ("per_1000", "LongMemEval, evidence turns per 1,000 tokens"),
    ):
        digits = 0 if name == "tokens" else 2 if name == "per_1000" else 1
        rows = tuple(
            (row, *(f"{figures[row, budget][name]:,.{digits}f}" for budget in BUDGETS)) for row in ROWS
        )
        tables.append(Table(title, ("", *names), rows))
    share = ("note text, titles, dates", *(f"{figures['pack', b]['text_share']:.1f}" for b in BUDGETS))
    took = ("search and assembly (ms, mean)", *(f"{figures['pack', b]['ms']:.1f}" for b in BUDGETS))
    tables.append(Table("LongMemEval, of a pack (%)", ("", *names), (share, took)))
    return tuple(tables)


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    rows = {"pack": result["metrics"], **result["baselines"]}
    for row in ROWS:
        axes.plot(
            BUDGETS,
            [rows[row][f"{budget}.all"] for budget in BUDGETS],
            marker="o",
            label=row.removeprefix("pack, all "),
        )
    axes.set_xlabel("tokens", fontsize=9)
    axes.set_ylim(0, 106)
    headline(axes, "LongMemEval: all evidence in the prompt (%)")
    legend(axes, len(ROWS))


BENCHMARK = Benchmark("packs", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
