"""Keeps two files beside the index: by how much runs, recalls and edits move an importance, and why
(`feedback.json`); and what each memory cost and returned (`returns.json`, which no search has to read).

Everything in them is derived: from the episodes, the log of what was opened, and the revisions. Deleting the
first undoes what it did; the next time both are made again. No note is touched.
"""

from __future__ import annotations

import contextlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import make_folder, replace_file
from hindbrain.index.usage import Access, read_usage
from hindbrain.learn.feedback.adjusting import RECALL_HALF_LIFE_DAYS, Facts, change_of
from hindbrain.learn.feedback.edits import Edits, edits_of
from hindbrain.learn.feedback.returns import Return, returns
from hindbrain.search.adjustments import FEEDBACK, VERSION

if TYPE_CHECKING:
    from hindbrain.base.clock import Clock
    from hindbrain.learn.runs.episode import Episode
    from hindbrain.memory.service import Memory
    from hindbrain.vault.items.item import MemoryItem
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import VaultWriter

RETURNS = "returns.json"  # in the state folder
_DAY_S = 86_400.0
_MOST_REVISIONS = 5_000  # the newest
_MOST_ACCESSES = 10_000  # the newest
_ANSWERS = 0.5  # of a question's telling words must stand in a memory that is said to have answered it
_NO_RETURN = Return()
_NO_EDITS = Edits()


class FeedbackMade(NamedTuple):
    items: int  # memories whose importance is moved
    notes: int
    changed: bool  # a file was written
    problem: str = ""  # why it could not be; what was there stays


class Feedback:
    """For one thread."""

    def __init__(self, memory: Memory, state: Path, clock: Clock, writer: Callable[[], VaultWriter]) -> None:
        self._memory = memory
        self._state = state
        self._clock = clock
        self._writer = writer

    def bring_up_to_date(self, episodes: Sequence[Episode]) -> FeedbackMade:
        """`episodes` oldest first. What did not change is not written."""
        accounts = returns(episodes)
        items = self._memory.book.items()
        of_items = _rows(self._item_facts(items, accounts))
        of_notes = _rows(_note_facts(accounts))
        bills = {id_: account_data(account) for id_, account in sorted(accounts.items())}
        files = {
            RETURNS: {"v": VERSION, "returns": bills},
            FEEDBACK: {"v": VERSION, "items": of_items, "notes": of_notes},
        }
        try:
            changed = [self._put(name, told) for name, told in files.items()]
        except OSError as error:  # full, or held open by a reader on Windows: the next time will do
            problem = f"feedback could not be written: {error.strerror}"
            return FeedbackMade(len(of_items), len(of_notes), False, problem)
        return FeedbackMade(len(of_items), len(of_notes), any(changed))

    def _item_facts(self, items: Sequence[MemoryItem], accounts: Mapping[str, Return]) -> dict[str, Facts]:
        recalled = recalls_of(items, read_usage(self._memory.root), now=self._clock.now())
        edits = self._edits({item.path for item in items})
        return {
            item.id: Facts(
                lift=accounts.get(item.id, _NO_RETURN).lift,
                recalled=recalled.get(item.id, 0.0),
                edited=edits.get(item.id, _NO_EDITS).edited,
                kept=edits.get(item.id, _NO_EDITS).kept,
            )
            for item in items
            if item.id and not item.superseded
        }

    def _edits(self, paths: Iterable[str]) -> dict[str, Edits]:
        writer = self._writer()
        by_path: dict[str, list[Revision]] = {path: [] for path in paths}
        for revision in reversed(writer.history(None, _MOST_REVISIONS)):
            if revision.path in by_path:
                by_path[revision.path].append(revision)
        found: dict[str, Edits] = {}
        for path, revisions in by_path.items():
            if not revisions:
                continue
            try:
                page = self._memory.notebook.find(path)
                if page is not None:
                    category = self._memory.book.category_of(path)
                    found |= edits_of(path, revisions, page.data, page.hash, writer.kept, category=category)
            except HindbrainError:
                continue  # a note that can't be read now tells nothing about its memories
        return found

    def _put(self, name: str, told: Mapping[str, object]) -> bool:
        """Whole or not at all; what did not change is not written. Lost in a power cut, it is made again."""
        data = json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode("ascii")
        file = self._state / name
        with contextlib.suppress(OSError):
            if file.read_bytes() == data:
                return False
        make_folder(self._state)
        replace_file(file, data, durable=False)
        return True


def recalls_of(items: Sequence[MemoryItem], accesses: Sequence[Access], *, now: float) -> dict[str, float]:
    """How often each memory answered a question that led to its note; long ago counts less. Pure."""
    from hindbrain.memory.items.word_index import asked_words, words_of

    holding: dict[tuple[str, str], list[str]] = {}  # note and word -> ids
    for item in items:
        for word in words_of(item.text) if item.id else ():
            holding.setdefault((item.path, word), []).append(item.id)
    found: defaultdict[str, float] = defaultdict(float)
    for path, at, query, _ in accesses[-_MOST_ACCESSES:]:
        asked = asked_words(query)
        shared = Counter(id_ for word in asked for id_ in holding.get((path, word), ()))
        weight = 0.5 ** (max(0.0, now - at) / _DAY_S / RECALL_HALF_LIFE_DAYS)
        for id_, words in shared.items():
            if words >= _ANSWERS * len(asked):
                found[id_] += weight
    return dict(found)


def account_data(account: Return) -> dict[str, Any]:
    """The account of one memory, for a program."""
    return {
        "injected": account.injected,
        "tokens": account.tokens,
        "well": account.well,
        "ill": account.ill,
        "lift": round(account.lift, 4),
        "last": account.last,
    }


def _note_facts(accounts: Mapping[str, Return]) -> dict[str, Facts]:
    """Notes that were injected under their path. How often a note is opened is a signal of its own."""
    return {id_: Facts(lift=account.lift) for id_, account in accounts.items() if id_.endswith(".md")}


def _rows(facts: Mapping[str, Facts]) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for name, known in sorted(facts.items()):
        change, parts = change_of(known)
        if change:
            rows[name] = {"change": change, "parts": dict(parts)}
    return rows
