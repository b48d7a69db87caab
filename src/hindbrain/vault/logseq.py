"""Logseq graphs: what their files are called, their page properties, and their outline.

Pure. Logseq keeps the page "A/B" in `A___B.md`, escapes other signs as in an address (`%3F` is "?"), writes
page properties as `key:: value` on the first lines, and names days `journals/2024_01_05.md`. A page is an
outline: `- ## Name` is a heading, and a bullet without text is nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING
from urllib.parse import unquote

from hindbrain.vault.dates import day_names, find_date
from hindbrain.vault.line_shapes import heading_level, indent_of, item_content

if TYPE_CHECKING:
    from hindbrain.vault.note import Block, BlockKind, Heading, InlineField, Note

BACKUPS = ("logseq/bak", "logseq/version-files")  # older states of pages
_OPEN_MARKER = re.compile(r"(?:TODO|DOING|NOW|LATER|WAITING|WAIT|IN-PROGRESS)[ \t]+(?=\S)")
_PROPERTY = re.compile(r"\s+[\w.-]+:: ")


def as_page(path: str, note: Note) -> Note:
    """The note with the names, tags, date and headings that Logseq gives it."""
    from dataclasses import replace  # here: a cold search asks this module for names alone

    stem = path.rpartition("/")[2].rpartition(".")[0]
    properties = {key.lower(): value for key, value in note.frontmatter.items() if isinstance(value, str)}
    properties |= {field.key.lower(): field.value for field in _page_properties(note)}
    day = find_date(stem.replace("_", "-")) if "journals" in path.split("/")[:-1] else ""
    names = day_names(date.fromisoformat(day)) if day else (page_name(stem),)
    name = _plain(properties.get("title", "")) or names[0]
    aliases = dict.fromkeys((name, *names, *note.aliases, *_values(properties.get("alias", ""))))
    aliases.pop(stem, None)
    outline = _Outline(note)
    return replace(
        note,
        headings=tuple(outline.headings),
        blocks=tuple(outline.blocks),
        name=name,
        title=name if note.title == stem else note.title,
        aliases=tuple(aliases),
        tags=tuple(dict.fromkeys((*note.tags, *_values(properties.get("tags", ""))))),
        date=note.date or day,
    )


def open_tasks(note: Note) -> dict[int, str]:
    """The bullets that are marked as to be done: their lines, and what they say."""
    found = {}
    for block in note.blocks:
        body = indent_of(note.lines[block.first_line - 1])[1]
        text = body[item_content(body) :] if block.kind == "item" else ""
        if marker := _OPEN_MARKER.match(text):
            found[block.first_line] = text[marker.end() :].strip()
    return found


def journal_note(day: date) -> str:
    """The path of a day's journal."""
    return f"journals/{day:%Y_%m_%d}.md"


def page_name(stem: str) -> str:
    """The name of a page, from that of its file without the ending."""
    return unquote(stem.replace("___", "/"))


class _Section:
    """A heading that is in force."""

    __slots__ = ("has_children", "heading", "indent")

    def __init__(self, heading: Heading, indent: int) -> None:
        self.heading = heading
        self.indent = indent
        self.has_children: bool | None = None  # None until the first bullet below it


class _Outline:
    """The blocks of a page with the headings of its bullets in force.

    A heading holds for the bullets below it. One that has none holds for the bullets beside it, up to the
    next heading of its level or above, or to a bullet further out.
    """

    def __init__(self, note: Note) -> None:
        self.headings: list[Heading] = []
        self.blocks: list[Block] = []
        self._lines = note.lines
        self._open: list[_Section] = []  # outermost first
        given = {heading.line: heading for heading in note.headings}
        for block in note.blocks:
            indent, body = indent_of(note.lines[block.first_line - 1])
            is_bullet = item_content(body) > 0
            if heading := given.get(block.first_line):
                self._open_section(indent, heading)
                self._add("heading", block.first_line, block.last_line)
            elif is_bullet and (heading := _bullet_heading(body, block.first_line)):
                self._open_section(indent, heading)
                self._add_bullet(heading.line, block.last_line)
            elif not is_bullet:
                self._add(block.kind, block.first_line, block.last_line)
            elif body[item_content(body) :].strip() or block.last_line > block.first_line:
                self._leave_sections(indent)
                self._add(block.kind, block.first_line, block.last_line)

    def _leave_sections(self, indent: int) -> None:
        """Close the sections in which a bullet with this indent does not stand."""
        while self._open:
            last = self._open[-1]
            if last.has_children is None and last.indent <= indent:
                last.has_children = indent > last.indent
            if last.indent < indent or (last.indent == indent and not last.has_children):
                return
            self._open.pop()

    def _open_section(self, indent: int, heading: Heading) -> None:
        while self._open and (self._open[-1].indent, self._open[-1].heading.level) >= (indent, heading.level):
            self._open.pop()
        if self._open and self._open[-1].has_children is None:
            self._open[-1].has_children = indent > self._open[-1].indent
        self._open.append(_Section(heading, indent))
        self.headings.append(heading)

    def _add_bullet(self, line: int, last: int) -> None:
        """Of the further lines of a heading's bullet, properties belong to the heading, others are text."""
        end = line
        while end < last and _PROPERTY.match(self._lines[end]):
            end += 1
        self._add("heading", line, end)
        if end < last:
            self._add("paragraph", end + 1, last)

    def _add(self, kind: BlockKind, first: int, last: int) -> None:
        path = tuple(section.heading.text for section in self._open)
        from hindbrain.vault.note import Block

        self.blocks.append(Block(kind, first, last, path))


def _bullet_heading(body: str, line: int) -> Heading | None:
    text = body[item_content(body) :]
    level = heading_level(text) if text.startswith("#") else 0
    name = text[level:].strip()
    from hindbrain.vault.note import Heading

    return Heading(level, name, line) if level and name else None


def _page_properties(note: Note) -> Iterator[InlineField]:
    """The fields on the first lines of a note, one a line."""
    line = note.body_line
    while line <= len(note.lines) and not note.lines[line - 1].strip():
        line += 1
    for field in note.fields:
        if field.line != line:
            return
        yield field
        line += 1


def _values(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := _plain(part))]


def _plain(text: str) -> str:
    """A name without the marks of a reference: `#[[A B]]` is "A B"."""
    return text.strip().removeprefix("#").removeprefix("[[").removesuffix("]]").strip()
