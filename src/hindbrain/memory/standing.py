"""How the memory of a vault stands: counts, what waits, and whether the index can be asked."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.memory.answers import MemoryStatus

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory


def standing(memory: Memory) -> MemoryStatus:
    """Never raises for a part that can't be looked at: it is named in `problems`."""
    problems: list[str] = []
    pending = memory.queue.pending()
    items = memory.book.items()
    problems += [f"{problem.path}: {problem.message}" for problem in memory.book.problems]
    living = Counter(item.category for item in items if not item.superseded)
    inbox = 0
    try:
        inbox = len(memory.inbox.pending())
    except HindbrainError as error:
        problems.append(f"the inbox can't be read ({error.code})")
    index = memory.index_standing()
    return MemoryStatus(
        layout=memory.layout.name,
        folder=memory.layout.folder,
        counts=dict(sorted(living.items())),
        superseded=sum(1 for item in items if item.superseded),
        pending=len(pending),
        unreadable=memory.queue.unreadable,
        inbox=inbox,
        notes=index.notes,
        synced_at=index.synced_at,
        index=index.state,
        embedder=index.embedder,
        embedder_problem=index.embedder_problem,
        problems=tuple(problems),
    )
