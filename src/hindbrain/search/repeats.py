"""Where a vault says a text already in the words of strangers: to tell whose words somebody is repeating.

Full-text queries of phrases, in notes that were taken from elsewhere and in passages that a mark
(`[source:: web]`) gives to a stranger; no ranking and no meaning. Reads the index only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hindbrain.base.segment import searchable
from hindbrain.index.store import IndexStore

_RUN = 4  # words of a phrase: enough to be somebody's, few enough to survive a changed word nearby
_FEWEST = 3  # a text of fewer words is everybody's
_STEP = 2
_MOST_PHRASES = 24  # spread over the whole text
_MOST_PASSAGES = 32
_WORD = re.compile(r"\w+")
_FOREIGN = "SELECT 1 FROM origin LIMIT 1"
_MARKS = '"source web" OR "source import" OR "source tool"'
_MARK = re.compile(r"\[source:: ?(web|import|tool)\]", re.IGNORECASE)
_MARKED = """
    SELECT n.path, p.note_id, p.start, p.stop FROM passage_fts f
    JOIN passage p ON p.id = f.rowid JOIN note n ON n.id = p.note_id
    WHERE f.passage_fts MATCH ? LIMIT ?
"""
_PASSAGES = """
    SELECT o.source, p.note_id, p.start, p.stop FROM passage_fts f
    JOIN passage p ON p.id = f.rowid JOIN origin o ON o.note_id = p.note_id
    WHERE f.passage_fts MATCH ? LIMIT ?
"""


def passages_repeated(
    store: IndexStore, text: str, *, is_record: Callable[[str], bool] = lambda _: False
) -> list[tuple[str, str]]:
    """(source, passage) of what strangers say in the vault and `text` shares runs of words with.

    Marks in notes for which `is_record` is true do not count: there we tell ourselves what was learned.
    """
    phrases = list(_phrases(_WORD.findall(searchable(text))))
    if not phrases:
        return []
    expression = " OR ".join(f'"{phrase}"' for phrase in phrases)
    found = []
    if store.select(_FOREIGN):
        rows = store.select(_PASSAGES, (expression, _MOST_PASSAGES))
        found = [(source, store.text_of(note_id)[start:stop]) for source, note_id, start, stop in rows]
    marked = store.select(_MARKED, (f"({_MARKS}) AND ({expression})", _MOST_PASSAGES))
    for path, note_id, start, stop in marked:
        passage = store.text_of(note_id)[start:stop]
        if (sources := _MARK.findall(passage)) and not is_record(path):
            found += [(source.lower(), passage) for source in sources]
    return found


def _phrases(words: list[str]) -> Iterable[str]:
    if len(words) < _FEWEST:
        return ()
    starts = list(range(0, max(1, len(words) - _RUN + 1), _STEP))
    spread = starts[:: -(-len(starts) // _MOST_PHRASES)]
    return (" ".join(words[at : at + _RUN]) for at in spread)
