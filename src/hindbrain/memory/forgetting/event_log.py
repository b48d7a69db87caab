"""An append-only log of ours in the vault's `.hindbrain` folder, read as JSON objects, each once.

A line that is torn or was damaged is left out and counted; a log that is there and can't be read is an error,
since its absence would mean something else. Knows nothing of what the events say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.errors import VaultError
from hindbrain.base.json_lines import as_object

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

Event = Mapping[str, Any]
_END_BYTES = 256  # by which a log is known again


class Mark(NamedTuple):
    """How far somebody has read a log."""

    epoch: int = -1
    seen: int = 0  # events


class News(NamedTuple):
    """What a reader does not know yet."""

    anew: bool  # what was known before holds no longer
    events: Sequence[Event]
    mark: Mark


class EventLog:
    def __init__(self, root: Path, name: str, writer: Callable[[], VaultWriter]) -> None:
        self._file = root / ".hindbrain" / name
        self._name = name
        self._writer = writer
        self._stamp: tuple[int, int, int] | None = None
        self._size = 0  # bytes that were understood, always up to the end of a line
        self._end = b""  # the last of them
        self._events: list[Event] = []
        self._epoch = 0  # another number when the log is not the one before with more at its end
        self._damaged = 0
        self._torn = False  # the last line is not whole

    @property
    def damaged(self) -> int:
        """Lines that were left out."""
        return self._damaged + self._torn

    def since(self, mark: Mark) -> News:
        """What came after `mark`, where a reader stopped; everything, when the log is another one by now."""
        events = self.read()
        anew = mark.epoch != self._epoch
        new = events if anew else events[mark.seen :]
        return News(anew, new, Mark(self._epoch, len(events)))

    def read(self) -> Sequence[Event]:
        """All events, oldest first; none when there is no log. What is known is not read again."""
        try:
            status = self._file.stat()
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            if stamp != self._stamp:
                with self._file.open("rb") as file:
                    self._go_on(file)
                self._stamp = stamp
        except FileNotFoundError:
            if self._size or self._events:
                self._begin_anew()
        except OSError as error:
            raise VaultError(
                f"{str(self._file)!r} can't be read ({error.strerror or error}); nothing was decided"
            ) from error
        return self._events

    def append(self, event: Event) -> None:
        """Durable when this returns."""
        self._writer().append_state_line(self._name, _line(event))
        self._stamp = None  # a write within the same tick of the clock may leave the stamp as it was

    def replace(self, events: Iterable[Event]) -> None:
        """Hold these events and no others. The caller excludes whoever might append meanwhile."""
        text = "".join(_line(event) + "\n" for event in events)
        self._writer().put_state_file(self._name, text.encode("ascii"))
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._stamp, self._size, self._end, self._events = None, 0, b"", []
        self._damaged, self._torn = 0, False
        self._epoch += 1

    def _go_on(self, file: IO[bytes]) -> None:
        file.seek(self._size - len(self._end))
        data = file.read()
        if not data.startswith(self._end):  # another file, or another beginning: a sync tool was here
            self._begin_anew()
            file.seek(0)
            data = file.read()
        new = data[len(self._end) :]
        whole = new.rfind(b"\n") + 1
        rest = new[whole:]  # a line that is being written, that a crash cut off, or that lost its end
        if as_object(rest) is not None:
            whole, rest = len(new), b""
        self._take(new[:whole])
        self._torn = bool(rest.strip())
        self._size += whole
        self._end = (self._end + new[:whole])[-_END_BYTES:]

    def _take(self, data: bytes) -> None:
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            event = as_object(line)
            if event is None:
                self._damaged += 1
            else:
                self._events.append(event)


def _line(event: Event) -> str:
    return json.dumps(event, ensure_ascii=True, separators=(",", ":"))
