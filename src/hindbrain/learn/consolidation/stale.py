"""Memories that nobody used for a season and that do not matter: their lines move into the archive.

Stale is a memory that is not the owner's own word, was not used for 90 days, and is of little importance by
now: below 0.4 of `importance x max(0.1, 1 - days since its last use / 365)`. What was written as important
(0.8 or more), what a person approved, and what replaced another memory stay. The line is copied, with the
lines below it, before it goes; no search loses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import local_time
from hindbrain.base.errors import HindbrainError
from hindbrain.learn.consolidation.importance import decay
from hindbrain.memory.items.archived import archive_folder
from hindbrain.memory.items.word_index import asked_words, words_of
from hindbrain.vault.items.item import Entry, MemoryItem, parse_entries
from hindbrain.vault.items.item_line import read_line
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.path_rules import check_note_path

if TYPE_CHECKING:
    from hindbrain.index.usage import Access
    from hindbrain.learn.pages.desk import Desk
    from hindbrain.memory.notes.notebook import Page
    from hindbrain.memory.service import Memory

UNUSED_DAYS = 90
UNIMPORTANT = 0.4
_IMPORTANT = 0.8  # as written: such a memory stays, however long nobody asks
_DAY_S = 86_400


class Uses(NamedTuple):
    """When memories were used last, in seconds since the epoch."""

    opened: Mapping[str, Mapping[str, float]]  # by note, then by word of the question; "" without one
    injected: Mapping[str, float]  # by id

    def last_of(self, item: MemoryItem) -> float:
        """0.0 when it is not known to have been used.

        A note has many memories: the question that led there tells which of them were meant.
        """
        asked = self.opened.get(item.path, {})
        times = [asked[word] for word in ("", *words_of(item.text)) if word in asked]
        return max((self.injected.get(item.id, 0.0), *times))


class Stale(NamedTuple):
    item: MemoryItem
    effective: float  # importance that is left
    days: int  # since its last use


class Moved(NamedTuple):
    """What became of stale memories."""

    ids: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def uses_of(accesses: Iterable[Access], injections: Iterable[tuple[float, Sequence[str]]]) -> Uses:
    """`injections`: when which ids were put into a prompt."""
    opened: dict[str, dict[str, float]] = {}
    injected: dict[str, float] = {}
    for path, at, query, shown in accesses:
        for id_ in shown:
            injected[id_] = max(injected.get(id_, 0.0), at)
        last = opened.setdefault(path, {})
        for word in asked_words(query) or {""}:
            last[word] = max(last.get(word, 0.0), at)
    for at, items in injections:
        for one in items:
            id_ = one.rpartition("^")[2]
            injected[id_] = max(injected.get(id_, 0.0), at)
    return Uses(opened, injected)


def injections(root: Path) -> Iterator[tuple[float, Sequence[str]]]:
    """When which ids were put into a prompt, read from the journals themselves."""
    from hindbrain.learn.runs.events import ContextInjected
    from hindbrain.learn.runs.files import Lines, journal_files
    from hindbrain.learn.runs.journal import RUNS

    for file in journal_files(root):
        for event in Lines(root / ".hindbrain" / RUNS / file.name):
            if isinstance(event, ContextInjected):
                yield event.at, event.items


def find_stale(
    items: Sequence[MemoryItem],
    uses: Uses,
    *,
    now: float,
    adjustment: Callable[[str], float] = lambda _: 0.0,
) -> list[Stale]:
    """`adjustment`: what feedback adds to a memory's importance, by its id."""
    today = local_time(now).date()
    heads = {item.superseded for item in items if item.superseded}
    found: list[Stale] = []
    for item in items:
        if not item.id.startswith("m-") or item.source == "user" or item.id in heads or not item.created:
            continue
        last = _day_of(uses.last_of(item))
        days = (today - max(date.fromisoformat(item.created), last)).days
        effective = max(0.0, item.importance + adjustment(item.id)) * decay(days)
        if days > UNUSED_DAYS and effective < UNIMPORTANT and item.importance < _IMPORTANT:
            found.append(Stale(item, round(effective, 3), days))
    return found


