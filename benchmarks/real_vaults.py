"""Notes sought in real vaults: by the words around a link, by their name, an alias or a heading.

Whatever a person types to find a note that they know is there. The rows beside ours are those that one has
without us: whole-note FTS5, BM25 over passages, plain cosine of the built-in vectors.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import metrics
from benchmarks.datasets import single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import measured
from benchmarks.wikilinks import hidden_links, parsed, recalled, vault_name, vault_sources
from hindbrain.index.names import name_key
from hindbrain.search.own_questions import is_enough, of_one_note
from hindbrain.vault.inline import without_links
from hindbrain.vault.note import Note

KINDS = ("link", "name", "alias", "heading")
_PER_KIND = 150  # questions of a kind and a vault
_NOTES = 10
_KS = (1, 5, 10)
_SEED = 20_240_517
_FEWEST_WORDS = 3  # of a name whose words are asked for in another order

Judged = dict[tuple[str, str], dict[str, list[Figures]]]  # (vault, kind) to row


@dataclass(frozen=True, slots=True)
class Sought:
    """A note that somebody looks for."""

    query: str
    target: str  # path
    without: str = ""  # path of a note that does not count: it holds the question itself


def run(options: Options) -> Outcome:
    judged: Judged = {}
    with options.work("wikilinks") as work:  # the same vaults: a kept index serves both
        for source in vault_sources(options.data):
            judged |= _ask_vault(vault_name(source), source, work, options)
    judged = {place: rows for place, rows in judged.items() if any(rows.values())}
    if not judged:
        raise Skipped(f"{str(options.data)!r} holds no vault whose notes can be sought")
    figures = {row: summary(judged, row) for row in options.rows}
    ours, baselines = split_rows(figures)
    asked = {f"{vault}.{kind}": len(rows[options.rows[0]]) for (vault, kind), rows in judged.items()}
    data: dict[str, str | int] = {"name": "vaults", "questions": sum(asked.values()), **asked}
    return Outcome(metrics=ours, baselines=baselines, data=data, tables=_tables(figures, asked))


def _ask_vault(name: str, source: Path, work: Path, options: Options) -> Judged:
    vault = single_root(unpacked(source, work))
    judged: Judged = {}
    with measured(vault, work / f"state-{name}") as index:
        notes = index.app.store.all_notes()
        index.set_time(max((note.mtime_ns for note in notes), default=0) / 1e9)
        for kind, questions in questions_of(vault, [note.path for note in notes]).items():
            rows: dict[str, list[Figures]] = defaultdict(list)
            for sought in sample(questions, options.limit or _PER_KIND):
                for row in options.rows:
                    found = index.notes(row, sought.query, _NOTES + 1, without=sought.without)
                    ranking = [{path} for path in found if path != sought.without][:_NOTES]
                    rows[row].append(recalled(ranking, sought.target))
            judged[name, kind] = rows
    return judged


def questions_of(vault: Path, paths: Sequence[str]) -> dict[str, list[Sought]]:
    """What can be asked about a vault, by kind. What two notes share leads to neither."""
    notes = {path: parsed(vault / path) for path in sorted(paths)}
    links = [Sought(link.query, link.target, link.source) for link in hidden_links(vault, paths)]
    return {
        "link": links,
        "name": _clear((_shuffled(_file_name(path)), path) for path in notes),
        "alias": _clear((alias, path) for path, note in notes.items() for alias in note.aliases),
        "heading": _clear((text, path) for path, note in notes.items() for text in _headings(note)),
    }


def sample(questions: Sequence[Sought], most: int) -> Sequence[Sought]:
    return questions if len(questions) <= most else random.Random(_SEED).sample(questions, most)


def _clear(pairs: Iterator[tuple[str, str]]) -> list[Sought]:
    return [Sought(query, path) for query, path in of_one_note(pairs)]


def _file_name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _shuffled(name: str) -> str:
    """The words of a name in another order, as one remembers them; "" where there are too few."""
    words = name_key(name.replace("_", " ")).split()
    if len(words) < _FEWEST_WORDS:
        return ""
    return " ".join(random.Random(name).sample(words, len(words)))


def _headings(note: Note) -> Iterator[str]:
    for heading in note.headings:
        text = without_links(heading.text)
        if heading.level > 1 and is_enough(text):
            yield text


def summary(judged: Mapping[tuple[str, str], Mapping[str, Sequence[Figures]]], row: str) -> Figures:
    """By kind over all vaults, each question counting once, then by vault and kind."""
    figures: Figures = {}
    for kind in KINDS:
        own = [figure for (_, of), rows in judged.items() if of == kind for figure in rows[row]]
        if own:
            figures |= metrics.prefixed(f"{kind}.", metrics.percent(metrics.mean(own)))
    for (vault, kind), rows in judged.items():
        if rows[row]:
            figures |= metrics.prefixed(f"{vault}.{kind}.", metrics.percent(metrics.mean(rows[row])))
    return figures


def _tables(figures: dict[str, Figures], asked: Mapping[str, int]) -> tuple[Table, ...]:
    tables = []
    for kind in KINDS:
        places = [(place, many) for place, many in asked.items() if place.endswith(f".{kind}") and many]
        labels = [f"all ({sum(many for _, many in places)})"]
        labels += [f"{place.removesuffix(f'.{kind}')} ({many})" for place, many in places]
        names = [kind, *(place for place, _ in places)]
        lines = tuple(
            (row, *("/".join(_short(own.get(f"{name}.recall@{k}")) for k in _KS) for name in names))
            for row, own in figures.items()
        )
        tables.append(Table(f"Notes by {kind}: recall@1/5/10 (%)", ("", *labels), lines))
    return (*tables, _lost(figures, asked))


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _lost(figures: dict[str, Figures], asked: Mapping[str, int]) -> Table:
    """Where another row is ahead of ours."""
    ours = figures.get("ours", {})
    lines = [
        (f"{place} @{k}", f"{ours[name]:.1f}", f"{own[name]:.1f}", row)
        for place in asked
        for k in _KS
        for name in [f"{place}.recall@{k}"]
        for row, own in figures.items()
        if name in ours and own.get(name, 0.0) > ours[name]
    ]
    return Table("Where we lose", ("", "ours", "theirs", "row"), tuple(lines))


BENCHMARK = Benchmark("real_vaults", run, None)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
