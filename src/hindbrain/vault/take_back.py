"""Taking earlier changes back out of a note that has changed since. Pure: bytes in, bytes or None out.

All versions that are known are woven into one list of lines, dead and alive, in which each line has its place
for good. The lines that the change brought die, those that it took away live again where they stood, and
everything else stays as it is. Only lines that a later change has touched again can't be taken back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hindbrain.vault.lines import common_head
from hindbrain.vault.parse import split_lines

_MOST_LINES = 3_000  # of the part that differs: the comparison is quadratic at worst


class _Line:
    __slots__ = ("alive", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.alive = True


class _TooLong(Exception):
    """Two versions differ in more lines than can be compared in good time."""


def take_back(versions: Sequence[bytes], *at: int) -> bytes | None:
    """Undo the steps from each `versions[at]` to the next one, in the last one. `at` is ascending.

    None when later steps overlap with one of them.
    """
    if any(data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data for data in versions):
        return None  # UTF-16 or binary: bytes between newlines are no lines
    weave = _Weave(split_lines(versions[0]))
    steps: list[tuple[list[_Line], list[_Line]]] = []
    try:
        for number, data in enumerate(versions[1:]):
            step = weave.step(split_lines(data))
            if number in at:
                steps.append(step)
    except _TooLong:
        return None
    for born, died in reversed(steps):  # the last first: it may have taken away what an earlier one brought
        if not all(line.alive for line in born):
            return None
        for line in born:
            line.alive = False
        for line in died:
            line.alive = True
    return b"".join(_with_ends(weave.living()))


class _Weave:
    """Every line that the note ever had, in order."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._lines = [_Line(text) for text in texts]

    def living(self) -> list[bytes]:
        return [line.text for line in self._lines if line.alive]

    def step(self, new: list[bytes]) -> tuple[list[_Line], list[_Line]]:
        """Go on to the next version. Returns the lines that it brought and those that it took away."""
        at = [i for i, line in enumerate(self._lines) if line.alive]
        old = [self._lines[i].text for i in at]
        born, died = list[_Line](), list[_Line]()
        for a, b, c, d in reversed(_gaps(old, new)):  # from the end: positions before it stay true
            gone = [self._lines[i] for i in at[a:b]]
            for line in gone:
                line.alive = False
            died += gone
            start = at[a - 1] + 1 if a else 0
            stop = at[b] if b < len(at) else len(self._lines)
            # What was replaced is followed by what replaced it; what was added follows the line above it,
            # and what was appended comes after all that ever stood at the end.
            place = at[b - 1] + 1 if gone else (start if b < len(at) else stop)
            born += self._bring(start, place, stop, new[c:d])
        return born, died

    def _bring(self, start: int, place: int, stop: int, texts: list[bytes]) -> list[_Line]:
        """Put lines into the stretch [start, stop), whose lines are dead: those that an undo has brought
        back live again, others are new and stand at `place` or behind their neighbour."""
        stretch = self._lines[start:stop]
        again = {
            c + i: a + i
            for a, c, size in _matches([line.text for line in stretch], texts)
            for i in range(size)
        }
        behind = min([place - start, *again.values()])  # lines of the stretch that a new one comes after
        born = list[_Line]()
        added: dict[int, list[_Line]] = {}
        for number, text in enumerate(texts):
            if number in again:
                line = stretch[again[number]]
                line.alive = True
                behind = again[number] + 1
            else:
                line = _Line(text)
                added.setdefault(behind, []).append(line)
            born.append(line)
        woven = [*added.get(0, ())]
        for number, line in enumerate(stretch, start=1):
            woven += [line, *added.get(number, ())]
        self._lines[start:stop] = woven
        return born


def _gaps(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int, int]]:
    """Where two versions differ: lines [a, b) of the old one became lines [c, d) of the new one."""
    gaps = []
    a = c = 0
    for start, at, size in [*_matches(old, new), (len(old), len(new), 0)]:
        if start > a or at > c:
            gaps.append((a, start, c, at))
        a, c = start + size, at + size
    return gaps


def _matches(old: list[bytes], new: list[bytes]) -> list[tuple[int, int, int]]:
    """Runs of equal lines: (where in `old`, where in `new`, how many)."""
    from difflib import SequenceMatcher

    head = common_head(old, new)
    tail = min(common_head(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(inner_old), len(inner_new)) > _MOST_LINES and inner_old and inner_new:
        raise _TooLong
    blocks = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_matching_blocks()
    inner = [(head + a, head + b, size) for a, b, size in blocks if size]
    runs = [(0, 0, head), *inner, (len(old) - tail, len(new) - tail, tail)]
    return [run for run in runs if run[2]]


def _with_ends(lines: list[bytes]) -> Iterator[bytes]:
    """A line that once was the last one may have no end; it needs one when others follow."""
    crlf = sum(line.endswith(b"\r\n") for line in lines)
    usual = b"\r\n" if crlf and crlf * 2 >= len(lines) else b"\n"
    for line in lines[:-1]:
        yield line if line.endswith((b"\n", b"\r")) else line + usual
    yield from lines[-1:]
