"""Conflicts between memories: does the judge merge, relate and supersede as a person would?

The pairs of `data/memory_pairs.tsv` are ours: facts of LoCoMo and LongMemEval (dev), worded as an agent would
note them. Those of some conversations fit the calibration, those of others check it; each pair is judged in
both directions. Beside ours stands the reference's rule: the bare cosine, cut at 0.9 and 0.7.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.frame import Benchmark, Options, Outcome, Table, compared, main
from benchmarks.metrics import Figures
from hindbrain.memory.conflicts.conflict import (
    CALIBRATIONS,
    MERGE,
    RELATED,
    UNKNOWN,
    WORDS_ALONE,
    Calibration,
    ConflictJudge,
    common_words,
    embedded,
)
from hindbrain.memory.conflicts.contradiction import contradicts
from hindbrain.memory.conflicts.sameness import why_apart
from hindbrain.memory.conflicts.statement import read_statement
from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.models.embedder import Embedder

PAIRS = Path(__file__).parent / "data" / "memory_pairs.tsv"
_WHAT = ("merge", "supersede", "change", "matter")
_CHANGES = ("change", "beside")
_ENDS = ("contradiction", "change")
_CANDIDATES = 16
_ROUNDS = 200


class Pair(NamedTuple):
    half: str  # "fit" or "check"
    label: str  # same, related, different, contradiction, change (of old by new) or beside (both stay)
    old: str
    new: str


class Judged(NamedTuple):
    label: str
    action: str  # new, merge, related or supersede


def run(_: Options) -> Outcome:
    pairs = read_pairs(PAIRS)
    check = [pair for pair in pairs if pair.half == "check"]
    fit = [pair for pair in pairs if pair.half == "fit" and pair.label not in _CHANGES]
    figures: dict[str, Figures] = {}
    calibrations = []
    for name, embedder in embedders().items():
        figures[name] = quality(judged_by_us(check, embedder)) | {"judge_ms": judging_ms(pairs, embedder)}
        if embedder is not None:
            figures[f"{name}, bare cosine"] = quality(judged_by_cosine(check, embedder))
        calibrations.append((name, *_in_use(embedder), *map(_number, calibrated(fit, embedder))))
    ours = "builtin"
    columns = [f"{what}.{figure}" for what in _WHAT for figure in ("p", "r")]
    labels = Counter(pair.label for pair in check)
    return Outcome(
        metrics=figures[ours] | {f"words.{name}": value for name, value in figures["words"].items()},
        baselines={"dense": figures["builtin, bare cosine"]},
        data={"name": PAIRS.name, "fit": len(fit), "check": len(check), **labels},
        tables=(
            compared(
                f"Conflicts, {len(check)} pairs in both directions (%)", [*columns, "judge_ms"], figures
            ),
            Table(
                "Calibration: in use, and as fitted on the other pairs",
                ("", "words", "related", "same", "words", "related", "same"),
                tuple(calibrations),
            ),
        ),
    )


def read_pairs(path: Path) -> list[Pair]:
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    rows = [line.split("\t") for line in lines[1:]]
    return [Pair(half, label, old, new) for half, label, _source, old, new in rows]


def embedders() -> dict[str, Embedder | None]:
    """What there is to compare with: the built-in one, the one of the settings, and words alone."""
    from hindbrain.base.config import load_config
    from hindbrain.models.embedder import EmbeddingSettings
    from hindbrain.models.select import make_embedder

    path = load_config().text("embedding.path")
    found: dict[str, Embedder | None] = {"builtin": make_embedder(EmbeddingSettings(provider="builtin"), {})}
    if path:
        own = make_embedder(EmbeddingSettings(path=path), {})
        if own is not None:
            found[own.name] = own
    return {**found, "words": None}


def judged_by_us(pairs: Sequence[Pair], embedder: Embedder | None) -> list[Judged]:
    judge = ConflictJudge(lambda: embedder)
    return [
        Judged(pair.label, judge.judge(new, [MemoryItem("m-1", old)]).action)
        for pair in pairs
        for old, new in both_ways(pair)
    ]


def judged_by_cosine(pairs: Sequence[Pair], embedder: Embedder) -> list[Judged]:
    judged = []
    for pair, cosine in zip(pairs, _cosines(pairs, embedder, str), strict=True):
        action = "merge" if cosine > MERGE else "related" if cosine > RELATED else "new"
        judged += [Judged(pair.label, action)] * len(both_ways(pair))
    return judged


def both_ways(pair: Pair) -> list[tuple[str, str]]:
    """As (old, new). A change, and what was so once, have a direction: they end what is so."""
    if pair.label == "change" or ("used to" in pair.old) != ("used to" in pair.new):
        return [(pair.old, pair.new)]
    return [(pair.old, pair.new), (pair.new, pair.old)]


def quality(judged: Sequence[Judged]) -> Figures:
    """Precision and recall, in percent, of merging, superseding, of changes that were told as such (beside
    what only looks so), and of seeing the same matter at all."""
    merge = _precision_recall((j.action == "merge", j.label == "same") for j in judged)
    supersede = _precision_recall((j.action == "supersede", j.label in _ENDS) for j in judged)
    changes = [j for j in judged if j.label in _CHANGES]
    change = _precision_recall((j.action == "supersede", j.label == "change") for j in changes)
    matter = _precision_recall(
        (j.action != "new", j.label != "different") for j in judged if j.label not in _CHANGES
    )
    return {
        f"{what}.{figure}": 100 * value
        for what, values in zip(_WHAT, (merge, supersede, change, matter), strict=True)
        for figure, value in zip(("p", "r"), values, strict=True)
        if value is not None
    }


def _precision_recall(cases: Iterable[tuple[bool, bool]]) -> tuple[float | None, float]:
    """From (said, so). Who never says it has no precision."""
    said = so = both = 0
    for is_said, is_so in cases:
        said, so, both = said + is_said, so + is_so, both + (is_said and is_so)
    return both / said if said else None, both / so if so else 0.0


def calibrated(pairs: Sequence[Pair], embedder: Embedder | None) -> Calibration:
    """The mixture that tells "different" from the rest best, and its two cuts."""
    statements = [(read_statement(pair.old), read_statement(pair.new)) for pair in pairs]
    common = [common_words(old, new) for old, new in statements]
    cosines = _cosines(pairs, embedder) if embedder is not None else [0.0] * len(pairs)
    one_line = [
        pair.label == "same" and not why_apart(old, new) and not contradicts(old, new)
        for pair, (old, new) in zip(pairs, statements, strict=True)
    ]
    best: tuple[float, Calibration] | None = None
    for share in (0.0, 0.25, 0.5, 0.75, 1.0) if embedder is not None else (1.0,):
        mixed = [share * w + (1 - share) * c for w, c in zip(common, cosines, strict=True)]
        score, related = max((_f1(mixed, pairs, cut / 100), cut / 100) for cut in range(5, 95))
        # The vetoes keep apart what must stay so; every pair that may be one line is above the cut.
        merging = min(value for value, mergeable in zip(mixed, one_line, strict=True) if mergeable)
        same = max(related + 0.05, merging - 0.01)
        if best is None or score > best[0]:
            best = score, Calibration(share, related, round(same, 2))
    assert best is not None
    return best[1]


def _f1(mixed: Sequence[float], pairs: Sequence[Pair], cut: float) -> float:
    precision, recall = _precision_recall(
        (value > cut, pair.label != "different") for value, pair in zip(mixed, pairs, strict=True)
    )
    return 2 * precision * recall / (precision + recall) if precision and recall else 0.0


def _cosines(
    pairs: Sequence[Pair], embedder: Embedder, prepared: Callable[[str], str] = embedded
) -> list[float]:
    vectors = embedder.embed_documents([prepared(text) for pair in pairs for text in (pair.old, pair.new)])
    cosines: list[float] = (vectors[::2] * vectors[1::2]).sum(axis=1).tolist()
    return cosines


def judging_ms(pairs: Sequence[Pair], embedder: Embedder | None) -> float:
    """The median time of one judgement among 16 memories, with the embedder warm."""
    items = [MemoryItem(f"m-{at}", pair.old) for at, pair in enumerate(pairs)]
    judge = ConflictJudge(lambda: embedder)
    took = []
    for at in range(min(_ROUNDS, len(pairs) - _CANDIDATES)):
        started = time.perf_counter()
        judge.judge(pairs[at].new, items[at : at + _CANDIDATES])
        took.append(time.perf_counter() - started)
    return 1_000 * sorted(took)[len(took) // 2]


def _in_use(embedder: Embedder | None) -> tuple[str, ...]:
    known = WORDS_ALONE if embedder is None else CALIBRATIONS.get(embedder.name, UNKNOWN)
    return tuple(map(_number, known))


def _number(value: float) -> str:
    return f"{value:.2f}"


def draw(result: dict[str, Any], axes: Any) -> None:
    from benchmarks.plots import bars

    names = [f"{what}.{figure}" for what in _WHAT for figure in ("p", "r")]
    words = {"p": "precision", "r": "recall"}
    labels = [f"{name[:-2]}\n{words[name[-1]]}" for name in names]
    bars(axes, "Conflicts between memories (%)", result, names, labels)


BENCHMARK = Benchmark("conflicts", run, draw)

if __name__ == "__main__":
    raise SystemExit(main(BENCHMARK))
