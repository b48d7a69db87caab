"""A note as lines that keep their own ends, so that an edit of one line leaves every other byte as it was.

Pure. Bytes that are not UTF-8 survive a round trip; a byte order mark stays where it is. Knows nothing of
Markdown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hindbrain.base.errors import VaultError
from hindbrain.vault.parse import split_lines

_BOM = "\ufeff"


class NoteLines:
    """`texts[i]` is line i + 1 without its end, `ends[i]` is that end; only the last one may be ""."""

    def __init__(self, data: bytes, name: str = "the note") -> None:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise VaultError(f"{name} is UTF-16; convert it to UTF-8 before it is changed")
        text = data.decode("utf-8", "surrogateescape")
        self._bom = _BOM if text.startswith(_BOM) else ""
        self.texts: list[str] = []
        self.ends: list[str] = []
        for line in split_lines(text[len(self._bom) :]):
            body = line.rstrip("\r\n")
            self.texts.append(body)
            self.ends.append(line[len(body) :])

    @property
    def end(self) -> str:
        """The line end that most lines have."""
        crlf = self.ends.count("\r\n")
        return "\r\n" if crlf and crlf * 2 >= len(self.ends) - self.ends.count("") else "\n"

    def replace(self, at: int, text: str) -> None:
        """Give line `at` (counted from 0) another text; its end stays."""
        self.texts[at] = text

    def insert(self, at: int, texts: Iterable[str]) -> None:
        """Put lines before line `at`; `len(texts)` puts them at the end. They end as their neighbour does."""
        new = list(texts)
        if not new:
            return
        at = min(at, len(self.texts))
        if at and not self.ends[at - 1]:
            self.ends[at - 1] = self.end
        end = (self.ends[at - 1] if at else self.ends[0] if self.ends else "") or self.end
        self.texts[at:at] = new
        self.ends[at:at] = [end] * len(new)

    def remove(self, start: int, stop: int) -> None:
        """Take lines `start` to `stop` (exclusive) away."""
        del self.texts[start:stop]
        del self.ends[start:stop]

    def data(self) -> bytes:
        text = self._bom + "".join(body + end for body, end in zip(self.texts, self.ends, strict=True))
        return text.encode("utf-8", "surrogateescape")


def common_head(one: Sequence[object], other: Sequence[object]) -> int:
    """How many lines both begin with."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count
