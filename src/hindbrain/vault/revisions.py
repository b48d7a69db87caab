"""What was replaced, kept: a log of changes and the bytes before and after each, in the state folder.

The bytes are blobs named by their hash; the log is one JSON line per event. A change has two lines: `begin`,
durable before the note is touched, and `done` or `aborted`. All changes happen under one lock, so that only
the last one can be unfinished. Knows nothing of the vault; callers hold the lock wherever they write.
"""

import contextlib
import json
import os
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hindbrain.base.clock import Clock
from hindbrain.base.errors import NotFound, VaultError
from hindbrain.vault.atomic import Folder, append_line
from hindbrain.vault.hashing import ABSENT, content_hash

_LOG = "log.jsonl"
_TAIL_BYTES = 65_536  # holds many lines: a line is at most some 8 kB
_TEMP = "tmp-"
_DAY_S = 86_400
_DIGEST = re.compile(r"[0-9a-f]{64}")

End = Literal["done", "aborted"]


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of one note. Undoing it brings `before_hash` back."""

    id: str
    path: str
    when: float  # seconds since the epoch
    op: str  # create, replace, append, delete, undo
    before_hash: str  # "" when there was no such note
    after_hash: str  # "" when the note was deleted
    size: int  # bytes that undo brings back


@dataclass(frozen=True, slots=True)
class Entry:
    """A change as the log knows it: the revision and what recovery needs."""

    revision: Revision
    file: str  # the real file beneath the vault's root, as named on disk
    temp: str  # the temp file's name, in the same folder
    mode: int | None  # permission bits of what was there before


class Revisions:
    def __init__(self, state: Path, clock: Clock) -> None:
        self._state = state
        self._clock = clock

    @property
    def _log_path(self) -> Path:
        return self._state / "revisions" / _LOG

    def new_id(self) -> str:
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(self._clock.now()))
        return f"{stamp}-{os.urandom(4).hex()}"

    def now(self) -> float:
        return self._clock.now()

    def begin(self, entry: Entry, *blobs: bytes) -> None:
        """Make the bytes and the intent durable. Raises OSError; then nothing has begun."""
        self._state.mkdir(parents=True, exist_ok=True)
        if blobs:
            with Folder.open(self._state, ["revisions", "blobs"], create=True) as folder:
                for blob in blobs:
                    _keep(folder, blob)
                folder.sync()  # always: a blob that was there may not have been durable yet
        revision = entry.revision
        event = {
            "id": revision.id,
            "state": "begin",
            "op": revision.op,
            "path": revision.path,
            "at": round(revision.when, 3),
            "before": revision.before_hash,
            "after": revision.after_hash,
            "size": revision.size,
            "file": entry.file,
            "temp": entry.temp,
            "mode": entry.mode,
        }
        self._append(event, durable=True)

    def finish(self, entry: Entry, end: End) -> None:
        """Record how it ended. Neither made durable nor sure: recovery finds out the same from the note."""
        with contextlib.suppress(OSError):
            self._append({"id": entry.revision.id, "state": end}, durable=False)

    def load(self, digest: str) -> bytes | None:
        """The bytes of that hash, or None when they are not (or no longer) kept."""
        if not _DIGEST.fullmatch(digest):  # it may come from a tool's caller, and becomes a file name here
            return None
        path = self._state / "revisions" / "blobs" / digest
        try:
            data = zlib.decompress(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, zlib.error) as error:
            raise VaultError(f"the kept bytes {digest!r} can't be read; the note is left as it is") from error
        if content_hash(data) != digest:
            raise VaultError(f"the kept bytes {digest!r} are damaged; the note is left as it is")
        return data

    def pending(self) -> Entry | None:
        """The change that was begun last and not ended, or None."""
        try:
            with self._log_path.open("rb") as log:
                size = log.seek(0, os.SEEK_END)
                log.seek(max(0, size - _TAIL_BYTES))
                lines = log.read().split(b"\n")
        except FileNotFoundError:
            return None
        for line in reversed(lines):
            event = _parse(line)
            if event is not None:
                return _entry(event) if event["state"] == "begin" else None
        return None

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """All changes, oldest first, with how each ended ("" while it has not)."""
        begun: dict[str, Entry] = {}
        ends: dict[str, str] = {}
        for event in self._events():
            if event["state"] == "begin":
                begun[event["id"]] = _entry(event)
            else:
                ends[event["id"]] = event["state"]
        for key, entry in begun.items():
            yield entry, ends.get(key, "")

    def history(self, path: str | None, limit: int) -> list[Revision]:
        """Changes of notes that happened, newest first."""
        found = [
            entry.revision
            for entry, end in self.entries()
            if end == "done" and entry.revision.op != "state" and path in (None, entry.revision.path)
        ]
        return found[::-1][:limit]

    def find(self, revision_id: str | None) -> Entry:
        """The change with that id, or the last one."""
        found = None
        for entry, end in self.entries():
            if end == "done" and entry.revision.op != "state" and revision_id in (None, entry.revision.id):
                found = entry
        if found is None:
            what = "there is nothing to undo" if revision_id is None else f"no revision {revision_id!r}"
            raise NotFound(f"{what}; `history` lists what is kept")
        return found

    def prune(self, older_than_days: float) -> int:
        """Forget what is older, and the bytes that nothing newer refers to. Returns the changes forgotten."""
        if not self._log_path.exists():
            return 0
        cutoff = self._clock.now() - older_than_days * _DAY_S
        events = list(self._events())
        old = {event["id"] for event in events if event["state"] == "begin" and event["at"] < cutoff}
        kept = [event for event in events if event["id"] not in old]
        wanted = {event.get(side) for event in kept for side in ("before", "after")}
        with Folder.open(self._state, ["revisions"]) as folder:
            folder.unlink(_TEMP + _LOG)
            folder.write_temp(_TEMP + _LOG, b"".join(_line(event) + b"\n" for event in kept))
            folder.replace(_TEMP + _LOG, _LOG)
            folder.sync()
        with Folder.open(self._state, ["revisions", "blobs"], create=True) as folder:
            for name in folder.names():
                if name not in wanted:  # also what a crash left between blob and log
                    folder.unlink(name)
        return len(old)

    def clean(self) -> None:
        """Remove half-written blobs. Under the lock nobody is writing one."""
        blobs = self._state / "revisions" / "blobs"
        if blobs.is_dir():
            with Folder.open(self._state, ["revisions", "blobs"]) as folder:
                for name in folder.names():
                    if name.startswith(_TEMP):
                        folder.unlink(name)

    def _append(self, event: dict[str, Any], *, durable: bool) -> None:
        with Folder.open(self._state, ["revisions"], create=True) as folder:
            append_line(folder, _LOG, _line(event), durable=durable)

    def _events(self) -> Iterator[dict[str, Any]]:
        try:
            lines = self._log_path.read_bytes().split(b"\n")
        except FileNotFoundError:
            return
        except OSError as error:
            raise VaultError(f"the log of revisions can't be read ({error.strerror}); try again") from error
        for line in lines:
            event = _parse(line)
            if event is not None:
                yield event


def _keep(folder: Folder, data: bytes) -> None:
    digest = content_hash(data)
    if folder.stamp(digest) is not None:
        return
    temp = _TEMP + os.urandom(8).hex()
    folder.write_temp(temp, zlib.compress(data), mode=0o600)
    try:
        folder.replace(temp, digest)
    except OSError:
        folder.unlink(temp)
        raise


def _line(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":")).encode("ascii")


def _parse(line: bytes) -> dict[str, Any] | None:
    """The event of a line, or None for an empty or torn one."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "id" in event and "state" in event else None


def _entry(event: dict[str, Any]) -> Entry:
    before, after = event.get("before", ABSENT), event.get("after", ABSENT)
    revision = Revision(
        event["id"], event["path"], event["at"], event["op"], before, after, event.get("size", 0)
    )
    return Entry(revision, event["file"], event["temp"], event.get("mode"))
