"""One line of a memory: where its words, fields and id stand, and how one part is changed.

    - Prefers dark mode #ui [importance:: 0.8] [source:: user] ^m-7f3k2a

Pure. A change splices the part that it is about; every other character stays, unknown fields included.
Fields are Dataview's (`[key:: value]`, `(key:: value)`), the id is Obsidian's block id. Knows nothing of
notes or of what a field means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.vault.inline import mask, mask_code
from hindbrain.vault.items.item_text import escape, unescape

_LEAD = re.compile(r"[ \t]*+(?:(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]++|$)(?:\[.\](?:[ \t]++|$))?)?")
_FIELD = re.compile(
    r"\[([^\[\]():\"'=;{}<>$]++)::([^\[\]]*+(?:(?:\[\[[^\[\]]*+\]\]|\[[^\[\]]*+\])[^\[\]]*+)*+)\](?!\()"
    r"|(?<!\])\(([^\[\]():\"'=;{}<>$]++)::([^()]*+(?:\([^()]*+\)[^()]*+)*+)\)"
)
_BACKSLASH = "\\"
_ID = re.compile(r"\^([A-Za-z0-9\-]++)")
_TAG = re.compile(
    r"(?<![^\s(,;，。；、：（])#"
    r"([^\s!-,.:-@\[-^`{-~\x00-\x1f\x7f\u00a0-\u00bf\u2000-\u206f\u2e00-\u2e7f\u3000-\u303f\uff01-\uff0f\uff1a-\uff20]++)"
)
_LAST_TAG = re.compile(r"(?<!\S)#" + _TAG.pattern.partition("#")[2] + "$")
_TAGS_BEHIND = re.compile(r"(?:[ \t]+#[^\s\[\]()`]+)*")
# How the first reference design wrote a fact: "- fact `[category]` `[2026-01-31T10:00:00Z]`".
_REFERENCE = re.compile(
    r"[ \t]*+`\[([^\[\]`]{0,60}+)\]`[ \t]++`\[([0-9]{4}-[0-9]{2}-[0-9]{2}[0-9T:.Z+\-]*+)\]`$"
)


class Field(NamedTuple):
    """`[key:: value]` and where it stands in the line."""

    key: str  # lower case
    value: str
    start: int
    stop: int
    value_start: int
    value_stop: int


class ItemLine(NamedTuple):
    """A line, taken apart. Positions count characters of the line."""

    text: str  # as a reader sees it; without fields, id, strike-through and the tags at its end
    fields: tuple[Field, ...]
    id: str
    tags: tuple[str, ...]  # those inside the text first
    struck: bool
    pieces: tuple[tuple[int, int], ...]  # where the words stand, in or between the fields
    end: int  # where the id begins, else where the line's text ends
    category: str = ""  # told by the reference form
    created: str = ""

    def value(self, key: str) -> str:
        return next((field.value for field in self.fields if field.key == key), "")


def read_line(line: str) -> ItemLine:
    """Take the first line of an item, or a line that continues one, apart."""
    lead = _LEAD.match(line)
    start = lead.end() if lead else 0
    shown = mask(line)
    end, block_id = _find_id(shown, start)
    fields = _find_fields(line, shown, start, end)
    told = _find_reference(line, fields, start, end)
    pieces, outer_tags = _find_pieces(line, shown, fields, start, end, told.start() if told else -1)
    struck = bool(pieces) and all(_is_struck(line[a:b]) for a, b in pieces)
    inner = [(a + 2, b - 2) if struck else (a, b) for a, b in pieces]
    code = mask_code(line) if "`" in line else line
    text = " ".join(unescape(line[a:b], code[a:b]).strip() for a, b in inner)
    tags = [tag for a, b in inner for tag in _TAG.findall(shown[a:b]) if _is_tag(tag)]
    every = tuple(dict.fromkeys(tag.strip("/") for tag in (*tags, *outer_tags)))
    category, created = (told[1], told[2][:10]) if told else ("", "")
    return ItemLine(text, fields, block_id, every, struck, tuple(pieces), end, category, created)


def set_field(line: str, key: str, value: str) -> str:
    """Give a field another value, or add it before the id."""
    parts = read_line(line)
    for field in parts.fields:
        if field.key == key:
            return f"{line[: field.value_start]}{value}{line[field.value_stop :]}"
    at = len(line[: parts.end].rstrip())
    return f"{line[:at]} [{key}:: {value}]{line[at:]}"


def drop_field(line: str, key: str) -> str:
    """Take a field out, with the blanks before it."""
    for field in reversed(read_line(line).fields):
        if field.key == key:
            line = line[: field.start].rstrip() + line[field.stop :]
    return line


def set_text(line: str, text: str) -> str:
    """Give the memory other words; fields, id, tags at the end and strike-through stay."""
    parts = read_line(line)
    words = escape(text, struck=parts.struck)
    if parts.struck:
        words = f"~~{words}~~"
    if not parts.pieces:
        at = parts.fields[0].start if parts.fields else parts.end
        return f"{line[:at]}{words} {line[at:]}"
    for start, stop in reversed(parts.pieces[1:]):
        line = line[:start].rstrip() + " " + line[stop:].lstrip()
    start, stop = parts.pieces[0]
    return f"{line[:start]}{words}{line[stop:]}"


def add_tags(line: str, tags: Sequence[str]) -> str:
    """Put tags behind the words; a line whose words would become others by it stays as it is."""
    parts = read_line(line)
    new = [f"#{tag}" for tag in tags if tag not in parts.tags]
    if not new or not parts.pieces:
        return line
    stop = parts.pieces[-1][1]
    if there := _TAGS_BEHIND.match(line, stop):
        stop = there.end()
    tagged = f"{line[:stop]} {' '.join(new)}{line[stop:]}"
    return tagged if read_line(tagged).text == parts.text else line


def strike(line: str, by: str = "") -> str:
    """Strike the words through and say what replaced them (`by`: an id, "" when nothing did)."""
    parts = read_line(line)
    if not parts.struck:
        for start, stop in reversed(parts.pieces):
            words = _without_tildes(line[start:stop])
            # A backslash at the end would take the meaning from the tildes behind it.
            odd = (len(words) - len(words.rstrip("\\"))) % 2
            line = f"{line[:start]}~~{words}{_BACKSLASH * odd}~~{line[stop:]}"
    return set_field(line, "superseded", f"^{by}") if by else line


def set_id(line: str, block_id: str) -> str:
    """Give a line without an id one, so that it can be cited."""
    body = line.rstrip()
    return f"{body} ^{block_id}{line[len(body) :]}"


def _find_id(shown: str, start: int) -> tuple[int, str]:
    body = shown.rstrip()
    at = body.rfind("^", start)
    if at >= start and (at == start or body[at - 1].isspace()):
        match = _ID.fullmatch(body, at)
        if match:
            return at, match[1]
    return max(start, len(body)), ""


def _find_fields(line: str, shown: str, start: int, end: int) -> tuple[Field, ...]:
    if "::" not in shown:
        return ()
    found: list[Field] = []
    for match in _FIELD.finditer(shown, start, end):
        key, value = (1, 2) if match.start(1) >= 0 else (3, 4)
        name = match[key].strip()
        if not name or (name.isascii() and not any(map(str.isalnum, name))):
            continue
        raw = line[match.start(value) : match.end(value)]
        first = match.start(value) + len(raw) - len(raw.lstrip())
        spaced = match.start(value) if not raw.strip() else first
        text = raw.strip()
        found.append(Field(name.lower(), text, match.start(), match.end(), spaced, spaced + len(text)))
    return tuple(found)


def _find_reference(line: str, fields: tuple[Field, ...], start: int, end: int) -> re.Match[str] | None:
    """What the reference form tells, at the end of the words; a line of ours has a source, and none of it."""
    if "`[" not in line or any(field.key == "source" for field in fields):
        return None
    stop = fields[0].start if fields else end
    return _REFERENCE.search(line, start, start + len(line[start:stop].rstrip()))


def _find_pieces(
    line: str, shown: str, fields: tuple[Field, ...], start: int, end: int, cut: int
) -> tuple[list[tuple[int, int]], list[str]]:
    """Where words stand, without blanks around them and tags behind them; and those tags.

    `cut`: where the words before the first field end early; -1 for nowhere.
    """
    edges = [start, *(edge for field in fields for edge in (field.start, field.stop)), end]
    pieces: list[tuple[int, int]] = []
    tags: list[str] = []
    whole: list[tuple[int, int]] = []
    for a, b in zip(edges[::2], edges[1::2], strict=True):
        if a == start and cut >= 0:
            b = cut
        gap = line[a:b]
        first, last = a + len(gap) - len(gap.lstrip()), a + len(gap.rstrip())
        if first >= last:
            continue
        whole.append((first, last))
        stop, behind = _before_tags(line, shown, first, last)
        tags += behind
        if stop > first:
            pieces.append((first, stop))
    # Nothing but tags: then they are what the line says.
    return (pieces, tags) if pieces else (whole, [])


def _before_tags(line: str, shown: str, start: int, stop: int) -> tuple[int, list[str]]:
    tags: list[str] = []
    while (match := _LAST_TAG.search(shown, max(start, shown.rfind("#", start, stop)), stop)) is not None:
        if not _is_tag(match[1]):
            break
        tags.insert(0, match[1])
        stop = start + len(line[start : match.start()].rstrip())
    return stop, tags


def _is_tag(tag: str) -> bool:
    bare = tag.strip("/")
    return bool(bare) and not bare.replace("/", "").isdecimal()


def _is_struck(piece: str) -> bool:
    if len(piece) < 5 or not piece.startswith("~~") or not piece.endswith("~~"):
        return False
    inner = piece[2:-2]
    return (len(inner) - len(inner.rstrip("\\"))) % 2 == 0


def _without_tildes(words: str) -> str:
    """Tildes inside would end the strike-through."""
    if "~" not in words:
        return words
    shown = mask_code(words) if "`" in words else words
    return "".join(
        f"\\{char}" if char == "~" and shown[i] == "~" and words[i - 1 : i] != "\\" else char
        for i, char in enumerate(words)
    )
