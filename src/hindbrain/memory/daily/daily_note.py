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
from collections.abc import Callable, Sequence

from hindbrain.base.errors import VaultError
from hindbrain.vault.line_shapes import item_content
from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Note
from hindbrain.vault.parse import decode_note, parse_note

START, EVENTS, END, TOMORROW = "Session Start", "Events", "Session End", "Notes for Tomorrow"
_ORDER = (START, EVENTS, END, TOMORROW)
_TIME = re.compile(r"\s*[-*+]\s+\*\*Time\*\*:\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_AT = re.compile(r"- \[([0-2][0-9]:[0-5][0-9])\] ")
_NOT_TEXT = ("code", "comment", "math", "html")


def add_items(data: bytes, section: str, lines: Sequence[str], path: str) -> bytes:
    """Add list items to a section's own list, before the headings in it.

    Items that begin with a time (`- [14:05] `) go before those of a later time.
    """
    note = _parse(data)
    found = _find(note, section)
    if found is None:
        return _insert(data, _place_for(note, section), [f"## {section}", *lines], path)
    first, _, _ = found
    stop = next((heading.line - 1 for heading in note.headings if heading.line > first), len(note.lines))
    end = _trimmed(note, first, stop)
    groups: dict[int, list[str]] = {}
    for line in lines:
        groups.setdefault(_place_in_time(note, first, end, line), []).append(line)
    for at in sorted(groups, reverse=True):  # from the last one, so that the other places stay true
        data = _insert(data, at, groups[at], path)
    return data


def _place_in_time(note: Note, first: int, end: int, line: str) -> int:
    """Before the items of a later time that end the list; else the end of it."""
    own = _AT.match(line)
    at = end
    for above in range(end - 1, first - 1, -1) if own else ():
        other = _AT.match(note.lines[above])
        if other and own and other[1] <= own[1]:
            break
        if other:
            at = above
    return at


def add_block(data: bytes, section: str, title: str, lines: Sequence[str], path: str) -> bytes:
    """Add a heading with its lines to the end of a section."""
    note = _parse(data)
    found = _find(note, section)
    if found is None:
        return _insert(data, _place_for(note, section), [f"## {section}", "", f"### {title}", *lines], path)
    first, stop, level = found
    mark = "#" * min(level + 1, 6)
    return _insert(data, _trimmed(note, first, stop), [f"{mark} {title}", *lines], path)


def remove_items(data: bytes, section: str, gone: Callable[[str], bool], path: str) -> bytes:
    """Take lines out of a section; its heading and everything else stay."""
    found = _find(_parse(data), section)
    if found is None:
        return data
    lines = NoteLines(data, repr(path))
    for at in reversed(range(found[0], min(found[1], len(lines.texts)))):
        if gone(lines.texts[at]):
            lines.remove(at, at + 1)
    return lines.data()


def section_lines(data: bytes, section: str) -> list[str]:
    """The lines of a section that are not blank, without its heading; [] when it is not there."""
    note = _parse(data)
    found = _find(note, section)
    return [] if found is None else [line for line in note.lines[found[0] : found[1]] if line.strip()]


def without_sessions(data: bytes) -> bytes:
    """The note without the times of sessions and the notes for tomorrow, for who reads what happened."""
    for section in (START, END, TOMORROW):
        data = remove_items(data, section, lambda _: True, "")
    return data


def times(data: bytes, section: str) -> list[int]:
    """The `**Time**` lines of a section, in seconds of the day."""
    matches = filter(None, map(_TIME.match, section_lines(data, section)))
    parts = ([int(part or 0) for part in match.groups()] for match in matches)
    return [hours * 3600 + minutes * 60 + seconds for hours, minutes, seconds in parts]


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
    after = lines.texts[at] if at < len(lines.texts) else ""
    if after.strip() and not (item_content(texts[-1]) > 0 and _AT.match(after)):
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
