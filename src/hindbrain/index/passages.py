"""A parsed note in, its passages out: the units that are indexed, judged and cited.

Pure. A passage is a paragraph, list item, table, code block or speaker turn, seldom above `tokens`; a
heading goes with the block below it. Every non-blank line of the body is in at least one passage. Small units
are judged together with their neighbours at search time, so nothing is repeated here unless the owner asks
for the larger, overlapping chunks of other tools (400/80, 600/60).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate

from hindbrain.vault.note import Block, Note

CHARS_PER_TOKEN = 4
MOST_PASSAGES = 20_000  # of a note that are cut finely: some 5 MB of prose
_COARSE_CHARS = 20_000
_TINY_CHARS = 40  # a shorter list item or rule says little alone: it goes with the next
_PACK_ABOVE_TOKENS = 200  # above this, or with an overlap, the owner asked for chunks, not passages
_SENTENCE_END = re.compile(r"[.!?…]['\"”’)\]]*\s|[。！？；]")


@dataclass(frozen=True, slots=True)
class ChunkSettings:
    tokens: int = 120  # a unit longer than this is cut, at a line or a sentence
    overlap: int = 0  # tokens repeated from one chunk to the next, when chunks are packed


@dataclass(frozen=True, slots=True)
class Passage:
    start: int  # offset in the note's text (its lines joined by one line feed)
    end: int
    first_line: int  # 1-based, as an editor shows them
    last_line: int
    headings: tuple[str, ...]  # the path in force where the passage begins


def note_text(note: Note) -> str:
    """Return the text that offsets count in: the note's lines joined by one line feed."""
    return "\n".join(note.lines)


def cut_passages(note: Note, settings: ChunkSettings) -> list[Passage]:
    """Return the passages of a note, in order. What is beyond MOST_PASSAGES comes in a few coarse ones."""
    found = _cut_finely(note, settings)
    return found if len(found) <= MOST_PASSAGES else [*found[:MOST_PASSAGES], *_coarse(found[MOST_PASSAGES:])]


def _coarse(passages: Sequence[Passage]) -> Iterator[Passage]:
    """Join neighbours, whatever section they are in: they can be found by their words."""
    first = last = passages[0]
    for passage in passages:
        if passage.end - first.start > _COARSE_CHARS and passage is not first:
            yield replace(first, end=last.end, last_line=last.last_line)
            first = passage
        last = passage
    yield replace(first, end=last.end, last_line=last.last_line)


def _cut_finely(note: Note, settings: ChunkSettings) -> list[Passage]:
    starts = list(accumulate((len(line) + 1 for line in note.lines), initial=0))
    limit = max(20, settings.tokens) * CHARS_PER_TOKEN
    units = [piece for unit in _units(note.blocks, starts) for piece in _cut(unit, note.lines, starts, limit)]
    if settings.tokens <= _PACK_ABOVE_TOKENS and not settings.overlap:
        return units
    return list(_packed(units, limit, settings.overlap * CHARS_PER_TOKEN))


def passage_uids(path: str, texts: Sequence[tuple[str, str]]) -> list[int]:
    """Return a lasting number per (heading path, text): without line numbers, edits above do not matter."""
    seen: dict[tuple[str, str], int] = {}
    uids = []
    for heading, text in texts:
        ordinal = seen[heading, text] = seen.get((heading, text), -1) + 1
        name = f"{path}\0{heading}\0{text}\0{ordinal}".encode("utf-8", "surrogatepass")
        uids.append(int.from_bytes(blake2b(name, digest_size=8).digest(), "big") >> 1)
    return uids


def _units(blocks: Sequence[Block], starts: Sequence[int]) -> Iterator[Passage]:
    """Join headings and tiny blocks to what follows them; else a block is a unit."""
    first: Block | None = None  # where the unit that is being gathered began
    last: Block | None = None
    for block in blocks:
        if first is not None and last is not None and _ends_before(first, last, block):
            yield _span(first, last, starts)
            first = None
        first = first or block
        last = block
        if block.kind != "heading" and not _is_tiny(first, block, starts):
            yield _span(first, block, starts)
            first = None
    if first is not None and last is not None:
        yield _span(first, last, starts)


def _ends_before(first: Block, last: Block, block: Block) -> bool:
    """A tiny unit stays within its section; a run of headings goes on to the first text below it."""
    if block.kind != "heading":
        return block.headings != last.headings  # an outline leaves a section without a new heading
    return last.kind != "heading" and first.kind != "heading"


def _is_tiny(first: Block, last: Block, starts: Sequence[int]) -> bool:
    if last.kind in ("paragraph", "code", "table", "math", "quote"):
        return False
    return starts[last.last_line] - starts[first.first_line - 1] <= _TINY_CHARS


def _span(first: Block, last: Block, starts: Sequence[int]) -> Passage:
    return Passage(
        starts[first.first_line - 1],
        starts[last.last_line] - 1,
        first.first_line,
        last.last_line,
        last.headings,
    )


def _cut(unit: Passage, lines: Sequence[str], starts: Sequence[int], limit: int) -> Iterator[Passage]:
    """Cut a long unit at line ends, and a long line at sentence ends, else between words."""
    # A quarter more than the limit is left whole: two halves of a thought are worse than one long passage.
    if unit.end - unit.start <= limit + limit // 4:
        yield unit
        return
    start, first = unit.start, unit.first_line
    for number in range(unit.first_line, unit.last_line + 1):
        line_start, line_end = starts[number - 1], starts[number] - 1
        if line_end - start > limit and line_start > start:
            yield Passage(start, line_start - 1, first, number - 1, unit.headings)
            start, first = line_start, number
        while line_end - start > limit + limit // 4:
            # Only the window is taken: the rest of a line of 20 MB, copied at each cut, would take minutes.
            at = start - line_start
            end = start + _cut_at(lines[number - 1][at : at + limit], limit)
            yield Passage(start, end, number, number, unit.headings)
            start = end
    if start < unit.end:
        yield Passage(start, unit.end, first, unit.last_line, unit.headings)


def _cut_at(window: str, limit: int) -> int:
    """Return where to cut a text that begins with `window`: after its last sentence, else its last word."""
    end = 0
    for match in _SENTENCE_END.finditer(window, limit // 3):
        end = match.end()
    return end or window.rfind(" ", limit // 3) + 1 or limit


def _packed(units: Sequence[Passage], limit: int, overlap: int) -> Iterator[Passage]:
    """Gather units of one section into chunks up to the limit; each begins with the end of the one before."""
    chunk: list[Passage] = []
    for unit in units:
        if chunk and (unit.headings != chunk[-1].headings or unit.end - chunk[0].start > limit):
            yield _joined(chunk)
            same = unit.headings == chunk[-1].headings
            kept = [one for one in chunk if same and chunk[-1].end - one.start <= overlap]
            chunk = kept if len(kept) < len(chunk) else kept[1:]  # a chunk is never only the next one's start
            while chunk and unit.end - chunk[0].start > limit:
                del chunk[0]
        chunk.append(unit)
    if chunk:
        yield _joined(chunk)


def _joined(chunk: Sequence[Passage]) -> Passage:
    first, last = chunk[0], chunk[-1]
    return Passage(first.start, last.end, first.first_line, last.last_line, first.headings)
