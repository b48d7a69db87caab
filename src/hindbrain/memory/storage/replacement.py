"""One memory in the place of another: who may replace whose words, and what the new line takes over.

A correction seldom repeats the words under which a fact is needed. The new line gets the cues, tags and
importance of the one that it replaces, as far as its caller did not give them. Knows no queue and no judge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.memory.items.note_edit import Reword, Strike
from hindbrain.vault.items.item import MemoryItem, adds_to, merged_cues, merged_tags, trust_of

if TYPE_CHECKING:
    from hindbrain.memory.items.book import MemoryBook
    from hindbrain.memory.storage.applying import Applier

_AGENT = trust_of("agent")


def may_replace(new: MemoryItem, old: MemoryItem, *, from_owner: bool = False) -> bool:
    """Whether `new` is trusted enough. `from_owner`: the owner said it in a conversation."""
    mine = trust_of(new.source)
    return mine <= trust_of(old.source) or (from_owner and mine <= _AGENT)


def with_inherited(new: MemoryItem, old: MemoryItem, *, importance_given: bool = False) -> MemoryItem:
    """`new` with what it takes over from `old`: its own cues and tags first, the higher importance.

    `importance_given`: its importance was chosen, and stays. An `old` that is trusted less than `new` and
    than an agent adds nothing.
    """
    stays = importance_given or not adds_to(new, old)
    return new._replace(
        importance=new.importance if stays else max(new.importance, old.importance),
        tags=merged_tags(new, old),
        cues=merged_cues(new, old) or new.cues,
    )


def supersede(book: MemoryBook, applier: Applier, older_id: str, newer_id: str, today: str) -> bool:
    """Strike a memory for another; False when one is gone or struck, or the newer is trusted less."""
    by_id = {item.id: item for item in book.items() if item.id and not item.superseded}
    older, newer = by_id.get(older_id), by_id.get(newer_id)
    if older is None or newer is None or older is newer or not may_replace(newer, older):
        return False
    line = with_inherited(newer, older)
    grown = Reword(newer, importance=line.importance, cues=line.cues, tags=line.tags)
    applier.edit(newer.path, [grown], today)
    applier.edit(older.path, [Strike(older, newer.id)], today)
    return True
