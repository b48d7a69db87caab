"""An append-only log of ours in the vault's `.hindbrain` folder, read as JSON objects and cached by stamp.

A line that is torn or was damaged is left out and counted; a log that is there and can't be read is an error,
since its absence would mean something else. Knows nothing of what the events say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import VaultError

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

Event = Mapping[str, Any]


class EventLog:
    def __init__(self, root: Path, name: str, writer: Callable[[], VaultWriter]) -> None:
        self._file = root / ".hindbrain" / name
        self._name = name
        self._writer = writer
        self._stamp: tuple[int, int, int] | None = None
        self._events: tuple[Event, ...] = ()
        self.damaged = 0  # lines that were left out at the last reading

    def read(self) -> tuple[Event, ...]:
        """All events, oldest first; () when there is no log. The same tuple while the file is the same."""
        try:
            status = self._file.stat()
            stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
            if stamp != self._stamp:
                self._events = self._parse(self._file.read_bytes())
                self._stamp = stamp
        except FileNotFoundError:
            self._events, self._stamp = (), None
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
        self._stamp = None

    def _parse(self, data: bytes) -> tuple[Event, ...]:
        events: list[Event] = []
        self.damaged = 0
        for line in data.split(b"\n"):
            if not line.strip():
                continue
            try:
                event = json.loads(line)
            except ValueError:
                event = None
            if isinstance(event, dict):
                events.append(event)
            else:
                self.damaged += 1
        return tuple(events)


def _line(event: Event) -> str:
    return json.dumps(event, ensure_ascii=True, separators=(",", ":"))
