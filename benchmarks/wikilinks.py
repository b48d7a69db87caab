"""Hidden wikilinks: a link is taken out of its paragraph, and the note it led to is sought with what is left.

The vault is indexed as it is. The link still stands in its own note, so that note is left out, with all that
it says and links to.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import find, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, compared, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import Measured, measured
from hindbrain.search import own_questions
from hindbrain.search.own_questions import Question, link_names
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

_SEED = 20_240_517
_PER_VAULT = 300
_NOTES = 20
_KS = (1, 5, 10)


def run(options: Options) -> Outcome:
    judged: dict[str, dict[str, list[Figures]]] = {}
    with options.work("wikilinks") as work:
        for source in vault_sources(options.data):
            name = vault_name(source)
            if name not in judged:
                vault = single_root(unpacked(source, work))
                judged[name] = _ask_vault(vault, work / f"state-{name}", options)
    judged = {name: rows for name, rows in judged.items() if any(rows.values())}
    if not judged:
        raise Skipped(f"{str(options.data)!r} holds no note with a wikilink to another")
    figures = {row: summary({name: rows[row] for name, rows in judged.items()}) for row in options.rows}
    ours, baselines = split_rows(figures)
    asked = {name: len(rows[options.rows[0]]) for name, rows in judged.items()}
    data: dict[str, str | int] = {"name": ", ".join(judged), "questions": sum(asked.values()), **asked}
    return Outcome(metrics=ours, baselines=baselines, data=data, tables=_tables(figures, asked))


def _tables(figures: dict[str, Figures], asked: Mapping[str, int]) -> tuple[Table, ...]:
    return (
        compared(
            f"Hidden wikilinks, {sum(asked.values())} links (%)",
            ["recall@1", "recall@5", "recall@10", "mrr"],
            figures,
        ),
        compared(
            "Hidden wikilinks, recall@10 by vault (%)",
            [f"{name}.recall@10" for name in asked],
            figures,
            [f"{name} ({many})" for name, many in asked.items()],
        ),
    )


def _ask_vault(vault: Path, state: Path, options: Options) -> dict[str, list[Figures]]:
    judged: dict[str, list[Figures]] = defaultdict(list)
    with measured(vault, state) as index:
        notes = index.app.store.all_notes()
        # The present would make every note old, and the result another one each day.
        index.set_time(max((note.mtime_ns for note in notes), default=0) / 1e9)
        for link in sampled(hidden_links(vault, [note.path for note in notes]), options.limit or _PER_VAULT):
            for row in options.rows:
                judged[row].append(ask(index, row, link))
    return judged


def ask(index: Measured, row: str, link: Question) -> Figures:
    found = index.notes(row, link.query, _NOTES + 1, without=link.source)
    ranking = [{path} for path in found if path != link.source][:_NOTES]
    return recalled(ranking, link.target)


def recalled(ranking: Sequence[Collection[str]], target: str) -> Figures:
    judged = metrics.judge(ranking, {target}, _KS)
    return {"mrr": judged["mrr"], **{f"recall@{k}": judged[f"any@{k}"] for k in _KS}}


def vault_sources(data: Path) -> list[Path]:
    """The vaults of a folder of data, or the vault that `data` is, as archives or as folders."""
    if data.is_dir() and not any(data.glob("vault_*")) and any(data.rglob("*.md")):
        return [data]
    return find(data, "vaults", ("vault_*.tar.gz", "vault_*"))


def vault_name(source: Path) -> str:
    return source.resolve().name.removesuffix(".tar.gz").removesuffix(".tgz").removeprefix("vault_")


def sampled(links: Sequence[Question], most: int) -> Sequence[Question]:
    return links if len(links) <= most else random.Random(_SEED).sample(links, most)


def hidden_links(vault: Path, paths: Sequence[str]) -> list[Question]:
    """Every link of these notes that leads to another of them, in the order of the notes."""
    notes = {path: parsed(vault / path) for path in sorted(paths)}
    names = link_names({path: note.aliases for path, note in notes.items()})
    links = (link for path, note in notes.items() for link in own_questions.hidden_links(path, note, names))
    return list(dict.fromkeys(links))


def parsed(path: Path) -> Note:
    return parse_note(decode_note(path.read_bytes())[0], stem=path.stem)


def summary(judged: Mapping[str, Sequence[Figures]]) -> Figures:
    """Over all links, then by vault."""
    figures = metrics.percent(metrics.mean([own for rows in judged.values() for own in rows]))
    for name, rows in judged.items():
        figures |= metrics.prefixed(f"{name}.", metrics.percent(metrics.mean(rows)))
    return figures


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    vaults = [name.removesuffix(".recall@10") for name in result["metrics"] if name.endswith(".recall@10")]
    names = ["recall@10", *(f"{vault}.recall@10" for vault in vaults)]
    labels = [
        f"{name}\n({result['data'][count]})"
        for name, count in (("all", "questions"), *((name, name) for name in vaults))
    ]
    bars(axes, "Hidden wikilinks: target in the first 10 (%)", result, names, labels)


BENCHMARK = Benchmark("wikilinks", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
