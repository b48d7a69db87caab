"""Where a vault says a text already, by runs of words: to tell whose words somebody is repeating.

One full-text query of phrases; no ranking and no meaning. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hindbrain.base.segment import searchable
from hindbrain.index.store import IndexStore

_RUN = 4  # words of a phrase: enough to be somebody's, few enough to survive a changed word nearby
_FEWEST = 3  # a text of fewer words is everybody's
_STEP = 2
_MOST_PHRASES = 24  # spread over the whole text
_WORD = re.compile(r"\w+")


def passages_repeated(store: IndexStore, text: str, *, limit: int = 8) -> list[tuple[str, str]]:
    """(path, passage) of the passages that share runs of words with `text`, those with most first."""
    phrases = list(_phrases(_WORD.findall(searchable(text))))
    if not phrases:
        return []
    expression = " OR ".join(f'"{phrase}"' for phrase in phrases)
    ids = [passage_id for passage_id, _ in store.ranked_passages(expression, limit)]
    passages = store.passages(ids)
    notes = store.notes({passage.note_id for passage in passages})
    found = {
        passage.id: (
            notes[passage.note_id].path,
            store.text_of(passage.note_id)[passage.start : passage.stop],
        )
        for passage in passages
        if passage.note_id in notes
    }
    return [found[passage_id] for passage_id in ids if passage_id in found]


def _phrases(words: list[str]) -> Iterable[str]:
    if len(words) < _FEWEST:
        return ()
    starts = list(range(0, max(1, len(words) - _RUN + 1), _STEP))
    spread = starts[:: -(-len(starts) // _MOST_PHRASES)]
    return (" ".join(words[at : at + _RUN]) for at in spread)
