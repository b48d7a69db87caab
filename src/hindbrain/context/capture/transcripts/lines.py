"""Whole lines of a growing file, from a byte offset on.

A last line without its end is being written and waits; a line that is longer than anything a host writes is
passed over without being held in memory. Knows nothing of what the lines say.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import NamedTuple

LONGEST = 16_000_000  # bytes of one line; a screenshot as text has some 5 MB
_STEP = 1 << 20


class Line(NamedTuple):
    data: bytes | None  # None: too long, passed over
    stop: int  # the byte after it


def whole_lines(file: io.BufferedIOBase, start: int, *, longest: int = LONGEST) -> Iterator[Line]:
    """The lines from `start` on, which is the beginning of one."""
    file.seek(start)
    at = start
    while data := file.readline(longest + 1):
        at += len(data)
        if data.endswith(b"\n"):
            yield Line(data, at)
        elif len(data) > longest:
            at = _pass_over(file, at)
            yield Line(None, at)
        else:
            return


def _pass_over(file: io.BufferedIOBase, at: int) -> int:
    """To the end of the line. Of one without an end what follows will be passed over the next time."""
    while data := file.readline(_STEP):
        at += len(data)
        if data.endswith(b"\n"):
            break
    return at
