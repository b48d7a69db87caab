"""Code, math and comments that open on one line and close on another: where they open, where they close.

Pure. Knows nothing of blocks. A search that failed is remembered, so that a note full of openers without
closers still takes linear time.
"""

import re

from hindbrain.vault.inline import mask_code
from hindbrain.vault.line_shapes import fence_run

CLOSERS = {"$$": "$$", "%%": "%%", "<!--": "-->"}
FENCES = ("```", "~~~")
_MARK = re.compile(r"\$\$|%%|<!--|-->")


class SpanSearch:
    """Looks for closers in the lines of one note."""

    __slots__ = ("_lines", "_none_before", "_none_in_note")

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._none_in_note: set[str] = set()  # closers of which no further one stands in the note
        self._none_before: dict[str, int] = {}  # closer -> the blank line up to which there is none

    def find_anywhere(self, closer: str, i: int) -> int:
        """The first line from `i` on that holds `closer`, -1 when none does."""
        if closer not in self._none_in_note:
            for j in range(i, len(self._lines)):
                if closer in self._lines[j]:
                    return j
            self._none_in_note.add(closer)
        return -1

    def find_in_paragraph(self, closer: str, i: int) -> int:
        """As `find_anywhere`, but not beyond the next blank line."""
        if i < self._none_before.get(closer, 0):
            return -1
        for j in range(i, len(self._lines)):
            line = self._lines[j]
            if closer in line:
                return j
            if not line or line.isspace():
                self._none_before[closer] = j
                return -1
        self._none_before[closer] = len(self._lines)
        return -1


def open_span(line: str) -> tuple[str, int]:
    """The opener in `line` that does not close in it, and where it stands; ("", -1) when there is none."""
    if "$$" not in line and "%%" not in line and "<!--" not in line:
        return "", -1
    opener, at = "", -1
    for match in _MARK.finditer(mask_code(line)):
        if opener:
            if match[0] == CLOSERS[opener]:
                opener, at = "", -1
        elif match[0] in CLOSERS:
            opener, at = match[0], match.start()
    return opener, at


def opened_by(inner: str) -> str:
    """What must come to close the block that a quoted line opens; "" when it opens none."""
    if inner[:3] in FENCES and fence_run(inner):
        return inner[: fence_run(inner)]
    for opener, closer in CLOSERS.items():
        if inner.startswith(opener) and closer not in inner[len(opener) :]:
            return closer
    return ""


def closes(inner: str, closer: str) -> bool:
    """Say whether a quoted line ends what `closer` ends."""
    if closer[0] in "`~":
        return inner.startswith(closer) and not inner.strip(closer[0] + " \t")
    return closer in inner
