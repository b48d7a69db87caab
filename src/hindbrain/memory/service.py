"""The memory of one vault: remember, recall, update, forget; and what must be done in between.

Keeps the order: policy first, then the queue or the note, then the index. What belongs to a part (how a line
reads, who is trusted, what waits) is the part's business, and who is wired to whom is in `parts`.
"""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError, NotFound, Refused, UsageError
from hindbrain.base.plural import plural
from hindbrain.index.standing import IndexStanding
from hindbrain.memory.answers import (
    Forgotten,
    LeftOutCue,
    MemoryStatus,
    PastRuns,
    Recalled,
    Remembered,
    Settled,
    Updated,
)
from hindbrain.memory.parts import MemoryParts
from hindbrain.memory.storage.queue import Waiting
from hindbrain.memory.storage.storing import FLUSH_WAIT_S, STRATEGIES, Flushed
from hindbrain.vault.actions import action
from hindbrain.vault.items.category import CATEGORIES
from hindbrain.vault.items.item import DEFAULT_IMPORTANCE, MOST_CUES, STRUCK, MemoryItem, new_id, trust_of
from hindbrain.vault.items.item_text import fold

if TYPE_CHECKING:
    from datetime import date

    from hindbrain.memory.policy.cues import ChosenCues
    from hindbrain.memory.policy.policy import Verdict
    from hindbrain.memory.relevance import Fit
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery

_MOST_SEEN = 1_000
_LEAVING_WAIT_S = 2.0  # for a lock that another process holds
_MOST_AT_LEAVING = 500  # memories; a longer queue is left to a process that has the time
_NEW_LINES = ("new", "related", "supersede")


