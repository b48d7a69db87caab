"""After a consolidation: proved, or taken back as if it had not been.

Taking back loses no memory either: what others had given to the write queue, and came into a note together
with what is taken back, goes into the queue again. Knows nothing of the steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.learn.consolidation.proof import Change, Proof, prove
from hindbrain.learn.consolidation.remembering import CONSOLIDATED_TAG
from hindbrain.learn.consolidation.watching import changes_of, take_back
from hindbrain.memory.storage.queue import Waiting
from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.items.item_line import read_line
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

    def settle(
        self, revisions: Sequence[Revision], vouching: Sequence[str], logs: Mapping[str, int]
    ) -> Proof:
        """`logs`: how long the logs of learning were before; what they say of notes goes with these."""
        if not revisions:
            return Proof()
        changes = changes_of(self._writer(), revisions)
        proof = prove(changes, ours=self._is_ours, now=self._now, vouching=vouching)
        if proof.holds:
            return proof
        # A line that is gone from the inbox means a person's no: what was proposed goes on waiting there.
        own = [one for one in revisions if one.path != self._memory.inbox.path]
        failures = take_back(self._writer(), own, self._now)
        for name, size in logs.items():
            self._writer().edit_state_file(name, partial(_first_bytes, size))
        self._memory.notebook.touched.update(check_existing_path(one.path) for one in revisions)
        self._give_back(changes)
        return proof._replace(rolled_back=not failures, report=tuple(failures))

    def _is_ours(self, path: str, line: str) -> bool:
        if path == self._memory.inbox.path and "^p-" in line:
            return True  # a proposal that was decided on: the program wrote that line
        own = self._desk.own
        if own.is_ours(path, line):
            return True
        # A lesson's line changes with its figures; whose words it has is noted by its id.
        parts = read_line(line)
        return parts.id.startswith("l-") and own.is_ours(path, f"^{parts.id} {parts.text}")

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


def log_sizes(root: Path) -> dict[str, int]:
    """How long the logs are that say what learning has put into notes. Without its end, it is done again."""
    from hindbrain.learn.lessons.lesson_log import NAME
    from hindbrain.learn.recording.recorded import RECORDED
    from hindbrain.learn.summaries.summaries import SUMMARIES
    from hindbrain.learn.templates.records import RECORDS

    sizes: dict[str, int] = {}
    for name in (NAME, RECORDED, RECORDS, SUMMARIES):
        file = root / ".hindbrain" / name
        sizes[name] = file.stat().st_size if file.exists() else 0
    return sizes


def _first_bytes(size: int, data: bytes) -> bytes:
    return data[:size]


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
        "deferred", item.day_note, cues=item.cues,
    )  # fmt: skip
