"""Memories that are acknowledged and not yet in their notes: durable before `add` returns, whoever dies then.

One file, `queue.jsonl` in the state folder, to which any number of processes append without a lock: one
`write` on O_APPEND, an fsync, and a look whether the file still has its name. A flush renames it away first.
A line that landed in a file after it lost its name may be missed by the flush, so its writer, who looks after
writing, appends it again; a line whose writer found the name in place was written before the renaming, and
the flush, which reads after it, sees it. So no acknowledged line is lost and one may be seen twice: every
line carries the id that its memory will have, and applying an id twice changes nothing.

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
from hindbrain.base.files import AppendLog, append_record, make_folder, replace_file, sync_folder
from hindbrain.base.plural import plural
from hindbrain.vault.items.item import DEFAULT_IMPORTANCE
from hindbrain.vault.lock import FileLock

_NAME = "queue.jsonl"
_TAKEN = "queue-taken-"  # followed by a number that grows, so that names sort by age
_UNREADABLE = "queue-unreadable.jsonl"
_LINE_START = b'{"id":'
_HEAD_BYTES = 24  # hold the id of the first memory of a file
_WINDOWS_TRIES = 100
_WINDOWS_WAIT_S = 0.005


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
    day_note: str = ""  # the daily note that tells it, as it is linked
    from_owner: bool = False  # the owner said it in a conversation; it may replace what they said before
    cues: tuple[str, ...] = ()  # under which it will be needed
    replaces: str = ""  # the id of the memory that it replaces, as its caller says; "" lets the judge tell
    importance_given: bool = False  # its caller chose it; else what it replaces may raise it


class _Known(NamedTuple):
    """The file as far as it was read."""

    head: bytes  # its first bytes, with an id that no other file has; a number of the system's is used again
    size: int  # up to here, always the end of a line
    entries: list[Waiting]
    torn: list[bytes]


class Taken:
    """What a flush holds. `done` says which of it are in notes; the rest stays."""

    def __init__(self, waiting: list[Waiting]) -> None:
        self.waiting = waiting
        self.applied: set[str] = set()
        self.problem = ""  # after the flush: what was wrong with the queue's files

    def done(self, ids: Iterable[str]) -> None:
        self.applied.update(ids)

    def report(self, problem: str) -> None:
        self.problem = f"{self.problem}; {problem}" if self.problem else problem


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
        data = b"".join(_line(entry) + b"\n" for entry in waiting)
        try:
            make_folder(self._state)
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
        return _each_once([*self._entries(self._taken_files()), *first])

    @property
    def unreadable(self) -> int:
        """Lines that a crash left torn, or that somebody damaged; they are kept for a person to look at."""
        here = sum(len(_damaged(*self._lines(path))) for path in (*self._taken_files(), self._path))
        try:
            return here + (self._state / _UNREADABLE).read_bytes().count(b"\n")
        except OSError:
            return here

    def check_free(self) -> None:
        """Raises Busy when another process is flushing now."""
        with self._lock.held(0):
            pass

    @contextlib.contextmanager
    def flushing(self, timeout_s: float, *, own: str = "") -> Iterator[Taken]:
        """Take everything that waits. One at a time across processes: raises Busy after `timeout_s`.

        `own`: take nothing when this id waits no longer, since another process took it along.
        """
        with self._lock.held(timeout_s):
            if own and all(entry.id != own for entry in self.pending()):
                yield Taken([])
                return
            try:
                self._rotate()
                files = self._taken_files()
                taken = Taken(_each_once(self._entries(files)))
            except OSError as error:
                raise WriteFailed(
                    f"the queue in {str(self._state)!r} can't be read or renamed ({error.strerror}); what "
                    "waits there goes on waiting"
                ) from error
            try:
                yield taken
            finally:
                for path in files:
                    try:
                        if damaged := self._drop(path, taken.applied):
                            told = plural(damaged, "damaged line was", "damaged lines were")
                            taken.report(f"{told} set aside in {str(self._state / _UNREADABLE)!r}")
                    except OSError as error:  # the memories are in their notes; they are applied once more
                        taken.report(f"{path.name} could not be shortened ({error.strerror})")

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
                replace_file(path, b"".join(_line(entry) + b"\n" for entry in left))
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
        with AppendLog(self._path) as log:
            log.append(data)
            self._make_durable(log)
            return log.is_named

    def _make_durable(self, log: AppendLog) -> None:
        try:
            log.sync()
            head = log.head(_HEAD_BYTES)
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

    def _entries(self, files: Iterable[Path]) -> Iterator[Waiting]:
        for path in files:
            yield from self._lines(path)[0]

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

    def _drop(self, path: Path, applied: set[str]) -> int:
        """Take what was applied out of a renamed file, to which nobody appends any more. Raises OSError.

        Returns how many damaged lines were set aside, without those of unfinished writes: these were never
        acknowledged. They are kept and counted by `unreadable`, but nothing is wrong with the queue.
        """
        entries, torn = self._lines(path)
        left = [entry for entry in entries if entry.id not in applied]
        if len(left) == len(entries) and entries:
            return 0
        if damaged := _damaged(entries, torn):
            append_record(self._state / _UNREADABLE, b"".join(line + b"\n" for line in damaged))
        if left:
            replace_file(path, b"".join(_line(entry) + b"\n" for entry in left))
        else:
            path.unlink(missing_ok=True)
        return sum(not _is_unfinished(line) for line in damaged)


def _each_once(entries: Iterable[Waiting]) -> list[Waiting]:
    found: dict[str, Waiting] = {}
    for entry in entries:
        found.setdefault(entry.id, entry)
    return list(found.values())


def _damaged(entries: list[Waiting], torn: list[bytes]) -> list[bytes]:
    """Leave out the beginning of a line that was cut short and then written again as a whole."""
    whole = [_line(entry) for entry in entries] if torn else []
    return [piece for piece in torn if not any(line.startswith(piece) for line in whole)]


def _is_unfinished(line: bytes) -> bool:
    """Whether a line looks like the beginning of one whose write was cut short by a full disk or a crash."""
    begun = line.startswith(_LINE_START) or _LINE_START.startswith(line)
    return begun and not line.rstrip().endswith(b"}")


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
            day_note=str(found.get("day_note", "")),
            from_owner=found.get("from_owner") is True,
            cues=tuple(str(cue) for cue in found.get("cues", ())),
            replaces=str(found.get("replaces", "")),
            importance_given=found.get("importance_given") is True,
        )
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
