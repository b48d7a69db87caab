"""A ranked list in, one without repetitions out. Pure."""

from collections.abc import Callable, Sequence

_ALIKE = 0.9  # of all words of two passages are in both
_FEWEST = 6  # words: smaller sets are alike by chance


class SeenWords:
    """Sets of words seen so far, by size: only sets of nearly the same size can share nearly everything.

    Tiny sets are alike by chance: they have no twins.
    """

    def __init__(self) -> None:
        self._by_size: dict[int, list[tuple[int, frozenset[str]]]] = {}
        self._count = 0

    def twin_of(self, words: frozenset[str]) -> int | None:
        """Which of those seen, by the order in which they were added, is nearly the same? The first one."""
        size = len(words)
        if size < _FEWEST:
            return None
        near: list[int] = []
        for other in range(max(_FEWEST, int(size * _ALIKE)), int(size / _ALIKE) + 1):
            least = _ALIKE * (size + other) / (1 + _ALIKE)  # words in common that make two sets alike
            near += [at for at, seen in self._by_size.get(other, ()) if len(words & seen) >= least]
        return min(near, default=None)

    def add(self, words: frozenset[str]) -> None:
        self._by_size.setdefault(len(words), []).append((self._count, words))
        self._count += 1


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
