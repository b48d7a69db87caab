"""Other names of what a memory speaks of: a note's title, file name and aliases mean the same.

A memory that says "Robert Smith" is found by "Bob" where a note of that name has the alias, as if its owner
had written the cue. Pure; knows nothing of the index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_MOST = 10  # for one memory


class OtherNames:
    """Groups of names that mean the same. Two with the same groups are equal."""

    def __init__(self, groups: Sequence[Sequence[str]] = ()) -> None:
        self._groups = tuple(tuple(dict.fromkeys(group)) for group in groups)
        self._starts: dict[str, list[tuple[list[str], int]]] = {}
        for at, group in enumerate(self._groups):
            for name in group:
                if words := _WORD.findall(name):
                    self._starts.setdefault(words[0], []).append((words, at))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OtherNames) and self._groups == other._groups

    def __hash__(self) -> int:
        return hash(self._groups)

    def of(self, text: str) -> list[str]:
        """All names of what is named in a text, as it is written: "design" does not name the note Design."""
        if not self._groups:
            return []
        said = _WORD.findall(text)
        named: dict[str, None] = {}
        for at, word in enumerate(said):
            for words, group in self._starts.get(word, ()):
                if said[at : at + len(words)] == words:
                    named.update(dict.fromkeys(self._groups[group]))
        return list(named)[:_MOST]
