"""Three-way merge of a note, by lines. Pure: bytes in, bytes or None out.

Careful rather than clever: two changes are merged only when at least one unchanged line lies between them,
and the frontmatter counts as one line, because two sound edits of it can make a broken one. Two changes that
are alike are no agreement either: who raises a counter from 4 to 5 must hear that somebody else just did.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from hindbrain.vault.lines import common_head

_MOST_LINES = 3_000  # of the part that differs: the comparison is quadratic at worst


@dataclass(frozen=True, slots=True)
class _Change:
    start: int  # lines of the base [start, end) become `lines`
    end: int
    lines: tuple[bytes, ...]


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Both sides' changes of `base`, or None when they overlap, touch, or can't be told apart."""
    if theirs == base:
        return ours
    if ours == base:
        return theirs
    if any(side.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in side for side in (base, ours, theirs)):
        return None  # UTF-16 or binary: bytes between newlines are no lines
    base_lines = _lines(base)
    mine, other = _changes(base_lines, _lines(ours)), _changes(base_lines, _lines(theirs))
    if mine is None or other is None:
        return None
    changes = _interleave(mine, other)
    return None if changes is None else _apply(base_lines, changes)


def _lines(data: bytes) -> list[bytes]:
    """Lines with their ends; a frontmatter block is one of them."""
    lines = data.splitlines(keepends=True) if b"\r" not in data else _split_newlines(data)
    if not lines or lines[0].removeprefix(b"\xef\xbb\xbf").rstrip() != b"---":
        return lines
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() in (b"---", b"..."):
            return [b"".join(lines[: number + 1]), *lines[number + 1 :]]
    return lines


def _split_newlines(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def _changes(base: Sequence[bytes], side: Sequence[bytes]) -> list[_Change] | None:
    from difflib import SequenceMatcher

    head = common_head(base, side)
    tail = common_head(base[head:][::-1], side[head:][::-1])
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    if max(len(old), len(new)) > _MOST_LINES:
        return None
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        _Change(head + a, head + b, tuple(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def _interleave(mine: list[_Change], other: list[_Change]) -> list[_Change] | None:
    """All changes in order, or None when two of different sides touch."""
    sided = [(change, True) for change in mine] + [(change, False) for change in other]
    sided.sort(key=lambda pair: (pair[0].start, pair[0].end))
    for (left, left_is_mine), (right, right_is_mine) in pairwise(sided):
        if left_is_mine != right_is_mine and right.start <= left.end:
            return None
    return [change for change, _ in sided]


def _apply(base: Sequence[bytes], changes: Sequence[_Change]) -> bytes:
    out: list[bytes] = []
    at = 0
    for change in changes:
        out += [*base[at : change.start], *change.lines]
        at = change.end
    return b"".join([*out, *base[at:]])
