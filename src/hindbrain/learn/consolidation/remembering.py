"""Old daily notes become memories: which notes are due, what they say, and the way into the memory.

Facts go through `Memory.remember`, as anybody's do: policy looks at them, duplicates merge, contradictions
are superseded, what the owner deleted stays deleted. Their ids are made from what they say, so that a second
try after a kill stores nothing twice. A note counts as done only when its facts are durable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError, NoteUnreadable, Refused, UsageError
from hindbrain.learn.consolidation.daily_facts import Fact, facts_of
from hindbrain.learn.consolidation.day_events import DayEvent, events_of
from hindbrain.learn.pages.drafts import drafts_on
from hindbrain.vault.items.item_text import unlinked

if TYPE_CHECKING:
    from hindbrain.learn.consolidation.importance import Thresholds
    from hindbrain.learn.consolidation.processed import Processed
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.memory.service import Memory
    from hindbrain.models.chat import ChatModel

_FLUSH_WAIT_S = 10.0
CONSOLIDATED_TAG = "consolidated"  # of memories that were made here
_TAGS = ("agent/memory", CONSOLIDATED_TAG)


class DayNote(NamedTuple):
    path: str
    day: str
    hash: str
    data: bytes


class DaysRemembered(NamedTuple):
    """What became of the daily notes."""

    notes: tuple[DayNote, ...] = ()  # that are done now, with the hash that was read
    facts: int = 0  # stored, or merged into what was known
    superseded: int = 0
    held: int = 0  # in the inbox
    ids: tuple[str, ...] = ()  # of the facts
    problems: tuple[str, ...] = ()


def old_day_notes(desk: Desk, *, older_than: int, problems: list[str] | None = None) -> list[DayNote]:
    """The daily notes of more than so many days ago, the oldest first. One that can't be read is left where
    it is and named in `problems`."""
    before = (date.fromisoformat(desk.today()) - timedelta(days=older_than)).isoformat()
    found: list[DayNote] = []
    for path in desk.paths("daily"):
        day = desk.layout.names_of(path).get("date", "")
        if not _is_day(day) or day >= before:
            continue
        try:
            page = desk.find(path)
        except HindbrainError as error:
            if problems is not None:
                problems.append(f"a daily note was left out: {error}")
            continue
        if page is not None:
            found.append(DayNote(path, day, page.hash, page.data))
    return sorted(found, key=lambda note: (note.day, note.path))


class DailyMemories:
    """For one consolidation."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        processed: Processed,
        chat: Callable[[], ChatModel | None],
        thresholds: Thresholds,
    ) -> None:
        self._desk = desk
        self._memory = memory
        self._processed = processed
        self._chat = chat
        self._thresholds = thresholds
        self._problems: list[str] = []

    def remember(self) -> DaysRemembered:
        notes = old_day_notes(self._desk, older_than=self._thresholds.age_days, problems=self._problems)
        fresh = [note for note in notes if not self._processed.has_note(note.path, note.hash)]
        if not fresh:
            return DaysRemembered(problems=tuple(self._problems))
        events = [event for note in notes for event in self._events(note)]
        facts = self._facts(events, {note.path for note in fresh})
        drafts = drafts_on(self._desk)
        if drafts is not None:
            new = self._unknown(facts)
            for fact in new:
                drafts.say(f"+ remember: {fact.text} [{fact.category}, {fact.importance:g}]")
            return DaysRemembered(tuple(fresh), len(new))
        return self._store(fresh, facts)

    def _events(self, note: DayNote) -> list[DayEvent]:
        own = self._desk.own
        return events_of(
            note.data, path=note.path, day=note.day, is_ours=lambda line: own.is_ours(note.path, line)
        )

    def _facts(self, events: Sequence[DayEvent], fresh: set[str]) -> list[Fact]:
        today = date.fromisoformat(self._desk.today())
        least = self._thresholds.importance
        facts = facts_of(events, fresh, today=today, least=least)
        chat = self._chat() if drafts_on(self._desk) is None else None
        if chat is None:
            return facts
        from hindbrain.learn.consolidation.facts_by_model import ask_for_facts, joined

        news = [event for event in events if event.path in fresh]
        found = ask_for_facts(chat, news, today=today, least=least)
        if found.failure:
            self._problems.append(f"the model did not help with daily notes ({found.failure}); rules did")
        return joined(facts, found.facts)

    def _unknown(self, facts: Sequence[Fact]) -> list[Fact]:
        """Those that are neither stored under their id nor said by a memory in these very words."""
        memory = self._memory
        items = [*memory.book.items(), *memory.archived.items(), *memory.pending_items()]
        ids = {item.id for item in items}
        said = {unlinked(item.text).casefold() for item in items}
        return [fact for fact in facts if fact.id not in ids and fact.text.casefold() not in said]

    def _store(self, fresh: Sequence[DayNote], facts: Sequence[Fact]) -> DaysRemembered:
        self._memory.book.items()
        if unreadable := self._memory.book.problems:
            # What contradicts a fact may stand there: it waits until that can be seen.
            raise NoteUnreadable(f"{unreadable[0].path!r} can't be read, so no fact is compared with it")
        stored: list[str] = []
        held = 0
        for fact in self._unknown(facts):
            try:
                held += self._remember(fact, stored)
            except (Refused, UsageError):
                continue  # its owner does not want it, or it is nothing that can be remembered
        flushed = self._memory.flush(timeout_s=_FLUSH_WAIT_S)
        # What could not be written waits in the queue, durable: its note may be archived all the same.
        self._problems += [f"memory {one.waiting.id!r} waits: {one.error}" for one in flushed.failed]
        superseded = sum(
            entry.answer.action == "supersede" and entry.waiting.id in stored for entry in flushed.applied
        )
        return DaysRemembered(
            tuple(fresh), len(stored), superseded, held, tuple(stored), tuple(self._problems)
        )

    def _remember(self, fact: Fact, stored: list[str]) -> bool:
        """True when it waits in the inbox."""
        inbox = self._memory.inbox
        if inbox.asked(fact.text):
            return False  # it was decided on, or waits
        # Deferred: one write for all of them, in this order, whatever a crash left in the queue.
        answer = self._memory.remember(
            fact.text,
            category=fact.category,
            importance=fact.importance,
            source=fact.source,
            tags=_TAGS,
            strategy="deferred",
            given_id=fact.id,
            created=fact.day,
            day_note=fact.day_note,
        )
        if answer.action == "held":
            return True
        stored.append(fact.id)
        return False


def _is_day(text: str) -> bool:
    try:
        return bool(text) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