class Memory(MemoryParts):
    _noticed = (-1, -1)  # the versions of the books that were last compared with the ledger

    @cached_property
    def _queued(self) -> set[str]:
        """Ids that this process has put into the queue."""
        return set()

    @cached_property
    def _seen(self) -> dict[tuple[str, str], dict[str, None]]:
        """Notes that recalls showed, with the topic: the ids of their memories that were shown."""
        return {}

    # The verbs

    def remember(
        self,
        text: str,
        *,
        category: str = "fact",
        importance: float = DEFAULT_IMPORTANCE,
        source: str = "agent",
        tags: Sequence[str] = (),
        strategy: str = "auto",
        given_id: str = "",
        created: str = "",
        day_note: str = "",
        from_owner: bool = False,
        cues: Sequence[str] = (),
        replaces: str = "",
        importance_given: bool = False,
    ) -> Remembered:
        """Store one fact; durable when this returns.

        `given_id`: the id that it shall have, from a caller who may have to store it again after a crash.
        `created`: the day on which it was so, YYYY-MM-DD; today when it is empty. `day_note`: the daily note
        that tells it, as a link names it; its line then has that link. `from_owner`: the owner said it in a
        conversation. It is still the agent's word, but may replace what the owner said before. `cues`: up to
        five words or phrases under which it will be needed; those that may not be stored are left out.
        `replaces`: the id of the memory that it replaces, where its caller knows. `importance_given`: the
        importance was chosen; else that of what it replaces counts where it is higher.
        Raises UsageError, NotFound, and Refused when policy or the owner does not want it.
        """
        checked = _checked(text, category, importance, tags, strategy)
        if source != "user":
            self._look_for_deleted(checked)
        verdict = self.policy.judge(checked, source=source)
        if verdict.action == "refuse":
            raise Refused(f"this was not stored: {'; '.join(verdict.reasons)}")
        chosen = self._choose_cues(cues, verdict.source)
        replaced = self._find_living(replaces).id if replaces else ""
        waiting = Waiting(
            id=given_id or new_id(),
            text=fold(verdict.text),
            at=self.clock.now(),
            category=category,
            importance=importance,
            source=verdict.source,
            tags=clean_tags(tags),
            created=created or self.today(),
            # Who corrects a fact hears at once what became of the old one.
            strategy=self.settings.strategy(
                "immediate" if replaced and strategy == "auto" else strategy, importance
            ),
            day_note=day_note,
            from_owner=from_owner,
            cues=chosen.kept,
            replaces=replaced,
            importance_given=importance_given,
        )
        if verdict.action == "hold":
            held = self._hold(waiting, verdict, f"p-{given_id.removeprefix('m-')}" if given_id else "")
            return held._replace(cues_left_out=chosen.left_out)
        answer, flushed = self._storage.store(waiting)
        self._after_writing(flushed)
        if answer.action == "queued":
            if not self._queued:
                atexit.register(self._flush_at_exit)
            self._queued.add(waiting.id)
        left_out = (*chosen.left_out, *_not_in_line(chosen.kept, answer))
        return answer._replace(removed=verdict.removed, cues_left_out=left_out)

    def recall(self, topic: str, *, k: int | None = None, counted: bool = True) -> Recalled:
        """What is known on a topic: memories first, then passages of other notes.

        `counted`: what is shown counts as used.
        """
        from hindbrain.memory.recalling import recall

        found = recall(self, topic, k=self.hits) if k is None else recall(self, topic, k=k, most=k)
        for one in found.memories if counted else ():
            if one.item.path:
                self.count_access(one.item.path, topic, one.item.id)
        return found

    def past_runs(self, topic: str) -> PastRuns:
        """Earlier runs whose answers a question may mean."""
        return self._around.past_runs(topic)

    def day_notes(self, day: date) -> tuple[str, ...]:
        """Where the notes of a day may stand, the owner's own as well."""
        return self._around.day_notes(day)

    def live_items(self) -> list[MemoryItem]:
        """What holds, also what is acknowledged and on its way into its note."""
        pending = self.pending_items()  # before the notes: what is on its way is seen twice, not missed
        items = [item for item in self.book.items() if not item.superseded]
        stored = {item.id for item in items}
        on_their_way = [item for item in pending if item.id not in stored]
        return [*items, *on_their_way]

    def fits(self, prompt: str, *, asked: bool = False) -> list[Fit]:
        """The live memories that fit a prompt best. `asked`: somebody asks for memories."""
        items = self.live_items()
        names = self._around.other_names()
        version = (self.book.version, names, *(item.id for item in items if not item.path))
        return self._around.relevance().rank(prompt, items, asked=asked, names=names, version=version)

    def matching(self, words: str) -> list[MemoryItem]:
        """The memories that have all these words; replaced and archived ones only when no other has."""
        from hindbrain.memory.recalling import matching

        return matching(self, words)

    def update(
        self,
        memory_id: str,
        *,
        text: str | None = None,
        importance: float | None = None,
        source: str = "agent",
        cues: Sequence[str] | None = None,
    ) -> Updated:
        """Correct a memory; other words have at most the trust of `source`, who gives them.

        Words of somebody who is trusted less than the line become a line of their own, which replaces it.
        Raises NotFound, UsageError, and Refused when policy does not want the words.
        """
        if text is None and importance is None and cues is None:
            raise UsageError("nothing to change: give a new text, importance or cues")
        from hindbrain.memory.items.note_edit import Reword
        from hindbrain.memory.policy.provenance import lowest

        item = self._find_stored(memory_id)
        if item.superseded and text is not None:
            raise UsageError(
                f"the memory {item.id} no longer holds and keeps its words; change what replaced it, "
                f"or remember the new fact ({item.superseded})"
            )
        if importance is not None:
            check_importance(importance)
        trust = item.source
        if text is not None:
            trust = lowest((item.source, source))
            text, judged = self._allowed(text, trust)
            trust = lowest((item.source, judged))
        chosen = None if cues is None else self._choose_cues(cues, source)
        named, left_out = (None, ()) if chosen is None else chosen
        if text is not None and trust_of(trust) > trust_of(item.source) and text != item.text:
            return self._replace(item, text, importance, trust, named)._replace(cues_left_out=left_out)
        self._applier.edit(item.path, [Reword(item, text, importance, trust, cues=named)], self.today())
        after = self.find_archived(item.id) or self.book.find(item.id)
        self.ledger.note_stored([after])
        return Updated(after, cues_left_out=left_out)

    def _replace(
        self,
        item: MemoryItem,
        text: str,
        importance: float | None,
        source: str,
        cues: tuple[str, ...] | None,
    ) -> Updated:
        """Other words of somebody who is trusted less: the old line stays, struck through."""
        from hindbrain.memory.items.note_edit import Add, Strike

        weight = item.importance if importance is None else importance
        new = item._replace(
            id=new_id(),
            text=text,
            importance=weight,
            source=source,
            created=self.today(),
            related=(),
            day_note="",
            cues=item.cues if cues is None else cues,
        )
        twins = self._applier.edit(item.path, [Add(new), Strike(item, new.id)], self.today())
        kept = twins.get(new.id, new).id
        after = self.find_archived(kept) or self.book.find(kept)
        self.ledger.note_stored([after])
        return Updated(after, item)

    def supersede(self, older_id: str, newer_id: str) -> bool:
        """Strike a memory for a newer one; False when one is gone or struck, or the newer is trusted less."""
        from hindbrain.memory.storage.replacement import supersede

        return supersede(self.book, self._applier, older_id, newer_id, self.today())

    def forget(self, memory_id: str) -> Forgotten:
        """Remove a memory and the lines below it, and do not learn it again. `undo` brings it back."""
        return self.forget_item(self._find_stored(memory_id))

    def forget_item(self, item: MemoryItem) -> Forgotten:
        """As `forget`, for a memory as it stands in its note; one typed by hand has no id."""
        from hindbrain.memory.items.note_edit import Remove

        written, _ = self._applier.edit_note(item.path, [Remove(item)], self.today())
        if written is None and not item.id:
            raise NotFound(f"{item.path!r} no longer says {item.text!r}; nothing was forgotten")
        self.tombstones.add(item.text, why="forgotten")
        if item.id:
            self.ledger.note_gone([item.id])
        return Forgotten(item.id, item.text, item.path, written.revision_id if written else "")

    def search(self, query: SearchQuery) -> SearchResult:
        """Search the whole vault, with what was written here included; a notice says when it could not be."""
        behind = self._take_in_touched()
        result = self._around.search(query)
        if not behind or any(notice.startswith("index_behind:") for notice in result.notices):
            return result
        return result._replace(notices=(*result.notices, behind))

    def freshen(self) -> None:
        """Bring the index up to date with the files, as far as there is time. Raises IndexFault."""
        self._around.freshen()

    def status(self) -> MemoryStatus:
        from hindbrain.memory.standing import standing

        return standing(self)

    @action("write waiting memories", via="server")
    def settle(self, *, idle: bool = False) -> Settled:
        """Do what is due: the queue, the inbox, what a person deleted, the index.

        `idle`: write also what could wait. Fails for no single part: what could not be done is in `problems`
        and stays to be done.
        """
        from hindbrain.memory.settling import settle

        return settle(self, idle=idle)

    def close(self) -> None:
        """Bring what this process has queued into notes, where that takes no long wait.

        Nothing is lost without it: what waits is durable, and the next command brings it there.
        """
        self._flush_own(_LEAVING_WAIT_S)
        self._take_in_touched()
        with contextlib.suppress(HindbrainError):
            self.record_accesses()

    # What the verbs are made of

    def index_standing(self) -> IndexStanding:
        return self._around.index_standing()

    def count_access(self, path: str, query: str, memory_id: str = "") -> None:
        """Note that a recall showed this note, or a memory of it.

        It is written down later, so that no answer waits for it.
        """
        if len(self._seen) < _MOST_SEEN or (path, query) in self._seen:
            shown = self._seen.setdefault((path, query), {})
            if memory_id:
                shown[memory_id] = None

    def record_accesses(self) -> int:
        """Write down what recalls have shown; returns how many."""
        seen, self._seen = self._seen, {}
        for (path, query), shown in seen.items():
            self._around.record_access(path, query, tuple(shown))
        return len(seen)

    def pending_items(self) -> list[MemoryItem]:
        """What is acknowledged and on its way into notes."""
        return [
            MemoryItem(
                w.id,
                w.text,
                w.category,
                w.importance,
                w.source,
                w.created,
                w.tags,
                day_note=w.day_note,
                cues=w.cues,
            )
            for w in self.queue.pending()
        ]

    def _hold(self, waiting: Waiting, verdict: Verdict, proposal_id: str) -> Remembered:
        from hindbrain.memory.inbox.inbox import Proposal

        proposal = Proposal(
            id=proposal_id,
            text=waiting.text,
            category=waiting.category,
            importance=waiting.importance,
            source=waiting.source,
            reason="; ".join(verdict.reasons),
            tags=waiting.tags,
            created=waiting.created,
            cues=waiting.cues,
            replaces=waiting.replaces,
        )
        return Remembered(
            id=self.inbox.hold(proposal),
            action="held",
            text=waiting.text,
            category=waiting.category,
            source=waiting.source,
            removed=verdict.removed,
            reasons=verdict.reasons,
            importance=waiting.importance,
            tags=waiting.tags,
            cues=waiting.cues,
        )

    def flush(self, *, timeout_s: float) -> Flushed:
        """Bring everything that waits into notes. Raises Busy when another process is at it."""
        flushed = self._storage.flush(timeout_s=timeout_s)
        self._after_writing(flushed)
        return flushed

    def _flush_own(self, wait_s: float) -> None:
        """Flush the queue when something of this process is in it, and no service has to be asked."""
        atexit.unregister(self._flush_at_exit)
        own = set(self._queued)
        self._queued.clear()
        self._is_leaving = True
        try:
            with contextlib.suppress(HindbrainError, OSError):
                waiting = {entry.id for entry in self.queue.pending()} if own else set()
                if own & waiting and len(waiting) <= _MOST_AT_LEAVING:
                    # A process that was stopped in the middle of a write would let each note wait anew.
                    self._around.writer().recover(timeout_s=wait_s)
                    self.flush(timeout_s=wait_s)
        finally:
            self._is_leaving = False

    def _flush_at_exit(self) -> None:
        """For a process that ends without `close`. No thread can be started then: no lock is waited for."""
        with contextlib.suppress(Exception):  # the outermost handler; what waits is durable
            self._flush_own(0.0)

    def is_due(self) -> bool:
        """Does something wait that should be written now?"""
        return self._storage.is_due(self.queue.pending())

    def _allowed(self, text: str, source: str) -> tuple[str, str]:
        """New words for a memory, and whose they are; what a person would have to see first is refused."""
        verdict = self.policy.judge(check_text(text), source=source)
        if verdict.action != "accept":
            raise Refused(f"the memory was not changed: {'; '.join(verdict.reasons)}")
        return fold(verdict.text), verdict.source

    def _choose_cues(self, cues: Sequence[str], source: str) -> ChosenCues:
        from hindbrain.memory.policy.cues import ChosenCues

        given = [check_text(cue) for cue in cues if fold(cue)]
        return self.policy.choose_cues(given, source=source) if given else ChosenCues()

    def _find_living(self, memory_id: str) -> MemoryItem:
        """The memory that another one is to replace. Raises NotFound, and UsageError when it was replaced."""
        item = self._find_stored(memory_id)
        if not item.superseded:
            return item
        by = f" ({item.superseded} replaced it: name that one)" if item.superseded != STRUCK else ""
        raise UsageError(f"the memory {item.id} no longer holds{by}; nothing was stored")

    def _find_stored(self, memory_id: str) -> MemoryItem:
        """The memory in its note; one that waits is brought there first."""
        wanted = memory_id.strip().rpartition("^")[2].rstrip("]")
        if any(waiting.id == wanted for waiting in self.queue.pending()):
            self.flush(timeout_s=FLUSH_WAIT_S)
        try:
            return self.book.find(wanted)
        except NotFound:
            if (archived := self.find_archived(wanted)) is not None:
                return archived
            kept = self._merged.get(wanted)
            if not kept:
                raise
            return self.book.find(kept)

    def find_archived(self, memory_id: str) -> MemoryItem | None:
        """A memory that nobody used for long, in the archive; None when there is no such one."""
        return next((item for item in self.archived.items() if memory_id and item.id == memory_id), None)

    def _after_writing(self, flushed: Flushed) -> None:
        """Let the ledger know. The index hears of it with the next search or settling, or at the end."""
        stored = [entry.answer for entry in flushed.applied if entry.answer.action in _NEW_LINES]
        if stored:
            with contextlib.suppress(HindbrainError):
                self.ledger.note_stored(stored)

    def take_in_touched(self) -> int:
        """Bring what was written here into the index, where there is one; returns how many notes."""
        touched = tuple(self.notebook.touched)
        if not touched or not self._around.index_path.exists():
            return 0
        self._around.take_in(touched)
        self.notebook.touched.difference_update(touched)
        return len(touched)

    def _take_in_touched(self) -> str:
        """As `take_in_touched`; returns why it could not be done, or "". That never fails a write."""
        try:
            self.take_in_touched()
        except HindbrainError as error:
            changed = len(self.notebook.touched)
            notes = plural(changed, "changed note is", "changed notes are")
            return f"index_behind: {notes} not in the index yet ({error.code}); try again"
        return ""

    def _look_for_deleted(self, text: str) -> None:
        """Who deletes a line by hand does not want an agent to bring it back before the next settling."""
        with contextlib.suppress(HindbrainError):
            if self.ledger.knows(text):
                self.notice_deleted()

    def notice_deleted(self) -> list[str]:
        """Ids of memories that a person took out of a note; they are not learned again.

        Where nothing of ours was stored yet, nothing is noted: a folder that is only read gets no file.
        """
        if not (self.root / ".hindbrain").is_dir():
            return []
        items, archived = self.book.items(), self.archived.items()
        there = {item.id for item in items}
        returned = self.elsewhere.returned(self.ledger.deleted_by_hand() - there)
        versions = (self.book.version, self.archived.version)
        if self._noticed == versions and not returned:
            return []
        moved = [item for item in archived if item.id and item.id not in there]
        readable = [*self.book.readable_paths(), *self.archived.readable_paths()]
        complete = not self.book.problems and not self.archived.problems
        deleted = self.ledger.notice(
            [*items, *moved, *returned],
            readable,
            complete=complete,
            surely_nowhere=self.elsewhere.surely_nowhere,
        )
        self._noticed = versions
        return deleted


