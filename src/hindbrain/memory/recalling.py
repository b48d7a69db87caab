"""What is known on a topic: memories first, then passages of other notes, in one answer.

Asks the search for both; memories are also looked through in their notes, so that what the index has not
seen yet is found, and something is answered without an index. "Nothing found" and "could not look" differ:
what could not be asked is in `notices`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError, IndexMissing, UsageError
from hindbrain.memory.answers import Recalled, RecalledMemory
from hindbrain.memory.items.archived import archived_memory_notes
from hindbrain.memory.items.word_index import asked_words, item_words, words_of
from hindbrain.search.adjustments import NONE, Adjustments, Table, moved
from hindbrain.vault.items.category import category_asked_for

if TYPE_CHECKING:
    from hindbrain.memory.service import Memory
    from hindbrain.search.hit import Hit, SearchResult
    from hindbrain.vault.items.item import MemoryItem

_MOST = 50
_SPARE = 3
_NOTES_SHARE = 3  # one of so many places is kept for passages of other notes, where these may well answer
_LEAST_LIKELY = 0.02  # confidence: one in fifty is what was sought
_WORTH_A_PASSAGE = 0.1  # beside memories that answer, other notes are shown only where they may well answer


def recall(memory: Memory, topic: str, *, k: int) -> Recalled:
    """At most `k` memories and passages together."""
    from hindbrain.search.exact_phrases import NOT_FOUND

    if not topic.strip():
        raise UsageError("the topic is empty; say what you want to know about")
    if not 1 <= k <= _MOST:
        raise UsageError(f"k is {k}; ask for 1 to {_MOST}")
    pending = memory.pending_items()  # before the notes: what is on its way is seen twice, not missed
    items = memory.book.items()
    notices = [f"{problem.path} can't be read: {problem.message}" for problem in memory.book.problems]
    places = {item.path for item in items}
    by_search, passages = _searched(memory, topic, k, items, places, notices)
    moves = _moves(memory)
    found = _joined(memory, topic, k, by_search, pending, {item.id for item in items}, moves)
    found = [one._replace(feedback=moves.get(one.item.id, NONE).change) for one in found]
    found = _with_fate(found, {one.id for one in (*items, *pending)}, sure=not memory.book.problems)
    if found:
        notices = [notice for notice in notices if not notice.startswith(NOT_FOUND)]
        passages = [hit for hit in passages if hit.confidence >= _WORTH_A_PASSAGE]
    passages = passages[: max(k - len(found), k // _NOTES_SHARE)]
    found = found[: k - len(passages)]
    for one in found:
        if one.item.path:
            memory.count_access(one.item.path, topic, one.item.id)
    return Recalled(topic, tuple(found), tuple(passages), tuple(notices))


def matching(memory: Memory, words: str) -> list[MemoryItem]:
    """The memories with all of `words`, in the order of the notes; those with them as one phrase go first."""
    wanted = words_of(words)
    if not wanted:
        raise UsageError("the words are empty; give some of the memory's words, or its id")
    pending = memory.pending_items()  # before the notes: what is on its way is seen twice, not missed
    held = memory.book.items()
    known = {item.id for item in held}
    current = [item for item in held if not item.superseded]
    current += [item for item in pending if item.id not in known]
    old = [item for item in held if item.superseded]
    for items in (current, [*old, *memory.archived.items()]):
        found = [item for item in items if wanted <= words_of(item.text)]
        phrase = [item for item in found if words.casefold() in item.text.casefold()]
        if found:
            return phrase or found
    return []


def _searched(
    memory: Memory,
    topic: str,
    k: int,
    items: Sequence[MemoryItem],
    places: set[str],
    notices: list[str],
) -> tuple[list[RecalledMemory], list[Hit]]:
    """What the index finds: memories, and passages of other notes."""
    from hindbrain.search.query import Filters, SearchQuery

    try:
        hits: list[Hit] = []
        for place in _memory_places(memory, places):
            result = memory.search(SearchQuery(topic, k=k, filters=Filters(folder=place)))
            hits += [hit for hit in result.hits if hit.path in places]
        # Notes of memories are left out below, and they may be most of what is found.
        rest: SearchResult = memory.search(SearchQuery(topic, k=_SPARE * k))
        notices += rest.notices
    except IndexMissing:
        notices.append("the index is not made yet: memories were looked through, other notes were not")
        return [], []
    except HindbrainError as error:
        notices.append(f"the index could not be asked ({error.code}): other notes were not looked at")
        return [], []
    hits.sort(key=lambda hit: -hit.confidence)
    # What waits in the inbox is nobody's word yet: it is shown to its owner, not to whoever recalls.
    # What was archived is found by who searches for it, and not put before an agent again.
    hidden = {*places, memory.inbox.path, *archived_memory_notes(memory.layout, memory.root)}
    passages = [hit for hit in rest.hits if hit.path not in hidden and _says_something(hit)]
    return _as_memories([hit for hit in hits if _says_something(hit)], items), passages


def _says_something(hit: Hit) -> bool:
    """A search answers with whatever is nearest; without a word in common and unlikely, it is no answer."""
    return bool(hit.terms) or hit.confidence >= _LEAST_LIKELY


def _memory_places(memory: Memory, notes: set[str]) -> list[str]:
    """The folders and notes that hold memories, as filters. `notes`: those that were read."""
    layout = memory.layout
    roles = {"memory", *layout.categories.values()}
    found = {layout.path(role) if layout.is_single(role) else layout.folder_of(role) for role in roles}
    moved = {note for note in notes if not any(f"{note}/".startswith(f"{place}/") for place in found)}
    return sorted(found | (set() if "" in found else moved))


def _as_memories(hits: Sequence[Hit], items: Sequence[MemoryItem]) -> list[RecalledMemory]:
    """The memories that stand in the passages. An index that is a little behind has other line numbers."""
    by_path: dict[str, list[MemoryItem]] = {}
    for item in items:
        by_path.setdefault(item.path, []).append(item)
    found: dict[tuple[str, int], RecalledMemory] = {}
    for hit in hits:
        said = words_of(hit.text)
        near = [item for item in by_path.get(hit.path, ()) if hit.first_line <= item.line <= hit.last_line]
        if not near or not all(words_of(item.text) <= said for item in near):
            near = [item for item in by_path.get(hit.path, ()) if item.text in hit.text]
        for item in near:
            found.setdefault((item.path, item.line), RecalledMemory(item, confidence=hit.confidence))
    return list(found.values())


def _joined(
    memory: Memory,
    topic: str,
    k: int,
    by_search: Sequence[RecalledMemory],
    pending: Sequence[MemoryItem],
    stored: set[str],
    moves: Table,
) -> list[RecalledMemory]:
    """Those that the search found, those that share words with the topic, and those on their way."""
    from hindbrain.memory.items.word_index import WordIndex, nearest
    from hindbrain.search.terms import holds_phrase, understand_terms

    asked = asked_words(topic) or words_of(topic)
    on_their_way = [
        RecalledMemory(item, pending=True)
        for item in nearest(topic, [WordIndex(item for item in pending if item.id not in stored)], k)
        if asked & item_words(item)
    ]
    by_words = [
        RecalledMemory(item) for item in memory.book.candidates(topic, 2 * k) if asked & item_words(item)
    ]
    by_kind = _of_a_kind([*pending, *memory.book.items()], category_asked_for(asked), moves)
    likely = [found for found in by_search if found.confidence >= _WORTH_A_PASSAGE]
    every: dict[tuple[str, int, str], RecalledMemory] = {}
    for found in (*on_their_way, *likely, *by_words, *by_kind, *by_search):
        every.setdefault((found.item.path, found.item.line, found.item.id), found)
    if phrases := understand_terms(topic).phrases:  # what is in quotes must be in a memory, as in a passage
        every = {
            key: found
            for key, found in every.items()
            if all(holds_phrase(found.item.text, phrase) for phrase in phrases)
        }
    holding = [found for found in every.values() if not found.item.superseded]
    return (holding or list(every.values()))[:k]


def _moves(memory: Memory) -> Table:
    """By how much feedback moves the importance of memories; nothing while there is none."""
    adjustments = Adjustments(memory.state)
    adjustments.refresh()
    return adjustments.items


def _of_a_kind(items: Sequence[MemoryItem], category: str, moves: Table) -> list[RecalledMemory]:
    """All memories of a category, the most important and latest first; none without one."""
    found = [item for item in items if item.category == category and not item.superseded]

    def weight(item: MemoryItem) -> tuple[float, str]:
        return moved(item.importance, moves.get(item.id, NONE).change), item.created

    found.sort(key=weight, reverse=True)
    return [RecalledMemory(item, pending=not item.path) for item in found]


def _with_fate(found: Sequence[RecalledMemory], there: set[str], *, sure: bool) -> list[RecalledMemory]:
    """With those marked whose successor was taken away since. `sure`: every note of memories was read."""
    return [
        one._replace(successor_gone=sure and len(by) > 1 and by not in there)
        for one in found
        for by in (one.item.superseded,)
    ]
