"""A ranked list in, one without repetitions out. Pure."""

from collections.abc import Callable, Sequence


def near_duplicate(a: frozenset[str], b: frozenset[str], threshold: float = 0.9) -> bool:
    """Do two sets of words share nearly everything? Tiny sets are alike by chance: they do not count."""
    smaller, larger = sorted((len(a), len(b)))
    if smaller < 6 or smaller < threshold * larger:
        return False
    shared = len(a & b)
    return shared >= threshold * (smaller + larger - shared)


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def mmr(
    scores: Sequence[float], similarity: Callable[[int, int], float], limit: int, diversity: float
) -> list[int]:
    """Maximal marginal relevance: pick by score, less the likeness to what is picked already."""
    left = list(range(len(scores)))
    picked: list[int] = []
    nearest = [0.0] * len(scores)
    while left and len(picked) < limit:
        best = max(left, key=lambda i: ((1 - diversity) * scores[i] - diversity * nearest[i], -i))
        left.remove(best)
        picked.append(best)
        for i in left:
            nearest[i] = max(nearest[i], similarity(i, best))
    return picked
