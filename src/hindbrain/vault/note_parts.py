"""Which lines of a note a heading, a block id or a range means.

Pure: a parsed note in, line numbers out (1-based, inclusive). Knows nothing of files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.vault.inline import without_links
from hindbrain.vault.line_shapes import indent_of
from hindbrain.vault.note import Note

_SHOWN = 12  # headings that a refusal lists
_MARKS = re.compile(r"^#{1,6}[ \t]+")


def end_of(note: Note) -> int:
    """The number of lines an editor shows; a final line end opens no further one."""
    return len(note.lines) - 1 if len(note.lines) > 1 and not note.lines[-1] else len(note.lines)


def range_of(note: Note, path: str, first: int, last: int) -> tuple[int, int]:
    """The lines from `first` to `last` (0: to the end), as far as there are any."""
    end = end_of(note)
    if last and last < first:
        raise UsageError(f"lines {first} to {last} are no range; the first line comes first")
    if first > end:
        raise NotFound(f"{path!r} has {plural(end, 'line')}, so there is no line {first}")
    return first, min(last or end, end)


def section_of(note: Note, path: str, heading: str) -> tuple[int, int]:
    """From the heading to the next one of its level or above. "A#B" and "A > B" are B below A."""
    wanted = _MARKS.sub("", heading.strip())
    for names in (wanted.split("#"), wanted.split(" > "), [wanted]):
        found = _find_section(note, [_folded(name) for name in names])
        if found is not None:
            return found
    known = [each.text for each in note.headings]
    if not known:
        raise NotFound(f"{path!r} has no headings, so there is no {heading!r}")
    raise NotFound(f"{path!r} has no heading {heading!r}{_nearest(wanted, known)}; it has: {_listed(known)}")


def _find_section(note: Note, wanted: Sequence[str]) -> tuple[int, int] | None:
    trail: list[tuple[int, str]] = []
    for i, found in enumerate(note.headings):
        trail = [item for item in trail if item[0] < found.level] + [(found.level, _folded(found.text))]
        names = [name for _, name in trail]
        if names[-1] == wanted[-1] and all(name in names for name in wanted):
            after = (later.line - 1 for later in note.headings[i + 1 :] if later.level <= found.level)
            return found.line, next(after, end_of(note))
    return None


def block_of(note: Note, path: str, block: str) -> tuple[int, int]:
    """The block that the id names; of a list item with everything that is indented below it."""
    block_id = block.strip().removeprefix("^")
    line = next((found.line for found in note.block_ids if found.id == block_id), 0)
    if not line:
        known = [found.id for found in note.block_ids]
        raise NotFound(f"{path!r} has no block {'^' + block_id!r}{_nearest(block_id, known)}")
    blocks = list(note.blocks)
    at = next((i for i, found in enumerate(blocks) if found.first_line <= line <= found.last_line), None)
    if at is None:
        return line, line
    # An id that stands alone on its line names the block before it.
    if at and not note.lines[blocks[at].first_line - 1].replace(f"^{block_id}", "").strip():
        return blocks[at - 1].first_line, blocks[at - 1].last_line
    return blocks[at].first_line, _last_line_below(note, at)


def _last_line_below(note: Note, at: int) -> int:
    item = note.blocks[at]
    last = item.last_line
    if item.kind != "item":
        return last
    own = indent_of(note.lines[item.first_line - 1])[0]
    for block in note.blocks[at + 1 :]:
        if indent_of(note.lines[block.first_line - 1])[0] <= own:
            break
        last = block.last_line
    return last


def _folded(heading: str) -> str:
    """For comparing: hits show a heading without the marks of its links."""
    return " ".join(without_links(heading).casefold().split())


def _nearest(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, known, 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(name) for name in names[:_SHOWN]) + more
