"""The flush without a model: of what is stored without a person, how much should be; and how much is found.

Three views. Our own sentences (`data/flush_sentences.jsonl`), labelled before the rules were written; those
marked "check" were not looked at while writing them. User turns of LongMemEval (dev): how often something is
stored at all, and how much of that a reader found right (`data/flush_judged.jsonl`: verdicts by hash of the
memory; some rules were made stricter after reading four fifths of them). And LoCoMo (dev): of the turns from
which its annotators noted something, how many give a memory; that is the recall in small talk, where nobody
says "remember that".
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.datasets import find_one, read_json, read_lines
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, compared, main
from benchmarks.metrics import Figures
from hindbrain.context.flush.reminders import find_reminders
from hindbrain.context.flush.rules import Candidate, find_candidates
from hindbrain.context.messages import Message

_FOLDER = Path(__file__).parent / "data"
SENTENCES = _FOLDER / "flush_sentences.jsonl"
JUDGED = _FOLDER / "flush_judged.jsonl"
_TODAY = date(2026, 5, 15)


def run(options: Options) -> Outcome:
    rows = read_lines(SENTENCES)
    halves = {half: of_sentences([row for row in rows if row["half"] == half]) for half in ("fit", "check")}
    real = {**_of_longmemeval(options), **_of_locomo(options)}
    return Outcome(
        metrics={**halves["check"], **real},
        baselines={"fit": halves["fit"]},
        data={"name": SENTENCES.name, "rows": len(rows)},
        tables=(
            compared("Own sentences (%)", list(halves["check"]), halves),
            Table("Real turns", ("", "value"), tuple((name, f"{value:.2f}") for name, value in real.items())),
        ),
    )


def of_sentences(rows: Sequence[Mapping[str, Any]]) -> Figures:
    """In percent: precision of what is stored and of what is held, recall of both, and of categories."""
    stored = right = held = held_right = wanted = category = 0
    for row in rows:
        finds = found_in(row["say"], row.get("before", ""))
        sure = [find for find in finds if find.sure]
        is_wanted = bool(row["kind"])
        wanted += is_wanted
        if sure:
            stored += 1
            right += is_wanted
            category += sure[0].category == row["kind"]
        elif finds:
            held += 1
            held_right += is_wanted
    return {
        "stored.precision": _percent(right, stored),
        "stored.recall": _percent(right, wanted),
        "with_inbox.precision": _percent(right + held_right, stored + held),
        "with_inbox.recall": _percent(right + held_right, wanted),
        "category": _percent(category, right),
    }


def found_in(say: str, before: str = "") -> list[Candidate]:
    """What would be kept; a reminder becomes a task, which counts as an action that is stored."""
    said = [*([Message("assistant", before)] if before else []), Message("user", say)]
    reminders = [
        Candidate(one.title, "action", 0.7, 1.0, one.said, "reminder")
        for one in find_reminders(said, today=_TODAY)
    ]
    return [*find_candidates(said, today=_TODAY), *reminders]


def _of_longmemeval(options: Options) -> Figures:
    try:
        source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    except Skipped:
        return {}
    sessions = read_json(source)["pool"].values()
    turns = sorted({turn["content"] for session in sessions for turn in session if turn["role"] == "user"})
    turns = turns[: options.limit or None]
    verdicts = {row["find"]: row["right"] for row in read_lines(JUDGED)}
    started = time.perf_counter()
    finds = [found_in(turn) for turn in turns]
    took = time.perf_counter() - started
    texts = {find.text for found in finds for find in found if find.sure}
    judged = [verdicts[name] for name in map(_hash, texts) if name in verdicts]
    return {
        "longmemeval.turns": len(turns),
        "longmemeval.turns_stored_percent": _percent(_with_sure(finds), len(turns)),
        "longmemeval.turns_held_percent": _percent(sum(map(bool, finds)) - _with_sure(finds), len(turns)),
        "longmemeval.judged": len(judged),
        "longmemeval.judged_of_stored_percent": _percent(len(judged), len(texts)),
        "longmemeval.precision": _percent(sum(judged), len(judged)),
        "longmemeval.us_a_turn": 1e6 * took / max(1, len(turns)),
    }


def _of_locomo(options: Options) -> Figures:
    try:
        source = find_one(options.data, "LoCoMo", ("locomo*.json",))
    except Skipped:
        return {}
    noted = _noted_turns(read_json(source))
    return {
        "locomo.noted_turns": len(noted),
        "locomo.recall": _percent(_with_sure([found_in(turn) for turn in noted]), len(noted)),
    }


def _noted_turns(samples: Iterable[Mapping[str, Any]]) -> list[str]:
    """The turns that an annotator noted something from."""
    texts = []
    for sample in samples:
        noted = {
            str(place)
            for session in sample["observation"].values()
            for notes in session.values()
            for _, place in notes
        }
        for turns in sample["conversation"].values():
            if isinstance(turns, list):
                texts += [turn["text"] for turn in turns if turn["dia_id"] in noted]
    return texts


def _with_sure(finds: Iterable[Sequence[Candidate]]) -> int:
    return sum(any(find.sure for find in found) for found in finds)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _percent(part: float, whole: float) -> float:
    return 100 * part / whole if whole else 0.0


BENCHMARK = Benchmark("flush_rules", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
