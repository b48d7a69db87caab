"""Lines of a note that say whose word they are: `[source:: web]` at the end of a paragraph or list item.

Text that an agent writes into a note is marked where it repeats less trusted words, so that it is recalled as
theirs and not as the note's owner's. Pure; the caller looks up what the vault holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.memory.policy.provenance import Heard, lowest, trust_rank
from hindbrain.vault.items.item_line import set_field
from hindbrain.vault.origin import SOURCES
from hindbrain.vault.parse import parse_note

if TYPE_CHECKING:
    from hindbrain.vault.note import Block, Note

_AGENT = trust_rank("agent")
_MARK = re.compile(r"\[source:: ?([a-z]+)\]", re.IGNORECASE)
_MARKABLE = ("paragraph", "item", "quote")


class MarkedText(NamedTuple):
    text: str
    unmarked: str  # the least trusted source of what can't be marked: headings, tables, code, properties


def mark_sources(
    text: str, trust: Callable[[str], str], *, known: Collection[str] = (), always: bool = False
) -> MarkedText:
    """Mark each block of an agent's text that `trust` gives to a less trusted source than an agent.

    `known`: stripped lines that the note has already; a block of such lines is left as it is. `always`: mark
    what is the agent's own, too, in notes where a line without a mark counts as the owner's.
    """
    note = parse_note(text, stem="")
    lines = list(note.lines)
    unmarked = [trust(value) for value in _property_texts(note)]
    for block in note.blocks:
        said = lines[block.first_line - 1 : block.last_line]
        if all(line.strip() in known for line in said):
            continue
        source = trust(_without_marks(said))
        if block.kind in _MARKABLE:
            if always or trust_rank(source) > _AGENT:
                last = block.last_line - 1
                lines[last] = set_field(lines[last], "source", lowest((source, *sources_in(lines[last]))))
        elif block.kind != "rule":
            unmarked.append(source)
    return MarkedText("\n".join(lines), lowest(("agent", *unmarked)))


def sources_in(text: str) -> list[str]:
    """The sources that the marks in a text name."""
    return [source for found in _MARK.findall(text) if (source := found.lower()) in SOURCES]


def less_trusted(text: str, source: str = "user") -> list[Heard]:
    """The blocks of a note that are trusted less than an agent; `source`: whose word it is as a whole."""
    if trust_rank(source) <= _AGENT and "[source::" not in text.lower():
        return []
    note = parse_note(text, stem="")
    marked = (_heard(note, block, source) for block in note.blocks)
    return [heard for heard in marked if trust_rank(heard.source) > _AGENT]


def _heard(note: Note, block: Block, source: str) -> Heard:
    said = note.lines[block.first_line - 1 : block.last_line]
    return Heard(_without_marks(said), lowest((source, *sources_in("\n".join(said)))))


def _without_marks(lines: Iterable[str]) -> str:
    return _MARK.sub("", "\n".join(lines))


def _property_texts(note: Note) -> list[str]:
    values = [value if isinstance(value, list) else [value] for value in note.frontmatter.values()]
    return [text for value in values for text in value if isinstance(text, str)]
