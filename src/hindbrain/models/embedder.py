"""What an embedder is, how it is configured, and what its vectors must look like.

Knows nothing of providers, HTTP or files: those are the embedders' own business.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeGuard

from hindbrain.base.errors import EmbedderError, EmbedderMismatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]  # rows of length 1 (L2)

Role: TypeAlias = Literal["query", "document"]

# Services refuse an empty input, and one blank passage must not fail the batch that it is in.
BLANK_TEXT = "(empty)"


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """Which embedder to use. Keys are not settings: they are looked up apart and never stored here."""

    provider: str = "auto"
    model: str = ""  # "" is the provider's usual model
    base_url: str = ""  # "" is the provider's own address
    dimension: int = 0  # 0 is the model's own; else asked for where the provider can, and always checked
    batch_size: int = 50  # texts a request; a provider's lower limit wins
    timeout_s: float = 60.0  # one request; a query waits less
    max_retries: int = 3  # after the first try; a query is not tried again
    path: str = ""  # a model's folder, for the local providers


class Embedder(Protocol):
    """Turns texts into vectors of length 1, so that a dot product is a cosine."""

    @property
    def name(self) -> str:
        """Part of the cache key: what gives other vectors has another name. Never asks the network."""
        ...

    @property
    def dim(self) -> int:
        """Numbers a vector. The first look may embed a word to find out, and may fail as embedding can."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """One row a text, in order: float32, shape (len(texts), dim). All of them or an error."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dim,). Fails early rather than late: somebody waits for the answer."""
        ...


class PieceEmbedder(Embedder, Protocol):
    """An embedder that sums piece vectors, so that the words of a query can be weighted."""

    def pieces(self, text: str) -> list[int]:
        """The numbers (below 65,536) of the pieces that a text is made of, in order."""
        ...

    def embed_pieces(self, documents: Sequence[Sequence[int]]) -> Vectors:
        """One row a document; a document without pieces gets zeros."""
        ...

    def embed_weighted(self, words: Iterable[tuple[str, float]]) -> Vectors:
        """A query vector in which each word counts with its weight. Shape (dim,)."""
        ...


def has_pieces(embedder: Embedder | None) -> TypeGuard[PieceEmbedder]:
    """Is it one that sums piece vectors? Asks the class: to look at `dim` may take a request to a service."""
    return hasattr(type(embedder), "embed_weighted")


def normalised(rows: Any, expected_dim: int, *, source: str) -> Vectors:
    """Check what a model gave (`rows`: an array or nested lists) and scale each row to length 1.

    `expected_dim` 0 accepts any. `source` names the embedder in the errors.
    """
    import numpy as np

    raw = _as_matrix(rows, source)
    if expected_dim and raw.shape[1] != expected_dim:
        raise EmbedderMismatch(
            f"{source!r} gave vectors of {raw.shape[1]} numbers where {expected_dim} are expected; "
            "set the dimension that the model has, or rebuild the index for this model"
        )
    wide = raw.astype(np.float64)  # a float32 square under- or overflows long before the value does
    finite = np.isfinite(wide).all(axis=1)
    if not finite.all():
        raise EmbedderError(_bad_row(source, int(np.argmin(finite)), len(wide), "holds NaN or infinity"))
    # Scaling by the largest number first keeps the squares of very large and very small rows in range.
    peak = np.abs(wide).max(axis=1, keepdims=True)
    if not peak.all():
        raise EmbedderError(_bad_row(source, int(np.argmin(peak)), len(wide), "is all zeros"))
    wide /= peak
    wide /= np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return wide.astype(np.float32)


def no_vectors(dim: int) -> Vectors:
    """The answer to no texts: nothing is asked, so `dim` may be 0 when it is not known yet."""
    import numpy as np

    return np.zeros((0, dim), dtype=np.float32)


def batches(texts: Sequence[str], *, max_count: int, max_chars: int) -> Iterator[list[str]]:
    """Cut `texts` into runs within both limits, in order; a text longer than `max_chars` goes alone."""
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) >= max_count or chars + len(text) > max_chars):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch


def prepared(text: str, prefix: str, max_chars: int) -> str:
    """What is sent for `text`: never blank, never beyond `max_chars`, always valid UTF-8."""
    clean = text[:max_chars].encode("utf-8", "replace").decode("utf-8")
    return prefix + (clean if clean.strip() else BLANK_TEXT)


def _as_matrix(rows: Any, source: str) -> NDArray[Any]:
    import numpy as np

    try:
        raw = np.asarray(rows)
    except (ValueError, TypeError, OverflowError) as error:
        raise EmbedderError(f"{source!r} gave vectors of unequal lengths; nothing was stored") from error
    # Text and null arrive as other kinds of array: "NaN" as a string must not slip through as a number.
    if raw.dtype.kind not in "fiu" or raw.ndim != 2 or raw.shape[1] == 0:
        raise EmbedderError(f"{source!r} gave something else than rows of numbers; nothing was stored")
    return raw


def _bad_row(source: str, row: int, count: int, what: str) -> str:
    return f"{source!r} gave a vector that {what} (number {row + 1} of {count}); nothing was stored"