class StaleMemories:
    """For one consolidation."""

    def __init__(
        self,
        desk: Desk,
        memory: Memory,
        was_archived: Callable[[str], bool],
        vouch: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`vouch` hears of a note that holds a copy already."""
        self._desk = desk
        self._memory = memory
        self._was_archived = was_archived
        self._vouch = vouch

    def archive(self, stale: Sequence[Stale]) -> Moved:
        """Move them, one write for each note that holds them and one for each that shall."""
        by_note: dict[str, list[MemoryItem]] = {}
        for one in stale:
            # Whoever took a line out of the archive again wants it where it is.
            if not self._was_archived(one.item.id):
                by_note.setdefault(one.item.path, []).append(one.item)
        moved, problems = list[str](), list[str]()
        for path, items in by_note.items():
            try:
                moved += self._move(path, items)
            except HindbrainError as error:
                problems.append(f"{path}: old memories were not archived: {error}")
        return Moved(tuple(moved), tuple(problems))

    def _move(self, path: str, items: Sequence[MemoryItem]) -> list[str]:
        page = self._desk.find(path)
        if page is None:
            return []
        wanted = {item.id: item.category for item in items}
        lines = _lines_of(page, wanted, self._memory.book.category_of(path))
        by_category: dict[str, dict[str, list[str]]] = {}
        for id_, own in lines.items():
            by_category.setdefault(wanted[id_], {})[id_] = own
        for category, entries in sorted(by_category.items()):
            self._copy(category, entries)
        self._take_away(path, lines)
        return list(lines)

    def _copy(self, category: str, entries: Mapping[str, Sequence[str]]) -> None:
        path = check_note_path(f"{archive_folder(self._desk.layout, 'Memory')}/{category}.md")
        first = _first_text(category, self._desk.today())

        def change(page: Page | None) -> bytes | None:
            note = NoteLines(first.encode() if page is None else page.data, repr(path))
            # By its lines and not by its id: one that was brought back and changed is another one.
            new = [line for lines in entries.values() if not set(lines) <= set(note.texts) for line in lines]
            if not new:
                return None
            at = len(note.texts)
            while at and not note.texts[at - 1].strip():
                at -= 1
            lead = [] if at and note.texts[at - 1].lstrip().startswith(("-", "*", "+")) else [""]
            note.remove(at, len(note.texts))
            note.insert(at, [*lead, *new])
            return note.data()

        page = self._desk.find(path)
        if page is not None and any(set(lines) <= _texts(page) for lines in entries.values()):
            self._vouch(path)
        self._desk.edit(path, change, ours=first.split("\n"))

    def _take_away(self, path: str, lines: Mapping[str, Sequence[str]]) -> None:
        category = self._memory.book.category_of(path)

        def change(page: Page | None) -> bytes | None:
            if page is None:
                return None
            note = NoteLines(page.data, repr(path))
            for entry in reversed(parse_entries(note.texts, path=path, category=category)):
                # Only what was copied: somebody may have written into it since.
                if lines.get(entry.item.id) == note.texts[entry.start : entry.stop]:
                    note.remove(entry.start, entry.stop)
            after = note.data()
            return None if after == page.data else after

        self._desk.edit(path, change)


def _lines_of(page: Page, wanted: Mapping[str, str], category: str) -> dict[str, list[str]]:
    """The lines of each memory, with those below it; without those that a person has approved."""
    texts = NoteLines(page.data, repr(page.path)).texts
    entries = parse_entries(texts, path=page.path, category=category)
    found: dict[str, list[str]] = {}
    for entry, below in zip(entries, (*entries[1:], None), strict=True):
        # A memory of its own below it, of the owner perhaps, holds the whole.
        holds_other = below is not None and below.start < entry.stop
        is_wanted = entry.item.id in wanted and entry.item.id not in found
        if is_wanted and not holds_other and not _is_approved(entry, texts):
            found[entry.item.id] = texts[entry.start : entry.stop]
    return found


def _texts(page: Page) -> frozenset[str]:
    return frozenset(NoteLines(page.data, repr(page.path)).texts)


def _is_approved(entry: Entry, texts: Sequence[str]) -> bool:
    return any(read_line(line).value("approved") for line in texts[entry.start : entry.text_stop])


def _first_text(category: str, today: str) -> str:
    return (
        f"---\ntype: memory-archive\ncategory: {category}\nsource: agent\ncreated: {today}\n"
        "tags: [agent]\n---\n"
        f"# Archived memories: {category}\n\n"
        "Memories that nobody used for a season. Move a line back into its note to have it used again.\n\n"
    )


def _day_of(seconds: float) -> date:
    return local_time(seconds).date()
