"""What one parsed note is made of: values only.

Knows nothing of how Markdown is read, of files, or of the index. Every `line` is 1-based and counts the lines
an editor shows (frontmatter included), so that a citation opens at the right place.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

# A property is kept as its owner wrote it: `yes`, `012` and `12:30` stay text. List items that are themselves
# maps or lists stay text too, in the form in which they stand in the note.
Property: TypeAlias = str | list[str] | dict[str, "Property"]

BlockKind: TypeAlias = Literal[
    "heading", "paragraph", "item", "table", "code", "quote", "math", "comment", "html", "rule"
]


@dataclass(frozen=True, slots=True)
class Heading:
    level: int  # 1..6
    text: str  # inline markup kept; "" for a bare "#"
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """`[[target#heading|alias]]`, `[[target#^block]]`, `![[target]]` or `[alias](target.md#heading)`."""

    target: str  # as written, percent-escapes decoded; "" points into the note itself
    heading: str  # "" when none; "A#B" for a heading path
    block: str  # without "^"; "" when none
    alias: str  # the shown text; "" when none
    embed: bool
    line: int


@dataclass(frozen=True, slots=True)
class InlineField:
    key: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Task:
    status: str  # the one character between the brackets, " " when open
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Callout:
    kind: str  # lower case: "note", "warning", ...
    title: str  # "" when none
    line: int


@dataclass(frozen=True, slots=True)
class BlockId:
    id: str  # without "^"
    line: int


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a note that its owner may want to mend; the note is still read as far as possible."""

    code: str  # stable: frontmatter_malformed, not_utf8, ...
    message: str
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together. Every non-blank body line is in exactly one block, in order."""

    kind: BlockKind
    first_line: int
    last_line: int  # inclusive
    headings: tuple[str, ...]  # the path in force; a heading block's own text is last


@dataclass(frozen=True, slots=True)
class Note:
    name: str  # the title property, unless it only repeats a heading; else the file name
    title: str  # the title property, else the first top heading, else the file name
    frontmatter: Mapping[str, Property]
    aliases: tuple[str, ...]
    tags: tuple[str, ...]  # without "#", case kept, first appearance first
    headings: tuple[Heading, ...]
    links: tuple[Link, ...]
    fields: tuple[InlineField, ...]
    tasks: tuple[Task, ...]
    callouts: tuple[Callout, ...]
    block_ids: tuple[BlockId, ...]
    blocks: tuple[Block, ...]
    problems: tuple[Problem, ...]
    body_line: int  # first line after the frontmatter; 1 when there is none
    lines: tuple[str, ...]  # the whole note without line ends; a final line end adds one empty last line
    summary: str  # at most 200 characters
    date: str  # "YYYY-MM-DD", or "" when the note names none
