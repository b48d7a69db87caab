"""What a vector index is, how vectors become int8 codes, and which index suits a size.

Knows nothing of SQLite, notes or embedders: ids and codes come in, ids and cosines go out. numpy is imported
late, because the cold command line reads this module's names and never searches vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids: TypeAlias = NDArray[np.int64]  # passage ids, ascending wherever an index takes or keeps them
    Codes: TypeAlias = NDArray[np.int8]  # shape (n, dim), see `quantise`
    Floats: TypeAlias = NDArray[np.float32]

CODE_MAX = 127  # -128 is never used, so that a code and its negation are both codes
# 4,000 passages of 256 numbers. Alone, scoring all is as fast up to 20,000; within a search, ten megabytes of
# float32 have left the processor's cache by the next query, and a first look at signs takes half as long.
EXACT_NUMBERS = 1_000_000


class VectorIndex(Protocol):
    """Cosine search over passages, in memory. One thread changes it at a time; any number may search."""

    @property
    def size(self) -> int:
        """Passages that can be found."""
        ...

    def add(self, ids: Ids, codes: Codes) -> None:
        """Append. Ids ascend and are larger than any id that was ever added."""
        ...

    def remove(self, ids: Ids) -> None:
        """Forget these ids, in any order; unknown ones are left alone."""
        ...

    def search(self, query: Floats, k: int, allowed: Ids | None = None) -> tuple[Ids, Floats]:
        """The `k` nearest passages: ids and cosines, best first, ties by id. Cosines are always exact.

        `allowed` (ascending, each once) limits the answer to these ids. A zero query finds nothing.
        """
        ...

    def score(self, query: Floats, ids: Ids) -> Floats:
        """Exact cosine for each of `ids`, in any order; NaN where there is no vector."""
        ...


def quantise(vectors: Floats) -> Codes:
    """Scale each row so that its largest component is ±127, and round. A zero row stays zero.

    The scale is not kept: a cosine does not need it.
    """
    import numpy as np

    peaks = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    scale = np.divide(CODE_MAX, peaks, out=np.zeros_like(peaks), where=peaks > 0)
    codes: Codes = np.rint(vectors * scale).astype(np.int8)
    return codes


def open_vector_index(dim: int, expected: int = 0, *, exact_numbers: int = EXACT_NUMBERS) -> VectorIndex:
    """An empty index for vectors of `dim` numbers, with room for `expected` passages; more may come.

    The tier goes by what is held at the moment of a search: while that is less than `exact_numbers` numbers,
    all vectors are scored; beyond, only those that agree with the query in most signs.
    """
    from hindbrain.index.vector_memory import MemoryVectors

    return MemoryVectors(dim, expected, exact_numbers=exact_numbers)
