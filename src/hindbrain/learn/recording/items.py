"""Lines of ours with block ids below a heading, brought in line with what is known now; all others stay.

A line is known by its id. Where its owner changed it or moved it elsewhere it is theirs; where they deleted
it, it is not told again. What we ourselves take back may come again. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from hindbrain.learn.pages.sections import section_at, with_section
from hindbrain.learn.recording.entries import id_of, ids_in
from hindbrain.vault.lines import NoteLines


class Items(NamedTuple):
    """What shall stand below one heading."""

    heading: str
    lines: Mapping[str, str]  # by id, in their order


def with_items(
    data: bytes, items: Items, told: frozenset[str], ours: Callable[[str], bool], path: str
) -> bytes:
    """The note with these items. `told`: ids that were written before; those that are gone stay so."""
    present = ids_in(data)
    here = _ours_here(data, items.heading, ours)
    lines = [
        line
        for name, line in items.lines.items()
        if name in here or (name not in present and name not in told)
    ]
    return with_section(data, items.heading, lines, ours=ours, path=path)


def taken_back(data: bytes, items: Items, ours: Callable[[str], bool]) -> set[str]:
    """Ids of lines that are ours still and will go, since they are not among the items."""
    return _ours_here(data, items.heading, ours) - set(items.lines)


def _ours_here(data: bytes, heading: str, ours: Callable[[str], bool]) -> set[str]:
    found = section_at(data, heading)
    if found is None:
        return set()
    texts = NoteLines(data).texts[found[0] : found[1]]
    return {name for line in texts if (name := id_of(line)) and ours(line)}
