"""Ranked lists and gold items in, figures out. Pure: knows nothing of notes, indexes or data sets."""

import math
from collections.abc import Collection, Mapping, Sequence

Figures = dict[str, float]

KS = (5, 10, 20)


def judge(ranking: Sequence[Collection[str]], gold: Collection[str], ks: Sequence[int] = KS) -> Figures:
    """Judge one ranking, 0..1. Each place of it holds the items which that hit covers, gold or not.

    fraction@k: the share of gold found; any@k: at least one; all@k: every one; mrr: 1 / place of the first.
    """
    figures: Figures = {}
    for k in ks:
        found = set(gold).intersection(item for items in ranking[:k] for item in items)
        figures[f"fraction@{k}"] = len(found) / len(gold)
        figures[f"any@{k}"] = float(bool(found))
        figures[f"all@{k}"] = float(len(found) == len(gold))
    first = next((at for at, items in enumerate(ranking, 1) if any(item in gold for item in items)), None)
    figures["mrr"] = 1 / first if first else 0.0
    return figures


def ndcg(ranking: Sequence[str], gains: Mapping[str, float], k: int) -> float:
    """Discounted gain of the first k over that of the best possible order, 0..1."""
    best = _dcg(sorted(gains.values(), reverse=True)[:k])
    return _dcg([gains.get(item, 0.0) for item in ranking[:k]]) / best if best else 0.0


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(place + 1) for place, gain in enumerate(gains, 1))


def within_budget(hits: Sequence[tuple[int, Collection[str]]], gold: Collection[str], budget: int) -> float:
    """The share of gold in the first hits that fit the budget. A hit is (tokens, items that it covers)."""
    found: set[str] = set()
    spent = 0
    for tokens, items in hits:
        spent += tokens
        if spent > budget:
            break
        found.update(item for item in items if item in gold)
    return len(found) / len(gold)


def tokens_of(text: str) -> int:
    """A rough count: four characters a token, rounded up."""
    return -(-len(text) // 4)


def mean(rows: Sequence[Figures]) -> Figures:
    """The mean of each figure over the rows that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    kept = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: sum(values) / len(values) for name, values in kept.items()}


def percent(figures: Figures) -> Figures:
    """0..1 as 0..100, with two digits."""
    return {name: round(100 * value, 2) for name, value in figures.items()}


def prefixed(prefix: str, figures: Figures) -> Figures:
    return {prefix + name: value for name, value in figures.items()}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie; the nearest one that was seen."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
