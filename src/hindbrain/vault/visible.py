"""What a note shows its reader: its text with comments, drawing data and generated parts blanked out.

Pure. Length and lines stay, so that offsets and line numbers are those of the note. For the index alone: who
reads or changes a note works on its whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hindbrain.vault.inline import code_ends
from hindbrain.vault.note import Block, Note
from hindbrain.vault.parse import parse_note, split_lines

_CLOSERS = {"%%": "%%", "<!--": "-->"}
_SIGN = re.compile(r"[^\r\n]")
_MARK = re.compile(r"%%|<!--|`+")
_VERBATIM = frozenset({"code", "math"})
# Excalidraw keeps a drawing in these sections; only the first holds words that its owner wrote.
_TEXTS = "text elements"
_DATA = frozenset({"excalidraw data", "element links", "embedded files", "drawing"})
_DATA_HEADING = re.compile(r"#{1,2} (.+?)\s*")
_EXCALIDRAW_WARNING = re.compile(r"==\s*⚠.*")
# Plugins that write their results into a note, between two comments.
_GENERATED = (
    ("SerializedQuery:", "SerializedQuery END"),
    ("DATAVIEW_PUBLISHER: start", "DATAVIEW_PUBLISHER: end"),
    ("Begin Waypoint", "End Waypoint"),
    ("Begin Landmark", "End Landmark"),
)


def visible_note(text: str, *, stem: str) -> Note:
    """As `parse_note`, of what readers see; lines and offsets are those of `text`, links are all in it."""
    note = parse_note(text, stem=stem)
    if "excalidraw-plugin" in note.frontmatter:
        return _visible_drawing(split_lines(text), note, stem)
    if "%%" not in text and "<!--" not in text:
        return note
    lines = split_lines(text)
    for first, last in _generated(lines):
        for i in range(first - 1, last):
            lines[i] = _blank(lines[i])
    for block in note.blocks:
        _blank_comments(lines, block)
    return replace(parse_note("".join(lines), stem=stem), links=note.links)


def _visible_drawing(lines: list[str], note: Note, stem: str) -> Note:
    data = _drawing_start(lines, note.body_line)
    for block in note.blocks:
        if block.last_line <= data:
            _blank_comments(lines, block)
    # The "%%" between the sections hide the data from Obsidian's readers, and would hide its links from us.
    lines[data:] = [_blank(line) if line.strip() == "%%" else line for line in lines[data:]]
    links = parse_note("".join(lines), stem=stem).links
    _blank_drawing(lines, note.body_line, data)
    return replace(parse_note("".join(lines), stem=stem), links=links, name=note.name)


def _blank(line: str, columns: Sequence[tuple[int, int]] = ()) -> str:
    """Put spaces in the place of characters, of all or of those between `columns`; a line end stays."""
    parts: list[str] = []
    done = 0
    for start, stop in columns or ((0, len(line)),):
        parts += (line[done:start], _SIGN.sub(" ", line[start:stop]))
        done = stop
    return "".join((*parts, line[done:]))


def _blank_comments(lines: list[str], block: Block) -> None:
    """Blank the comments of one block. One that is never closed is text."""
    if block.kind in _VERBATIM:
        return
    numbers = range(block.first_line - 1, block.last_line)
    if not any(opener in lines[i] for i in numbers for opener in _CLOSERS):
        return
    spans: dict[int, list[tuple[int, int]]] = {}  # columns of comments, by line
    begun: tuple[int, int] | None = None  # line and column of the comment that is open
    closer = ""
    for i in numbers:
        line, ends, at = lines[i], code_ends(lines[i]), 0
        while True:
            if begun is None:
                match = _MARK.search(line, at)
                if match is None:
                    break
                if match[0][0] == "`":  # a comment mark inside code is code
                    at = ends[match.start()]
                    continue
                begun, closer, at = (i, match.start()), _CLOSERS[match[0]], match.end()
            end = line.find(closer, at)
            if end < 0:
                break
            at = end + len(closer)
            for number in range(begun[0], i + 1):
                start = begun[1] if number == begun[0] else 0
                spans.setdefault(number, []).append((start, at if number == i else len(lines[number])))
            begun = None
    for number, columns in spans.items():
        lines[number] = _blank(lines[number], columns)


def _generated(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """First and last line of each part that a plugin writes anew; a part without an end is text."""
    begun, ending = 0, ""
    for number, line in enumerate(lines, start=1):
        if "%%" not in line and "<!--" not in line:
            continue
        if begun and ending in line:
            yield begun, number
            begun = 0
        elif not begun:
            begun, ending = next(((number, end) for start, end in _GENERATED if start in line), (0, ""))


def _section(line: str) -> str:
    """The name of the drawing's section that a line opens; "" for every other line."""
    match = _DATA_HEADING.fullmatch(line) if line.startswith("#") else None
    name = match[1].casefold() if match else ""
    return name if name in _DATA or name == _TEXTS else ""


def _drawing_start(lines: Sequence[str], body_line: int) -> int:
    """How many lines stand before the drawing's data; the "%%" that opens it counts as data."""
    for i in range(body_line - 1, len(lines)):
        if _section(lines[i]):
            while i > body_line - 1 and lines[i - 1].strip() in ("", "%%"):
                i -= 1
            return i
    return len(lines)


def _blank_drawing(lines: list[str], body_line: int, data: int) -> None:
    """Keep what the owner wrote before the data, and the text elements of the drawing."""
    section = ""
    for i in range(body_line - 1, len(lines)):
        if i < data:
            hides = _EXCALIDRAW_WARNING.match(lines[i]) is not None
        else:
            opened = _section(lines[i])
            section = opened or section
            hides = bool(opened) or section != _TEXTS
        if hides:
            lines[i] = _blank(lines[i])
