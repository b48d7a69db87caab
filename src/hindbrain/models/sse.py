"""Server-sent events: bytes as they come in, whole events out.

Pure. Knows nothing of HTTP, JSON or models.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BREAK = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    data: str
    kind: str = ""  # "" where the stream names none


class EventReader:
    """Reads one stream, whatever pieces it is cut into."""

    def __init__(self) -> None:
        self._rest = b""  # of a line whose end has not come
        self._data: list[str] = []
        self._kind = ""
        self._begun = False
        self._after_return = False  # a line feed that comes now belongs to the line before

    def feed(self, piece: bytes) -> list[Event]:
        """The events that are whole with this piece."""
        if self._after_return and piece.startswith(b"\n"):
            piece = piece[1:]
        if piece:
            self._after_return = piece.endswith(b"\r")
        *lines, self._rest = _BREAK.split(self._rest + piece)
        return [event for line in lines if (event := self._line(line)) is not None]

    def close(self) -> list[Event]:
        """The last event of a server that leaves out the blank line; half a line is nothing."""
        event = self._line(b"")
        return [event] if event is not None else []

    def _line(self, line: bytes) -> Event | None:
        if not self._begun:
            line, self._begun = line.removeprefix(b"\xef\xbb\xbf"), True
        if not line:
            return self._whole()
        name, _, value = line.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._kind = value
        return None  # a comment (no name), an id, a retry time or something newer

    def _whole(self) -> Event | None:
        data, kind = self._data, self._kind
        self._data, self._kind = [], ""
        return Event("\n".join(data), kind) if data else None
