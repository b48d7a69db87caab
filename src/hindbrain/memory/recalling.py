"""What is known on a topic: memories first, then passages of other notes, in one answer.

Memories are judged in their notes: what the index has not seen yet is found, and there is an answer without
an index. Other notes are found by the search. "Nothing found", "nothing close" and "could not look" differ:
the last two are in `notices`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError, IndexMissing, UsageError
from hindbrain.memory.answers import Recalled, RecalledMemory
from hindbrain.memory.day_lines import RETRY, event_of, issue_command, without_fields
from hindbrain.memory.items.archived import archived_memory_notes
from hindbrain.memory.items.word_index import asked_words, item_words, words_of
from hindbrain.search.adjustments import NONE, Adjustments, Table, moved
from hindbrain.vault.items.category import category_asked_for
from hindbrain.vault.items.item_text import unescape

if TYPE_CHECKING:
    from hindbrain.memory.answers import PastRun, Timeline
    from hindbrain.memory.relevance import Fit
    from hindbrain.memory.service import Memory
    from hindbrain.search.hit import Hit
    from hindbrain.vault.items.item import MemoryItem

NOTHING_CLOSE = "nothing_close"  # begins the notice
_TELL_RUNS = ("task_log", "recent", "status")  # notes that tell runs, which are recalled as such
_COPY_RUNS = ("daily", "summary")  # notes that tell them again, in a line
_RUN_ID = re.compile(r"\^(r-[A-Za-z0-9-]+)")
_SESSION = re.compile(r"\s*[-*+] \*\*(?:Time|Context|Duration)\*\*: ")
_SUMMED_UP = re.compile(r"\s*[-*+] (?:Failed|Went well): “([^”]+)”")
_ACTIONS = re.compile(r"\s*[-*+] \*\*Actions:\*\*")
_RETRY = re.compile(rf"\s*[-*+] {RETRY}(.*)")
_MOST = 50
_SPARE = 3
_NOTES_SHARE = 3  # one of so many places is kept for passages of other notes, where these may well answer
_LEAST_LIKELY = 0.02  # confidence: one in fifty is what was sought
_LIKELY = 0.5
_WORTH_A_PASSAGE = 0.1  # beside memories that answer, other notes are shown only where they may well answer
_CLOSE = 0.1  # margin from which a memory answers without a word in common,
_GUESS = -0.05  # and from which it is shown as a guess,
_GUESSES = 5  # memories in an answer that holds guesses
_SHORT_GUESSES = 2  # the same for a topic of a word or two, which resembles much
_SHORT = 2  # words
_SHORT_CLOSE = 0.25  # as _CLOSE, for such a topic
_ABOUT_ALL = frozenset({"know", "remember", "tell", "everything", "anything", "memory", "memories", "me"})


def recall(memory: Memory, topic: str, *, k: int, most: int = _MOST) -> Recalled:
    """At most `k` memories and passages together; `most`: entries in answer to a question about time."""
    from hindbrain.memory.timeline import asked_time, nothing_text
    from hindbrain.search.exact_phrases import NOT_FOUND

    if not topic.strip():
        raise UsageError("the topic is empty; say what you want to know about")
    if not 1 <= k <= _MOST:
        raise UsageError(f"k is {k}; ask for 1 to {_MOST}")
    timeline = asked_time(memory, topic)
    if timeline is not None and (timeline.entries or not timeline.has_subject):
        return _of_time(memory, topic, timeline, k, most)
    moves = _moves(memory)
    close, guesses = _judged(memory, topic, moves)
    items = memory.book.items()
    notices = [f"{problem.path} can't be read: {problem.message}" for problem in memory.book.problems]
    notices += [nothing_text(timeline), *timeline.problems] if timeline is not None else []
    runs, unread = memory.past_runs(topic)
    notices += unread
    passages = _passages(memory, topic, k, {item.path for item in items}, notices)
    passages = _once(memory, passages, runs)
    if close:
        notices = [notice for notice in notices if not notice.startswith(NOT_FOUND)]
        passages = [hit for hit in passages if hit.confidence >= _WORTH_A_PASSAGE]
    elif guesses:
        notices.append(f"{NOTHING_CLOSE}: no memory is close to {topic!r}; these are the nearest")
    elif items and passages:
        notices.append(f"{NOTHING_CLOSE}: no memory is close to {topic!r}")
    most = _SHORT_GUESSES if len(asked_words(topic)) <= _SHORT else _GUESSES
    found = [*close, *guesses[: max(0, most - len(close))]]
    found.sort(key=lambda one: -one.confidence)
    likely = 0 if close else sum(hit.confidence >= _LIKELY for hit in passages)  # guesses make room for them
    passages = passages[: max(k - len(found), k // _NOTES_SHARE, min(k, likely))]
    found = [one._replace(feedback=moves.get(one.item.id, NONE).change) for one in found[: k - len(passages)]]
    known = {one.id for one in (*items, *memory.pending_items())}
    found = _with_fate(found, known, sure=not memory.book.problems)
    return Recalled(topic, tuple(found), tuple(passages), tuple(notices), runs)


def _of_time(memory: Memory, topic: str, timeline: Timeline, k: int, most: int) -> Recalled:
    """The answer to a question about time, with what other notes of the days in question say."""
    notices = list(timeline.problems)
    entries = timeline.entries
    if len(entries) > most:
        notices.append(f"{len(entries) - most} of {len(entries)} are left out; ask for a shorter time")
        entries = entries[:most] if timeline.kind == "open" else entries[-most:]
    passages: list[Hit] = []
    if timeline.kind == "days" and not timeline.has_subject:
        found = _passages(memory, topic, k, set(timeline.notes), notices)
        passages = [hit for hit in found if hit.named >= 1.0][:k]
    return Recalled(topic, (), tuple(passages), tuple(notices), timeline=timeline._replace(entries=entries))


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


def _judged(memory: Memory, topic: str, moves: Table) -> tuple[list[RecalledMemory], list[RecalledMemory]]:
    """The memories that answer, and those that are the nearest beside them; each the best first."""
    from hindbrain.memory.relevance import near
    from hindbrain.search.terms import holds_phrase, understand_terms

    asked = asked_words(topic) or words_of(topic)
    if category := category_asked_for(asked):
        return _most_important(memory.live_items(), category, moves), []
    if asked <= _ABOUT_ALL:
        return _most_important(memory.live_items(), "", moves), []
    fits = memory.fits(topic, asked=True)
    if phrases := understand_terms(topic).phrases:  # what is in quotes must be in a memory, as in a passage
        fits = [fit for fit in fits if all(holds_phrase(fit.item.text, phrase) for phrase in phrases)]
    bar = _SHORT_CLOSE if len(asked) <= _SHORT else _CLOSE
    close = [fit for fit in fits if fit.margin >= bar or asked & item_words(fit.item)]
    if not close and (struck := _struck(memory, topic, asked, phrases)):
        return struck, []
    guesses = [fit for fit in near(fits, _GUESS) if fit not in close]
    return [_recalled(fit, bar) for fit in close], [_recalled(fit, bar) for fit in guesses]


def _recalled(fit: Fit, bar: float) -> RecalledMemory:
    from hindbrain.memory.relevance import confidence_of

    confidence = confidence_of(fit.margin - bar + _CLOSE)
    return RecalledMemory(fit.item, pending=not fit.item.path, confidence=confidence)


def _most_important(items: Sequence[MemoryItem], category: str, moves: Table) -> list[RecalledMemory]:
    """All memories, or those of a category; the most important and latest first."""
    found = [item for item in items if category in ("", item.category)]

    def weight(item: MemoryItem) -> tuple[float, str]:
        return moved(item.importance, moves.get(item.id, NONE).change), item.created

    found.sort(key=weight, reverse=True)
    return [RecalledMemory(item, pending=not item.path) for item in found]


def _struck(
    memory: Memory, topic: str, asked: frozenset[str], phrases: Sequence[str]
) -> list[RecalledMemory]:
    """What held once, where nothing that holds answers."""
    from hindbrain.search.terms import holds_phrase

    return [
        RecalledMemory(item)
        for item in memory.book.candidates(topic, _MOST)
        if item.superseded
        and asked & item_words(item)
        and all(holds_phrase(item.text, phrase) for phrase in phrases)
    ]


def _passages(memory: Memory, topic: str, k: int, places: set[str], notices: list[str]) -> list[Hit]:
    """What other notes say. `places`: the notes of memories."""
    from hindbrain.search.query import SearchQuery

    try:
        # Notes of memories are left out below, and they may be most of what is found.
        result = memory.search(SearchQuery(topic, k=_SPARE * k))
    except IndexMissing:
        notices.append("the index is not made yet: memories were looked through, other notes were not")
        return []
    except HindbrainError as error:
        notices.append(f"the index could not be asked ({error.code}): other notes were not looked at")
        return []
    notices += result.notices
    # What waits in the inbox is nobody's word yet: it is shown to its owner, not to whoever recalls.
    # What was archived is found by who searches for it, and not put before an agent again.
    hidden = {*places, memory.inbox.path, *archived_memory_notes(memory.layout, memory.root)}
    return [
        hit
        for hit in result.hits
        if hit.path not in hidden
        and memory.layout.role_of(hit.path) not in _TELL_RUNS
        and _says_something(hit)
    ]


def _once(memory: Memory, passages: Sequence[Hit], runs: Sequence[PastRun]) -> list[Hit]:
    """The passages that tell more than what `runs` and the passages before them tell.

    A run stands in several notes. Of a failure the entry among the issues says most, else the day's line.
    """
    roles = {hit.path: memory.layout.role_of(hit.path) for hit in passages}
    ids = {run.id for run in runs if run.id}
    commands = {run.command.casefold() for run in runs}
    for hit in passages:
        if roles[hit.path] == "issues":
            commands.update(_commands_in(hit.text))
    # What was done says less of a failure than the other lines of its entry.
    entries = {(hit.path, hit.heading) for hit in passages if not _ACTIONS.match(hit.text)}
    kept: list[Hit] = []
    for hit in passages:
        if roles[hit.path] == "issues" and _ACTIONS.match(hit.text) and (hit.path, hit.heading) in entries:
            continue
        if roles[hit.path] not in _COPY_RUNS:
            kept.append(hit)
            continue
        lines = [line for line in hit.text.split("\n") if line.strip() and not line.startswith("#")]
        if all(_is_copy(line, ids, commands) for line in lines):
            continue
        ids.update(run for line in lines for run in _RUN_ID.findall(line))
        kept.append(hit)
    return kept


def _is_copy(line: str, ids: set[str], commands: set[str]) -> bool:
    """Does a line of our own tell a run that is told, or nothing but when a session was?"""
    if _SESSION.match(line):
        return True
    if retried := _RETRY.match(line):
        return without_fields(retried[1]).casefold() in commands
    own = _RUN_ID.findall(line)
    summed_up = _SUMMED_UP.match(line)
    told = unescape(summed_up[1], summed_up[1]) if summed_up else event_of(line, "").text
    return bool(own) and (ids.issuperset(own) or told.casefold() in commands)


def _commands_in(text: str) -> set[str]:
    return {found.casefold() for line in text.split("\n") if (found := issue_command(line))}


def _says_something(hit: Hit) -> bool:
    """A search answers with whatever is nearest; without a word in common and unlikely, it is no answer."""
    return bool(hit.terms) or hit.confidence >= _LEAST_LIKELY


def _moves(memory: Memory) -> Table:
    """By how much feedback moves the importance of memories; nothing while there is none."""
    adjustments = Adjustments(memory.state)
    adjustments.refresh()
    return adjustments.items


def _with_fate(found: Sequence[RecalledMemory], there: set[str], *, sure: bool) -> list[RecalledMemory]:
    """With those marked whose successor was taken away since. `sure`: every note of memories was read."""
    return [
        one._replace(successor_gone=sure and len(by) > 1 and by not in there)
        for one in found
        for by in (one.item.superseded,)
    ]
