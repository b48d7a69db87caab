"""Which memories share words with a text: an index of words in memory, small and fast. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from hindbrain.base.segment import searchable
from hindbrain.vault.items.item import MemoryItem

_WORD = re.compile(r"\w+")
_MANY = 60  # memories: in fewer, no word is common


def words_of(text: str) -> frozenset[str]:
    """The words of a text, folded; of scripts without spaces, pairs of characters."""
    return frozenset(_WORD.findall(searchable(text).casefold()))


def item_words(item: MemoryItem) -> frozenset[str]:
    """The words under which a memory is found: its own, and those of its cues."""
    return words_of(" ".join((item.text, *item.cues))) if item.cues else words_of(item.text)


def asked_words(question: str) -> frozenset[str]:
    """The words of a question, without stop words, contractions and possessives."""
    from hindbrain.search.terms import STOP_WORDS, without_contractions

    return words_of(without_contractions(question)) - STOP_WORDS


class WordIndex:
    """The memories of one note, or of one batch."""

    def __init__(self, items: Iterable[MemoryItem] = ()) -> None:
        self.items: list[MemoryItem] = []
        self._words: list[int] = []  # how many each item has
        self._by_word: dict[str, list[int]] = {}
        for item in items:
            self.add(item)

    def add(self, item: MemoryItem) -> None:
        words = words_of(item.text)
        for word in item_words(item):
            self._by_word.setdefault(word, []).append(len(self.items))
        self.items.append(item)
        self._words.append(len(words))

    def count(self, word: str) -> int:
        return len(self._by_word.get(word, ()))

    def scored(self, weights: dict[str, float], enough: float) -> list[tuple[float, MemoryItem]]:
        """The items that share words of `enough` weight, each with what that is worth."""
        sums: dict[int, float] = {}
        for word, weight in weights.items():
            for at in self._by_word.get(word, ()):
                sums[at] = sums.get(at, 0.0) + weight
        # A long memory shares words with everything: what it shares counts by how much else it says.
        return [
            (total / math.sqrt(self._words[at]), self.items[at])
            for at, total in sums.items()
            if total >= enough
        ]


def nearest(text: str, indexes: Iterable[WordIndex], k: int, *, least: float = 0.0) -> list[MemoryItem]:
    """The `k` memories that share most with `text`, by the weight of the words they share; best first.

    `least`: the share of the text's weight that a memory must have in common with it, 0..1.
    """
    every = list(indexes)
    total = sum(len(index.items) for index in every)
    if not total:
        return []
    counts = {word: sum(index.count(word) for index in every) for word in words_of(text)}
    # A word of every third memory tells little, and looking it up takes longest.
    common = total / 3 if total > _MANY else total
    weights = {word: math.log(1 + total / (1 + n)) for word, n in counts.items() if n <= common}
    enough = least * sum(weights.values())
    scored = [pair for index in every for pair in index.scored(weights, enough)]
    scored.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].line))
    return [item for _, item in scored[:k]]
