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
from hindbrain.memory.items.note_edit import Add, Reword, Step, Strike, edit_note
from hindbrain.memory.items.word_index import WordIndex, nearest
from hindbrain.memory.storage.queue import Waiting
from hindbrain.vault.items.item import MemoryItem, merged_cues, trust_of

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
    reword: Reword | None = None
    reasons: tuple[str, ...] = ()  # why another line was not replaced

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

    def __init__(self, book: MemoryBook, judge: Callable[[], ConflictJudge], layout: Layout) -> None:
        self._book = book
        self._judge = judge
        self._layout = layout
        self._batch = WordIndex()
        self._newest: dict[str, MemoryItem] = {}  # of this batch, by id, as they stand by now

    def resolve(self, batch: Sequence[Waiting]) -> list[Resolved]:
        self._book.items()  # one look at the notes for the whole batch
        known = {item.id for index in self._book.indexes() for item in index.items if item.id}
        return [self._resolve(waiting, known) for waiting in batch]

    def _resolve(self, waiting: Waiting, known: set[str]) -> Resolved:
        item = new_item(waiting, self._layout)
        indexes = [*self._book.indexes(), self._batch]
        # A change names the thing in a word or two; its verb and the new value are new words.
        least = 0.0 if tells_change(item.text) else _LEAST_SHARED
        found = nearest(item.text, indexes, _CANDIDATES, least=least)
        if others := other_wordings(item.text):
            found += [other for other in nearest(others, indexes, _CANDIDATES) if other not in found]
        living = [self._newest.get(other.id, other) for other in found if other.id != item.id]
        decision = self._judge().judge(item.text, [other for other in living if not other.superseded])
        resolved = settle_decision(waiting, item, decision)
        # What is known by its id was stored, and this is the second time.
        if waiting.id not in known and _is_needless(resolved, decision):
            return Resolved(waiting, "dropped", item, decision.other)
        self._note(resolved)
        return resolved

    def _note(self, resolved: Resolved) -> None:
        if resolved.action != "merge":
            self._batch.add(resolved.item)
        if resolved.item.id:
            self._newest[resolved.item.id] = resolved.item
        if resolved.action == "supersede" and resolved.other is not None and resolved.other.id:
            self._newest[resolved.other.id] = resolved.other._replace(superseded=resolved.item.id)


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
        if mine <= theirs or (waiting.from_owner and mine <= _AGENT):
            return Resolved(waiting, "supersede", item, other)
        return _related(waiting, item, other)._replace(reasons=(_kept_words(other),))
    if decision.action == "merge":
        from hindbrain.memory.conflicts.conflict import merged_text

        if mine < theirs:  # the owner confirms what somebody else said: that is a new line, of more trust
            return Resolved(waiting, "supersede", item, other)
        text = merged_text(other.text, item.text)
        if text == other.text or mine == theirs:
            importance = max(other.importance, item.importance)
            cues = merged_cues(other, item)
            new_text = None if text == other.text else text
            changed = Reword(other, new_text, importance, merged=(item,), cues=cues)
            merged = other._replace(text=text, importance=importance, cues=cues or other.cues)
            return Resolved(waiting, "merge", merged, other, changed)
    return _related(waiting, item, other)


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
    if final[step.by].path in broken:
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
        other = resolved.other
        if resolved.reword is not None and resolved.reword.target.id not in final:
            first.setdefault(resolved.reword.target.path, []).append(resolved.reword)
        if resolved.action == "supersede" and other is not None and other.id not in final:
            early = order.get(other.path, -1) >= order[resolved.item.path]
            strike = Strike(other, resolved.item.id)
            (first if early else then).setdefault(other.path, []).append(strike)
    return first, then


def _final_items(batch: Iterable[Resolved]) -> dict[str, MemoryItem]:
    """The new lines as the whole batch leaves them: reworded or replaced by a later one of the same batch."""
    final = {r.item.id: r.item for r in batch if r.action in ("new", "related", "supersede")}
    for resolved in batch:
        if resolved.reword is not None and resolved.reword.target.id in final:
            item = final[resolved.reword.target.id]
            text = item.text if resolved.reword.text is None else resolved.reword.text
            importance = item.importance if resolved.reword.importance is None else resolved.reword.importance
            cues = item.cues if resolved.reword.cues is None else resolved.reword.cues
            final[item.id] = item._replace(text=text, importance=importance, cues=cues)
        if resolved.action == "supersede" and resolved.other is not None and resolved.other.id in final:
            old = final[resolved.other.id]
            final[old.id] = old._replace(superseded=resolved.item.id)
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
        error = broken.get(item.path)
        if error is None and resolved.action == "supersede" and resolved.other is not None:
            error = broken.get(resolved.other.path)
        if error is not None:
            failed.append(Failure(resolved.waiting, error))
        elif resolved.action == "dropped":
            stored.append(Applied(resolved.waiting, resolved.dropped()))
        elif (twin := twins.get(item.id)) is not None:
            stored.append(Applied(resolved.waiting, answer_for(twin, "merge", twin)))
        else:
            answer = answer_for(item, resolved.action, resolved.other, resolved.reasons)
            stored.append(Applied(resolved.waiting, answer))
    return stored, failed


def answer_for(
    item: MemoryItem, action: Action, other: MemoryItem | None, reasons: tuple[str, ...] = ()
) -> Remembered:
    path = "" if action == "dropped" else item.path
    citation = item.citation if path else ""
    return Remembered(
        item.id, action, item.text, item.category, item.source, path, citation, other, (), reasons
    )
