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
# role -> the `type` of its notes and the sentence below their title, where the layout has no first text.
_FIRST: Mapping[str, tuple[str, str]] = {
    "task_log": ("task-log", "Finished runs, one heading for each, the newest last."),
    "status": ("status", ""),
    "recent": ("recent-actions", "What was done in the last two hours, the newest last."),
    "summary": ("daily-summary", "What each day came to."),
    "issues": ("issues", "Problems that were met, and what solved them."),
    "lessons": ("lessons", "What went wrong, and how to avoid it next time."),
    "corrections": ("corrections", "Where you put an agent right, and what you meant."),
    "patterns": ("patterns", "What comes back again and again, with the way that works best."),
    "archive": ("archive", "Older entries, as they stood in their note."),
    "apps": ("app-knowledge", ""),
}
# Notes in which their owner writes as well: there each line of ours says its source.
_SHARED = ("issues", "lessons")


def first_text(desk: Desk, role: str, path: str, **names: str) -> bytes:
    """What a new note of the role begins with."""
    today = desk.today()
    if desk.layout.has(role) and role in desk.layout.start:
        data = desk.layout.first_text(role, today=today, **names).encode()
    else:
        kind, sentence = _FIRST[role]
        title = names.get("name") or path.rpartition("/")[2].removesuffix(".md")
        body = f"# {title}\n" + (f"\n{sentence}\n" if sentence else "")
        data = f"---\ntype: {kind}\ncreated: {today}\ntags: [agent]\n---\n{body}".encode()
    return data if role in _SHARED else set_property(data, "source", SOURCE)


def note_source(data: bytes, path: str) -> str:
    """Whose word the note is, as far as its lines do not say otherwise."""
    lines = decode_note(data)[0].replace("\r\n", "\n").split("\n")
    return source_of_note(path, read_frontmatter(lines).properties)
