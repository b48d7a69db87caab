"""From memories that wait to lines in notes: decide what each becomes, then one write for each note.

Deciding asks the judge, and with it perhaps a model; it happens before any lock is taken. Applying changes
notes; it can be done again after a crash, since every memory brings its id. Knows nothing of the queue.

Trust never rises: a text joins a line only where both are trusted alike, and a line is struck through only
by what is trusted as much. What the owner said in a conversation is kept as the agent's word, and may replace
what the owner said before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.memory.answers import Action, Remembered
from hindbrain.memory.conflicts.change import tells_change
from hindbrain.memory.conflicts.contradiction import other_wordings
from hindbrain.memory.conflicts.denial import denies
from hindbrain.memory.items.note_edit import Add, Reword, Step, Strike, edit_note
from hindbrain.memory.items.word_index import WordIndex, nearest
from hindbrain.memory.storage.queue import Waiting
from hindbrain.memory.storage.replacement import may_replace, with_inherited
from hindbrain.vault.items.item import MemoryItem, merged_cues, merged_tags, trust_of

if TYPE_CHECKING:
    from hindbrain.memory.conflicts.conflict import ConflictJudge, Decision
    from hindbrain.memory.items.book import MemoryBook
    from hindbrain.memory.notes.notebook import Notebook, Page
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.write import Written

_CANDIDATES = 8  # what says the same, or the contrary, is among those that share most words
# A memory that shares less than this part of a text's words, by weight, neither says the same nor the
# contrary: the judge merges only where one says all of the other, and replaces only with the same subject.
_LEAST_SHARED = 0.15
_AGENT = trust_of("agent")


class Resolved(NamedTuple):
    """What a waiting memory becomes."""

    waiting: Waiting
    action: Action
    item: MemoryItem  # as it will stand; of a merge, the line that was there
    other: MemoryItem | None = None
    reword: Reword | None = None  # of a line that was there and says it now; None: a line of its own
    reasons: tuple[str, ...] = ()  # why another line was not replaced
    struck: tuple[MemoryItem, ...] = ()  # what it replaces

    def dropped(self) -> Remembered:
        """The answer for a memory that is not stored."""
        return answer_for(self.item, "dropped", self.other, ("a memory that is there says the same",))


class Applied(NamedTuple):
    """A memory that is in its note now, and what became of it."""

    waiting: Waiting
    answer: Remembered


class Failure(NamedTuple):
    """A memory that could not reach its note; it goes on waiting."""

    waiting: Waiting
    error: HindbrainError


class Resolver:
    """Decides for one batch. Later memories of a batch meet the earlier ones."""

    def __init__(
        self,
        book: MemoryBook,
        judge: Callable[[], ConflictJudge],
        layout: Layout,
        find: Callable[[str], MemoryItem | None],
    ) -> None:
        """`find`: the memory with an id, wherever it stands."""
        self._book = book
        self._judge = judge
        self._layout = layout
        self._find = find
        self._batch = WordIndex()
        self._newest: dict[str, MemoryItem] = {}  # of this batch, by id, as they stand by now

    def resolve(self, batch: Sequence[Waiting]) -> list[Resolved]:
        self._book.items()  # one look at the notes for the whole batch
        known = {item.id for index in self._book.indexes() for item in index.items if item.id}
        return [self._resolve(waiting, known) for waiting in batch]

    def _resolve(self, waiting: Waiting, known: set[str]) -> Resolved:
        item = new_item(waiting, self._layout)
        named = self._find_named(waiting)
        without = {item.id, named.id} if named is not None else {item.id}
        candidates = [other for other in self._candidates(item.text) if other.id not in without]
        decision = self._judge().judge(item.text, candidates)
        resolved = settle_decision(waiting, item, decision)
        if named is not None:
            resolved = replace_named(resolved, item, named)
        # What is known by its id was stored, and this is the second time.
        if waiting.id not in known and _is_needless(resolved, decision):
            return Resolved(waiting, "dropped", item, decision.other)
        self._note(resolved)
        return resolved

    def _candidates(self, text: str) -> list[MemoryItem]:
        """What holds and may say the same or the contrary, as it stands by now."""
        indexes = [*self._book.indexes(), self._batch]
        # A change or a denial names the thing in a word or two; what is so now is said in new words.
        least = 0.0 if tells_change(text) or denies(text) else _LEAST_SHARED
        found = nearest(text, indexes, _CANDIDATES, least=least)
        if others := other_wordings(text):
            found += [other for other in nearest(others, indexes, _CANDIDATES) if other not in found]
        living = [self._newest.get(other.id, other) for other in found]
        return [other for other in living if not other.superseded]

    def _find_named(self, waiting: Waiting) -> MemoryItem | None:
        """The memory that the caller says it replaces, while it holds and says something else."""
        if not waiting.replaces or waiting.replaces == waiting.id:
            return None
        named = self._newest.get(waiting.replaces) or self._find(waiting.replaces)
        if named is None or named.superseded:
            return None
        from hindbrain.memory.conflicts.conflict import says_same_words

        return None if says_same_words(named.text, waiting.text) else named

    def _note(self, resolved: Resolved) -> None:
        if resolved.reword is None:
            self._batch.add(resolved.item)
        if resolved.item.id:
            self._newest[resolved.item.id] = resolved.item
        for old in resolved.struck:
            if old.id:
                self._newest[old.id] = old._replace(superseded=resolved.item.id)


def new_item(waiting: Waiting, layout: Layout) -> MemoryItem:
    return MemoryItem(
        waiting.id,
        waiting.text,
        waiting.category,
        waiting.importance,
        waiting.source,
        waiting.created,
        waiting.tags,
        path=layout.path("memory", category=waiting.category),
        day_note=waiting.day_note,
        cues=waiting.cues,
    )


def settle_decision(waiting: Waiting, item: MemoryItem, decision: Decision) -> Resolved:
    """What the judge's word means for two memories of perhaps different trust. Pure."""
    other = decision.other
    if decision.action == "new" or other is None:
        return Resolved(waiting, "new", item)
    mine, theirs = trust_of(item.source), trust_of(other.source)
    if decision.action == "supersede":
        if may_replace(item, other, from_owner=waiting.from_owner):
            return _superseding(waiting, item, other)
        return _related(waiting, item, other)._replace(reasons=(_kept_words(other),))
    if decision.action == "merge":
        from hindbrain.memory.conflicts.conflict import merged_text

        if mine < theirs:  # the owner confirms what somebody else said: that is a new line, of more trust
            return _superseding(waiting, item, other)
        text = merged_text(other.text, item.text)
        if text == other.text or mine == theirs:
            importance = max(other.importance, item.importance)
            cues = merged_cues(other, item)
            new_text = None if text == other.text else text
            tags = merged_tags(other, item)
            changed = Reword(other, new_text, importance, merged=(item,), cues=cues, tags=tags)
            merged = other._replace(text=text, importance=importance, cues=cues or other.cues, tags=tags)
            return Resolved(waiting, "merge", merged, other, changed)
    return _related(waiting, item, other)


