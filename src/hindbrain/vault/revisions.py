"""What was replaced, kept: a log of changes and the bytes before and after each, in the state folder.

The bytes are blobs named by their hash; the log is one JSON line per event. A change has two lines: `begin`,
durable before the note is touched, and `done` or `aborted`. All changes happen under one lock, so that only
the last one can be unfinished. Changes that belong together have the same action. A line `undid` or `redid`
says that an action was taken back, or brought back. A line `logged` is a line that an action added to one of
our logs in the vault, and that goes and comes with it.
Knows nothing of the vault; callers hold the lock wherever they write.
"""

import contextlib
import json
import os
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import NotFound, VaultError
from hindbrain.base.files import PRIVATE, make_folder, replace_file
from hindbrain.base.passed_time import passed_time
from hindbrain.vault.atomic import PRIVATE_FOLDER, Folder, append_line
from hindbrain.vault.hashing import ABSENT, content_hash

_LOG = "log.jsonl"
_TAIL_BYTES = 65_536  # holds many lines: a line is at most some 8 kB
_TEMP = "tmp-"
_DAY_S = 86_400
KEPT_DAYS = 30
_PRUNED = "pruned"  # a file that says when old revisions were last forgotten
_MOST_VERSIONS = 200  # before and after a change that an undo looks at
_PURGED = "purged"  # in the place of a hash: these bytes were dropped on purpose
_MARKS = ("undid", "redid")
_LOGGED = "logged"
_UNASKED = ("hook", "background")  # an undo without an id leaves these alone
_DIGEST = re.compile(r"[0-9a-f]{64}")

End = Literal["done", "aborted"]


@dataclass(frozen=True, slots=True)
class Revision:
    """One change of one note. Undoing it brings `before_hash` back."""

    id: str
    path: str
    when: float  # seconds since the epoch
    op: str  # create, replace, append, delete, undo, redo
    before_hash: str  # "" when there was no such note
    after_hash: str  # "" when the note was deleted
    size: int  # bytes that undo brings back
    action: str  # what it is a part of; its own id when it stands alone
    by: str = ""  # the command or tool that made it; "" when that is not known
    via: str = ""  # who asked for it, see `actions.action`; "" when that is not known

    @property
    def is_background(self) -> bool:
        return self.via in _UNASKED


@dataclass(frozen=True, slots=True)
class Entry:
    """A change as the log knows it: the revision and what recovery needs."""

    revision: Revision
    file: str  # the real file beneath the vault's root, as named on disk
    temp: str  # the temp file's name, in the same folder
    mode: int | None  # permission bits of what was there before
    folders: int = 0  # that were made for the note: so many of its parents, from below


@dataclass(frozen=True, slots=True)
class Action:
    """Changes that belong together, oldest first."""

    id: str
    entries: tuple[Entry, ...]
    undone: bool = False

    @property
    def by(self) -> str:
        """The command, tool or work; never empty: else what was done to the first note."""
        first = self.entries[0].revision
        return first.by or first.op

    @property
    def via(self) -> str:
        return self.entries[0].revision.via

    @property
    def is_background(self) -> bool:
        return self.entries[0].revision.is_background

    @property
    def when(self) -> float:
        return self.entries[-1].revision.when


class OwnChange(NamedTuple):
    """A line that was added to one of our logs in the vault; or one of our files, replaced as a whole."""

    file: str
    line: str  # or the whole text that was put there
    whole: bool = False
    before: str | None = None  # the whole text that was there; None: no file


