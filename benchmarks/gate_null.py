"""Makes the nulls that ship, for vaults that are too small to measure or not measured yet.

Measured on the dev vaults, and on handfuls of their notes. For each generic prompt of a large vault the best
score that it got from any of them, so that a vault that is not measured yet is judged strictly; of a small
one the score that four of five do not reach. The prompts of another language than English are measured on the
vaults that are written in it. Writes `generic_null.json`.
Run it after the generic prompts, the weights of the gate or the ranking have changed:
`python -m benchmarks.gate_null FOLDER`, a folder to work in.
"""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from benchmarks.datasets import single_root, unpacked
from benchmarks.frame import default_data
from benchmarks.metrics import quantile
from benchmarks.rankers import measured, write_note
from benchmarks.wikilinks import vault_name, vault_sources
from hindbrain.context.packs import null_file
from hindbrain.context.packs.gate import LEAST_PASSAGES, Null, null_of, score_of
from hindbrain.context.packs.null_file import Found, NullMeasure, Nulls, as_json
from hindbrain.search.query import Mode

_VAULTS = ("aarnphm", "jzhao", "logseq_docs", "obsidian_help", "oldwinter_zh")
_MODES: tuple[Mode, ...] = ("hybrid", "keyword")
_HANDFULS, _NOTES = 3, 12
_STRICT = {"small": 0.8, "large": 1.0}  # the share of vaults whose scores are not above
_SHIPPED = Path(null_file.__file__).with_name("generic_null.json")


def main(work: Path) -> None:
    measures: dict[str, list[NullMeasure]] = {"small": [], "large": []}
    languages: tuple[str, ...] = ()
    for name, vault in _vaults(work):
        with measured(vault, work / f"state-{name}") as index:
            passages = index.app.store.sizes()[0]
            if name in _VAULTS:  # a handful of its notes is asked in the same languages
                languages = index.app.languages()
            measure = NullMeasure(index.app.engine.search, "", passages, remote=False, languages=languages)
            measure.go_on()
        measures["small" if passages < LEAST_PASSAGES else "large"].append(measure)
        print(f"{name}: {passages:,} passages {' '.join(languages)}", file=sys.stderr, flush=True)
    small, large = (_shipped([one.found for one in measures[size]], _STRICT[size]) for size in measures)
    _SHIPPED.write_text(f'{{"small": {as_json(small)},\n"large": {as_json(large)}}}\n', encoding="utf-8")


def _vaults(work: Path) -> Iterator[tuple[str, Path]]:
    for source in vault_sources(default_data()):
        name = vault_name(source)
        if name not in _VAULTS:
            continue
        vault = single_root(unpacked(source, work))
        yield name, vault
        notes = sorted(path for path in vault.rglob("*.md") if 500 < path.stat().st_size < 10_000)
        for at in range(_HANDFULS):
            folder = work / f"handful-{name}-{at}"
            for note in random.Random(at).sample(notes, _NOTES):
                write_note(folder / note.name, note.read_text(encoding="utf-8", errors="replace"))
            yield f"handful-{name}-{at}", folder


def _shipped(found: list[dict[str, Found]], share: float) -> Nulls:
    by_language: dict[Mode, tuple[Null, ...]] = dict.fromkeys(_MODES, ())
    for language in sorted({name for one in found for name in one if name}):
        own = _strict([one[language] for one in found if language in one], share)
        for mode, null in own.items():
            by_language[mode] += (null._replace(language=language),)
    return Nulls("shipped", 0, _strict([one[""] for one in found], share), by_language)


def _strict(found: list[Found], share: float) -> dict[Mode, Null]:
    nulls: dict[Mode, Null] = {}
    for mode in _MODES:
        own = [null_of([*one[mode].values()]) for one in found]
        scores: dict[str, list[float]] = defaultdict(list)
        words: dict[str, int] = {}
        for one, null in zip(found, own, strict=True):
            for text, evidence in one[mode].items():
                scores[text].append(score_of(evidence, null))
                words[text] = evidence.words
        nulls[mode] = Null(
            tuple(sorted((words[text], quantile(many, share)) for text, many in scores.items())),
            quantile([null.cosine_mean for null in own], share),
            sum(null.cosine_spread for null in own) / len(own),
        )
    return nulls


if __name__ == "__main__":
    main(Path(sys.argv[1]))