def replace_named(resolved: Resolved, item: MemoryItem, named: MemoryItem) -> Resolved:
    """What becomes of a memory whose caller names the one that it replaces. Pure.

    `resolved`: what it would be without that; `item`: the memory itself.
    """
    waiting = resolved.waiting
    if not may_replace(item, named, from_owner=waiting.from_owner):
        kept = resolved if resolved.struck or resolved.reword else _related(waiting, item, named)
        return kept._replace(reasons=(*resolved.reasons, _kept_words(named)))
    line = with_inherited(resolved.item, named, importance_given=waiting.importance_given)
    reword = resolved.reword
    if reword is not None:
        reword = reword._replace(importance=line.importance, cues=line.cues, tags=line.tags)
    return Resolved(waiting, "supersede", line, named, reword, struck=(named, *resolved.struck))


def _superseding(waiting: Waiting, item: MemoryItem, old: MemoryItem) -> Resolved:
    line = with_inherited(item, old, importance_given=waiting.importance_given)
    return Resolved(waiting, "supersede", line, old, struck=(old,))


def _is_needless(resolved: Resolved, decision: Decision) -> bool:
    """Whether a conditional memory says nothing that the other one does not say, with as much trust."""
    if resolved.waiting.strategy != "conditional" or decision.action != "merge" or decision.other is None:
        return False
    from hindbrain.memory.conflicts.conflict import adds_nothing

    return resolved.action != "supersede" and adds_nothing(decision.other.text, resolved.waiting.text)


