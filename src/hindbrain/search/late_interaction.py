"""Late interaction: how well each token of a query is met by some token of a passage.

Owns the formula, the token vectors that were computed before, and the time that may be spent on new ones.
Knows nothing of notes, signals or weights: texts in, scores out.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hindbrain.models.embedder import Vectors
    from hindbrain.models.encoder import Encoder

MOST_BYTES = 64_000_000  # of token vectors in memory: about 2,800 passages of 60 tokens
_MOST_PENDING = 400  # texts that wait to be encoded
_STOP_WEIGHT = 0.5  # of a query word that the vault's statistics do not know, as in `semantic`
_MOST_QUERY_CHARS = 600  # who pastes a page is understood by its beginning
_GROUP_S = 0.1  # expected time of one call of the encoder: between calls the clock is looked at
_CHAR_S = 60e-6  # expected time a character before anything was measured
_FORGIVEN = 0.8  # of the expected time, whenever it was too long to try: a slow moment passes


class Codes(NamedTuple):
    """Token vectors in a quarter of their size: a vector is its row times its factor."""

    rows: NDArray[np.int8]
    factors: Vectors

    @property
    def bytes(self) -> int:
        return int(self.rows.nbytes + self.factors.nbytes)


def pack(vectors: Vectors) -> Codes:
    """Round vectors of length 1 to whole numbers; cosines move by less than 0.005."""
    import numpy as np

    peaks = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    rows = np.rint(vectors * (127 / np.maximum(peaks, 1e-12))).astype(np.int8)
    wide = rows.astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return Codes(rows, (1 / np.maximum(lengths, 1e-12)).astype(np.float32))


def interaction(query: Vectors, weights: Sequence[float], passages: Sequence[Codes]) -> list[float]:
    """Return a score of each passage, -1..1: over the query's tokens, the mean of the best cosine among the
    passage's tokens, plain and weighted in equal parts. A side without tokens scores 0."""
    import numpy as np

    scores = np.zeros(len(passages), dtype=np.float32)
    filled = [at for at, codes in enumerate(passages) if len(codes.rows)]
    if not filled or not len(query):
        return scores.tolist()
    rows = np.concatenate([passages[at].rows for at in filled]).astype(np.float32)
    cosines = query @ rows.T
    cosines *= np.concatenate([passages[at].factors for at in filled])
    starts = np.cumsum([0, *(len(passages[at].rows) for at in filled[:-1])])
    best = np.maximum.reduceat(cosines, starts, axis=1)
    own = np.asarray(weights, dtype=np.float32)
    share = own / own.sum() if own.sum() > 0 else np.full(len(own), 1 / len(own), dtype=np.float32)
    scores[filled] = (best.mean(axis=0) + share @ best) / 2
    found: list[float] = scores.tolist()
    return found


class LateInteraction:
    """Scores passages by one encoder, and remembers their token vectors. For one thread."""

    def __init__(
        self,
        encoder: Encoder,
        *,
        most_bytes: int = MOST_BYTES,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Loads the encoder, so that this does not count as the time of its first text. EmbedderError."""
        encoder.token_words("")
        self._encoder = encoder
        self._most_bytes = most_bytes
        self._clock = clock
        self._kept: OrderedDict[bytes, Codes] = OrderedDict()
        self._bytes = 0
        self._pending: dict[bytes, str] = {}
        self._char_s = _CHAR_S

    def scores(
        self, query: str, idfs: Mapping[str, float], texts: Sequence[str], budget_s: float
    ) -> list[float]:
        """Return the scores of the first texts, as many as could be encoded in time, in their order.

        Those that could not wait for `encode_pending`. May raise EmbedderError.
        """
        ends = self._clock() + budget_s
        keys = [self._key(text) for text in texts]
        query = query[:_MOST_QUERY_CHARS]
        if not self._fits([query], ends):
            self._char_s *= _FORGIVEN
            self._wait(keys, texts)
            return []
        (vectors,) = self._encoded([query])
        self._encode_missing(dict(zip(keys, texts, strict=True)), ends)
        known = next((at for at, key in enumerate(keys) if key not in self._kept), len(keys))
        self._wait(keys[known:], texts[known:])
        weights = [idfs.get(word, _STOP_WEIGHT) for word in self._encoder.token_words(query)]
        for key in keys[:known]:
            self._kept.move_to_end(key)
        found = interaction(vectors, weights, [self._kept[key] for key in keys[:known]])
        self._forget_oldest()
        return found

    def encode_pending(self, budget_s: float) -> bool:
        """Encode texts that a search had no time for, at least one; return whether there are more."""
        ends = self._clock() + budget_s
        while self._pending:
            done = self._group(list(self._pending.items()), ends) or [next(iter(self._pending.items()))]
            self._keep(done)
            self._forget_oldest()
            if self._clock() >= ends:
                break
        return bool(self._pending)

    def _encode_missing(self, texts: Mapping[bytes, str], ends: float) -> None:
        missing = [(key, text) for key, text in texts.items() if key not in self._kept]
        while missing and (group := self._group(missing, ends)):
            self._keep(group)
            missing = missing[len(group) :]

    def _group(self, texts: Sequence[tuple[bytes, str]], ends: float) -> list[tuple[bytes, str]]:
        """The first texts that are expected to be encoded in time, and in one look at the clock."""
        group: list[tuple[bytes, str]] = []
        until = min(ends, self._clock() + _GROUP_S)
        for item in texts:
            if not self._fits([*(text for _, text in group), item[1]], until if group else ends):
                break
            group.append(item)
        return group

    def _fits(self, texts: Sequence[str], ends: float) -> bool:
        return self._clock() + self._char_s * sum(map(_length, texts)) <= ends

    def _keep(self, group: Sequence[tuple[bytes, str]]) -> None:
        for key, _ in group:
            self._pending.pop(key, None)  # before it is tried: a text that fails does not wait for ever
        for (key, _), vectors in zip(group, self._encoded([text for _, text in group]), strict=True):
            self._kept[key] = codes = pack(vectors)
            self._bytes += codes.bytes

    def _encoded(self, texts: Sequence[str]) -> list[Vectors]:
        began = self._clock()
        vectors = self._encoder.token_vectors(texts)
        taken = (self._clock() - began) / sum(map(_length, texts))
        # Slower is believed at once, faster by and by.
        self._char_s = max(taken, (self._char_s + taken) / 2)
        return vectors

    def _wait(self, keys: Sequence[bytes], texts: Sequence[str]) -> None:
        for key, text in zip(keys, texts, strict=True):
            if key not in self._kept and len(self._pending) < _MOST_PENDING:
                self._pending[key] = text

    def _forget_oldest(self) -> None:
        while self._bytes > self._most_bytes and self._kept:
            _, codes = self._kept.popitem(last=False)
            self._bytes -= codes.bytes

    def _key(self, text: str) -> bytes:
        return hashlib.blake2b(
            f"{self._encoder.name}\0{text}".encode("utf-8", "replace"), digest_size=16
        ).digest()


def _length(text: str) -> int:
    """Characters, as far as they decide on the time: an encoder cuts long texts, and short ones cost too."""
    return 50 + min(len(text), 1_500)
