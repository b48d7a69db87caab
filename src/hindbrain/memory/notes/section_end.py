"""Lines added to the end of a section, with the blank lines that Markdown needs around them and no others.

Pure: bytes in, bytes out; every line that was there stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from hindbrain.base.errors import NotFound
from hindbrain.vault.line_shapes import CALLOUT, indent_of, item_content
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note_parts import section_of
from hindbrain.vault.parse import decode_note, parse_note


def appended_below(data: bytes, heading: str, lines: Sequence[str], *, path: str) -> bytes:
    """NotFound, with the headings that there are, when the note has no such heading."""
    note = NoteLines(data, repr(path))
    first, last = section_of(parse_note(decode_note(data)[0], stem=""), path, heading)
    at = last
    while at > first and not note.texts[at - 1].strip():
        at -= 1
    new = list(lines)
    if at == first or not joins_on(note.texts[at - 1], new[0]):
        new.insert(0, "")
    if at < len(note.texts) and note.texts[at].strip():
        new.append("")  # the next heading follows at once
    note.insert(at, new)
    return note.data()


def with_line(data: bytes, line: str, heading: str, *, path: str) -> bytes:
    """The note with the line at the end of a section, or of the note where it has no such heading.

    A note that has the line already stays as it is.
    """
    note = NoteLines(data, repr(path))
    if line in note.texts:
        return data
    if heading:
        with suppress(NotFound):
            return appended_below(data, heading, [line], path=path)
    at = len(note.texts)
    while at and not note.texts[at - 1].strip():
        at -= 1
    apart = at > 0 and not joins_on(note.texts[at - 1], line)
    note.insert(at, ["", line] if apart else [line])
    return note.data()


def joins_on(last: str, first: str) -> bool:
    """May `first` follow `last` at once? List items, table rows and quotes go on with their like."""
    if not first.strip():
        return True
    return _kind(first) != "text" and _kind(first) == _kind(last)


def _kind(line: str) -> str:
    body = indent_of(line)[1]
    if item_content(body):
        return "item"
    if body[:1] == ">" and CALLOUT.match(body[1:].lstrip()):
        return "text"  # a quote of its own, set apart from the one before
    # An indented line goes on with the item above it.
    return {"|": "row", ">": "quote"}.get(body[:1], "item" if line[:1] in " \t" and body else "text")
