"""When nothing in the vault answers, does a pack stay empty? And what does that cost where something does?

answerable   LoCoMo questions of categories 1-4 and LongMemEval questions with an answer
adversarial  LoCoMo category 5: about something that was said, put to the wrong person
abstention   LongMemEval questions about something that was never said, in a history full of the like
elsewhere    questions about another conversation
small talk   prompts that no vault answers: greetings, plain coding and general knowledge

Prints the curve over `context.false_rate`: how many of each kind get an empty pack, and how much of the
evidence of the answerable ones goes with it; by words and meaning, and by words alone, as a hook does that
finds no daemon. Conversations are small vaults; `false_injection` asks real ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import locomo
from benchmarks.datasets import described, find_one, read_json
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.longmemeval import moment
from benchmarks.metrics import Figures
from benchmarks.packs import folded, read_questions
from benchmarks.rankers import Measured, measured, write_note
from hindbrain.context.packs.pack import Pack
from hindbrain.context.service import ContextSettings
from hindbrain.search.query import Mode

KINDS = ("answerable", "adversarial", "abstention", "elsewhere", "small talk")
LEVELS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
DEFAULT = ContextSettings().false_rate
MODES: tuple[Mode, ...] = ("hybrid", "keyword")
_ELSEWHERE = 40  # questions that each vault is asked about other conversations
_SMALL_TALK = (
    "thanks!", "ok continue", "yes please do it", "hello, how are you?", "write a haiku about the sea",
    "what is the capital of France?", "explain quicksort", "convert 30 miles to kilometres",
    "fix the failing test in parser.py", "refactor this function to use async", "how do I center a div",
    "git rebase onto main and push", "add a dark mode toggle to the settings page", "run the tests",
    "why does docker build fail with exit code 137", "bump the version and update the changelog",
    "translate this sentence to German", "upgrade pydantic to v2", "make the button blue",
    "write a regular expression that matches an email address", "what does errno 13 mean",
    "generate a dockerfile for a flask app", "sort this list of dictionaries by date",
)  # fmt: skip
Found = tuple[float, float]  # confidence of the pack, share of the evidence that it holds (0 without any)


def run(options: Options) -> Outcome:
    found: dict[tuple[str, str], list[Found]] = defaultdict(list)
    talks = read_json(find_one(options.data, "LoCoMo", ("locomo*.json",)))
    source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    with options.work("abstention") as work:
        for mode in MODES:
            for kind, one in _locomo(work, talks, mode, options.limit):
                found[mode, kind].append(one)
            for kind, one in _longmemeval(work, read_json(source), mode, options.limit):
                found[mode, kind].append(one)
    figures = _figures(found)
    return Outcome(
        metrics=figures,
        data=described(source, prompts=sum(map(len, found.values())) // len(MODES)),
        tables=tuple(_table(figures, found, mode) for mode in MODES),
    )


def _locomo(
    work: Path, talks: Sequence[Mapping[str, Any]], mode: Mode, limit: int
) -> Iterator[tuple[str, Found]]:
    read = [locomo.read_conversation(talk) for talk in talks]
    for at, talk in enumerate(read):
        vault = work / f"locomo{at}"
        for name, text in talk.notes.items():
            write_note(vault / name, text)
        with measured(vault, work / f"locomo-state{at}") as index:
            index.app.measure_null()
            index.set_time(talk.asked_at)
            for question in talk.questions[: limit or None]:
                pack = _asked(index, question.text, mode)
                turns = {
                    talk.turns[one.path, line]
                    for one in pack.excerpts
                    for line in range(one.first_line, one.last_line + 1)
                    if (one.path, line) in talk.turns
                }
                kind = "adversarial" if question.category == "5" else "answerable"
                yield kind, (pack.confidence, len(question.gold & turns) / len(question.gold))
            others = [question for other in read if other is not talk for question in other.questions[::7]]
            for question in others[: limit or _ELSEWHERE]:
                yield "elsewhere", (_asked(index, question.text, mode).confidence, 0.0)
            for prompt in _SMALL_TALK:
                yield "small talk", (_asked(index, prompt, mode).confidence, 0.0)


def _longmemeval(work: Path, data: Mapping[str, Any], mode: Mode, limit: int) -> Iterator[tuple[str, Found]]:
    asked = [*read_questions(data, abstentions=False)][: limit or None]
    for at, question in enumerate([*asked, *read_questions(data, abstentions=True)]):
        vault = work / f"longmemeval{at}"
        vault.mkdir(parents=True, exist_ok=True)
        for name, text in question.notes.items():
            write_note(vault / name, text)
        with measured(vault, work / f"longmemeval-state{at}") as index:
            index.app.measure_null()
            index.set_time(moment(question.asked_at).timestamp())
            pack = _asked(index, question.text, mode)
            if at >= len(asked):
                yield "abstention", (pack.confidence, 0.0)
            elif question.evidence:
                inside = folded("\n".join(one.text for one in pack.excerpts))
                held = [all(line in inside for line in lines) for _, lines in question.evidence]
                yield "answerable", (pack.confidence, sum(held) / len(held))


def _asked(index: Measured, prompt: str, mode: Mode) -> Pack:
    """The `turn` pack, however unlikely."""
    context = index.app.context
    context.settings = context.settings._replace(mode=mode, false_rate=1.0)
    return context.pack(prompt)


def _figures(found: Mapping[tuple[str, str], Sequence[Found]]) -> Figures:
    figures: Figures = {}
    for (mode, kind), own in found.items():
        for level in LEVELS:
            empty = [one for one in own if one[0] < 1 - level or one[0] == 0.0]
            figures[f"{mode}.{kind}.empty@{level:g}"] = round(100 * len(empty) / len(own), 2)
            if kind == "answerable":
                lost = sum(share for _, share in empty) / sum(share for _, share in own)
                figures[f"{mode}.lost@{level:g}"] = round(100 * lost, 2)
    return figures


def _table(figures: Figures, found: Mapping[tuple[str, str], Sequence[Found]], mode: str) -> Table:
    kinds = [kind for kind in KINDS if (mode, kind) in found]
    ways = {"hybrid": "words and meaning", "keyword": "words alone"}
    columns = ("false rate", *(f"{kind} ({len(found[mode, kind])})" for kind in kinds), "evidence lost")
    rows = tuple(
        (
            f"{level:g}" + (" (default)" if level == DEFAULT else ""),
            *(f"{figures[f'{mode}.{kind}.empty@{level:g}']:.1f}" for kind in kinds),
            f"{figures.get(f'{mode}.lost@{level:g}', 0.0):.1f}",
        )
        for level in LEVELS
    )
    return Table(f"Empty packs (%), by {ways[mode]}", columns, rows)


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    figures = result["metrics"]
    for kind in KINDS:
        axes.plot(
            LEVELS, [figures.get(f"hybrid.{kind}.empty@{level:g}", 0.0) for level in LEVELS], label=kind
        )
    lost = [figures.get(f"hybrid.lost@{level:g}", 0.0) for level in LEVELS]
    axes.plot(LEVELS, lost, "k--", label="evidence lost")
    axes.axvline(DEFAULT, color="grey", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("context.false_rate", fontsize=9)
    headline(axes, "Empty packs (%), by the false rate")
    legend(axes, len(KINDS) + 1)


BENCHMARK = Benchmark("abstention", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
