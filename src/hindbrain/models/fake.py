"""An embedder and an encoder for tests and demonstrations: no model, no network, the same vectors for ever.

Texts that share words are near each other. It records its calls and can be told to fail as real ones do.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, TypeAlias

from hindbrain.base.errors import EmbedderDown
from hindbrain.models.embedder import Role, no_vectors, normalised

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

Fault: TypeAlias = Literal["down", "wrong_dim", "nan"]
_FOREVER = -1


@dataclass(frozen=True, slots=True)
class Call:
    role: Role
    texts: tuple[str, ...]


class FakeEmbedder:
    """Hashed bags of words."""

    def __init__(
        self, dim: int = 256, *, name: str = "", sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.dim = dim
        self.name = name or f"fake/words@{dim}"
        self.calls: list[Call] = []  # failed calls too; a test may clear it
        self._sleep = sleep
        self._fault: Fault | None = None
        self._faults_left = 0
        self._slow_left = 0
        self._slow_s = 0.0

    def fail(self, fault: Fault, *, calls: int = _FOREVER) -> None:
        """Fail the next `calls` calls, or every one until `recover`."""
        self._fault, self._faults_left = fault, calls

    def slow(self, *, calls: int, seconds: float) -> None:
        """Answer the next `calls` calls after `seconds` each."""
        self._slow_left, self._slow_s = calls, seconds

    def recover(self) -> None:
        self._fault, self._faults_left, self._slow_left = None, 0, 0

    def texts(self) -> list[str]:
        """Every document asked for so far, in order."""
        return [text for call in self.calls if call.role == "document" for text in call.texts]

    def queries(self) -> list[str]:
        """Every query asked for so far, in order."""
        return [text for call in self.calls if call.role == "query" for text in call.texts]

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._embed("document", texts) if texts else no_vectors(self.dim)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed("query", [text])[0]
        return vector

    def _embed(self, role: Role, texts: Sequence[str]) -> Vectors:
        self.calls.append(Call(role, tuple(texts)))
        if self._slow_left:
            self._slow_left -= 1
            self._sleep(self._slow_s)
        fault = self._next_fault()
        if fault == "down":
            raise EmbedderDown(f"{self.name!r} was told to be down; tell it to recover")
        rows = [_bag_of_words(text, self.dim) for text in texts]
        if fault == "wrong_dim":
            rows = [[*row, 1.0] for row in rows]
        if fault == "nan":
            rows[-1][0] = float("nan")
        return normalised(rows, self.dim, source=self.name)

    def _next_fault(self) -> Fault | None:
        if self._fault is None or self._faults_left == 0:
            return None
        if self._faults_left > 0:
            self._faults_left -= 1
        return self._fault


def _bag_of_words(text: str, dim: int) -> list[float]:
    from hashlib import blake2b

    row = [0.0] * dim
    for word in re.findall(r"\w+", text.casefold()):
        digest = blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
        row[int.from_bytes(digest, "big") % dim] += (
            1.0  # counts only add up, so no text but a wordless one is zero
        )
    if not any(row):
        row[0] = 1.0
    return row


class FakeEncoder(FakeEmbedder):
    """Hashed words as tokens. Words that `alike` maps to one another have the same vector."""

    def __init__(
        self,
        dim: int = 256,
        *,
        alike: Mapping[str, str] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(dim, name=f"fake/tokens@{dim}", sleep=sleep)
        self._alike = alike or {}

    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        meant = [[self._alike.get(word, word) for word in self.token_words(text)] for text in texts]
        rows = self.embed_documents([word for words in meant for word in words])
        ends = list(accumulate(map(len, meant)))
        return [rows[end - len(words) : end] for words, end in zip(meant, ends, strict=True)]

    def token_words(self, text: str) -> list[str]:
        return re.findall(r"\w+", text.lower())
