"""Displaced files that are looked at again: their names are gone, their bytes stay while we hold them open.

An editor may have opened a note in the very instant before it was displaced, and write into it afterwards.
What it wrote becomes a conflict copy, which is a new file and needs no lock.
"""

import stat
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hindbrain.base.clock import Clock
from hindbrain.vault.atomic import Folder, Seen
from hindbrain.vault.commit import conflict_name
from hindbrain.vault.displaced import Displaced

_MOST = 8  # each holds a descriptor
_LONGEST_S = 10.0


@dataclass(frozen=True, slots=True)
class _Item:
    parts: tuple[str, ...]
    name: str
    displaced: Displaced
    since: float  # time.monotonic()


class Lingering:
    def __init__(self, root: Path, clock: Clock) -> None:
        self._root = root
        self._clock = clock
        self._items: list[_Item] = []

    def add(self, parts: Sequence[str], name: str, displaced: Displaced | None) -> None:
        if displaced is None:
            return
        self._items.append(_Item(tuple(parts), name, displaced, time.monotonic()))

    def look_again(self, *, last: bool = False) -> None:
        """Keep what was written since, and forget what has been quiet long enough. Raises OSError."""
        for item in list(self._items):
            too_many = len(self._items) > _MOST
            over = last or too_many or time.monotonic() - item.since > _LONGEST_S
            if self._look(item, last=over):
                self._items.remove(item)

    def _look(self, item: _Item, *, last: bool) -> bool:
        """True when the watch is over. An emptied file is waited for: its writer has only begun."""
        now = item.displaced.changed()
        written = now is not None and bool(now.data)
        if now is not None and written:
            self._keep(item, now)
        if written or last:
            item.displaced.close()
        return written or last

    def _keep(self, item: _Item, now: Seen) -> None:
        with Folder.open(self._root, item.parts, create=True) as folder:
            for number in range(1, 1_000):
                copy = conflict_name(item.name, self._clock.now(), number)
                try:
                    folder.write_temp(copy, now.data, mode=stat.S_IMODE(now.stamp.mode))
                except FileExistsError:
                    continue
                folder.sync()
                return
