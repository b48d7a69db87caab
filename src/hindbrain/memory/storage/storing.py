"""Into the notes: when what waits is written, in which order, and what became of it.

Owns the write strategies. immediate: now, together with what waits, since in another order the older could
replace the newer. batched: durable in the queue at once, in its note with the tenth, or when the oldest has
waited for 30 s. deferred: the same, but nothing is written for its sake alone before the process is idle.
conditional: not when another memory says the same. Knows nothing of policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, HindbrainError
from hindbrain.memory.answers import Remembered
from hindbrain.memory.storage.applying import Applied, Applier, Failure, Resolver, answer_for
from hindbrain.memory.storage.queue import Waiting, WriteQueue
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.memory.conflicts.conflict import ConflictJudge
    from hindbrain.memory.items.book import MemoryBook
    from hindbrain.memory.storage.merged_ids import MergedIds
    from hindbrain.vault.items.item import MemoryItem
    from hindbrain.vault.layout import Layout

STRATEGIES = ("auto", "immediate", "batched", "deferred", "conditional")
_REST = 4.0  # times as long as the last flush took
FLUSH_WAIT_S = 10.0  # for another process that writes what waits


class WriteSettings(NamedTuple):
    """When what waits goes into notes."""

    batch_size: int = 10
    batch_interval_s: float = 30.0
    immediate_importance: float = 0.8

    def strategy(self, wanted: str, importance: float) -> str:
        if wanted != "auto":
            return wanted
        return "immediate" if importance >= self.immediate_importance else "batched"


class Flushed(NamedTuple):
    """What a flush brought into notes, and what goes on waiting."""

    applied: tuple[Applied, ...] = ()
    failed: tuple[Failure, ...] = ()
    problem: str = ""  # what was wrong with the queue's files: damaged lines, what could not be taken out

    def answer_to(self, memory_id: str) -> Remembered | None:
        return next((entry.answer for entry in self.applied if entry.waiting.id == memory_id), None)


class Storage:
    """The way of memories into notes. For one thread."""

    def __init__(
        self,
        queue: WriteQueue,
        book: MemoryBook,
        applier: Applier,
        merged: MergedIds,
        judge: Callable[[], ConflictJudge],
        layout: Layout,
        clock: Clock,
        settings: WriteSettings,
        today: Callable[[], str],
        asks_service: Callable[[], bool],
        find: Callable[[str], MemoryItem | None],
    ) -> None:
        """`asks_service`: the judge may ask one, which nobody does while a lock is held.

        `find`: the memory with an id, wherever it stands.
        """
        self._queue = queue
        self._book = book
        self._applier = applier
        self._merged = merged
        self._judge = judge
        self._layout = layout
        self._clock = clock
        self._settings = settings
        self._today = today
        self._asks_service = asks_service
        self._find = find
        self._rested_at = 0.0  # seconds since the epoch: no flush for a full batch before

    def store(self, waiting: Waiting) -> tuple[Remembered, Flushed]:
        """By its strategy; durable when this returns. With it comes what else was written by the way."""
        if waiting.strategy == "immediate":
            try:
                return self._result(waiting, self.flush(waiting, timeout_s=0))
            except Busy:
                if self._asks_service():
                    return self._result(waiting, self.flush(waiting, timeout_s=FLUSH_WAIT_S))
                return self._store_together(waiting)
        if waiting.strategy == "conditional":
            resolved = self._resolver().resolve([*self._queue.pending(), waiting])[-1]
            if resolved.action == "dropped":
                return resolved.dropped(), Flushed()
        self._queue.add(waiting)
        queued = _queued(waiting)
        if not self.is_due(self._queue.pending()):
            return queued, Flushed()
        try:
            flushed = self.flush(timeout_s=0)
        except HindbrainError:
            return queued, Flushed()  # it is durable; another process writes it, or the next settling
        return flushed.answer_to(waiting.id) or queued, flushed

    def _store_together(self, waiting: Waiting) -> tuple[Remembered, Flushed]:
        """Join the queue while another process writes it: who is next writes for all who wait behind it."""
        self._queue.add(waiting)
        try:
            return self._result(waiting, self.flush(timeout_s=FLUSH_WAIT_S, own=waiting.id))
        except Busy:
            return _queued(waiting), Flushed()

    def _result(self, waiting: Waiting, flushed: Flushed) -> tuple[Remembered, Flushed]:
        """What became of an immediate memory; raises why it could not be written."""
        for failure in flushed.failed:
            if failure.waiting.id == waiting.id:
                raise failure.error
        return flushed.answer_to(waiting.id) or self._as_it_stands(waiting), flushed

    def _as_it_stands(self, waiting: Waiting) -> Remembered:
        """What another process made of a memory, by what the notes say now."""
        items = self._book.items()
        by_id = {item.id: item for item in items if item.id}
        if kept := by_id.get(self._merged.get(waiting.id) or ""):
            return answer_for(kept, "merge", kept)
        item = by_id.get(waiting.id)
        if item is None:
            return _queued(waiting)
        for other in items:
            if other.superseded == item.id:
                return answer_for(item, "supersede", other)
        related = next((by_id[id_] for id_ in item.related if id_ in by_id), None)
        return answer_for(item, "related" if related else "new", related)

    def is_due(self, pending: Sequence[Waiting]) -> bool:
        batched = [entry for entry in pending if entry.strategy != "deferred"]
        if not batched:
            return False
        oldest = min(entry.at for entry in batched)
        waited_s = self._clock.now() - oldest
        if not 0 <= waited_s < self._settings.batch_interval_s:  # below 0: the clock was set back
            return True
        return len(batched) >= self._settings.batch_size and self._clock.now() >= self._rested_at

    @action("remember", via="server")
    def flush(self, extra: Waiting | None = None, *, timeout_s: float, own: str = "") -> Flushed:
        """Bring everything that waits, and `extra`, into notes. Raises Busy.

        `own`: the id of a memory whose caller hears of its failure; it does not go on waiting then.
        """
        waiting = self._queue.pending() + ([extra] if extra else [])
        if not waiting:
            return Flushed()
        if timeout_s == 0:
            self._queue.check_free()  # who will not wait need not decide what another is writing already
        # Decided without a lock, since the judge may ask a model. What another process did meanwhile is seen
        # when the notes are changed.
        begun = self._clock.now()
        resolved = [] if own else self._resolver().resolve(waiting)
        with self._queue.flushing(timeout_s, own=own) as taken:
            if own:  # decided here, without a service: for all who have joined the queue meanwhile
                resolved = self._resolver().resolve(taken.waiting)
            held = {entry.id for entry in taken.waiting}
            batch = [one for one in resolved if one.waiting.id in held or one.waiting is extra]
            applied, failed = self._applier.apply(batch, self._today())
            merged = {
                entry.waiting.id: entry.answer.id
                for entry in applied
                if entry.answer.action in ("merge", "supersede") and entry.answer.id != entry.waiting.id
            }
            self._merged.add(merged)
            taken.done(entry.waiting.id for entry in applied)
            taken.done(failure.waiting.id for failure in failed if failure.waiting.id == own)
        # Under a storm of memories, batches grow instead of the time that is spent on writing them.
        self._rested_at = self._clock.now() + _REST * max(0.0, self._clock.now() - begun)
        return Flushed(tuple(applied), tuple(failed), taken.problem)

    def _resolver(self) -> Resolver:
        return Resolver(self._book, self._judge, self._layout, self._find)


def _queued(waiting: Waiting) -> Remembered:
    return Remembered(
        id=waiting.id,
        action="queued",
        text=waiting.text,
        category=waiting.category,
        source=waiting.source,
        importance=waiting.importance,
        tags=waiting.tags,
        cues=waiting.cues,
    )
