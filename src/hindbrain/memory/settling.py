"""What must be done between two calls: the queue, the inbox, deletions by hand, the index.

Each part by itself: the failure of one is told and keeps no other from being done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hindbrain.base.errors import Busy, HindbrainError
from hindbrain.memory.answers import Settled
from hindbrain.memory.inbox.inbox import Settled as InboxSettled
from hindbrain.memory.storage.storing import FLUSH_WAIT_S, Flushed

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory

_T = TypeVar("_T")


def settle(memory: Memory, *, idle: bool) -> Settled:
    problems: list[str] = []

    def part(name: str, act: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return act()
        except Busy:
            return otherwise  # another process is at it
        except HindbrainError as error:
            problems.append(f"{name}: {error}")
            return otherwise

    flushed = part("memories wait", lambda: _flush(memory, idle), Flushed())
    problems += [f"memory {one.waiting.id!r} waits: {one.error}" for one in flushed.failed]
    if flushed.problem:
        problems.append(f"the queue: {flushed.problem}")
    inbox = part("the inbox", memory.inbox.settle, InboxSettled())
    deleted = part("deleted memories", memory.notice_deleted, list[str]())
    indexed = part("the index", memory.take_in_touched, 0)
    part("the log of use", memory.record_accesses, 0)
    return Settled(
        applied=tuple(entry.answer for entry in flushed.applied),
        accepted=tuple(proposal.text for proposal in inbox.accepted if proposal.kind == "remember"),
        refused=len(inbox.refused),
        deleted=tuple(deleted),
        indexed=indexed,
        problems=tuple(problems),
    )


def _flush(memory: Memory, idle: bool) -> Flushed:
    if not idle and not memory.is_due():
        return Flushed()
    return memory.flush(timeout_s=FLUSH_WAIT_S if idle else 0.0)
