"""The model's words on the screen as they come, without the line by which it says that it is done."""

from __future__ import annotations

from collections.abc import Callable

from hindbrain.edge.output import safe


class Stream:
    """Pieces in, text out. A line that may become `token` is held back until it is clear that it does not."""

    def __init__(self, write: Callable[[str], object], token: str) -> None:
        self._write = write
        self._token = token
        self._line = ""  # what of the current line is held back
        self._holds = True
        self.wrote = False  # anything since the last `end`
        self._at_start = True  # of a line, on the screen

    def take(self, piece: str) -> None:
        for part in piece.splitlines(keepends=True):
            self._take_part(part)

    def end(self) -> None:
        """Nothing more comes: the line that is open is closed."""
        self._let_go()
        if not self._at_start:
            self._put("\n")
        self._line, self._holds = "", True

    def _take_part(self, part: str) -> None:
        if not self._holds:
            self._put(part)
        else:
            self._line += part
            if not self._token.startswith(self._line.strip()):
                self._let_go()
        if part.endswith(("\n", "\r")):
            if self._holds and self._line.strip() != self._token:
                self._put(self._line)
            self._line, self._holds = "", True

    def _let_go(self) -> None:
        held, self._line, self._holds = self._line, "", False
        if held.strip() != self._token:
            self._put(held)

    def _put(self, text: str) -> None:
        if text:
            self._write(safe(text.replace("\r\n", "\n")))
            self.wrote = True
            self._at_start = text.endswith("\n")
