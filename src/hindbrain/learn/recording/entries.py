"""Entries of a log: a heading with a time, and the lines right below it. Pure, bytes in, bytes out.

    ## 2026-02-20T14:30:00Z
    - **Command:** "Open Chrome and go to github.com" ^r-20260220-143000-7f3k
    - **Outcome:** Success (score: 92)

An entry reaches from its heading to the next blank line (one right below the heading, or inside code, is no
end); text between entries is nobody's entry. Whoever wrote or changed an entry, it is moved whole, with its
own line ends.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hindbrain.vault.lines import NoteLines
from hindbrain.vault.note import Block
from hindbrain.vault.parse import decode_note, parse_note

_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?\S*)?")
_ID = re.compile(r"(?<!\S)\^([A-Za-z0-9-]+)[ \t]*$")
_ID_BYTES = re.compile(rb"(?<![^\s])\^([A-Za-z0-9-]+)[ \t]*(?=[\r\n]|$)")


class LogEntry(NamedTuple):
    """One entry and its lines, counted from 0."""

    time: str  # as its heading says
    start: int
    stop: int  # exclusive
    id: str = ""  # the first block id in it, without "^"; "" when there is none


class New(NamedTuple):
    """An entry that is to be told."""

    time: str
    id: str
    lines: tuple[str, ...]  # its heading first


class Moved(NamedTuple):
    """An entry that has no place in the log any more."""

    time: str
    id: str
    block: bytes

    @property
    def month(self) -> str:
        return self.time[:7]


class Kept(NamedTuple):
    """A log after its oldest entries were taken out."""

    data: bytes
    moved: tuple[Moved, ...]  # oldest first
    ids: frozenset[str]  # of all entries, those that moved as well


def entries_of(note: NoteLines, data: bytes, level: int = 2) -> list[LogEntry]:
    """The entries with headings of that level, in the order in which they stand."""
    parsed = parse_note(decode_note(data)[0], stem="")
    place = {block.first_line: at for at, block in enumerate(parsed.blocks) if block.kind == "heading"}
    found: list[LogEntry] = []
    for heading in parsed.headings:
        match = _TIME.match(heading.text.strip())
        if heading.level != level or match is None or heading.line not in place:
            continue
        start, stop = heading.line - 1, _stop(parsed.blocks, place[heading.line])
        name = next(filter(None, map(id_of, note.texts[start:stop])), "")
        found.append(LogEntry(match[0], start, stop, name))
    return found


def with_entries(data: bytes, new: Sequence[New], path: str, level: int = 2) -> bytes:
    """The log with new entries (sorted by time) at their places in time; ids that it has are known."""
    note = NoteLines(data, path)
    there = entries_of(note, data, level)
    known = {entry.id for entry in there}
    fresh = [one for one in new if one.id not in known]
    if not fresh:
        return data
    by_place: dict[int, list[New]] = {}
    for one, place in zip(fresh, _places(there, fresh), strict=True):
        by_place.setdefault(place, []).append(one)
    for place in sorted(by_place, reverse=True):
        lines = [line for one in by_place[place] for line in (*one.lines, "")]
        if place < len(there):
            note.insert(there[place].start, lines)
        else:
            end = len(note.texts)
            gap = [""] if end and note.texts[-1].strip() else []
            note.insert(end, [*gap, *lines[:-1]])
    return note.data()


def with_newest(data: bytes, new: Sequence[New], most: int, path: str, *, slack: int = 0) -> Kept:
    """The log with its newest `most` entries, those that are new among them; up to `slack` more may stay.

    As `with_entries` and then `without_oldest`; but what would leave the log at once is not brought into it,
    so that years of runs do not have to be read as one note.
    """
    note = NoteLines(data, path)
    there = entries_of(note, data)
    known = {entry.id for entry in there}
    fresh = [one for one in new if one.id not in known]
    over = len(there) + len(fresh) - most
    if over <= slack:
        return without_oldest(with_entries(data, new, path), most, path, slack=slack)
    ranked = [(entry.time[:19], at, 1, 0) for at, entry in enumerate(there)]
    ranked += [(fresh[i].time[:19], at, 0, i) for i, at in enumerate(_places(there, fresh))]
    passing = [fresh[i] for _, _, is_there, i in sorted(ranked)[:over] if not is_there]
    gone = {one.id for one in passing}
    kept = without_oldest(with_entries(data, [one for one in new if one.id not in gone], path), most, path)
    direct = [Moved(one.time, one.id, _block(one, note.end)) for one in passing]
    moved = sorted([*kept.moved, *direct], key=lambda one: one.time[:19])
    return Kept(kept.data, tuple(moved), kept.ids | gone)


def without_oldest(data: bytes, most: int, path: str, level: int = 2, *, slack: int = 0) -> Kept:
    """The log with its newest `most` entries, and the others byte for byte; up to `slack` more may stay."""
    note = NoteLines(data, path)
    there = entries_of(note, data, level)
    ids = frozenset(entry.id for entry in there)
    if len(there) <= most + slack:
        return Kept(data, (), ids)
    ranked = sorted(range(len(there)), key=lambda at: (there[at].time[:19], at))
    old = [there[at] for at in sorted(ranked[: len(there) - most])]
    moved = [
        Moved(entry.time, entry.id, _bytes(note, entry.start, entry.stop))
        for entry in sorted(old, key=lambda entry: entry.time[:19])
    ]
    texts: list[str] = []
    ends: list[str] = []
    at = 0
    for entry in old:
        texts += note.texts[at : entry.start]
        ends += note.ends[at : entry.start]
        blank = entry.stop < len(note.texts) and not note.texts[entry.stop].strip()
        at = entry.stop + blank
    note.texts = texts + note.texts[at:]
    note.ends = ends + note.ends[at:]
    return Kept(note.data(), tuple(moved), ids)


def appended(data: bytes, blocks: Sequence[bytes]) -> bytes:
    """The note with blocks of lines at its end, a blank line before each, every byte of them as it is."""
    parts = [data if not data or data.endswith((b"\n", b"\r")) else data + b"\n"]
    parts += (b"\n" + (block if block.endswith((b"\n", b"\r")) else block + b"\n") for block in blocks)
    return b"".join(parts)


def id_of(line: str) -> str:
    """The block id at the end of a line, without "^"; "" when there is none."""
    match = _ID.search(line)
    return match[1] if match else ""


def ids_in(data: bytes) -> set[str]:
    """Every block id of the note, without "^"; those in code, too, which costs nobody anything."""
    return {match.decode() for match in _ID_BYTES.findall(data)}


def replace_line(note: NoteLines, entry: LogEntry, lead: str, text: str, ours: Callable[[str], bool]) -> bool:
    """Give the entry's line that begins with `lead` another text, if it is ours; True when it changed."""
    for at in range(entry.start, entry.stop):
        line = note.texts[at]
        if line.startswith(lead) and line != text and ours(line):
            note.replace(at, text)
            return True
    return False


def _places(there: Sequence[LogEntry], new: Sequence[New]) -> list[int]:
    """Before which of the entries each new one belongs."""
    # The latest time up to each entry: a log whose owner sorted it otherwise is added to at its end.
    times: list[str] = []
    for entry in there:
        times.append(max(entry.time[:19], times[-1]) if times else entry.time[:19])
    return [bisect_right(times, one.time[:19]) for one in new]


def _block(new: New, end: str) -> bytes:
    return "".join(line + end for line in new.lines).encode("utf-8", "surrogateescape")


def _stop(blocks: Sequence[Block], at: int) -> int:
    """Where the entry ends whose heading is the block `at`: with the last of the blocks that join on."""
    stop = blocks[at].last_line
    gap = 1  # allowed: a blank line right below the heading
    for i in range(at + 1, len(blocks)):
        block = blocks[i]
        if block.kind == "heading" or block.first_line - stop - 1 > gap:
            break
        stop, gap = block.last_line, 0
    return stop


def _bytes(note: NoteLines, start: int, stop: int) -> bytes:
    pairs = zip(note.texts[start:stop], note.ends[start:stop], strict=True)
    return "".join(text + end for text, end in pairs).encode("utf-8", "surrogateescape")
