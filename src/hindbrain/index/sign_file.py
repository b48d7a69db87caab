"""The signs of all vectors of an index in one file, which a cold search reads.

Derived data beside `index.db`: reading 85 MB of codes for one question takes a second, 11 MB of signs some
milliseconds. A vector never changes under its passage id and new ids are higher, so a file stays true for the
ids that it has: later ones are read from the index, and those that are gone are not found there. It belongs
to one `vector_epoch` of the index. A file that is missing, short, damaged or of another epoch is no file.
"""

from __future__ import annotations

import contextlib
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.files import replace_file

if TYPE_CHECKING:
    from hindbrain.index.vector_signs import Signs
    from hindbrain.index.vectors import Ids

SIGN_FILE = "signs.bin"
_MAGIC = b"HBSIGNS1"
_HEADER = struct.Struct("<8sqqqI28x")  # magic, epoch, numbers in a vector, rows, checksum of the rest
_DEAD_SHARE = 0.25  # of rows whose vectors are gone
_BLOCK = 8_192  # vectors that are turned into signs at a time
VectorRow = tuple[int, bytes]  # passage id, codes


class SignFile(NamedTuple):
    """Rows ascend by id."""

    ids: Ids
    signs: Signs

    @property
    def last_id(self) -> int:
        return int(self.ids[-1]) if len(self.ids) else 0


def read_sign_file(path: Path, epoch: int, dim: int) -> SignFile | None:
    """Read the file; None when there is none that fits.

    Not mapped into memory: it is read whole for its checksum anyway, and a mapped file that is cut short ends
    the process.
    """
    import numpy as np

    from hindbrain.index.vector_signs import words_for

    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) < _HEADER.size:
        return None
    magic, its_epoch, its_dim, rows, checksum = _HEADER.unpack_from(data)
    words = words_for(dim)
    if (magic, its_epoch, its_dim) != (_MAGIC, epoch, dim) or rows < 0:
        return None
    if len(data) != _HEADER.size + 8 * rows * (1 + words):
        return None
    if zlib.crc32(memoryview(data)[_HEADER.size :]) != checksum:
        return None
    ids = np.frombuffer(data, "<i8", rows, _HEADER.size)
    signs = np.frombuffer(data, "<u8", rows * words, _HEADER.size + 8 * rows).reshape(words, rows)
    return SignFile(ids, signs)


def write_sign_file(path: Path, epoch: int, dim: int, made: SignFile) -> None:
    """Put the file in its place, whole or not at all. A disk that has no room for it is no failure."""
    ids = made.ids.astype("<i8", copy=False).tobytes()
    signs = made.signs.astype("<u8", copy=False).tobytes()
    header = _HEADER.pack(_MAGIC, epoch, dim, len(made.ids), zlib.crc32(signs, zlib.crc32(ids)))
    with contextlib.suppress(OSError):
        replace_file(path, header, ids, signs, durable=False)


def update_sign_file(
    path: Path, epoch: int, dim: int, vectors: int, vectors_after: Callable[[int], Iterable[VectorRow]]
) -> SignFile:
    """Bring the file up to the `vectors` that the index has; made anew when many of its rows are gone."""
    before = read_sign_file(path, epoch, dim)
    made = joined(before, vectors_after(before.last_id if before else 0), dim)
    if len(made.ids) > vectors * (1 + _DEAD_SHARE):
        made = joined(None, vectors_after(0), dim)
    write_sign_file(path, epoch, dim, made)
    return made


def joined(before: SignFile | None, rows: Iterable[VectorRow], dim: int) -> SignFile:
    """Return the signs that are there already, and those of `rows`, whose ids ascend above them."""
    import numpy as np

    from hindbrain.index.vector_signs import pack_signs, words_for

    ids = [] if before is None else [before.ids]
    signs = [] if before is None else [before.signs]
    for block in _blocks(rows):
        ids.append(np.array([id_ for id_, _ in block], dtype=np.int64))
        codes = np.frombuffer(b"".join(codes for _, codes in block), dtype=np.int8)
        signs.append(pack_signs(codes.reshape(len(block), dim)))
    if not ids:
        return SignFile(np.empty(0, np.int64), np.empty((words_for(dim), 0), np.uint64))
    return SignFile(np.concatenate(ids), np.ascontiguousarray(np.concatenate(signs, axis=1)))


def _blocks(rows: Iterable[VectorRow]) -> Iterator[list[VectorRow]]:
    block: list[VectorRow] = []
    for row in rows:
        block.append(row)
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block
