"""A note's bytes or text in, a `Note` out.

Pure: no file, no clock. Never raises on any input, takes time linear in it, leaves no line out. What can't be
understood is reported as a `Problem` and read as plain text.
"""

import codecs
import re
from collections.abc import Mapping
from typing import AnyStr

from hindbrain.vault.blocks import BlockReader
from hindbrain.vault.dates import find_date
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.note import Block, Heading, Note, Problem, Property

__all__ = ["decode_note", "find_date", "parse_note", "split_lines"]

_BOM = "\ufeff"
_SUMMARY_CHARS = 200
_TEXT_LINE = re.compile(r"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")
_BYTE_LINE = re.compile(rb"[^\r\n]*+(?:\r\n|\r|\n)|[^\r\n]++")


def decode_note(data: bytes) -> tuple[str, tuple[Problem, ...]]:
    """Turn a note's bytes into text without its byte order mark, for reading and indexing.

    Bytes that are not UTF-8 become U+FFFD, since text with lone surrogates can be neither stored nor sent.
    That is one-way: whoever changes a note splices its bytes, by line numbers (`split_lines` takes bytes).
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", "replace")
        problems = [Problem("not_utf8", "the note is UTF-16; save it as UTF-8 to let it be edited", 1)]
    else:
        text, problems = _decode_utf8(data)
    if "\0" in text:
        line = _line_of(text, text.index("\0"))
        problems.append(Problem("nul_bytes", "the note holds NUL bytes; it may not be a text file", line))
    return text, tuple(problems)


def _decode_utf8(data: bytes) -> tuple[str, list[Problem]]:
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError as error:
        line = _line_of(data[: error.start].decode("latin-1"), error.start)
    message = "some bytes are not UTF-8 and are read as U+FFFD; save the note as UTF-8"
    return data.decode("utf-8", "replace"), [Problem("not_utf8", message, line)]


def split_lines(text: AnyStr) -> list[AnyStr]:
    """Split at LF, CRLF and CR only, as editors count lines; the ends stay, so joining gives `text` back.

    `str.splitlines` would also cut at form feeds, U+2028 and the like: later line numbers would be wrong.
    """
    if isinstance(text, str):
        return _TEXT_LINE.findall(text)
    return _BYTE_LINE.findall(text)


def parse_note(text: str, *, stem: str) -> Note:
    """Read a note. `stem` is its file name without the extension: a title and perhaps a date."""
    text = text.removeprefix(_BOM)
    lines = _bare_lines(text)
    frontmatter = read_frontmatter(lines)
    properties = frontmatter.properties
    body = frontmatter.last_line
    reader = BlockReader(text, lines)
    reader.read(body)
    names = {key.lower(): value for key, value in properties.items()}
    given = _given_title(names)
    return Note(
        name=given if given and all(given != heading.text for heading in reader.headings) else stem,
        title=given or _top_heading(reader.headings) or stem,
        frontmatter=properties,
        aliases=_aliases(names),
        tags=_tags(names, reader.found.tags),
        headings=tuple(reader.headings),
        links=tuple(reader.found.links),
        fields=tuple(reader.found.fields),
        tasks=tuple(reader.tasks),
        callouts=tuple(reader.callouts),
        block_ids=tuple(reader.found.block_ids),
        blocks=tuple(reader.blocks),
        problems=frontmatter.problems,
        body_line=body + 1,
        lines=tuple(lines),
        summary=_summary(names, reader.blocks, lines),
        date=_date(names, stem),
    )


def _bare_lines(text: str) -> list[str]:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def _line_of(text: str, position: int) -> int:
    before = text[:position]
    return 1 + before.count("\n") + before.count("\r") - before.count("\r\n")


def _given_title(names: Mapping[str, Property]) -> str:
    title = names.get("title")
    return title.strip() if isinstance(title, str) else ""


def _top_heading(headings: list[Heading]) -> str:
    return next((heading.text for heading in headings if heading.level == 1 and heading.text), "")


def _texts(value: Property | None) -> list[str]:
    if value is None or isinstance(value, dict):
        return []
    return [value] if isinstance(value, str) else value


def _aliases(names: Mapping[str, Property]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in ("aliases", "alias"):
        value = names.get(name)
        parts = value.split(",") if isinstance(value, str) else _texts(value)
        found.update((part.strip(), None) for part in parts if part.strip())
    return tuple(found)


def _tags(names: Mapping[str, Property], inline: Mapping[str, None]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in ("tags", "tag"):
        value = names.get(name)
        parts = value.replace(",", " ").split() if isinstance(value, str) else _texts(value)
        for part in parts:
            tag = part.strip().lstrip("#").strip("/")
            if tag and "\n" not in tag:
                found[tag] = None
    found.update(inline)
    return tuple(found)


def _summary(names: Mapping[str, Property], blocks: list[Block], lines: list[str]) -> str:
    for name in ("summary", "description"):
        value = names.get(name)
        if isinstance(value, str) and value.strip():
            return _shorten(value[: 8 * _SUMMARY_CHARS])
    for block in blocks:
        if block.kind == "paragraph":
            # A paragraph may be megabytes long: look only at as much as a summary can use.
            last = min(block.last_line, block.first_line + _SUMMARY_CHARS)
            start = [line[: 2 * _SUMMARY_CHARS] for line in lines[block.first_line - 1 : last]]
            return _shorten(" ".join(start))
    return ""


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= _SUMMARY_CHARS:
        return text
    cut = text.rfind(" ", 0, _SUMMARY_CHARS + 1)
    return text[: cut if cut > 0 else _SUMMARY_CHARS]


def _date(names: Mapping[str, Property], stem: str) -> str:
    for name in ("date", "created", "day"):
        value = names.get(name)
        found = find_date(value) if isinstance(value, str) else ""
        if found:
            return found
    return find_date(stem)
