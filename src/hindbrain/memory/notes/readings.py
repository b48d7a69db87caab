"""The notes that this process read lately, byte for byte: what a merge needs when one of them has changed.

And which of their lines callers were shown: who saw a part of a note must not replace the whole of it.
Bounded, in memory only. Knows nothing of the disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page

_MOST_PAGES = 64
_MOST_BYTES = 8_000_000


class Readings:
    def __init__(self) -> None:
        self._pages: dict[tuple[str, str], Page] = {}  # by path and hash, the latest last
        self._bytes = 0
        self._shown: dict[str, set[int]] = {}  # by path, the latest last: hashes of stripped lines

    def add(self, page: Page) -> None:
        """Keep what was read; the oldest readings make room for it."""
        self._drop((page.path, page.hash))
        if len(page.data) > _MOST_BYTES:
            return
        self._pages[page.path, page.hash] = page
        self._bytes += len(page.data)
        while len(self._pages) > _MOST_PAGES or self._bytes > _MOST_BYTES:
            self._drop(next(iter(self._pages)))

    def find(self, path: str, hash_start: str) -> Page | None:
        """The reading of that note whose hash begins so; None when it is not kept, or when two begin so."""
        found = [
            page
            for (known, digest), page in self._pages.items()
            if known == path and digest.startswith(hash_start)
        ]
        return found[0] if len(found) == 1 else None

    def show(self, path: str, lines: Iterable[str]) -> None:
        """Note that callers know these lines of the note: they were shown them, or wrote them."""
        shown = self._shown.pop(path, set())
        shown.update(hash(line.strip()) for line in lines)
        self._shown[path] = shown
        while len(self._shown) > _MOST_PAGES:
            del self._shown[next(iter(self._shown))]

    def unseen(self, path: str, lines: Iterable[str]) -> list[str]:
        """Those of the lines that no caller was shown; blank lines say nothing."""
        shown = self._shown.get(path, set())
        return [line for line in lines if line.strip() and hash(line.strip()) not in shown]

    def _drop(self, key: tuple[str, str]) -> None:
        page = self._pages.pop(key, None)
        if page is not None:
            self._bytes -= len(page.data)
