"""Prompts that need no notes: how many get some all the same? And what is lost where notes do answer?

The prompts are public coding instructions and general tasks, turns of coding sessions, and small talk in 20
languages; the notes are public vaults and LongMemEval's histories. Every prompt gets a real `turn` pack.

always   whatever is found enters
former   one threshold on a logistic confidence, the same for all vaults: the rule until the gate
bm25     the best BM25 score, compared with what the shipped generic prompts get from the vault
cosine   the best cosine, compared in the same way
ours     the gate

Kept: of the hidden wikilinks whose target the ungated pack holds, and of the LongMemEval questions whose
evidence it holds, those of which that is still so. "At equal rate" each row takes the threshold at which 5 %
of these very prompts get something, on average over the kinds: rows are compared at equal false injection.
The prompts are mostly English. Those of `unseen_prompts.tsv`, in six other languages and written for this
alone, have a table of their own: the vault that is written in Chinese is the hard case there.
Vaults about programming are marked with *: there some coding instructions are on topic.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.datasets import find_one, read_json, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Table, main
from benchmarks.longmemeval import moment
from benchmarks.metrics import Figures, quantile
from benchmarks.packs import Question, folded, read_questions
from benchmarks.rankers import Measured, measured, write_note
from benchmarks.wikilinks import hidden_links, sampled, vault_name, vault_sources
from hindbrain.context.packs.null_file import COMPARED
from hindbrain.context.packs.pack import Pack
from hindbrain.context.topic.intent import understand_intent
from hindbrain.search import own_questions
from hindbrain.search.generic_prompts import generic_prompts, unseen_prompts
from hindbrain.search.hit import Hit
from hindbrain.search.query import SearchQuery
from hindbrain.search.terms import match_expression, understand_terms

ROWS = ("always", "former", "bm25", "cosine", "ours")
KINDS = ("agent_turns", "small_talk", "coding", "general")
_VAULTS = ("aarnphm", "jzhao", "obsidian_help", "oldwinter_zh")
_ABOUT_CODE = ("aarnphm", "jzhao", "obsidian_help")
_RATE = 0.05
LANGUAGES = ("zh", "ja", "ru", "de", "fr", "es")
_LINKS = 120
_MORE_LINKS = {"oldwinter_zh": 600}  # of 120 it answers 5
_PER_KIND = 120  # prompts
_HISTORIES, _SHARE = 12, 4  # LongMemEval's vaults, and of how many generic prompts each is asked one
_FORMER = 0.2
Scores = dict[str, float]  # by row; higher is more likely to enter


@dataclass
class Asked:
    """What was measured on one vault, or on several that are alike."""

    generic: dict[str, list[tuple[Scores, frozenset[str]]]] = field(default_factory=lambda: defaultdict(list))
    answered: list[tuple[Scores, frozenset[str]]] = field(default_factory=list)  # with the rows that keep it
    # Rows that give notes to each prompt, by language.
    other: dict[str, list[frozenset[str]]] = field(default_factory=lambda: defaultdict(list))

    def other_share(self, row: str, language: str) -> float:
        own = self.other[language]
        return 100 * sum(row in rows for rows in own) / max(1, len(own))

    def false_share(self, row: str, kind: str) -> float:
        own = self.generic[kind]
        return 100 * sum(row in rows for _, rows in own) / max(1, len(own))

    def kept(self, row: str) -> float:
        return 100 * sum(row in rows for _, rows in self.answered) / max(1, len(self.answered))

    def kept_at_equal_rate(self, row: str) -> float:
        """With the threshold at which `_RATE` of each kind get something, on average over the kinds."""
        weighed = sorted(
            ((scores[row], 1 / len(own)) for own in self.generic.values() for scores, _ in own), reverse=True
        )
        passed, threshold = 0.0, math.inf
        for score, weight in weighed:
            passed += weight
            if passed > _RATE * len(self.generic):
                threshold = score
                break
        return 100 * sum(scores[row] > threshold for scores, _ in self.answered) / max(1, len(self.answered))


def run(options: Options) -> Outcome:
    prompts = read_json(find_one(options.data, "generic prompts", ("prompts_generic*.json",)))
    limit = options.limit
    prompts = {kind: prompts[kind][: limit or _PER_KIND] for kind in KINDS}
    asked: dict[str, Asked] = {}
    with options.work("false_injection") as work:
        for source in vault_sources(options.data):
            if (name := vault_name(source)) in _VAULTS:
                vault = single_root(unpacked(source, work))
                links = limit or _MORE_LINKS.get(name, _LINKS)
                asked[name] = _ask_vault(vault, work / f"state-{name}", prompts, links)
        if any(options.data.glob("longmemeval*")):
            asked["longmemeval"] = _ask_histories(options, work, prompts, limit or _HISTORIES)
    figures = {row: _figures(asked, row) for row in ROWS}
    return Outcome(
        metrics=figures.pop("ours"),
        baselines=figures,
        data={"name": ", ".join(asked), "prompts": sum(map(len, prompts.values())),
              "answered": sum(len(own.answered) for own in asked.values())},
        tables=tuple(_tables(asked)),
    )  # fmt: skip


def _ask_vault(vault: Path, state: Path, prompts: Mapping[str, Sequence[str]], links: int) -> Asked:
    asked = Asked()
    with measured(vault, state) as index:
        notes = index.app.store.all_notes()
        index.set_time(max((note.mtime_ns for note in notes), default=0) / 1e9)
        rules = _Rules(index)
        rules.ask_generic(asked, prompts)
        rules.ask_other(asked, {name: _unseen(name) for name in LANGUAGES})
        for link in sampled(hidden_links(vault, [note.path for note in notes]), links):
            rules.ask_link(asked, link)
    return asked


def _ask_histories(options: Options, work: Path, prompts: Mapping[str, Sequence[str]], many: int) -> Asked:
    source = find_one(options.data, "LongMemEval", ("longmemeval*.json", "longmemeval*.json.xz"))
    questions = [question for question in read_questions(read_json(source)) if question.evidence]
    asked = Asked()
    for at, question in enumerate(questions[:: max(1, len(questions) // many)]):
        for name, text in question.notes.items():
            write_note(work / f"history{at}" / name, text)
        with measured(work / f"history{at}", work / f"state-history{at}") as index:
            index.set_time(moment(question.asked_at).timestamp())
            rules = _Rules(index)
            part = {kind: own[at % _SHARE :: _SHARE] for kind, own in prompts.items()}
            rules.ask_generic(asked, part)
            rules.ask_other(asked, {name: _unseen(name)[at % _SHARE :: _SHARE] for name in LANGUAGES})
            rules.ask_question(asked, question)
    return asked


def _unseen(language: str) -> list[str]:
    return [prompt.text for prompt in unseen_prompts(language)]


class _Rules:
    """The rows on one vault."""

    def __init__(self, index: Measured) -> None:
        self._app = index.app
        self._app.measure_null()
        self._context = self._app.context
        prompts = [prompt for prompt in generic_prompts() if prompt.kind in COMPARED]
        found = [self._scores(prompt.text) for prompt in prompts[::3]]
        known = [scores for scores in found if scores]
        self._bars = {row: quantile([one[row] for one in known], 1 - _RATE) for row in ("bm25", "cosine")}
        self._bars |= {"always": -math.inf, "former": _FORMER}

    def ask_generic(self, asked: Asked, prompts: Mapping[str, Sequence[str]]) -> None:
        for kind, texts in prompts.items():
            for text in texts:
                asked.generic[kind].append(self._judged(text, lambda pack: bool(pack.excerpts)))

    def ask_other(self, asked: Asked, prompts: Mapping[str, Sequence[str]]) -> None:
        for language, texts in prompts.items():
            for text in texts:
                asked.other[language].append(self._judged(text, lambda pack: bool(pack.excerpts))[1])

    def ask_link(self, asked: Asked, link: own_questions.Question) -> None:
        """The note that the link stands in is in the window already, as far as this prompt is concerned."""
        rows = self._app.store.select(
            "SELECT uid FROM passage JOIN note ON note.id = passage.note_id WHERE note.path = ?",
            (link.source,),
        )
        own = frozenset(f"{uid & (1 << 64) - 1:016x}" for (uid,) in rows)

        def holds(pack: Pack) -> bool:
            return any(one.path == link.target for one in pack.excerpts)

        scores, kept = self._judged(link.query, holds, own, link.source)
        if "always" in kept:
            asked.answered.append((scores, kept))

    def ask_question(self, asked: Asked, question: Question) -> None:
        def holds(pack: Pack) -> bool:
            inside = folded("\n".join(one.text for one in pack.excerpts))
            return any(all(line in inside for line in lines) for _, lines in question.evidence)

        scores, kept = self._judged(question.text, holds)
        if "always" in kept:
            asked.answered.append((scores, kept))

    def _judged(
        self,
        prompt: str,
        holds: Callable[[Pack], bool],
        exclude: frozenset[str] = frozenset(),
        source: str = "",
    ) -> tuple[Scores, frozenset[str]]:
        """The scores of a prompt, and the rows whose pack holds what is looked for."""
        gated = self._context.pack(prompt, exclude=exclude)
        settings = self._context.settings
        self._context.settings = settings._replace(false_rate=1.0)
        whole = self._context.pack(prompt, exclude=exclude)
        self._context.settings = settings
        none = dict.fromkeys(ROWS, -math.inf)
        scores = none | self._scores(prompt, source) | {"ours": whole.confidence} if whole.excerpts else none
        rows = {row for row, bar in self._bars.items() if scores[row] >= bar and holds(whole)}
        return scores, frozenset(rows | {"ours"} if holds(gated) else rows)

    def _scores(self, prompt: str, source: str = "") -> Scores:
        """Of the simple rules; empty where nothing is found."""
        intent = understand_intent(prompt)
        if not intent.query.strip():
            return {}
        found = self._app.search(SearchQuery(intent.query, k=20, exact=False)).hits
        hits = [hit for hit in found if hit.path != source]
        words = match_expression(understand_terms(intent.query))
        ranked = self._app.store.ranked_passages(words, 100 if source else 1)
        paths = self._paths([id_ for id_, _ in ranked]) if source else {}
        best = max((score for id_, score in ranked if paths.get(id_) != source or not source), default=0.0)
        cosine = max((hit.cosine or 0.0 for hit in hits), default=0.0)
        return {"always": 0.0, "former": _former(hits, intent.entities), "bm25": best, "cosine": cosine}

    def _paths(self, ids: Sequence[int]) -> dict[int, str]:
        infos = self._app.store.passages(ids)
        notes = self._app.store.notes({info.note_id for info in infos})
        return {info.id: notes[info.note_id].path for info in infos}


def _former(hits: Sequence[Hit], names: Sequence[str]) -> float:
    """The rule before the gate: the surest hit, words that stand together, names."""
    if not hits:
        return 0.0
    surest = sorted(hits, key=lambda hit: -hit.confidence)[:5]
    best = min(max(surest[0].confidence, 1e-6), 1 - 1e-6)
    together = min(3, max(len(set(hit.terms)) for hit in surest))
    strength = 0.43 + 1.84 * math.log(best / (1 - best)) + 1.65 * together
    named = {word for name in names for word in re.findall(r"[^\W\d_]{3,}", name.lower())}
    if named.intersection(term.lower() for hit in surest for term in hit.terms):
        strength += 2.0
    return 1 / (1 + math.exp(-strength))


def _figures(asked: Mapping[str, Asked], row: str) -> Figures:
    figures: Figures = {}
    for kind in KINDS:
        each = {name: own.false_share(row, kind) for name, own in asked.items()}
        figures |= {f"{name}.{kind}": round(share, 2) for name, share in each.items()}
        figures[kind] = round(sum(each.values()) / len(each), 2)
    for language in LANGUAGES:
        each = {name: own.other_share(row, language) for name, own in asked.items()}
        figures |= {f"{name}.{language}": round(share, 2) for name, share in each.items()}
        figures[language] = round(sum(each.values()) / len(each), 2)
    for what, of in (("kept", Asked.kept), ("kept_at_5", Asked.kept_at_equal_rate)):
        each = {name: of(own, row) for name, own in asked.items() if own.answered}
        figures |= {f"{name}.{what}": round(share, 2) for name, share in each.items()}
        figures[what] = round(sum(each.values()) / max(1, len(each)), 2)
    return figures


def _tables(asked: Mapping[str, Asked]) -> Iterator[Table]:
    columns = ("", *(kind.replace("_", " ") for kind in KINDS), "kept", "kept at equal rate")
    figures = {row: _figures(asked, row) for row in ROWS}
    for name, own in asked.items():
        marked = f"{name}*" if name in _ABOUT_CODE else name
        title = f"{marked}: prompts that get notes (%), {len(own.answered)} answered"
        yield Table(title, columns, tuple(_line(row, figures[row], f"{name}.") for row in ROWS))
    yield Table("Mean of all: prompts that get notes (%)", columns, tuple(_line(r, figures[r]) for r in ROWS))
    yield _languages_table(asked)


def _languages_table(asked: Mapping[str, Asked]) -> Table:
    ours = {
        name: [own.other_share("ours", language) for language in LANGUAGES] for name, own in asked.items()
    }
    lines = [(name, *(f"{share:.1f}" for share in shares)) for name, shares in ours.items()]
    for row in ROWS:
        figures = _figures(asked, row)
        lines.append((f"mean, {row}", *(f"{figures[language]:.1f}" for language in LANGUAGES)))
    return Table("Prompts of other languages that get notes (%)", ("", *LANGUAGES), tuple(lines))


def _line(row: str, figures: Figures, prefix: str = "") -> tuple[str, ...]:
    names = (*KINDS, "kept", "kept_at_5")
    return (row, *(f"{figures[prefix + name]:.1f}" if prefix + name in figures else "-" for name in names))


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import headline, legend

    names = (*KINDS, "kept", "kept_at_5")
    figures = {**result["baselines"], "ours": result["metrics"]}
    for at, row in enumerate(ROWS):
        lefts = [place + (at - 2) * 0.17 for place in range(len(names))]
        axes.bar(lefts, [figures[row][name] for name in names], 0.16, label=row)
    labels = [*(kind.replace("_", "\n") for kind in KINDS), "kept", "kept at\nequal rate"]
    axes.set_xticks(range(len(names)), labels, fontsize=9)
    headline(axes, "Prompts that get notes (%)")
    legend(axes, len(ROWS))


BENCHMARK = Benchmark("false_injection", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
