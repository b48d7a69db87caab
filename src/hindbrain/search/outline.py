"""A note as the row of its passages: for whoever shows more of it than a hit does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.index.store import IndexStore
from hindbrain.search.view import IndexView

_MOST = 4_000  # passages of a note that are looked at; who has more of them is shown by its hits


class OutlinePassage(NamedTuple):
    """One passage of a note, in its place."""

    passage: str  # lasting id: 16 hex digits, as a hit's
    first_line: int
    last_line: int
    heading: str  # path joined by " > "; "" before the first heading
    text: str


class Outline(NamedTuple):
    """A note, passage by passage."""

    path: str
    title: str  # the note's name, see `vault.note.Note`
    date: str  # YYYY-MM-DD, or ""
    source: str  # whose word it is: user, tool, web or import; an agent's memories say so line by line
    passages: tuple[OutlinePassage, ...]


def outlines_of(store: IndexStore, view: IndexView, paths: Iterable[str]) -> dict[str, Outline]:
    """The notes that the index knows, by path. Three questions to it, however many notes are meant."""
    ids = store.note_ids(paths)
    notes = view.notes(ids)
    sources = store.origins(ids)
    infos = store.passages(
        number
        for note in notes.values()
        for number in range(note.first_passage, note.first_passage + min(note.passages, _MOST))
    )
    passages: dict[int, list[OutlinePassage]] = {id_: [] for id_ in notes}
    for info in infos:
        own = passages.get(info.note_id)
        if own is not None:
            text = view.text_of(info.note_id)[info.start : info.stop]
            own.append(
                OutlinePassage(f"{info.uid:016x}", info.first_line, info.last_line, info.heading, text)
            )
    return {
        note.path: Outline(note.path, note.name, note.date, sources.get(id_, "user"), tuple(passages[id_]))
        for id_, note in notes.items()
    }