def _not_in_line(cues: Sequence[str], answer: Remembered) -> list[LeftOutCue]:
    """The cues that a line which was there did not take."""
    if answer.action == "dropped":
        return []
    stored = {cue.casefold() for cue in answer.cues}
    why = f"at most {MOST_CUES}" if len(stored) == MOST_CUES else "that line is trusted more"
    return [LeftOutCue(cue, why) for cue in cues if cue.casefold() not in stored]


def clean_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags as Obsidian reads them: without "#", blanks as "-"."""
    import re

    cleaned = (re.sub(r"[^\w/\-]+", "-", tag.strip().lstrip("#")).strip("-/") for tag in tags)
    return tuple(dict.fromkeys(tag for tag in cleaned if tag and not tag.isdecimal()))


def _checked(text: str, category: str, importance: float, tags: Sequence[str], strategy: str) -> str:
    if category not in CATEGORIES:
        raise UsageError(f"no category {category!r}; choose one of: {', '.join(CATEGORIES)}")
    if strategy not in STRATEGIES:
        raise UsageError(f"no strategy {strategy!r}; choose one of: {', '.join(STRATEGIES)}")
    check_importance(importance)
    for tag in tags:
        check_text(tag)
    return check_text(text)


def check_text(text: str) -> str:
    """`text`, if it can be stored."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError("the text holds half a character (a lone surrogate); send valid Unicode") from error
    if not fold(text):
        raise UsageError("the text is empty; give one fact, as a sentence")
    return text


def check_importance(importance: float) -> None:
    if not 0.0 <= importance <= 1.0:
        raise UsageError(f"importance is {importance!r}; give a number from 0 to 1")
