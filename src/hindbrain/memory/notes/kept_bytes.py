"""A note's new text, put into the bytes of the old one: lines that did not change keep every byte they had.

Pure. A model sees a note as clean text; what it sends back must not cost the owner line ends, a byte order
mark, or bytes that are not UTF-8, in lines that nobody meant to change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hindbrain.vault.lines import NoteLines, common_head

Line: TypeAlias = tuple[str, str]  # its text and its end


def replaced(old: bytes, text: str, *, name: str = "the note") -> bytes:
    """The bytes of the note that now says `text`. VaultError for UTF-16, which can't be changed by lines.

    Blank lines at the end stay as they are where the last line of text is the same: nobody sees them, so
    nobody means to change them.
    """
    note = NoteLines(old, name)
    before = list(zip(note.texts, note.ends, strict=True))
    shown = [_shown(line) for line in note.texts]
    new = plain_lines(text)
    filled, wanted = _filled(shown), _filled(new)
    if filled and wanted and shown[filled - 1] == new[wanted - 1]:
        lines = _spliced(before[:filled], shown[:filled], new[:wanted], note.end) + before[filled:]
    else:
        lines = _spliced(before, shown, new, note.end)
    note.texts = [line for line, _ in lines]
    # Only the last line of a note may be without an end, and it stays so only where it was the last before.
    note.ends = [own or note.end for _, own in lines[:-1]] + [own for _, own in lines[-1:]]
    return note.data()


def _spliced(before: Sequence[Line], shown: Sequence[str], new: Sequence[str], end: str) -> list[Line]:
    """`new` in the bytes of `before`, whose lines are seen as `shown`."""
    same = common_head(shown, new)
    tail = common_head(shown[same:][::-1], new[same:][::-1])
    old = before[same : len(before) - tail]
    known = dict(zip(shown[same : len(before) - tail], old, strict=True))
    middle = [
        known.get(line) or (line, old[i][1] if i < len(old) else end)
        for i, line in enumerate(new[same : len(new) - tail])
    ]
    return [*before[:same], *middle, *before[len(before) - tail :]]


def plain_lines(text: str) -> list[str]:
    """The lines of a text that a model sent, without their ends."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines


def in_style_of(data: bytes, text: str, *, name: str = "the note") -> bytes:
    """`text` with the line ends of a note, the last line ended."""
    end = NoteLines(data, name).end
    return "".join(line + end for line in plain_lines(text)).encode("utf-8")


def _shown(line: str) -> str:
    """A line as a reader sees it: what is not UTF-8 appears as U+FFFD."""
    return line if line.isascii() else line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _filled(lines: Sequence[str]) -> int:
    """How many lines there are up to the last that is not blank."""
    count = len(lines)
    while count and not lines[count - 1].strip():
        count -= 1
    return count
