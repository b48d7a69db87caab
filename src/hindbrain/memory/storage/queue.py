"""Memories that are acknowledged and not yet in their notes: durable before `add` returns, whoever dies then.

One file, `queue.jsonl` in the state folder, to which any number of processes append without a lock: one
`write` on O_APPEND, an fsync, and a look whether the file still has its name. Whoever flushes renames it away
first. A line that landed in a file after it lost its name may be missed by the flusher, so its writer, who
looks after writing, appends it again; a line whose writer found the name in place was written before the
renaming, and the flusher, who reads after it, sees it. So no acknowledged line is lost and one may be seen
twice: every line carries the id that its memory will have, and applying an id twice changes nothing.

A renamed file goes away when all its lines are in notes. Knows nothing of notes.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import Busy, WriteFailed, WriteUnknown
from hindbrain.memory.items.item import DEFAULT_IMPORTANCE
from hindbrain.vault.lock import FileLock

_NAME = "queue.jsonl"
_TAKEN = "queue-taken-"  # followed by a number that grows, so that names sort by age
_UNREADABLE = "queue-unreadable.jsonl"
_HEAD_BYTES = 24  # hold the id of the first memory of a file
_WINDOWS_TRIES = 100
_WINDOWS_WAIT_S = 0.005
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class Waiting(NamedTuple):
    """A memory in the queue."""

    id: str
    text: str
    at: float  # seconds since the epoch
    category: str = "fact"
    importance: float = DEFAULT_IMPORTANCE
    source: str = "agent"
    tags: tuple[str, ...] = ()
    created: str = ""  # YYYY-MM-DD
    strategy: str = "batched"  # batched, deferred or conditional


class _Known(NamedTuple):
    """The file as far as it was read."""

    head: bytes  # its first bytes, with an id that no other file has; a number of the system's is used again
    size: int  # up to here, always the end of a line
    entries: list[Waiting]
    torn: list[bytes]


class Taken:
    """What a flusher holds. `done` says which of it are in notes; the rest stays."""

    def __init__(self, waiting: list[Waiting]) -> None:
        self.waiting = waiting
        self.applied: set[str] = set()

    def done(self, ids: Iterable[str]) -> None:
        self.applied.update(ids)


class WriteQueue:
    """Safe to use from several processes and threads."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._path = state / _NAME
        self._lock = FileLock(state / "queue.lock")
        self._durable_head = b""  # of the file whose name this process has made durable
        self._known = _Known(b"", 0, [], [])

    def add(self, *waiting: Waiting) -> None:
        """Durable when this returns. Raises WriteFailed, or WriteUnknown when only the disk knows."""
        # A line begins with a line end, too: after a crash in the middle of a line the next one is whole.
        data = b"".join(b"\n" + _line(entry) + b"\n" for entry in waiting)
        try:
            self._state.mkdir(parents=True, exist_ok=True)
            while not self._append_or_wait(data):
                pass
        except OSError as error:
            raise WriteFailed(
                f"the memory could not be stored in {str(self._path)!r} ({error.strerror}); free some space "
                "or mend the folder's rights, and try again"
            ) from error

    def pending(self) -> list[Waiting]:
        """What waits, the oldest first. Who also reads notes does so afterwards: then nothing is missed."""
        # The file before the renamed ones: what is renamed in between is seen twice rather than not at all.
        first = self._lines(self._path)[0]
        taken = self._taken_files()
        if not taken:
            return first
        found: dict[str, Waiting] = {}
        for path in taken:
            for entry in self._lines(path)[0]:
                found.setdefault(entry.id, entry)
        for entry in first:
            found.setdefault(entry.id, entry)
        return list(found.values())

    @property
    def unreadable(self) -> int:
        """Lines that a crash left torn, or that somebody damaged; they are kept for a person to look at."""
        here = sum(len(self._lines(path)[1]) for path in (*self._taken_files(), self._path))
        try:
            return here + (self._state / _UNREADABLE).read_bytes().count(b"\n")
        except OSError:
            return here

    def check_free(self) -> None:
        """Raises Busy when another process is flushing now."""
        with self._lock.held(0):
            pass

    @contextlib.contextmanager
    def flushing(self, timeout_s: float) -> Iterator[Taken]:
        """Take everything that waits. One at a time across processes: raises Busy after `timeout_s`."""
        with self._lock.held(timeout_s):
            self._rotate()
            files = self._taken_files()
            entries: dict[str, Waiting] = {}
            for path in files:
                for entry in self._lines(path)[0]:
                    entries.setdefault(entry.id, entry)
            taken = Taken(list(entries.values()))
            try:
                yield taken
            finally:
                for path in files:
                    self._drop(path, taken.applied)

    def purge(self, unwanted: Callable[[Waiting], bool], timeout_s: float) -> int:
        """Take out what is not wanted any more, as if it had never been added; returns how many.

        Damaged lines go, too: nobody can say what they hold. Raises Busy.
        """
        with self._lock.held(timeout_s):
            self._rotate()
            gone = 0
            for path in (*self._taken_files(), self._path):
                entries, torn = self._lines(path)
                left = [entry for entry in entries if not unwanted(entry)]
                if len(left) == len(entries) and not torn:
                    continue
                if path == self._path:  # others have it open and it could not be renamed
                    raise Busy(f"another process holds {str(path)!r}; try again in a moment")
                gone += len(entries) - len(left)
                replace_durably(path, b"".join(_line(entry) + b"\n" for entry in left))
            (self._state / _UNREADABLE).unlink(missing_ok=True)
            return gone

    def _append_or_wait(self, data: bytes) -> bool:
        if os.name != "nt":
            return self._append(data)
        for _ in range(_WINDOWS_TRIES):
            try:
                return self._append(data)
            except PermissionError:  # Windows lets nobody open a file that is being renamed
                time.sleep(_WINDOWS_WAIT_S)
        return self._append(data)

    def _append(self, data: bytes) -> bool:
        """Write and make durable; False when the file lost its name meanwhile."""
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
        try:
            written = os.write(fd, data)
            if written != len(data):
                raise WriteFailed(
                    f"only a part of the memory could be written to {str(self._path)!r}; free some space and "
                    "try again"
                )
            self._make_durable(fd)
            # While it is open its number is its own; once closed, another file could get it.
            return self._path.stat().st_ino == os.fstat(fd).st_ino
        except FileNotFoundError:
            return False
        finally:
            os.close(fd)

    def _make_durable(self, fd: int) -> None:
        try:
            os.fsync(fd)
            os.lseek(fd, 0, os.SEEK_SET)
            head = os.read(fd, _HEAD_BYTES)
            if head != self._durable_head:
                sync_folder(self._state)
                self._durable_head = head
        except OSError as error:
            raise WriteUnknown(
                f"the system failed while the memory was made durable ({error.strerror}); recall it to see"
            ) from error

    def _rotate(self) -> None:
        """Give the file another name. Where a system forbids that while others have it open: next time."""
        with contextlib.suppress(FileNotFoundError, PermissionError):
            if self._path.stat().st_size:
                self._path.rename(self._state / f"{_TAKEN}{self._next_number():09}.jsonl")

    def _next_number(self) -> int:
        files = self._taken_files()
        return 1 + (int(files[-1].stem.removeprefix(_TAKEN)) if files else 0)

    def _taken_files(self) -> list[Path]:
        try:
            names = [name for name in os.listdir(self._state) if name.startswith(_TAKEN)]  # noqa: PTH208  fast
        except FileNotFoundError:
            return []
        numbered = [name for name in names if name[len(_TAKEN) : -len(".jsonl")].isdecimal()]
        return [self._state / name for name in sorted(numbered)]

    def _lines(self, path: Path) -> tuple[list[Waiting], list[bytes]]:
        """The entries of a file, and its lines that are none."""
        # Only the file that everybody appends to is asked for often, and it only grows until it is renamed.
        known = self._known if path == self._path else _Known(b"", 0, [], [])
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
                if head != known.head or len(head) < _HEAD_BYTES:
                    known = _Known(head, 0, [], [])
                file.seek(known.size)
                data = file.read()
        except FileNotFoundError:
            return [], []
        whole = data.rfind(b"\n") + 1
        entries, torn = list(known.entries), list(known.torn)
        for line in data[:whole].split(b"\n"):
            if line.strip():
                entry = _parsed(line)
                torn.append(line) if entry is None else entries.append(entry)
        if path == self._path:
            self._known = known._replace(size=known.size + whole, entries=entries, torn=torn)
        rest = data[whole:]  # a line that is being written, or that a crash cut off
        return entries, [*torn, rest] if rest.strip() else torn

    def _drop(self, path: Path, applied: set[str]) -> None:
        """Take what was applied out of a renamed file, to which nobody appends any more."""
        entries, torn = self._lines(path)
        left = [entry for entry in entries if entry.id not in applied]
        if len(left) == len(entries) and entries:
            return
        if torn:
            _append_durably(self._state / _UNREADABLE, b"".join(line + b"\n" for line in torn))
        if left:
            replace_durably(path, b"".join(_line(entry) + b"\n" for entry in left))
        else:
            path.unlink(missing_ok=True)


def _line(entry: Waiting) -> bytes:
    return json.dumps(entry._asdict(), ensure_ascii=True, separators=(",", ":")).encode("ascii")


def _parsed(line: bytes) -> Waiting | None:
    try:
        found = json.loads(line)
        return Waiting(
            id=str(found["id"]),
            text=str(found["text"]),
            at=float(found["at"]),
            category=str(found.get("category", "fact")),
            importance=float(found.get("importance", DEFAULT_IMPORTANCE)),
            source=str(found.get("source", "agent")),
            tags=tuple(str(tag) for tag in found.get("tags", ())),
            created=str(found.get("created", "")),
            strategy=str(found.get("strategy", "batched")),
        )
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def _append_durably(path: Path, data: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _FLAGS, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)


def replace_durably(path: Path, data: bytes) -> None:
    temp = path.with_suffix(".tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _FLAGS, 0o600)
    try:
        os.write(fd, data)
        os.fsync(fd)
    finally:
        os.close(fd)
    temp.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder can't be opened there; NTFS keeps its names in a journal
        return
    fd = os.open(folder, os.O_RDONLY | _FLAGS)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
