"""What somebody else than us did with memories: put their words right, or saw them and let them stand.

From the versions of a note that our own writes began and ended with: what lies between two of them was
written by a person (or their editor, or a program of theirs). Revisions are kept for 30 days, so an edit
counts for as long. Pure but for `load`, which brings the bytes of a version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.vault.items.item import MemoryItem, parse_items
from hindbrain.vault.items.item_text import fold
from hindbrain.vault.lines import NoteLines

if TYPE_CHECKING:
    from hindbrain.vault.revisions import Revision

_MOST_EDITS = 20  # the newest, of one note


class Edits(NamedTuple):
    """What happened to one memory."""

    edited: bool = False  # its words are not those that we wrote
    kept: int = 0  # times that its note was edited and it was left as it was


def edits_of(
    path: str,
    revisions: Sequence[Revision],
    now: bytes,
    now_hash: str,
    load: Callable[[str], bytes | None],
    *,
    category: str = "",
) -> dict[str, Edits]:
    """By the ids of the memories that stand in the note now. `revisions` of this note, oldest first."""
    found = {item.id: Edits() for item in _items(now, path, category) if item.id}
    for ours, theirs in _between(revisions, now, now_hash, load):
        before = {item.id: item for item in _items(ours, path, category)}
        after = {item.id: item for item in _items(theirs, path, category)}
        for id_, edits in found.items():
            if id_ in before and id_ in after:
                found[id_] = _with(edits, before[id_], after[id_])
    return found


def _between(
    revisions: Sequence[Revision], now: bytes, now_hash: str, load: Callable[[str], bytes | None]
) -> Iterator[tuple[bytes, bytes]]:
    """(as we left it, as we found it next) where somebody wrote in between, oldest first."""
    ends = [revision.after_hash for revision in revisions]
    starts = [revision.before_hash for revision in revisions[1:]] + [now_hash]
    gaps = [(end, start) for end, start in zip(ends, starts, strict=True) if end and start and end != start]
    for end, start in gaps[-_MOST_EDITS:]:
        ours = load(end)
        theirs = now if start == now_hash else load(start)
        if ours is not None and theirs is not None:
            yield ours, theirs


def _with(edits: Edits, before: MemoryItem, after: MemoryItem) -> Edits:
    if fold(before.text) != fold(after.text):
        return edits._replace(edited=True)
    return edits._replace(kept=edits.kept + 1)


def _items(data: bytes, path: str, category: str) -> list[MemoryItem]:
    return parse_items(NoteLines(data, path).texts, path=path, category=category)
