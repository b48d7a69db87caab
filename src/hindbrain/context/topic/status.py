"""One line that tells an agent how its memory stands, when there is something to tell.

Pure. "" when all is well: a line in every prompt that says nothing is a cost.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from hindbrain.index.standing import IndexStanding, Making

State: TypeAlias = Literal["ready", "indexing", "stale", "missing", "degraded"]

STALE_S = 86_400.0  # without a sync, after which nobody can say that the index is what the vault is
_MISSING = "index_missing"


def memory_state(
    standing: IndexStanding, making: Making | None = None, *, now: float = 0.0, by_words: bool = False
) -> State:
    """`by_words`: the embedder can't be asked, so only words are searched. `now` 0: age is not judged."""
    if making is not None and (making.done < making.total or not making.total):
        return "indexing"
    if standing.state == _MISSING:
        return "missing"
    if standing.state != "ready" or by_words:
        return "degraded"
    if now and standing.synced_at and now - standing.synced_at > STALE_S:
        return "stale"
    return "ready"


def memory_status(
    standing: IndexStanding, making: Making | None = None, *, now: float = 0.0, by_words: bool = False
) -> str:
    """The line for a prompt; "" when the memory is ready."""
    state = memory_state(standing, making, now=now, by_words=by_words)
    if state == "ready":
        return ""
    progress = f' progress="{making.done}/{making.total}"' if making is not None and making.total else ""
    return f'<memory_status provider="hindbrain" state="{state}"{progress} />'
