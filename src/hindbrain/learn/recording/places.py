"""The notes that tell runs: what a new one begins with, and whose word the note is.

A note that only recording fills says `source: tool`, so that nothing in it is taken for its owner's word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.parse import decode_note
from hindbrain.vault.splice import set_property

if TYPE_CHECKING:
    from hindbrain.learn.pages.desk import Desk

SOURCE = "tool"
# role -> the sentence below the title of its notes, where the layout has no first text.
FIRST: Mapping[str, str] = {
    "task_log": "Finished runs, one heading for each, the newest last.",
    "status": "",
    "recent": "The last five runs of the last seven days, the newest last.",
    "summary": "What each day came to.",
    "issues": "Problems that were met, and what solved them.",
    "lessons": "What went wrong, and how to avoid it next time.",
    "corrections": "Where you put an agent right, and what you meant.",
    "patterns": "What comes back again and again, with the way that works best.",
    "archive": "Older entries, as they stood in their note.",
    "apps": "",
}
# Notes in which their owner writes as well: there each line of ours says its source.
_SHARED = ("issues", "lessons")


def first_text(desk: Desk, role: str, **names: str) -> bytes:
    """What a new note of the role begins with."""
    today = desk.today()
    data = desk.layout.first_text(role, today=today, **names).encode()
    if role not in desk.layout.start and (sentence := FIRST[role]):
        data += f"\n{sentence}\n".encode()
    return data if role in _SHARED else set_property(data, "source", SOURCE)


def note_source(data: bytes, path: str) -> str:
    """Whose word the note is, as far as its lines do not say otherwise."""
    lines = decode_note(data)[0].replace("\r\n", "\n").split("\n")
    return source_of_note(path, read_frontmatter(lines).properties)
