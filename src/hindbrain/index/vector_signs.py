"""One bit a number, its sign: a cheap first look that leaves few rows for exact scoring.

Two vectors with a small angle between them agree in most signs. Nothing is trained, so rows can be added one
by one and an answer does not depend on the order in which they came. Pure; knows nothing of ids or storage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hindbrain.index.vectors import Codes, Floats

    Signs: TypeAlias = NDArray[np.uint64]  # shape (words, rows): word by word, so that a pass reads in order
    Distances: TypeAlias = NDArray[np.unsignedinteger[Any]]  # how many signs differ
    Rows: TypeAlias = NDArray[np.intp]

_WORD_BITS = 64
_BLOCK_ROWS = 16384  # its three buffers stay in the processor's cache


def words_for(dim: int) -> int:
    return -(-dim // _WORD_BITS)


def pack_signs(numbers: Codes | Floats) -> Signs:
    """The signs of each row; the last word is padded with zeros, which differ from nothing."""
    rows, dim = numbers.shape
    packed = np.zeros((rows, words_for(dim) * 8), dtype=np.uint8)
    packed[:, : -(-dim // 8)] = np.packbits(numbers < 0, axis=1)
    return np.ascontiguousarray(packed.view(np.uint64).T)


def sign_distances(signs: Signs, query: Signs, count: int) -> Distances:
    """How many signs of each of the first `count` rows differ from the query's."""
    # Up to four words fit a byte, but for 256 differences, which wrap to 0: an opposite vector then takes a
    # place among the candidates, and its exact score puts it last.
    counter: type[np.unsignedinteger[Any]] = np.uint8 if len(signs) <= 4 else np.uint16
    distances = np.zeros(count, dtype=counter)
    differing = np.empty(_BLOCK_ROWS, dtype=np.uint64)
    counted = np.empty(_BLOCK_ROWS, dtype=np.uint8)
    for start in range(0, count, _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, count)
        block, xor, bits = distances[start:stop], differing[: stop - start], counted[: stop - start]
        for word, sought in zip(signs, query[:, 0], strict=True):
            np.bitwise_xor(word[start:stop], sought, out=xor)
            np.bitwise_count(xor, out=bits)
            np.add(block, bits, out=block)
    return distances


def nearest_by_signs(signs: Signs, query: Floats, wanted: int, count: int, among: Rows | None) -> Rows:
    """Up to `wanted` of the first `count` rows, those that agree in most signs; at the border the first ones.

    `among` (ascending) are the rows to choose from; None is all.
    """
    distances = sign_distances(signs, pack_signs(query[np.newaxis]), count)
    if among is None:
        return _lowest(distances, wanted)
    return among[_lowest(distances[among], wanted)]


def _lowest(distances: Distances, wanted: int) -> Rows:
    """Places of the `wanted` lowest, ascending. Counting beats sorting: there are few different distances."""
    if len(distances) <= wanted:
        return np.arange(len(distances))
    up_to = np.cumsum(np.bincount(distances))
    border = int(np.searchsorted(up_to, wanted))
    chosen = np.flatnonzero(distances <= border)
    surplus = int(up_to[border]) - wanted
    if surplus:
        at_border = np.flatnonzero(distances[chosen] == border)
        chosen = np.delete(chosen, at_border[-surplus:])
    return chosen
