"""After an undo or a redo: what went with it was not deleted by a person, and what is back counts.

A memory whose line an undo took out is gone without a tombstone: it may be learned again, and a redo brings
it back as it was.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.vault.hashing import ABSENT
from hindbrain.vault.items.item import parse_items
from hindbrain.vault.marks import block_ids
from hindbrain.vault.parse import decode_note

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import TakenBack, VaultWriter


def tell_memory(memory: Memory, writer: VaultWriter, done: TakenBack) -> None:
    """Never fails: the notes are as they should be, and the next settling finds out what is left to do."""
    before: set[str] = set()
    after: set[str] = set()
    wanted = {note.revision_id for note in done.notes if note.revision_id}
    changes = [one for one in writer.history(limit=len(wanted)) if one.id in wanted]
    for revision in changes:
        before |= _memories_in(writer, revision.before_hash)
        after |= _memories_in(writer, revision.after_hash)
    with contextlib.suppress(HindbrainError):
        for revision in changes:
            if revision.path == memory.inbox.path:
                memory.inbox.take_back(
                    _bytes(writer, revision.before_hash), _bytes(writer, revision.after_hash), done.op
                )
    with contextlib.suppress(HindbrainError):
        there = {item.id for item in memory.book.items()} if before - after else set()
        memory.ledger.note_gone(before - after - there)
        if after - before:
            memory.notice_deleted()  # lifts the tombstones of what is back
        for revision in changes:
            for text in _typed_in(memory, writer, revision):
                memory.tombstones.lift(text)


def _typed_in(memory: Memory, writer: VaultWriter, revision: Revision) -> set[str]:
    """What memories without an id say that are back in a note of memories."""
    path = revision.path
    memory.book.items()  # has a look at the notes
    if path not in memory.book.readable_paths():
        return set()
    category = memory.book.category_of(path)

    def texts(digest: str) -> set[str]:
        lines = decode_note(_bytes(writer, digest))[0].split("\n")
        items = parse_items(lines, path=path, category=category)
        return {item.text for item in items if not item.id}

    return texts(revision.after_hash) - texts(revision.before_hash)


def _memories_in(writer: VaultWriter, digest: str) -> set[str]:
    return {id_ for id_ in block_ids(decode_note(_bytes(writer, digest))[0]) if id_[0] == "m"}


def _bytes(writer: VaultWriter, digest: str) -> bytes:
    return b"" if digest == ABSENT else writer.kept(digest) or b""
