"""What we say under a heading, replaced; what anybody else wrote there stays where it stood. Pure.

A line of somebody else stays behind the line of ours that it followed; when that one goes, it moves to the
section's end. Headings, their order and all other sections are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Heading
from hindbrain.vault.parse import decode_note, parse_note


def with_section(
    data: bytes, heading: str, lines: Sequence[str], *, ours: Callable[[str], bool], path: str, level: int = 2
) -> bytes:
    """The note with `lines` as what we say under `heading`, which is added at the end where it is missing.

    No lines: what we said is taken away; a heading that is ours and empty then goes, too.
    """
    note = NoteLines(data, path)
    found = section_at(data, heading)
    if found is None:
        if lines:
            note.insert(
                len(note.texts), [*_gap(note, len(note.texts)), f"{'#' * level} {heading}", "", *lines]
            )
        return note.data()
    first, stop = found
    before = note.texts[first:stop]
    after = _merged(before, lines, ours)
    head = note.texts[first - 1]
    if not after and ours(head):
        note.remove(first - 1, stop)
        return note.data()
    more = stop < len(note.texts)
    body = ["", *after, *([""] if more else [])] if after else ([""] if more else [])
    if body != before:
        note.remove(first, stop)
        note.insert(first, body)
    return note.data()


def section_at(data: bytes, heading: str) -> tuple[int, int] | None:
    """The lines of a section, counted from 0 and without its heading; None when there is no such heading."""
    note = parse_note(decode_note(data)[0], stem="")
    for at, found in enumerate(note.headings):
        if _bare(found) == heading.strip().casefold():
            below = (other.line - 1 for other in note.headings[at + 1 :] if other.level <= found.level)
            return found.line, next(below, len(note.lines))
    return None


def _merged(before: Sequence[str], lines: Sequence[str], ours: Callable[[str], bool]) -> list[str]:
    """Our new lines, with those of others behind the line that they followed; blank lines at the ends go."""
    new = {line.strip() for line in lines}
    lead: list[str] = []
    behind: dict[str, list[str]] = {}
    orphans: list[str] = []
    place = lead  # where the next line of somebody else goes
    others = False  # the last line was somebody else's: a blank one behind it is theirs, too
    for line in before:
        plain = line.strip()
        if plain and (plain in new or ours(line)):
            place = behind.setdefault(plain, []) if plain in new else orphans
            others = False
        elif plain or others:
            place.append(line)
            others = True
    merged = list(lead)
    for line in lines:
        merged.append(line)
        merged += behind.pop(line.strip(), ())
    return _trimmed([*merged, *orphans])


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[0].strip():
        del lines[0]
    while lines and not lines[-1].strip():
        del lines[-1]
    return lines


def _gap(note: NoteLines, at: int) -> list[str]:
    return [""] if at and note.texts[at - 1].strip() else []


def _bare(heading: Heading) -> str:
    return heading.text.strip().casefold()
