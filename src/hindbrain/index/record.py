"""A parsed note in, the rows that stand for it in the index out. Pure."""

import zlib
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import blake2b

from hindbrain.base.plural import plural
from hindbrain.base.segment import searchable
from hindbrain.index.names import name_key
from hindbrain.index.passages import MOST_PASSAGES, ChunkSettings, cut_passages, note_text, passage_uids
from hindbrain.index.spoken import sought
from hindbrain.vault.canvas import Canvas
from hindbrain.vault.dates import date_words
from hindbrain.vault.inline import without_links
from hindbrain.vault.items.category import CATEGORIES, category_of_note
from hindbrain.vault.items.item import parse_entries
from hindbrain.vault.marks import block_ids
from hindbrain.vault.note import Link, Note, Problem, Property
from hindbrain.vault.origin import source_of_note
from hindbrain.vault.para import para_of

HEADING_SEPARATOR = " > "


@dataclass(frozen=True, slots=True)
class PassageRow:
    uid: int
    start: int
    stop: int
    first_line: int
    last_line: int
    heading: str
    text: str
    text_hash: bytes


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """A line with the id of a memory. The fields are those of the table."""

    line: int
    id: str
    kind: str
    created: str
    importance: float
    source: str
    tags: tuple[str, ...]
    cues: tuple[str, ...]
    day: str
    state: str  # live, superseded or archived
    passages: range  # which of the note's passages hold it, counted from 0


@dataclass(frozen=True, slots=True)
class NoteRecord:
    """Everything the index keeps of one note. Lists are joined by line feeds."""

    path: str
    filename: str
    name: str  # as a hit shows it
    title: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    headers: str
    para_category: str
    para_area: str
    summary: str
    type: str
    date: str
    importance: float | None
    origin: str  # whose word it is, where that is trusted less than an agent's; else ""
    problems: str
    text: bytes  # compressed
    names: tuple[str, ...]
    links: tuple[Link, ...]
    blocks: frozenset[str]  # ids of memories and tasks
    memories: tuple[MemoryRow, ...]
    own_tags: tuple[str, ...]  # of its properties
    passages: tuple[PassageRow, ...]
    fields: tuple[str, ...]  # what `note_fts` holds, in its order


def make_record(path: str, note: Note, settings: ChunkSettings) -> NoteRecord:
    filename = path.rpartition("/")[2].rpartition(".")[0]
    category, area = para_of(path)
    headers = "\n".join(heading.text for heading in note.headings)
    tags, aliases = "\n".join(note.tags), "\n".join(note.aliases)
    words = date_words(note.date) if note.date else ""
    fields = (filename, note.title, aliases, tags, headers, area, note.summary, words)
    text = note_text(note)
    passages = _passages(path, note, text, settings)
    blocks = block_ids(text)
    return NoteRecord(
        path=path,
        filename=filename,
        name=note.name,
        title=note.title,
        tags=note.tags,
        aliases=note.aliases,
        headers=headers,
        para_category=category,
        para_area=area,
        summary=note.summary,
        type=_plain(note.frontmatter.get("type")),
        date=note.date,
        importance=_importance(note.frontmatter.get("importance")),
        origin=_origin(path, note),
        problems="\n".join(
            f"{p.code}\t{p.line}\t{p.message}" for p in (*note.problems, *_too_many(passages))
        ),
        text=zlib.compress(text.encode("utf-8", "surrogatepass"), 1),
        names=tuple(dict.fromkeys(filter(None, map(name_key, (filename, note.title, *note.aliases))))),
        links=note.links,
        blocks=blocks,
        memories=tuple(_memories(path, note, passages)) if any(id_[0] == "m" for id_ in blocks) else (),
        own_tags=_listed(note.frontmatter.get("tags")),
        passages=passages,
        fields=tuple(searchable(field) for field in fields),
    )


def _memories(path: str, note: Note, passages: Sequence[PassageRow]) -> Iterator[MemoryRow]:
    """The memories as the memory itself reads them, wherever their note stands."""
    told = _plain(note.frontmatter.get("category")).casefold()
    category = told if told in CATEGORIES else category_of_note(path)
    archived = any(part.casefold() == "archive" for part in path.split("/")[:-1])
    firsts = [passage.first_line for passage in passages]
    for entry in parse_entries(note.lines, path=path, category=category):
        item = entry.item
        if not item.id.startswith("m-"):
            continue
        start = bisect_right(firsts, item.line) - 1
        while start > 0 and passages[start - 1].last_line >= item.line:
            start -= 1  # a long line is cut into several
        yield MemoryRow(
            line=item.line, id=item.id, kind=item.category, created=_day(item.created),
            importance=item.importance, source=item.source, tags=item.tags, cues=item.cues, day=item.day_note,
            state="superseded" if item.superseded else "archived" if archived else "live",
            passages=range(max(0, start), bisect_right(firsts, entry.stop)),
        )  # fmt: skip


def _day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""


def _listed(value: Property | None) -> tuple[str, ...]:
    found = value.replace(",", " ").split() if isinstance(value, str) else value or ()
    return tuple(tag.lstrip("#") for tag in found if isinstance(tag, str))


def _too_many(passages: Sequence[PassageRow]) -> Iterator[Problem]:
    if len(passages) > MOST_PASSAGES:
        found = f"more than {plural(MOST_PASSAGES, 'passage')}"
        advice = "from here on it is found only roughly: split the note"
        yield Problem("too_many_passages", f"{found}; {advice}", passages[MOST_PASSAGES].first_line)


def make_canvas_record(path: str, canvas: Canvas, settings: ChunkSettings) -> NoteRecord:
    """As `make_record`, with the lines of the file. Its name has the ending: a note may share the rest."""
    record = make_record(path, canvas.note, settings)
    passages = tuple(
        replace(row, first_line=canvas.lines[row.first_line - 1], last_line=canvas.lines[row.last_line - 1])
        for row in record.passages
    )
    return replace(
        record, names=(name_key(canvas.note.name),), blocks=frozenset(), memories=(), passages=passages
    )


def embedded_text(title: str, heading: str, text: str) -> str:
    """Return what is embedded for a passage: where it stands, then what it says."""
    place = heading if heading.startswith(title) else HEADING_SEPARATOR.join(filter(None, (title, heading)))
    return f"{place}\n{sought(text)}" if place else sought(text)


def _passages(path: str, note: Note, text: str, settings: ChunkSettings) -> tuple[PassageRow, ...]:
    cut = cut_passages(note, settings)
    named = [(HEADING_SEPARATOR.join(map(without_links, p.headings)), text[p.start : p.end]) for p in cut]
    return tuple(
        PassageRow(uid, p.start, p.end, p.first_line, p.last_line, heading, sought(body), text_hash(body))
        for uid, p, (heading, body) in zip(passage_uids(path, named), cut, named, strict=True)
    )


def text_hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _origin(path: str, note: Note) -> str:
    source = source_of_note(path, note.frontmatter)
    return "" if source in ("user", "agent") else source


def _plain(value: Property | None) -> str:
    return value if isinstance(value, str) else ""


def _importance(value: Property | None) -> float | None:
    try:
        return min(1.0, max(0.0, float(value))) if isinstance(value, str) else None
    except ValueError:
        return None
