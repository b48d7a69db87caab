"""Memories that stand in other notes than those of the layout: their owner has moved or split a note.

The ledger says which memories there are and where each stood last; one that is not where it was is looked for
by its id in the whole vault. What is found is told to the ledger, so that it is looked for once.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.vault.items.category import CATEGORIES, category_of_note
from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.marks import read_marks
from hindbrain.vault.moved_notes import is_put_away

if TYPE_CHECKING:
    from hindbrain.memory.forgetting.ledger import Ledger
    from hindbrain.memory.notes.notebook import Notebook
    from hindbrain.vault.layout import Layout


class Elsewhere:
    def __init__(self, notebook: Notebook, layout: Layout, ledger: Callable[[], Ledger]) -> None:
        self._notebook = notebook
        self._layout = layout
        self._ledger = ledger

    @property
    def version(self) -> int:
        """Another number whenever the ledger knows something else."""
        return self._ledger().version

    def missing(self, present: Collection[str]) -> dict[str, str]:
        """The memories that should be somewhere and are not `present`, and where each stood last."""
        living = self._ledger().living()
        return {
            id_: path
            for id_, path in living.items()
            if id_ not in present and not is_put_away(self._layout, path)
        }

    def find(self, missing: Mapping[str, str]) -> list[str]:
        """The notes in which these memories stand now, without archives. `missing`: as `missing` returns."""
        moved = self._layout.moved
        if moved is None or not missing:
            return []
        found, _ = moved.find_ids(missing.keys())
        paths = set(found.values())
        self._tell_ledger(found)
        # Lost with its whole note: that no new note at the same path has it means nothing.
        lost = [id_ for id_, path in missing.items() if id_ not in found and not self._notebook.has(path)]
        with contextlib.suppress(HindbrainError):
            self._ledger().note_lost(lost)
        return sorted(path for path in paths if not is_put_away(self._layout, path))

    def surely_nowhere(self, ids: Collection[str]) -> set[str]:
        """Those of the ids that stand in no note of the vault; none when a note could not be looked at."""
        moved = self._layout.moved
        if moved is None:
            return set(ids)
        found, complete = moved.find_ids(ids, again=True) if ids else ({}, True)
        self._tell_ledger(found)
        return {id_ for id_ in ids if id_ not in found} if complete else set()

    def returned(self, ids: Collection[str]) -> list[MemoryItem]:
        """Of memories that were deleted by hand, those that the index has seen in a note again."""
        moved = self._layout.moved
        if moved is None or not ids:
            return []
        found = moved.find_indexed(ids)
        return [item for path in set(found.values()) for item in self._items(path, found.keys())]

    def _items(self, path: str, ids: Collection[str]) -> list[MemoryItem]:
        with contextlib.suppress(HindbrainError):
            data = self._notebook.read(path).data
            texts = NoteLines(data, repr(path)).texts
            return items_with_ids(texts, path, category_told(data, path), ids)
        return []

    def _tell_ledger(self, found: Mapping[str, str]) -> None:
        items = [item for path in set(found.values()) for item in self._items(path, found.keys())]
        with contextlib.suppress(HindbrainError):
            self._ledger().note_stored(items)


def category_told(data: bytes, path: str) -> str:
    """The category of a note that is not the layout's: by its frontmatter, else by its name."""
    told = read_marks(data).category.casefold()
    return told if told in CATEGORIES else category_of_note(path)


def items_with_ids(texts: list[str], path: str, category: str, ids: Collection[str]) -> list[MemoryItem]:
    return [item for item in parse_items(texts, path=path, category=category) if item.id in ids]
