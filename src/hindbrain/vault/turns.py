"""Turns for those who read a note, think, and replace it: one at a time, the first comes first.

Without turns, each of fifty that add a line to one note would find its reading outdated again and again.
Nobody is kept from writing without one: what makes a write correct is the comparison of hashes.
"""

import zlib
from contextlib import AbstractContextManager
from pathlib import Path

from hindbrain.vault.lock import FileLock

_LINES = 64  # lock files: notes share them, since lock files are never deleted
_LONGEST_WAIT_S = 10.0


def turn(folder: Path, path: str) -> AbstractContextManager[None]:
    """`folder`: for the lock files. Take no second turn inside. Raises Busy after a long wait."""
    number = zlib.crc32(path.encode("utf-8", "surrogatepass")) % _LINES
    return FileLock(folder / f"{number}.lock").held(_LONGEST_WAIT_S)
