"""Cases: what was done before, found by how near its command is to a new one. Pure but for the embedder.

    nearness = BM25 over the words of the commands, with 1 for the best case, + likeness of the wishes

A case has several texts: each command that it is about, and why it failed. The nearest of them counts, a
reason a little less. Two commands are not alike because both speak of a piano lesson: likeness is of the
wish, the command without what its calls filled in.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from hindbrain.learn.alike import vectors_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Embedder

T = TypeVar("T")
# Likeness from which on a case is worth telling. A warning costs little; whoever follows steps that do not
# fit goes wrong.
FAILED, WORKED = 0.3, 0.35
_BY_REASON = 0.8  # what the nearness of a reason counts
_K1, _B = 1.2, 0.75  # of BM25, as usual
_WORD = re.compile(r"[^\W_]+")


class Text(NamedTuple):
    """One of the texts by which a case is found."""

    words: str  # as it was said
    wish: str  # without what was filled in
    weight: float = 1.0


def command_text(command: str, wish: str = "") -> Text:
    return Text(command, wish or command)


def reason_text(reason: str) -> Text:
    return Text(reason, reason, _BY_REASON)


class Near(NamedTuple, Generic[T]):
    case: T
    score: float  # 0..1: how alike its wish is


class Cases(Generic[T]):
    """What can be found. Texts are compared when somebody first asks."""

    def __init__(
        self, cases: Sequence[T], texts_of: Callable[[T], Sequence[Text]], embedder: Embedder | None
    ) -> None:
        self._embedder = embedder
        self._cases = cases
        self._texts: list[Text] = []
        self._owners: list[int] = []
        for number, case in enumerate(cases):
            texts = texts_of(case)
            self._texts += texts
            self._owners += [number] * len(texts)

    def nearest(self, command: str, least: float) -> Iterator[Near[T]]:
        """Those that are alike enough, the nearest first; among equals the one that stands later."""
        if not self._texts or not command.strip():
            return
        import numpy as np

        alike = self._wishes @ vectors_of([command], self._embedder)[0]
        said = command.strip().casefold()
        alike[[at for at, text in enumerate(self._texts) if text.words.strip().casefold() == said]] = 1.0
        shared = self._bm25.scores(command)
        weights = np.asarray([text.weight for text in self._texts], dtype=np.float32)
        near = weights * (shared / max(float(shared.max()), 1e-9) + alike)
        best: dict[int, int] = {}  # by case: the text that is nearest
        for at in sorted(range(len(near)), key=lambda at: (-round(float(near[at]), 4), -self._owners[at])):
            if alike[at] >= least:
                best.setdefault(self._owners[at], at)
        for owner, at in best.items():
            yield Near(self._cases[owner], round(min(1.0, float(alike[at])), 4))

    @cached_property
    def _wishes(self) -> NDArray[np.float32]:
        return vectors_of([text.wish for text in self._texts], self._embedder)

    @cached_property
    def _bm25(self) -> _Bm25:
        return _Bm25([text.words for text in self._texts])


class _Bm25:
    """Okapi BM25 over some texts."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count = len(texts)
        words = [Counter(_WORD.findall(text.lower())) for text in texts]
        mean = max(1.0, sum(some.total() for some in words) / max(1, len(words)))
        self._places: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for at, some in enumerate(words):
            length = _K1 * (1 - _B + _B * some.total() / mean)
            for word, times in some.items():
                self._places[word].append((at, times * (_K1 + 1) / (times + length)))

    def scores(self, query: str) -> NDArray[np.float32]:
        import numpy as np

        found = np.zeros(self._count, dtype=np.float32)
        for word in set(_WORD.findall(query.lower())):
            places = self._places.get(word, ())
            rare = math.log(1 + (self._count - len(places) + 0.5) / (len(places) + 0.5))
            for at, weight in places:
                found[at] += rare * weight
        return found
