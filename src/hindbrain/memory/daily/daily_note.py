"""The sections of a daily note: found whatever else its owner wrote there, added where they are missing.

    # Daily Log: 2026-05-15
    ## Session Start
    ## Events
    ### 08:15 - Title
    ## Session End
    ## Notes for Tomorrow

Pure: bytes in, bytes out. A note is extended, never rearranged. Knows nothing of clocks and files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindbrain.base.errors import VaultError
from hindbrain.vault.line_shapes import item_content
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

START, EVENTS, END, TOMORROW = "Session Start", "Events", "Session End", "Notes for Tomorrow"
_ORDER = (START, EVENTS, END, TOMORROW)
_TIME = re.compile(r"\s*[-*+]\s+\*\*Time\*\*:\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_NOT_TEXT = ("code", "comment", "math", "html")


def add_items(data: bytes, section: str, lines: Sequence[str], path: str) -> bytes:
    """Add list items to a section's own list, before the headings in it."""
    note = _parse(data)
    found = _find(note, section)
    if found is None:
        return _insert(data, _place_for(note, section), [f"## {section}", *lines], path)
    first, _, _ = found
    stop = next((heading.line - 1 for heading in note.headings if heading.line > first), len(note.lines))
    return _insert(data, _trimmed(note, first, stop), lines, path)


def add_block(data: bytes, section: str, title: str, lines: Sequence[str], path: str) -> bytes:
    """Add a heading with its lines to the end of a section."""
    note = _parse(data)
    found = _find(note, section)
    if found is None:
        return _insert(data, _place_for(note, section), [f"## {section}", "", f"### {title}", *lines], path)
    first, stop, level = found
    mark = "#" * min(level + 1, 6)
    return _insert(data, _trimmed(note, first, stop), [f"{mark} {title}", *lines], path)


def last_time(data: bytes, section: str) -> int | None:
    """The last `**Time**` of a section, in seconds of the day; None when it has none."""
    note = _parse(data)
    found = _find(note, section)
    if found is None:
        return None
    times = [match for line in note.lines[found[0] : found[1]] if (match := _TIME.match(line))]
    if not times:
        return None
    hours, minutes, seconds = (int(part or 0) for part in times[-1].groups())
    return hours * 3600 + minutes * 60 + seconds


def _parse(data: bytes) -> Note:
    return parse_note(decode_note(data)[0], stem="")


def _find(note: Note, section: str) -> tuple[int, int, int] | None:
    """The lines of a section, counted from 0 and without its heading, and its level."""
    for at, heading in enumerate(note.headings):
        if _bare(heading.text) == _bare(section):
            below = (other.line - 1 for other in note.headings[at + 1 :] if other.level <= heading.level)
            return heading.line, next(below, len(note.lines)), heading.level
    return None


def _place_for(note: Note, section: str) -> int:
    """Where a section goes that is not there yet: in the usual order, else at the end."""
    if section not in _ORDER:
        return _trimmed(note, 0, len(note.lines))
    at = _ORDER.index(section)
    for before in reversed(_ORDER[:at]):
        if found := _find(note, before):
            return _trimmed(note, found[0], found[1])
    for after in _ORDER[at + 1 :]:
        if found := _find(note, after):
            return _trimmed(note, 0, found[0] - 1)
    return _trimmed(note, 0, len(note.lines))


def _trimmed(note: Note, first: int, last: int) -> int:
    while last > first and not note.lines[last - 1].strip():
        last -= 1
    return last


def _insert(data: bytes, at: int, new: Sequence[str], path: str) -> bytes:
    """Put lines before line `at`, with a blank line where one is needed and no others."""
    lines = NoteLines(data, repr(path))
    texts = list(new)
    skipped = 0
    before = lines.texts[at - 1] if 0 < at <= len(lines.texts) else ""
    if before.strip() and not _follows(before, texts[0]):
        texts.insert(0, "")
        skipped = 1
    if at < len(lines.texts) and lines.texts[at].strip():
        texts.append("")
    lines.insert(at, texts)
    changed = lines.data()
    number = at + skipped + 1
    block = next((one for one in _parse(changed).blocks if one.first_line <= number <= one.last_line), None)
    if block is None or block.kind in _NOT_TEXT:
        raise VaultError(
            f"nothing can be added to {path!r}: code or a comment above is not closed; close it and try again"
        )
    return changed


def _follows(before: str, first: str) -> bool:
    """May `first` stand right below `before`? A list goes on with items, and begins right below a heading."""
    if first.startswith("#"):
        return False
    return before.startswith("#") or item_content(before.lstrip()) > 0 or before[:1] in " \t"


def _bare(heading: str) -> str:
    return re.sub(r"[\W_]+", " ", heading).strip().casefold()
