"""An atomic memory: one list item that reads well in Obsidian and can be linked to.

    - Prefers dark mode in all apps [importance:: 0.8] [source:: user] [created:: 2026-02-20] ^m-7f3k2a

Owns the value, which lines of a note are memories, and how a new line is written. A list item without any
field is a memory, too: whoever typed it meant it. Items below it and lines that continue it belong to it.
Lines in code, tables, quotes and headings are none. Pure; knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from hindbrain.vault.blocks import BlockReader
from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.items.category import CATEGORIES, category_of_headings
from hindbrain.vault.items.item_line import ItemLine, read_line
from hindbrain.vault.items.item_text import escape, fold
from hindbrain.vault.items.plain_list import plain_blocks
from hindbrain.vault.line_shapes import indent_of, item_content
from hindbrain.vault.note import Block
from hindbrain.vault.origin import SOURCES

DEFAULT_IMPORTANCE = 0.5
ALSO_SAID = "also said: "  # of a wording that was merged with the one above it
MOST_CUES = 5
LONGEST_CUE = 60  # characters
# They say how a memory came to be, and nothing about its matter: another line never takes them over.
ORIGIN_TAGS = frozenset({"agent/memory", "auto-generated", "consolidated"})
STRUCK = "~"  # in `superseded`: struck through by hand, and nothing says what replaced it

_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # 32, without those that look alike
_ID_LENGTH = 8
_BLOCK_IDS = re.compile(r"\^([A-Za-z0-9\-]+)")
# A line as `render_item` writes most of them; the others are taken apart piece by piece.
_PLAIN = re.compile(
    r"- (~~)?([^\s\[\]~`\\#^$%<](?:[^\[\]~`\\#^$%<]*[^\s\[\]~`\\#^$%<])?)(?(1)~~)((?: #[a-z][a-z0-9-]*)*)"
    r" \[importance:: ([0-9.]+)\] \[source:: ([a-z]+)\](?: \[created:: ([0-9]{4}-[0-9]{2}-[0-9]{2})\])?"
    r"(?: \[cues:: ([^\[\]:`\\^$%<]+)\])?"
    r"(?: \[related:: \^([A-Za-z0-9\-]+)\])?(?(1) \[superseded:: \^([A-Za-z0-9\-]+)\]) \^([A-Za-z0-9\-]+)"
)
_LINK = re.compile(r"\[\[([^\[\]|#]+)\]\]")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_IN_CUES = re.compile(r"""[\[\](){}<>:^~`\\|$%*="\x00-\x08\x0e-\x1b\x7f]|(?<!\w)#+""")


class MemoryItem(NamedTuple):
    """What one line says, and where it stands."""

    id: str  # "m-7f3k2a"; "" for a line that a person wrote without one
    text: str  # without fields, id and strike-through
    category: str = "fact"
    importance: float = DEFAULT_IMPORTANCE  # 0..1
    source: str = "user"  # whose word it is: a line without the field was typed by the owner
    created: str = ""  # YYYY-MM-DD, or "" when the line does not say
    tags: tuple[str, ...] = ()  # without "#"
    related: tuple[str, ...] = ()  # ids of memories on the same matter
    superseded: str = ""  # the id of what replaced it, or STRUCK; "" while it holds
    path: str = ""  # vault-relative; "" while it waits in the queue
    line: int = 0  # 1-based
    day_note: str = ""  # the daily note that tells it, as it is linked: "Daily/2026-02-20"; "" when none does
    cues: tuple[str, ...] = ()  # words or phrases under which it will be needed, at most MOST_CUES
    heading: str = ""  # of its section, for a line that was typed by hand and may say little without it

    @property
    def citation(self) -> str:
        if not self.path:
            return f"^{self.id}"
        note = self.path.removesuffix(".md")
        return f"[[{note}#^{self.id}]]" if self.id else f"[[{note}]]"


class Entry(NamedTuple):
    """A memory and its lines in the note, counted from 0."""

    item: MemoryItem
    start: int
    text_stop: int  # exclusive: lines from `start` up to here hold its own words
    stop: int  # exclusive: up to here everything below belongs to it


def new_id(prefix: str = "m") -> str:
    """An id that nobody else has, such as "m-7f3k2a9d"."""
    import os

    return f"{prefix}-" + "".join(_ID_LETTERS[byte & 31] for byte in os.urandom(_ID_LENGTH))


def trust_of(source: str) -> int:
    """0 for the owner's own word; more for what is trusted less. An unknown source is trusted least."""
    return {"user": 0, "agent": 1, "tool": 2}.get(source, 3)


def parse_items(texts: Sequence[str], *, path: str, category: str) -> list[MemoryItem]:
    """The memories of a note. `category`: of the whole note; "" lets the headings tell."""
    return [entry.item for entry in parse_entries(texts, path=path, category=category)]


def parse_entries(texts: Sequence[str], *, path: str, category: str) -> list[Entry]:
    """As `parse_items`, with the lines of each."""
    lines = list(texts) or [""]
    found: list[Entry] = []
    open_items: list[tuple[int, int]] = []  # (content column, index in `found` or -1), outermost first
    for block in _blocks(lines):
        indent, body = indent_of(lines[block.first_line - 1])
        while open_items and open_items[-1][0] > indent:
            open_items.pop()
        if block.kind == "heading":
            open_items.clear()
        for _, at in open_items:
            if at >= 0:
                found[at] = found[at]._replace(stop=block.last_line)
        if block.kind != "item":
            continue
        entry = _entry(lines, block, path, category)
        if entry is not None and entry.item.id.startswith("t-"):
            entry = None  # a task of ours, wherever its note stands
        # A nested item belongs to the one above it, unless it has been stored as a memory of its own.
        if entry is not None and open_items and not entry.item.id.startswith("m-"):
            entry = None
        open_items.append((indent + item_content(body), len(found) if entry else -1))
        if entry:
            found.append(entry)
    return found


def _blocks(lines: list[str]) -> Sequence[Block]:
    first = read_frontmatter(lines).last_line
    blocks = plain_blocks(lines, first)
    if blocks is not None:
        return blocks
    reader = BlockReader("\n".join(lines), lines)
    reader.read(first)
    return reader.blocks


def _entry(lines: Sequence[str], block: Block, path: str, category: str) -> Entry | None:
    start, stop = block.first_line - 1, block.last_line
    if stop == start + 1 and (plain := _PLAIN.fullmatch(lines[start])) and "::" not in plain[2]:
        return Entry(_plain_item(plain, path, start + 1, _place(category, block)), start, stop, stop)
    parts = [read_line(line) for line in lines[start:stop] if line and not line.isspace()]
    text = " ".join(part.text for part in parts if part.text)
    if not text:
        return None
    item = _item(parts, text, path, start + 1, _place(category, block))
    if not item.id and block.headings[1:]:
        item = item._replace(heading=block.headings[-1])
    return Entry(item, start, stop, stop)


def _place(category: str, block: Block) -> str:
    return category or category_of_headings(block.headings) or "fact"


def _plain_item(plain: re.Match[str], path: str, line: int, place: str) -> MemoryItem:
    _, text, tags, importance, source, created, cues, related, superseded, block_id = plain.groups()
    return MemoryItem(
        block_id,
        text,
        place,
        _importance(importance),
        _source(source),
        created or "",
        tuple(dict.fromkeys(tags.replace("#", "").split())) if tags else (),
        related=(related,) if related else (),
        superseded=superseded or "",
        path=path,
        line=line,
        cues=read_cues(cues) if cues else (),
    )


def _item(parts: Sequence[ItemLine], text: str, path: str, line: int, place: str) -> MemoryItem:
    def field(key: str) -> str:
        return next((value for part in parts if (value := part.value(key))), "")

    told = field("category").casefold() or parts[0].category.casefold()
    by = _BLOCK_IDS.findall(field("superseded"))
    struck = all(part.struck for part in parts if part.text)
    created = field("created") or parts[-1].created or parts[0].created
    return MemoryItem(
        id=next((part.id for part in reversed(parts) if part.id), ""),
        text=text,
        category=told if told in CATEGORIES else place,
        importance=_importance(field("importance")),
        source=_source(field("source")),
        created=created[:10] if _DAY.match(created) else "",
        tags=tuple(dict.fromkeys(tag for part in parts for tag in part.tags)),
        related=tuple(_BLOCK_IDS.findall(field("related"))),
        superseded=by[0] if by else STRUCK if struck else "",
        path=path,
        line=line,
        day_note=told_in[1] if (told_in := _LINK.fullmatch(field("day"))) else "",
        cues=read_cues(field("cues")),
    )


def read_cues(text: str) -> tuple[str, ...]:
    """Cues, separated by commas, each once; without those that are too long, and at most MOST_CUES."""
    cues = (" ".join(cue.split()) for cue in text.split(","))
    return tuple(dict.fromkeys(cue for cue in cues if 0 < len(cue) <= LONGEST_CUE))[:MOST_CUES]


def join_cues(*groups: Sequence[str]) -> tuple[str, ...]:
    """Cues as a line can hold them, each once whatever its case, at most MOST_CUES."""
    first: dict[str, str] = {}
    for cue in (cue for group in groups for cue in read_cues(_NOT_IN_CUES.sub(" ", ",".join(group)))):
        if any(map(str.isalnum, cue)):
            first.setdefault(cue.casefold(), cue)
    return tuple(first.values())[:MOST_CUES]


def merged_cues(line: MemoryItem, other: MemoryItem) -> tuple[str, ...] | None:
    """The cues of a line with those of another that says the same; None when there is nothing to add.

    What is trusted less than the line and than an agent adds none.
    """
    if not adds_to(line, other):
        return None
    joined = join_cues(line.cues, other.cues)
    return joined if set(joined) - set(join_cues(line.cues)) else None


def merged_tags(line: MemoryItem, other: MemoryItem) -> tuple[str, ...]:
    """The tags of a line with those of another, under the rule of `merged_cues`."""
    more = other.tags if adds_to(line, other) else ()
    return tuple(dict.fromkeys((*line.tags, *(tag for tag in more if tag not in ORIGIN_TAGS))))


def adds_to(line: MemoryItem, other: MemoryItem) -> bool:
    """Whether another memory is trusted enough to add cues, tags and importance to a line."""
    return trust_of(other.source) <= max(trust_of(line.source), trust_of("agent"))


def _importance(text: str) -> float:
    """A value that makes no sense is the linter's business; the memory itself is not lost for it."""
    try:
        value = float(text)
    except ValueError:
        return DEFAULT_IMPORTANCE
    return value if 0.0 <= value <= 1.0 else DEFAULT_IMPORTANCE


def _source(text: str) -> str:
    if not text:
        return "user"
    folded = text.casefold()
    return folded if folded in SOURCES else "import"


def render_item(item: MemoryItem, *, place: str = "") -> str:
    """The line of a new memory. `place`: the category that its place tells; another one becomes a field."""
    text = fold(item.text)
    held = read_line("- " + escape(text) + " [source:: user]").tags
    words = escape(text, struck=bool(item.superseded))
    parts = [f"- ~~{words}~~" if item.superseded else f"- {words}"]
    parts += [f"#{tag}" for tag in item.tags if tag not in held]
    if place and item.category != place:
        parts.append(f"[category:: {item.category}]")
    parts.append(f"[importance:: {item.importance:g}]")
    parts.append(f"[source:: {item.source}]")
    if item.created:
        parts.append(f"[created:: {item.created}]")
    if item.day_note:
        parts.append(f"[day:: [[{item.day_note}]]]")
    if cues := join_cues(item.cues):
        parts.append(f"[cues:: {', '.join(cues)}]")
    if item.related:
        parts.append("[related:: " + ", ".join(f"^{other}" for other in item.related) + "]")
    if item.superseded and item.superseded != STRUCK:
        parts.append(f"[superseded:: ^{item.superseded}]")
    if item.id:
        parts.append(f"^{item.id}")
    return " ".join(parts)


def render_wording(item: MemoryItem) -> str:
    """The line below a memory for another wording of it: nothing that was said is gone without a trace."""
    created = f" [created:: {item.created}]" if item.created else ""
    day = f" [day:: [[{item.day_note}]]]" if item.day_note else ""
    return f"- {escape(ALSO_SAID + fold(item.text))} [source:: {item.source}]{created}{day}"


def wordings_below(lines: Sequence[str], entry: Entry) -> list[str]:
    """The other wordings of a memory, as `render_wording` has written them below it."""
    below = (read_line(line).text for line in lines[entry.text_stop : entry.stop])
    return [text.removeprefix(ALSO_SAID) for text in below if text.startswith(ALSO_SAID)]