def _kept_words(other: MemoryItem) -> str:
    whose = "the user's own words" if trust_of(other.source) < _AGENT else "what is trusted more"
    name = other.id or repr(other.text)
    return f"it differs from {whose}, which stay: ask the user which holds, then correct or forget {name}"


def _related(waiting: Waiting, item: MemoryItem, other: MemoryItem) -> Resolved:
    if not other.id:  # a line typed by hand: there is nothing to link to
        return Resolved(waiting, "new", item)
    return Resolved(waiting, "related", item._replace(related=(*item.related, other.id)), other)


class Applier:
    """Brings what was decided into notes: one write for each note of a batch."""

    def __init__(
        self,
        notebook: Notebook,
        layout: Layout,
        category_of: Callable[[str], str],
        link: Callable[[str, str], str],
    ) -> None:
        """`link`: a text and the note it is for, with the notes it mentions linked."""
        self._notebook = notebook
        self._layout = layout
        self._category_of = category_of
        self._link = link

    def apply(self, batch: Sequence[Resolved], today: str) -> tuple[list[Applied], list[Failure]]:
        """What became of each, and what could not be written. Additions first: a crash hides nothing.

        Raises Busy when another process keeps the writer.
        """
        final = {
            key: item._replace(text=self._link(item.text, item.path))
            for key, item in _final_items(batch).items()
        }
        first, then = _steps(batch, final)
        twins: dict[str, MemoryItem] = {}
        broken: dict[str, HindbrainError] = {}
        if not first and not then:
            return _outcome(batch, final, twins, broken)
        with self._notebook.batch((*first, *then)):
            for path, planned in (*first.items(), *then.items()):
                wanted = [step for step in (_still(one, final, twins, broken) for one in planned) if step]
                if not wanted:
                    continue
                try:
                    twins |= self.edit(path, wanted, today)
                except HindbrainError as error:
                    broken[path] = error
        return _outcome(batch, final, twins, broken)

    def edit(self, path: str, steps: Sequence[Step], today: str) -> dict[str, MemoryItem]:
        """Make the steps in one note. Returns what was there already, by the id that was to be added."""
        return self.edit_note(path, steps, today)[1]

    def edit_note(
        self, path: str, steps: Sequence[Step], today: str
    ) -> tuple[Written | None, dict[str, MemoryItem]]:
        """As `edit`, with what was written; None when there was nothing to write."""
        category = self._category_of(path)
        twins: dict[str, MemoryItem] = {}

        def change(page: Page | None) -> bytes | None:
            if page is None and not any(isinstance(step, Add) for step in steps):
                return None
            before = self._first_text(path, category, today) if page is None else page.data
            edited = edit_note(before, steps, path=path, category=category)
            twins.clear()
            twins.update(edited.twins)
            return None if page is not None and edited.data == page.data else edited.data

        written = self._notebook.edit_at_once(path, change)
        return written, twins

    def _first_text(self, path: str, category: str, today: str) -> bytes:
        layout = self._layout
        role = layout.role_of(path) or "memory"
        names = layout.names_of(path) or ({"category": category} if category else {})
        return layout.first_text(role, today=today, **names).encode()


def _still(
    step: Step,
    final: dict[str, MemoryItem],
    twins: dict[str, MemoryItem],
    broken: dict[str, HindbrainError],
) -> Step | None:
    """A line is not struck through when what replaces it could not be written."""
    if not isinstance(step, Strike):
        return step
    if step.by in final and final[step.by].path in broken:
        return None
    return step._replace(by=twins[step.by].id) if step.by in twins else step


