"""Notes that the passages found link to: what several of them point to is likely to be meant.

A link counts by how well its passage fits the query. It counts less where the passage has many links, and
less where the whole vault links to that note.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from hindbrain.index.names import name_key
from hindbrain.index.store import IndexStore, NoteInfo, PassageInfo

_MOST_LINKS = 100  # of a passage: a longer list points at nothing in particular


class Linking(NamedTuple):
    """A passage whose links count, and how much, 0..1."""

    passage: PassageInfo
    weight: float


class _Link(NamedTuple):
    whole: str  # the folded target
    last: str  # its last part, folded: "c" of [[a/b/c]]


def linked_notes(
    store: IndexStore, linking: Sequence[Linking], notes: Mapping[int, NoteInfo]
) -> dict[int, float]:
    """How much each of `notes` is linked to by these passages, 0..1; those that are not are left out."""
    links = _links_in(store, [one.passage for one in linking])
    all_links = {link for own in links for link in own}
    meant = _notes_meant(store, all_links, notes)
    if not meant:
        return {}
    counts = store.linking_counts({link.last for link in all_links})
    found: dict[int, dict[int, float]] = defaultdict(dict)  # by note, then by the note that links to it
    for (passage, weight), own in zip(linking, links, strict=True):
        for link in own:
            to = meant.get(link.whole, meant.get(link.last))
            if to is not None and to != passage.note_id:
                much = weight / math.sqrt(len(own)) / (1 + math.log1p(counts.get(link.last, 0)))
                found[to][passage.note_id] = max(much, found[to].get(passage.note_id, 0.0))
    return {to: min(1.0, sum(by_note.values())) for to, by_note in found.items()}


def _links_in(store: IndexStore, passages: Sequence[PassageInfo]) -> list[set[_Link]]:
    by_note: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    for note_id, line, target, last in store.links_from({passage.note_id for passage in passages}):
        by_note[note_id].append((line, target, last))
    found = []
    for passage in passages:
        lines = range(passage.first_line, passage.last_line + 1)
        own = [(target, last) for line, target, last in by_note[passage.note_id] if line in lines]
        many = len(own) > _MOST_LINKS
        found.append(set() if many else {_Link(name_key(target), last) for target, last in own})
    return found


def _notes_meant(store: IndexStore, links: Iterable[_Link], notes: Mapping[int, NoteInfo]) -> dict[str, int]:
    """The note of each name; of several with the same one that with the shortest path, as Obsidian does."""
    names = sorted({name for link in links for name in link})
    named = [(name, note_id) for name, note_id in store.notes_named(names) if note_id in notes]
    named.sort(key=lambda one: (-len(notes[one[1]].path), notes[one[1]].path))
    return dict(named)
