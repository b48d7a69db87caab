"""Vectors of memories by the encoder, made in the background and kept in a file beside the index.

A transformer takes milliseconds a text: too long for a prompt that waits, and once is enough. Derived data: a
file that is gone or damaged costs time, never a memory.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.models.encoder import ENGLISH

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.index.embedding_cache import EmbeddingCache
    from hindbrain.models.embedder import Embedder, Vectors

_BATCH = 8  # texts between two looks at the time
_PROMPT_CHARS = 600  # of a prompt that waits for its answer


class EncodedTexts:
    """Texts that the encoder has read. For one thread."""

    def __init__(self, encoder: Embedder, file: Path, clock: Clock, *, at_once: bool = False) -> None:
        """`at_once`: its caller answers one question, and waits until the encoder is loaded."""
        self._encoder = encoder
        self._file = file
        self._clock = clock
        self._vectors: dict[str, Vectors] = {}
        self._wanted: dict[str, None] = {}  # in the order of asking
        self._at_once = at_once
        self._loaded = False
        self.name = encoder.name

    def knows(self, texts: Iterable[str]) -> bool:
        """Can it answer at once? What it has not read yet is read by the next `encode_some`."""
        self._wanted.update(dict.fromkeys(text for text in texts if text not in self._vectors))
        if self._at_once and self._wanted:
            self._take_known()
        return (self._loaded or self._at_once) and not self._wanted

    def reads(self, languages: Collection[str]) -> bool:
        """Does the encoder know these languages? "" is English; of an owner's own model we believe it."""
        return self.name != ENGLISH or not any(languages)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Vectors of texts that were read, and of a prompt, which is read now."""
        import numpy as np

        rows = [
            self._vectors[text] if text in self._vectors else self._encoder.embed_query(text[:_PROMPT_CHARS])
            for text in texts
        ]
        return np.stack(rows)

    def encode_some(self, budget_s: float) -> bool:
        """Read texts that were asked for, for about that long; return whether there are more.

        Raises ConfigError or EmbedderError when the encoder can't be used.
        """
        if not self._wanted:
            return False
        until = time.monotonic() + budget_s
        self._take_known()
        if not self._loaded:
            self._encoder.embed_query("load")
            self._loaded = True
        while self._wanted and time.monotonic() < until:
            batch = list(self._wanted)[:_BATCH]
            vectors = self._encoder.embed_documents(batch)
            self._cache.put(
                self.name, zip(map(_digest, batch), map(_packed, vectors), strict=True), self._now
            )
            self._keep(zip(batch, vectors, strict=True))
        return bool(self._wanted)

    def _take_known(self) -> None:
        """What was read by an earlier process."""
        import numpy as np

        wanted = {_digest(text): text for text in self._wanted}
        found = self._cache.get(self.name, list(wanted), self._now)
        size = 2 * self._encoder.dim
        self._keep(
            (wanted[digest], np.frombuffer(codes, dtype=np.float16).astype(np.float32))
            for digest, codes in found.items()
            if len(codes) == size
        )

    def _keep(self, rows: Iterable[tuple[str, Vectors]]) -> None:
        for text, vector in rows:
            self._vectors[text] = vector
            self._wanted.pop(text, None)

    @cached_property
    def _cache(self) -> EmbeddingCache:
        from hindbrain.index.embedding_cache import EmbeddingCache

        return EmbeddingCache(self._file)

    @property
    def _now(self) -> int:
        return int(self._clock.now() * 1e9)


def count_read(file: Path, name: str, texts: Iterable[str]) -> tuple[int, int]:
    """Return how many of the texts the encoder of that name has read, and how many there are."""
    from hindbrain.index.embedding_cache import count_kept

    hashes = list(dict.fromkeys(map(_digest, texts)))
    return count_kept(file, name, hashes), len(hashes)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _packed(vector: Vectors) -> bytes:
    import numpy as np

    return vector.astype(np.float16).tobytes()
