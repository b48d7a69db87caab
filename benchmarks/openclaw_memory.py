"""OpenClaw's own memory and ours behind the same door: `memory_search` of a real gateway, the same questions.

ours      our plugin in OpenClaw's memory slot, as `hindbrain openclaw install` leaves it
builtin   OpenClaw's memory with the vault as an extra path, and the vectors of our built-in embedder, so that
          the memories are compared and not the embedders
keywords  OpenClaw's memory without an embedder

Notes get the time of now: OpenClaw's memory halves a score each 30 days of a file's age, and would drop what
meets no word of the question. A question that was made from a sentence leaves out the note it stands in.
precision@3: the share of the first three results that are of the note that answers; recall@5: is it among the
first five notes; mrr: one over its place, by notes. Tokens and times are of a call for six results. `a turn`:
the tokens that memory puts into the window when the question is asked in a conversation of its own, injected
and by `memory_search`, which the model calls unless the note that answers is there already; `known`: it is
there when the model answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks import metrics
from benchmarks.datasets import find_one, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.metrics import Figures
from benchmarks.openclaw_playing import Line, knows, play, pulled_worth, pushed_worth
from benchmarks.openclaw_questions import Question, derive
from benchmarks.openclaw_rig import note_path, opened_rig
from hindbrain.context.tokens import count_tokens

if TYPE_CHECKING:
    from tests.real_openclaw.rig import Rig

VAULTS = ("obsidian_help", "jzhao")
ROWS = {"ours": "Hindbrain", "builtin": "OpenClaw, same vectors", "keywords": "OpenClaw, keywords"}
_RESULTS = 10  # that are judged
_USUAL = 6  # that are timed and counted: as many as OpenClaw's own memory gives by itself
_WARM = 3
_ANSWER = "Your note on it has that, and I would answer from it."


class Found(NamedTuple):
    """What a question brought through the tool."""

    notes: tuple[str, ...]  # of each of the results that are judged
    gateway_ms: float  # until the gateway has answered
    engine_ms: float  # of that: what the memory says that it took
    tokens: int  # that this call's result puts into the window


class Asked(NamedTuple):
    """What a question brought as a turn of a conversation."""

    turn_tokens: int  # that memory puts into the window
    known: bool  # the note that answers is in the window when the model answers
    searched: bool  # the model had to search


def run(options: Options) -> Outcome:
    figures: dict[str, Figures] = {row: {} for row in ROWS}
    asked: dict[str, int] = {}
    with options.work("openclaw_memory") as work:
        for name in VAULTS:
            source = find_one(options.data, f"vault {name}", (f"vault_{name}.tar.gz", f"vault_{name}"))
            vault = single_root(unpacked(source, work))
            questions = derive(vault)[: options.limit or None]
            asked[name] = len(questions)
            for row in ROWS:
                figures[row] |= metrics.prefixed(
                    f"{name}.", _measured(row, vault, questions, work / f"{row}-{name}")
                )
    data: dict[str, str | int] = {"name": ", ".join(asked), "questions": sum(asked.values()), **asked}
    ours = figures.pop("ours")
    return Outcome(ours, data, tuple(_tables({"ours": ours, **figures}, asked)), baselines=figures)


def _measured(row: str, vault: Path, questions: Sequence[Question], folder: Path) -> Figures:
    with opened_rig(row, vault, folder) as (rig, index_s):
        for question in questions[:_WARM]:
            _search(rig, question.text)
        found = [_find(rig, question) for question in questions]
        asked = [_ask(rig, question, number) for number, question in enumerate(questions)]
    return {**summary(questions, found, asked), "index_s": round(index_s, 1)}


def summary(questions: Sequence[Question], found: Sequence[Found], asked: Sequence[Asked]) -> Figures:
    judged = [judge(question, one.notes) for question, one in zip(questions, found, strict=True)]
    figures = metrics.percent(metrics.mean(judged))
    for kind in dict.fromkeys(question.kind for question in questions):
        of_kind = [own for own, question in zip(judged, questions, strict=True) if question.kind == kind]
        figures |= metrics.prefixed(f"{kind}.", metrics.percent(metrics.mean(of_kind)))
    for name in ("gateway_ms", "engine_ms"):
        taken = [float(getattr(one, name)) for one in found]
        figures[f"{name}.p50"] = round(metrics.quantile(taken, 0.5), 1)
        figures[f"{name}.p95"] = round(metrics.quantile(taken, 0.95), 1)
    figures["tokens"] = round(sum(one.tokens for one in found) / len(found), 1)
    figures["turn_tokens"] = round(sum(one.turn_tokens for one in asked) / len(asked), 1)
    shares = [{"known": float(one.known), "searched": float(one.searched)} for one in asked]
    return {**figures, **metrics.percent(metrics.mean(shares))}


def judge(question: Question, notes: Sequence[str]) -> Figures:
    """Judge the notes of results in their order, 0..1."""
    left = [note for note in notes if note != question.source]
    different = list(dict.fromkeys(left))
    place = different.index(question.gold) + 1 if question.gold in different else 0
    return {
        "precision@3": left[:3].count(question.gold) / 3,
        "recall@5": float(0 < place <= 5),
        "mrr": 1 / place if place else 0.0,
    }


def _find(rig: Rig, question: Question) -> Found:
    began = time.perf_counter()
    usual = _search(rig, question.text, maxResults=_USUAL)
    gateway_ms = 1e3 * (time.perf_counter() - began)
    judged = _search(rig, question.text, maxResults=_RESULTS)
    return Found(
        notes=tuple(note_path(rig, one["path"]) for one in _details(judged)["results"]),
        gateway_ms=gateway_ms,
        engine_ms=float(_details(usual)["debug"]["searchMs"]),
        tokens=sum(count_tokens(part["text"]) for part in usual["content"]),
    )


def _ask(rig: Rig, question: Question, number: int) -> Asked:
    line = Line(question.text, _ANSWER, (question.gold,), question.text)
    turn = play(rig, line, session=f"agent:main:question-{number}")
    tokens = sum(pushed_worth(turn)) + sum(pulled_worth(turn))
    return Asked(tokens, knows(turn.bodies[-1], line.gold), turn.calls > 0)


def _search(rig: Rig, query: str, **more: object) -> dict[str, Any]:
    answer = rig.gateway.post("/tools/invoke", {"tool": "memory_search", "args": {"query": query, **more}})
    result: dict[str, Any] = answer["result"]
    if "results" not in _details(result):
        raise RuntimeError(f"memory_search did not answer: {json.dumps(_details(result))[:500]}")
    return result


def _details(result: Mapping[str, Any]) -> dict[str, Any]:
    details: dict[str, Any] = result["details"]
    return details


_COLUMNS = (
    ("precision@3", "precision@3", "{:.1f}"),
    ("recall@5", "recall@5", "{:.1f}"),
    ("mrr", "mrr", "{:.1f}"),
    ("gateway p50", "gateway_ms.p50", "{:.0f}"),
    ("p95 ms", "gateway_ms.p95", "{:.0f}"),
    ("engine p50", "engine_ms.p50", "{:.0f}"),
    ("p95 ms", "engine_ms.p95", "{:.0f}"),
    ("tokens a call", "tokens", "{:,.0f}"),
    ("a turn", "turn_tokens", "{:,.0f}"),
    ("known", "known", "{:.0f}"),
    ("searched", "searched", "{:.0f}"),
    ("index s", "index_s", "{:.1f}"),
)


def _tables(figures: Mapping[str, Figures], asked: Mapping[str, int]) -> Iterator[Table]:
    for vault, many in asked.items():
        rows = (
            (ROWS[row], *(shown.format(own[f"{vault}.{name}"]) for _, name, shown in _COLUMNS))
            for row, own in figures.items()
        )
        title = f"OpenClaw's memory_search over {vault}, {many} questions"
        yield Table(title, ("", *(label for label, _, _ in _COLUMNS)), tuple(rows))
    kinds = ("alias", "heading", "link")
    yield Table(
        "By kind of question: recall@5",
        ("", *(f"{vault} {kind}" for vault in asked for kind in kinds)),
        tuple(
            (
                ROWS[row],
                *(f"{own.get(f'{vault}.{kind}.recall@5', 0.0):.0f}" for vault in asked for kind in kinds),
            )
            for row, own in figures.items()
        ),
    )


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    figures = {"ours": result["metrics"], **result["baselines"]}
    names = [f"{vault}.{name}" for vault in VAULTS for name in ("precision@3", "recall@5", "mrr")]
    width = 0.84 / len(figures)
    for at, (row, own) in enumerate(figures.items()):
        lefts = [place + (at - (len(figures) - 1) / 2) * width for place in range(len(names))]
        drawn = axes.bar(
            lefts, [own[name] for name in names], width * 0.94, color=_COLOURS[row], label=ROWS[row]
        )
        axes.bar_label(drawn, [f"{own[name]:.0f}" for name in names], fontsize=8, padding=1)
    labels = [name.replace(".", "\n") for name in names]
    axes.set_xticks(range(len(names)), labels, fontsize=8)
    axes.set_ylim(0, 106)
    headline(axes, "memory_search of a real OpenClaw, 50 questions a vault (%)")
    legend(axes)


_COLOURS = {"ours": "#1f5fa8", "builtin": "#c9772b", "keywords": "#8c8c8c"}

BENCHMARK = Benchmark("openclaw_memory", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
