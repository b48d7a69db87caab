"""Which passages hold a quoted phrase: in their own text, under a heading with it, or in a note named by it.

The full-text index finds words by their stems; what it finds is compared with the words as they are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from hindbrain.index.store import IndexStore
from hindbrain.search.lexical import Keep
from hindbrain.search.terms import holds_phrase, quoted
from hindbrain.search.view import IndexView

NOT_FOUND = "phrase_not_found: "  # how the notice begins
_MOST_COMPARED = 3_000  # passages; of a commoner word any form will do


def passages_with(store: IndexStore, view: IndexView, phrases: Sequence[str], keep: Keep | None) -> Keep:
    """The passages that hold every phrase, and that `keep` lets through."""
    found = set.intersection(*(_holding(store, view, phrase) for phrase in phrases))
    return Keep([(id_, 1) for id_ in found if keep is None or id_ in keep])


def absence(phrases: Sequence[str], *, filtered: bool) -> str:
    """The notice that nothing holds the phrases. `filtered`: only some passages were looked at."""
    named = " and ".join(f'"{phrase}"' for phrase in phrases)
    said = f"the phrase {named}" if len(phrases) == 1 else f"all of the phrases {named}"
    passage = "passage that the filters let through" if filtered else "passage"
    return f"{NOT_FOUND}no {passage} has {said}; search without the quotes to look for its words"


def _holding(store: IndexStore, view: IndexView, phrase: str) -> set[int]:
    expression = quoted(phrase)
    found = {int(id_) for id_ in store.postings(expression).split(",") if id_}
    if len(found) <= _MOST_COMPARED:
        found = {
            info.id
            for info in store.passages(found)
            if holds_phrase(view.text_of(info.note_id)[info.start : info.stop], phrase)
        }
    rows = store.select(
        "SELECT note.first_passage, note.passages, note.filename, note.title, note.aliases FROM note_fts"
        " JOIN note ON note.id = note_fts.rowid WHERE note_fts MATCH ?",
        (f"{{filename title aliases headers}} : {expression}",),
    )
    for first, count, *names in rows:
        ids = range(first, first + count)
        if any(holds_phrase(name, phrase) for name in names):
            found.update(ids or (first,))  # a note without a passage stands at its first number
        else:
            found |= {info.id for info in store.passages(ids) if holds_phrase(info.heading, phrase)}
    return found
