"""Hidden wikilinks: a link is taken out of its paragraph, and the note it led to is sought with what is left.

The vault is indexed as it is. The link still stands in its own note, so that note is left out of the ranking.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import metrics
from benchmarks.datasets import find, single_root, unpacked
from benchmarks.frame import Benchmark, Options, Outcome, Skipped, Table, compared, main, split_rows
from benchmarks.metrics import Figures
from benchmarks.rankers import Measured, measured
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

_SEED = 20_240_517
_PER_VAULT = 300
_NOTES = 20
_KS = (1, 5, 10)
_MIN_WORDS = 4
_MIN_UNSEGMENTED = 8
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(#[^\[\]|\n]*)?(?:\|([^\[\]\n]*))?\]\]")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\n]*\)")
_LINE_START = re.compile(r"^\s*(?:>\s*)*(?:[-*+]\s+(?:\[.\]\s+)?|\d+[.)]\s+|#+\s+)?", re.MULTILINE)
_UNSEGMENTED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Hidden:
    """A link that was taken out."""

    source: str  # path of the note it stands in
    target: str  # path of the note it leads to
    query: str  # its paragraph without it


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


def ask(index: Measured, row: str, link: Hidden) -> Figures:
    found = index.notes(row, link.query, _NOTES + 1)
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


def sampled(links: Sequence[Hidden], most: int) -> Sequence[Hidden]:
    return links if len(links) <= most else random.Random(_SEED).sample(links, most)


def hidden_links(vault: Path, paths: Sequence[str]) -> list[Hidden]:
    """Every link of these notes that leads to another of them, in the order of the notes."""
    notes = {path: parsed(vault / path) for path in sorted(paths)}
    names = link_names({path: note.aliases for path, note in notes.items()})
    return list(dict.fromkeys(link for path, note in notes.items() for link in _links_of(path, note, names)))


def parsed(path: Path) -> Note:
    return parse_note(decode_note(path.read_bytes())[0], stem=path.stem)


def link_names(aliases: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The names of each note: path before file name before alias; what two notes share is no name."""
    by_path = {_folded(path): path for path in aliases}
    by_file = _clear((_folded(path.rpartition("/")[2]), path) for path in aliases)
    by_alias = _clear((_folded(alias), path) for path, own in aliases.items() for alias in own)
    return {**by_alias, **by_file, **by_path}


def _clear(pairs: Iterator[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in pairs:
        found[name].add(path)
    return {name: next(iter(paths)) for name, paths in found.items() if len(paths) == 1}


def _folded(name: str) -> str:
    return name.strip().strip("/").removesuffix(".md").casefold()


def _links_of(path: str, note: Note, names: Mapping[str, str]) -> Iterator[Hidden]:
    # The parser knows what is only code.
    real = {(link.line, link.target) for link in note.links if not link.embed}
    for block in note.blocks:
        if block.kind not in ("paragraph", "item", "quote"):
            continue
        text = "\n".join(note.lines[block.first_line - 1 : block.last_line])
        for match in _WIKILINK.finditer(text):
            target = names.get(_folded(match[2]), path)
            line = block.first_line + text.count("\n", 0, match.start())
            if match[1] or (line, match[2].strip()) not in real or target == path:
                continue
            query = without_link(text, target, names)
            if is_enough(query):
                yield Hidden(path, target, query)


def without_link(text: str, target: str, names: Mapping[str, str]) -> str:
    """The text as a reader sees it, without any link to the note at `target`."""

    def visible(match: re.Match[str]) -> str:
        if match[1] or names.get(_folded(match[2])) == target:
            return " "
        return match[4] or match[2].rpartition("/")[2]

    shown = _MARKDOWN_LINK.sub(r"\1", _WIKILINK.sub(visible, _LINE_START.sub("", text)))
    return " ".join(shown.split())


def is_enough(query: str) -> bool:
    """Is there something left to go by?"""
    unsegmented = len(_UNSEGMENTED.findall(query))
    return unsegmented >= _MIN_UNSEGMENTED or len(re.findall(r"\w+", query)) >= _MIN_WORDS


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
