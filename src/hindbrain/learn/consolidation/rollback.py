"""After a consolidation: proved, or taken back as if it had not been.

Taking back loses no memory either: what others had given to the write queue, and came into a note together
with what is taken back, goes into the queue again. Knows nothing of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hindbrain.learn.consolidation.proof import Change, Proof, prove
from hindbrain.learn.consolidation.remembering import CONSOLIDATED_TAG
from hindbrain.learn.consolidation.watching import changes_of, take_back
from hindbrain.memory.items.item import MemoryItem, parse_items
from hindbrain.memory.storage.queue import Waiting
from hindbrain.vault.parse import decode_note
from hindbrain.vault.path_rules import check_existing_path

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.memory.service import Memory
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import VaultWriter


class Judge:
    """Proves what was changed, and takes it back where that fails."""

    def __init__(self, desk: Desk, memory: Memory, writer: Callable[[], VaultWriter]) -> None:
        self._desk = desk
        self._memory = memory
        self._writer = writer

    def settle(self, revisions: Sequence[Revision], vouching: Sequence[str] = ()) -> Proof:
        if not revisions:
            return Proof()
        changes = changes_of(self._writer(), revisions)
        proof = prove(changes, ours=self._is_ours, now=self._now, vouching=vouching)
        if proof.holds:
            return proof
        failures = take_back(self._writer(), revisions, self._now)
        self._memory.notebook.touched.update(check_existing_path(one.path) for one in revisions)
        self._give_back(changes)
        return proof._replace(rolled_back=not failures, report=tuple(failures))

    def _is_ours(self, path: str, line: str) -> bool:
        if path == self._memory.inbox.path and "^p-" in line:
            return True  # a proposal that was decided on: the program wrote that line
        return self._desk.own.is_ours(path, line)

    def _now(self, path: str) -> bytes | None:
        page = self._memory.notebook.find(path)
        return None if page is None else page.data

    def _give_back(self, changes: Sequence[Change]) -> None:
        """Memories that came into a note and are gone from it again: nobody deleted them."""
        memory = self._memory
        memory_notes = {*memory.book.readable_paths(), *(item.path for item in memory.book.items())}
        there = {item.id for item in memory.book.items()}
        gone: dict[str, MemoryItem] = {}
        for change in changes:
            if change.path in memory_notes or memory.layout.role_of(change.path) == "memory":
                category = memory.book.category_of(change.path)
                before = {item.id for item in _items(change.before, change.path, category)}
                gone |= {
                    item.id: item
                    for item in _items(change.after, change.path, category)
                    if item.id not in before and item.id not in there
                }
        memory.ledger.note_gone(gone)
        waiting = [_waiting(item, memory.clock.now()) for item in gone.values() if not _is_of_ours(item)]
        if waiting:
            memory.queue.add(*waiting)


def _items(data: bytes | None, path: str, category: str) -> list[MemoryItem]:
    if data is None:
        return []
    lines = decode_note(data)[0].replace("\r\n", "\n").split("\n")
    return [item for item in parse_items(lines, path=path, category=category) if item.id.startswith("m-")]


def _is_of_ours(item: MemoryItem) -> bool:
    """A fact of a daily note, which is still there and is looked at again."""
    return CONSOLIDATED_TAG in item.tags


def _waiting(item: MemoryItem, now: float) -> Waiting:
    return Waiting(
        item.id, item.text, now, item.category, item.importance, item.source, item.tags, item.created,
        "deferred",
    )  # fmt: skip
