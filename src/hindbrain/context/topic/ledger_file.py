"""One session's events on disk: a JSONL file to which several processes append, and which stays small.

Lines are appended as `base.files` does it, so that two processes never mix theirs, and what a crash cut off
spoils only itself. There is no fsync: a lost line costs a repeated excerpt, not a
memory. When the file has grown, one process puts a summary in its place. Who appended meanwhile sees that
the file lost its name and appends again; so an event may be seen twice, and none is missed.

Knows nothing of what events mean.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from hindbrain.base.files import AppendLog, make_folder, replace_file
from hindbrain.base.json_lines import as_object
from hindbrain.vault.lock import FileLock

Event: TypeAlias = Mapping[str, object]

SUFFIX = ".ledger.jsonl"
MOST_BYTES = 256_000  # then a summary takes the file's place
KEPT_DAYS = 30
MOST_SESSIONS = 500
_DAY_S = 86_400.0
_PRUNED = "pruned"  # an empty file: when old ledgers were last looked for
_LOCK = "ledgers.lock"  # for the summaries of all sessions: they are rare
_HEAD_BYTES = 40
_TRIES = 20  # to append to a file that keeps its name
_UNSAFE = re.compile(r"[^a-z0-9-]+")


def ledger_name(host: str, session: str) -> str:
    """A file name for whatever a host calls its sessions."""
    digest = hashlib.sha256(f"{host}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{_UNSAFE.sub('-', host.lower())[:24] or 'host'}-{digest}{SUFFIX}"


class LedgerFile:
    """Raises OSError; its user decides what a failure means."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0  # bytes, as far as it was read; always the end of a line
        self.damaged = 0  # lines that can't be read
        self._head = b""  # a number of the system's is used again, this is not

    def append(self, events: Iterable[Event]) -> None:
        data = b"".join(_line(event) + b"\n" for event in events)
        if not data:
            return
        for _ in range(_TRIES):
            if self._appended(data):
                return
        raise OSError(f"{str(self.path)!r} is replaced again and again")

    def new_events(self) -> tuple[list[Event], bool]:
        """What was appended since the last look; True when it is another file, read from its beginning."""
        try:
            with self.path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
                fresh = head != self._head
                if fresh:
                    self._head, self.size = head, 0
                file.seek(self.size)
                data = file.read()
        except FileNotFoundError:
            fresh, self._head, self.size = bool(self._head), b"", 0
            return [], fresh
        whole = data.rfind(b"\n") + 1
        self.size += whole
        events, damaged = _events(data[:whole])
        self.damaged = damaged + (0 if fresh else self.damaged)
        return events, fresh

    def replace(self, events: Sequence[Event]) -> None:
        """Put a summary of all that `new_events` gave in the place of the file. Raises Busy, WriteFailed."""
        with FileLock(self.path.parent / _LOCK).held(0), self.path.open("rb") as old:
            if old.read(_HEAD_BYTES) != self._head:
                return  # another process did so
            summary = _header() + b"".join(_line(event) + b"\n" for event in events)
            try:
                replace_file(self.path, summary, durable=False)
            except OSError:  # a full disk, or a system that keeps open files: the long file serves as well
                return
            # Appended after our last look and before the renaming: its writer found the name in place.
            old.seek(self.size)
            self.append(_events(old.read())[0])

    def _appended(self, data: bytes) -> bool:
        """False when the file lost its name meanwhile."""
        make_folder(self.path.parent)
        with AppendLog(self.path) as log:
            log.append(data if log.size else _header() + data)
            return log.is_named


def renew_ledger(path: Path) -> None:
    """Give a ledger that was rewritten another header: who knows it by the old one reads all of it again."""
    lines = path.read_bytes().split(b"\n")
    first = as_object(lines[0])
    if first is not None and first.get("event") == "ledger":
        replace_file(path, _header() + b"\n".join(lines[1:]), durable=False)


def prune_when_due(folder: Path, now: float, *, keep: str) -> None:
    """Once a day is enough: who looks at every ledger lets a prompt wait."""
    mark = folder / _PRUNED
    try:
        if 0 <= now - mark.stat().st_mtime < _DAY_S:
            return
    except OSError:
        pass
    with contextlib.suppress(OSError):
        mark.touch(mode=0o600)
        os.utime(mark, (now, now))
        prune(folder, now, keep=keep)


def prune(folder: Path, now: float, *, keep: str = "") -> int:
    """Remove the ledgers of sessions that ended long ago, and those beyond the newest; returns how many."""
    found: list[tuple[float, Path]] = []
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.endswith(SUFFIX) and entry.name != keep:
                with contextlib.suppress(OSError):
                    found.append((entry.stat().st_mtime, Path(entry.path)))
    found.sort(reverse=True)
    old = [
        path
        for at, (changed, path) in enumerate(found)
        if at >= MOST_SESSIONS or now - changed > KEPT_DAYS * _DAY_S
    ]
    for path in old:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
    return len(old)


def _header() -> bytes:
    return _line({"event": "ledger", "file": os.urandom(12).hex()}) + b"\n"


def _line(event: Event) -> bytes:
    return json.dumps(event, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _events(data: bytes) -> tuple[list[Event], int]:
    """The events of the lines that are whole, and how many lines are not."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    events: list[Event] = [event for event in map(as_object, lines) if event is not None]
    return events, len(lines) - len(events)