def _steps(
    batch: Sequence[Resolved], final: dict[str, MemoryItem]
) -> tuple[dict[str, list[Step]], dict[str, list[Step]]]:
    """The steps for each note, in the order of notes; and those that must wait for another note's.

    A line is struck through in the same write as, or after, the one that replaces it is added: whatever a
    crash leaves, one of the two holds.
    """
    first: dict[str, list[Step]] = {}
    then: dict[str, list[Step]] = {}
    wordings = _wordings(batch)
    for item in final.values():
        first.setdefault(item.path, []).append(Add(item, wordings=wordings.get(item.id, ())))
    order = {path: at for at, path in enumerate(first)}
    for resolved in batch:
        if resolved.reword is not None and resolved.reword.target.id not in final:
            first.setdefault(resolved.reword.target.path, []).append(resolved.reword)
        for old in resolved.struck:
            if old.id in final:
                continue
            early = order.get(old.path, -1) >= order.get(resolved.item.path, -1)
            strike = Strike(old, resolved.item.id)
            (first if early else then).setdefault(old.path, []).append(strike)
    return first, then


def _final_items(batch: Iterable[Resolved]) -> dict[str, MemoryItem]:
    """The new lines as the whole batch leaves them: reworded or replaced by a later one of the same batch."""
    lines = [r for r in batch if r.action in ("new", "related", "supersede") and r.reword is None]
    final = {resolved.item.id: resolved.item for resolved in lines}
    for resolved in batch:
        if resolved.reword is not None and resolved.reword.target.id in final:
            item = final[resolved.reword.target.id]
            text = item.text if resolved.reword.text is None else resolved.reword.text
            importance = item.importance if resolved.reword.importance is None else resolved.reword.importance
            cues = item.cues if resolved.reword.cues is None else resolved.reword.cues
            tags = resolved.reword.tags or item.tags
            final[item.id] = item._replace(text=text, importance=importance, cues=cues, tags=tags)
        for old in resolved.struck:
            if old.id in final:
                final[old.id] = final[old.id]._replace(superseded=resolved.item.id)
    return final


def _wordings(batch: Iterable[Resolved]) -> dict[str, tuple[MemoryItem, ...]]:
    """By id of a new memory: its own first words, and those with which others of its batch say the same."""
    found: dict[str, tuple[MemoryItem, ...]] = {}
    for resolved in batch:
        if resolved.reword is None:
            found[resolved.item.id] = (resolved.item,)
        elif resolved.reword.target.id in found:
            found[resolved.reword.target.id] += resolved.reword.merged
    return found


def _outcome(
    batch: Sequence[Resolved],
    final: dict[str, MemoryItem],
    twins: dict[str, MemoryItem],
    broken: dict[str, HindbrainError],
) -> tuple[list[Applied], list[Failure]]:
    stored: list[Applied] = []
    failed: list[Failure] = []
    for resolved in batch:
        item = final.get(resolved.item.id, resolved.item)
        touched = [item.path, *(old.path for old in resolved.struck)]
        error = next((broken[path] for path in touched if path in broken), None)
        if error is not None:
            failed.append(Failure(resolved.waiting, error))
        elif resolved.action == "dropped":
            stored.append(Applied(resolved.waiting, resolved.dropped()))
        elif (twin := twins.get(item.id)) is not None:
            cues = merged_cues(twin, item) or twin.cues
            kept = twin._replace(cues=cues, tags=merged_tags(twin, item))
            stored.append(Applied(resolved.waiting, answer_for(kept, "merge", twin)))
        else:
            answer = answer_for(item, resolved.action, resolved.other, resolved.reasons)
            stored.append(Applied(resolved.waiting, answer))
    return stored, failed


def answer_for(
    item: MemoryItem, action: Action, other: MemoryItem | None, reasons: tuple[str, ...] = ()
) -> Remembered:
    path = "" if action == "dropped" else item.path
    return Remembered(
        id=item.id,
        action=action,
        text=item.text,
        category=item.category,
        source=item.source,
        path=path,
        citation=item.citation if path else "",
        other=other,
        reasons=reasons,
        importance=item.importance,
        tags=item.tags,
        cues=item.cues,
    )
