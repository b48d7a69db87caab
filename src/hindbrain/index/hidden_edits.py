"""Finds notes whose bytes changed though their size and time stamp did not (sync tools set times back).

Reads, writes nothing. Two looks. The inode's change time can't be set back, so a note whose change time is
later than the moment it was read is read again: complete, at the price of one `stat` for each note. Where the
system keeps no such time (Windows), and against clocks that go wrong, a part of the vault is read each time.
"""

import os
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.index.plan import KnownNote
from hindbrain.index.store import IndexStore
from hindbrain.vault.discover import path_id, vault_id
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import read_note
from hindbrain.vault.scan import DEFAULT_MAX_BYTES

_HAS_CHANGE_TIME = os.name != "nt"  # on Windows st_ctime is when the file was made
_RACY_NS = 2_000_000_000
_ROUND = 60  # looks in which the whole vault is read once: an hour, at one a minute
_WINDOWS_READS = 5_000  # half a second to a second


class HiddenEdits:
    """Goes round the vault, look by look."""

    def __init__(
        self, root: Path, index_path: Path, clock: Clock, *, max_bytes: int = DEFAULT_MAX_BYTES
    ) -> None:
        self._root = root
        self._index_path = index_path
        self._clock = clock
        self._max_bytes = max_bytes
        self._after = ""  # where the last round of reading came to
        # When a note was last read and found to be as known. Without this, a note whose rights were changed
        # would be read at every look.
        self._read_ns: dict[NotePath, int] = {}

    def find(self) -> frozenset[NotePath]:
        """Return the notes whose bytes are not what the index holds. Raises IndexFault."""
        store = IndexStore(self._index_path, (vault_id(self._root), path_id(self._root)))
        try:
            known = store.known_notes()
        finally:
            store.close()
        suspects = self._next_part(known)
        if _HAS_CHANGE_TIME:
            suspects |= self._touched(known)
        self._read_ns = {path: at for path, at in self._read_ns.items() if path in known}
        return frozenset(path for path in suspects if self._differs(path, known[path]))

    def _touched(self, known: Mapping[NotePath, KnownNote]) -> frozenset[NotePath]:
        top = os.path.join(self._root, "")  # noqa: PTH118
        read_ns = self._read_ns
        return frozenset(
            path
            for path, note in known.items()
            if _is_touched(top + path, max(note.indexed_ns, read_ns.get(path, 0)))
        )

    def _next_part(self, known: Iterable[NotePath]) -> frozenset[NotePath]:
        paths = sorted(known)
        count = -(-len(paths) // _ROUND) if _HAS_CHANGE_TIME else _WINDOWS_READS
        part = [path for path in paths if path > self._after][:count]
        self._after = part[-1] if len(part) == count and part else ""
        return frozenset(part)

    def _differs(self, path: NotePath, note: KnownNote) -> bool:
        now_ns = int(self._clock.now() * 1e9)
        try:
            if content_hash(read_note(self._root, path, max_bytes=self._max_bytes)) != note.hash:
                return True
        except (HindbrainError, OSError):
            return False  # gone or unreadable: the scan's business
        self._read_ns[path] = now_ns
        return False


def _is_touched(file: str, read_ns: int) -> bool:
    try:
        return os.stat(file).st_ctime_ns > read_ns - _RACY_NS  # noqa: PTH116
    except OSError:
        # Another Unicode form on disk is found only by reading; what is gone is the scan's business.
        return not unicodedata.is_normalized("NFD", file)
