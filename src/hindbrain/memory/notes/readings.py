"""The notes that this process read lately, byte for byte: what a merge needs when one of them has changed.

Bounded, in memory only. Knows nothing of the disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Page

_MOST_PAGES = 64
_MOST_BYTES = 8_000_000


class Readings:
    def __init__(self) -> None:
        self._pages: dict[tuple[str, str], Page] = {}  # by path and hash, the latest last
        self._bytes = 0

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

    def _drop(self, key: tuple[str, str]) -> None:
        page = self._pages.pop(key, None)
        if page is not None:
            self._bytes -= len(page.data)