@dataclass(frozen=True, slots=True)
class Actions:
    """All actions that are kept, and what undo and redo are about."""

    done: tuple[Action, ...]  # oldest first; without those that undid or redid another
    by_id: Mapping[str, Action]  # those included
    undone_by: Mapping[str, str]  # id of an action that is taken back -> of the undo; the last one is last
    undoes: Mapping[str, str]  # id of an undo -> of what it took back
    logged: Mapping[str, Sequence[OwnChange]]  # id of an action -> what it changed in our own files
    order: Sequence[str]  # ids of actions as they were done or redone, the last one last
    is_stale: bool  # somebody did something after the last undo

    def to_undo(self, before: str = "") -> list[Action]:
        """The actions that are not undone, the last done or redone first; those before `before`."""
        ids = list(reversed(self.order))
        ids = ids[ids.index(before) + 1 :] if before in ids else ids
        done = {one.id: one for one in self.done if not one.undone}
        return [done[id_] for id_ in ids if id_ in done]

    @property
    def last_undone(self) -> str:
        """The id of what was undone last; "" for nothing."""
        return next(reversed(list(self.undone_by)), "")


class Revisions:
    def __init__(self, state: Path, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self._prune_after = 0.0  # not looked at before that time

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
        make_folder(self._state)
        if blobs:
            with Folder.open(self._state, ["revisions", "blobs"], create=True, mode=PRIVATE_FOLDER) as folder:
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
            **({"action": revision.action} if revision.action != revision.id else {}),
            **({"by": revision.by} if revision.by else {}),
            **({"via": revision.via} if revision.via else {}),
            **({"folders": entry.folders} if entry.folders else {}),
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
            elif event["state"] not in (*_MARKS, _LOGGED):
                ends[event["id"]] = event["state"]
        for key, entry in begun.items():
            yield entry, ends.get(key, "")

    def history(self, path: str | None, limit: int | None) -> list[Revision]:
        """Changes of notes that happened, newest first."""
        found = [
            entry.revision
            for entry, end in self.entries()
            if end == "done" and entry.revision.op != "state" and path in (None, entry.revision.path)
        ]
        return found[::-1][:limit]

    def mark(self, state: Literal["undid", "redid"], by: str, of: str) -> None:
        """Record that the action `by` has taken `of` back, or brought it back. Durable when this returns."""
        make_folder(self._state)
        self._append({"id": by, "state": state, "of": of, "at": round(self._clock.now(), 3)}, durable=True)

    def note_own(self, action: str, own: OwnChange) -> None:
        """Record what an action has changed in one of our own files. Without it, an undo leaves it there."""
        at = round(self._clock.now(), 3)
        event: dict[str, Any] = {"id": action, "state": _LOGGED, "log": own.file, "line": own.line, "at": at}
        if own.whole:
            event |= {"whole": True, "before": own.before}
        with contextlib.suppress(OSError):
            self._append(event, durable=False)

    def actions(self) -> Actions:
        grouped: dict[str, list[Entry]] = {}
        for entry, end in self.entries():
            if end == "done" and entry.revision.op != "state":
                grouped.setdefault(entry.revision.action, []).append(entry)
        undone_by: dict[str, str] = {}
        undoes: dict[str, str] = {}
        takers: set[str] = set()  # actions that only undid or redid another one
        logged: dict[str, list[OwnChange]] = {}
        order: dict[str, None] = {}
        is_stale = False
        for event in self._events():
            if event["state"] == "begin":
                of = event.get("action") or event["id"]
                order.pop(of, None)
                order[of] = None
                is_stale |= event["op"] not in ("undo", "redo", "state") and event.get("via") not in _UNASKED
            if event["state"] == _LOGGED:
                own = OwnChange(event["log"], event["line"], bool(event.get("whole")), event.get("before"))
                logged.setdefault(event["id"], []).append(own)
            if event["state"] in _MARKS:
                takers.add(event["id"])
                undone_by.pop(event["of"], None)
                if event["state"] == "redid":
                    order.pop(event["of"], None)
                    order[event["of"]] = None
                is_stale = False
                if event["state"] == "undid":
                    undone_by[event["of"]] = event["id"]
                    undoes[event["id"]] = event["of"]
        by_id = {key: Action(key, tuple(found), key in undone_by) for key, found in grouped.items()}
        done = [
            one
            for one in by_id.values()
            if one.id not in takers and any(each.revision.op not in ("undo", "redo") for each in one.entries)
        ]
        return Actions(tuple(done), by_id, undone_by, undoes, logged, tuple(order), is_stale)

    def find(self, revision_id: str | None) -> Entry:
        """The change with that id, or the last one."""
        found = None
        for entry, end in self.entries():
            if end == "done" and entry.revision.op != "state" and revision_id in (None, entry.revision.id):
                found = entry
        if found is None:
            what = (
                "there is nothing to undo" if revision_id is None else f"no action or change {revision_id!r}"
            )
            raise NotFound(f"{what}; hindbrain undo --list shows what can be undone")
        return found

    def versions_around(self, entries: Sequence[Entry]) -> tuple[list[bytes], list[int]]:
        """What the note held before and after each change that is kept; and where each of `entries`, which
        are changes of one note, begins in it.

        ([], []) when the bytes around one of them are no longer kept.
        """
        wanted = {entry.revision.id for entry in entries}
        same = [
            other.revision
            for other, end in self.entries()
            if end == "done" and other.revision.path == entries[0].revision.path
        ]
        at = [number for number, revision in enumerate(same) if revision.id in wanted]
        digests: list[str] = []
        begins: list[int] = []
        for revision in same[max(0, at[0] - _MOST_VERSIONS) : at[-1] + _MOST_VERSIONS]:
            if not digests or digests[-1] != revision.before_hash:
                digests.append(revision.before_hash)
            if revision.id in wanted:
                begins.append(len(digests) - 1)
            digests.append(revision.after_hash)
        datas = [b"" if digest == ABSENT else self.load(digest) for digest in digests]
        if any(datas[begin] is None or datas[begin + 1] is None for begin in begins):
            return [], []
        begins = [begin - sum(data is None for data in datas[:begin]) for begin in begins]
        return [data for data in datas if data is not None], begins

    def prune_when_due(self) -> None:
        """Forget what is older than KEPT_DAYS, once a day at most. No failure of it fails a write."""
        now = self._clock.now()
        if now < self._prune_after:
            return
        self._prune_after = now + _DAY_S
        with contextlib.suppress(OSError, VaultError):
            stamp = self._state / "revisions" / _PRUNED
            last = _number_in(stamp)
            if last and abs(now - last) < _DAY_S:
                return
            passed = passed_time(self._state, self._clock)
            if last:
                self.prune(KEPT_DAYS, now=passed)
            replace_file(stamp, f"{now:.0f}".encode("ascii"), durable=False)

    def prune(self, older_than_days: float, *, now: float) -> int:
        """Forget what is older, and the bytes that nothing newer refers to. Returns the changes forgotten."""
        if not self._log_path.exists():
            return 0
        cutoff = now - older_than_days * _DAY_S
        events = list(self._events())
        ages = _ages(events)
        old = {
            event["id"]
            for event, at in zip(events, ages, strict=True)
            if at < cutoff and event["state"] == "begin"
        }
        kept = [
            event
            for event, at in zip(events, ages, strict=True)
            if event["id"] not in old and not (event["state"] in (*_MARKS, _LOGGED) and at < cutoff)
        ]
        wanted = {event.get(side) for event in kept for side in ("before", "after")}
        self._replace_log(kept)
        with Folder.open(self._state, ["revisions", "blobs"], create=True, mode=PRIVATE_FOLDER) as folder:
            for name in folder.names():
                if name not in wanted:  # also what a crash left between blob and log
                    folder.unlink(name)
        return len(old)

    def rewrite(self, change: Callable[[bytes], bytes | None]) -> int:
        """Change all that is kept, as if it had always been so; None drops it. Returns how many were changed.

        `change` does nothing to what it has changed before: after a crash this is simply done again. Changes
        that become none vanish from the log; undoing one whose bytes were dropped says so.
        """
        if not self._log_path.exists():
            return 0
        moved: dict[str, tuple[str, int]] = {}  # hash -> the new hash, and the new size
        with Folder.open(self._state, ["revisions", "blobs"], create=True, mode=PRIVATE_FOLDER) as folder:
            for name in filter(_DIGEST.fullmatch, folder.names()):
                new = self._changed(name, change)
                if new is None:
                    moved[name] = (_PURGED, 0)
                elif content_hash(new) != name:
                    _keep(folder, new)
                    moved[name] = (content_hash(new), len(new))
            folder.sync()
        events = [event for event in self._events() if not _is_changed_line(event, change)]
        self._replace_log(_moved(events, moved))
        with Folder.open(self._state, ["revisions", "blobs"]) as folder:
            for name in moved:
                folder.unlink(name)
            folder.sync()
        return len(moved)

    def _changed(self, digest: str, change: Callable[[bytes], bytes | None]) -> bytes | None:
        try:
            data = self.load(digest)
        except VaultError:
            return None  # damaged: nobody can say what it holds
        return None if data is None else change(data)

    def _replace_log(self, events: list[dict[str, Any]]) -> None:
        with Folder.open(self._state, ["revisions"]) as folder:
            folder.unlink(_TEMP + _LOG)
            try:
                data = b"".join(_line(event) + b"\n" for event in events)
                folder.write_temp(_TEMP + _LOG, data, mode=PRIVATE)
                folder.replace(_TEMP + _LOG, _LOG)
            except OSError:
                folder.unlink(_TEMP + _LOG)
                raise
            folder.sync()

    def all_kept(self) -> Iterator[bytes]:
        """All bytes that can be read, also such as the log no longer names."""
        try:
            names = os.listdir(self._state / "revisions" / "blobs")  # noqa: PTH208 - names are all we need
        except FileNotFoundError:
            return
        for name in filter(_DIGEST.fullmatch, names):
            with contextlib.suppress(VaultError):
                data = self.load(name)
                if data is not None:
                    yield data

    def clean(self) -> None:
        """Remove what a crash left half written. Under the lock nobody is writing it."""
        for parts in (["revisions"], ["revisions", "blobs"]):
            if self._state.joinpath(*parts).is_dir():
                with Folder.open(self._state, parts) as folder:
                    for name in folder.names():
                        if name.startswith(_TEMP):
                            folder.unlink(name)

    def _append(self, event: dict[str, Any], *, durable: bool) -> None:
        with Folder.open(self._state, ["revisions"], create=True, mode=PRIVATE_FOLDER) as folder:
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


def _ages(events: Sequence[Mapping[str, Any]]) -> list[float]:
    """When each event happened. None is older than one before it, whatever the clock said."""
    return list(accumulate((float(event.get("at", 0.0)) for event in events), max))


def _is_changed_line(event: dict[str, Any], change: Callable[[bytes], bytes | None]) -> bool:
    """Return whether this is a log line that `change` would not leave as it is."""
    line = event["line"].encode() if event["state"] == _LOGGED else b""
    return bool(line) and change(line) != line


def _moved(events: list[dict[str, Any]], moved: Mapping[str, tuple[str, int]]) -> list[dict[str, Any]]:
    """The events with the hashes of what they refer to now, without changes that change nothing any more."""
    found: list[dict[str, Any]] = []
    void: set[str] = set()
    for event in events:
        sides = {side: moved[event[side]][0] for side in ("before", "after") if event.get(side) in moved}
        if sides:
            size = moved[event["before"]][1] if "before" in sides else event.get("size", 0)
            event = {**event, **sides, "size": size}
            if event["before"] == event["after"] != _PURGED:
                void.add(event["id"])
        found.append(event)
    return [event for event in found if event["id"] not in void]


def _number_in(file: Path) -> float:
    """0.0 when there is none."""
    try:
        return float(file.read_text("ascii"))
    except (FileNotFoundError, ValueError):
        return 0.0


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
        event["id"],
        event["path"],
        event["at"],
        event["op"],
        before,
        after,
        event.get("size", 0),
        event.get("action") or event["id"],
        event.get("by", ""),
        event.get("via", ""),
    )
    return Entry(revision, event["file"], event["temp"], event.get("mode"), event.get("folders", 0))
