"""The only module that writes to a vault.

A change is made under a cross-process lock, against the hash that the caller read, and in this order: the
bytes before and after become durable in the state folder, then the intent, then a temp file beside the note;
names are swapped; what was displaced is looked at (`commit`); the folder is made durable; only then does a
call return.
Knows nothing of Markdown, the index or models, and calls nobody's code while it holds the lock.
"""

import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, NoReturn

from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, NoteUnreadable, NotFound, UnsafePath, WriteFailed, WriteUnknown
from hindbrain.vault import commit, edits, recovery
from hindbrain.vault.atomic import Folder, Seen, SyncFailed
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.lingering import Lingering
from hindbrain.vault.lock import FileLock
from hindbrain.vault.paths import (
    TEMP_PREFIX,
    NotePath,
    check_existing_path,
    check_note_path,
    find_collision,
    resolve_beneath,
)
from hindbrain.vault.revisions import Entry, Revision, Revisions
from hindbrain.vault.state_files import StateFiles
from hindbrain.vault.turns import turn

_ATTEMPTS = 12  # against an editor that writes all the time; with the waits below about 0.3 s
_LONGEST_WAIT_S = 0.05


@dataclass(frozen=True, slots=True)
class Written:
    path: NotePath
    hash: str  # of what the note holds now; "" when it was deleted
    revision_id: str  # "" when the note already held these bytes
    merged: bool  # somebody else's edit elsewhere in the note is in it, too


@dataclass(frozen=True, slots=True)
class Undone:
    path: NotePath
    hash: str  # "" when the note is gone again
    revision_id: str  # of the undo itself, which can be undone; "" when there was nothing to change
    undone_id: str
    merged: bool  # later changes of the note stay; only that one was taken out


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a note lives: its real folder beneath the root, and its name there as it stands on disk."""

    path: NotePath
    parts: tuple[str, ...]
    name: str


@dataclass(frozen=True, slots=True)
class _Change:
    op: str
    decide: edits.Decide
    mode: int | None = None  # for a note that comes back
    name: str | None = None  # the same


class VaultWriter:
    """Safe to use from several threads. `close()` it, or use it in a `with` block."""

    def __init__(self, root: Path, state: Path, clock: Clock, *, lock_timeout_s: float = 10.0) -> None:
        self._root = Path(os.path.realpath(root))
        self._clock = clock
        self._lock_timeout_s = lock_timeout_s
        self._lock = FileLock(state / "write.lock")
        self._turns = state / "turns"
        self._revisions = Revisions(state, clock)
        self._files = StateFiles(self._root, self._revisions)
        self._lingering = Lingering(self._root, clock)
        if state.is_dir():
            with contextlib.suppress(Busy):  # whoever holds the lock has settled it before
                self.recover(timeout_s=0)

    def __enter__(self) -> "VaultWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def create_note(self, path: str, data: bytes) -> Written:
        """Make a new note. One of that name, or that some system takes for it, is never replaced."""
        return self._change(check_note_path(path), _Change("create", edits.creating(path, data)))

    def replace_note(
        self, path: str, data: bytes, *, expected_hash: str, base: bytes | None = None, merge: bool = True
    ) -> Written:
        """Replace the note whose bytes had `expected_hash`.

        When it has changed since, both edits are merged if they lie apart; `base` is what the caller read
        (else what the revisions know). NoteChanged when they do not, or with `merge=False`.
        """
        known = check_existing_path(path)
        if not merge:
            base = None
        elif base is None and expected_hash != ABSENT:
            base = self._revisions.load(expected_hash)
        return self._change(known, _Change("replace", edits.replacing(path, data, expected_hash, base)))

    def append_note(self, path: str, data: bytes, *, expected_hash: str | None = None) -> Written:
        """Add to the end of the note, on a line of its own; make the note when there is none."""
        known = check_existing_path(path)
        return self._change(known, _Change("append", edits.appending(path, data, expected_hash)))

    def delete_note(self, path: str, *, expected_hash: str) -> Written:
        """Remove the note; its bytes stay in the revisions."""
        known = check_existing_path(path)
        return self._change(known, _Change("delete", edits.deleting(path, expected_hash)))

    def undo(self, revision_id: str | None = None, *, force: bool = False) -> Undone:
        """Bring back what a change replaced; the last change when no id is given.

        Byte for byte where nothing came after it. Where something did, that change alone is taken out and
        the later ones stay; NoteChanged when they touched the same lines, unless `force`, which brings the
        old bytes back and keeps the present ones as a revision. The undo is a change and can be undone.
        """
        entry = self._revisions.find(revision_id)
        revision = entry.revision
        data = None if revision.before_hash == ABSENT else self._revisions.load(revision.before_hash)
        if data is None and revision.before_hash != ABSENT:
            raise NotFound(
                f"the bytes before {revision.id!r} are no longer kept, or were purged; nothing was changed"
            )
        decide = edits.restoring(
            revision.path,
            data,
            revision.after_hash,
            lambda: self._revisions.versions_around(entry),
            force=force,
        )
        change = _Change("undo", decide, mode=entry.mode, name=entry.file.rpartition("/")[2])
        written = self._change(check_existing_path(revision.path), change)
        return Undone(written.path, written.hash, written.revision_id, revision.id, written.merged)

    def history(self, path: str | None = None, limit: int = 50) -> list[Revision]:
        """Changes made here, newest first."""
        return self._revisions.history(path, limit)

    def kept(self, digest: str) -> bytes | None:
        """The bytes of that hash as a revision keeps them, or None."""
        return self._revisions.load(digest)

    def put_state_file(self, relative: str, data: bytes) -> None:
        """Write one of our own files in the vault's `.hindbrain` folder, whole or not at all."""
        with self._writing():
            self._files.put(relative, data)

    def extend_state_file(self, relative: str, more: IO[bytes]) -> None:
        """Add lines to one of our own files in the vault, all of them or none; durable when this returns.

        For what is too large to be held in memory. `more` is read from its beginning.
        """
        with self._writing():
            self._files.extend(relative, more)

    def append_state_line(self, relative: str, line: str, *, durable: bool = True) -> None:
        """Add one line to a log in the vault's `.hindbrain` folder; durable when this returns.

        Not `durable`: it survives a kill, and a power cut from the next durable line of that log on.
        """
        with self._writing():
            self._files.append(relative, line, durable=durable)

    def remove_state_file(self, relative: str, *, expected_hash: str) -> bool:
        """Remove one of our own files in the vault, and folders that are empty then, for good.

        For what stands elsewhere by now. False, and nothing happens, when it is gone or holds something else.
        """
        with self._writing():
            return self._files.remove(relative, expected_hash)

    def edit_state_file(self, relative: str, change: Callable[[bytes], bytes]) -> bool:
        """Change one of our own files in the vault; nobody appends meanwhile. True when it had to be."""
        with self._writing():
            *parts, name = (".hindbrain", *relative.split("/"))
            try:
                with Folder.open(self._root, parts) as folder:
                    seen = folder.read(name)
            except FileNotFoundError:
                return False
            if seen is None or (after := change(seen.data)) == seen.data:
                return False
            self._files.put(relative, after)
            return True

    def all_kept(self) -> Iterator[bytes]:
        """All bytes that the revisions keep, in no order; what is damaged is passed over."""
        return self._revisions.all_kept()

    def rewrite_revisions(self, change: Callable[[bytes], bytes | None]) -> int:
        """As if what `change` takes out had never been written; see `Revisions.rewrite`."""
        with self._writing():
            return self._revisions.rewrite(change)

    def turn(self, path: str) -> contextlib.AbstractContextManager[None]:
        """For whoever reads a note, thinks and replaces it; see `turns`."""
        return turn(self._turns, path)

    def recover(self, *, timeout_s: float | None = None) -> bool:
        """Settle what a crash left; True when there was something. Runs by itself before every change."""
        with self._lock.held(self._lock_timeout_s if timeout_s is None else timeout_s):
            found = self._settle()
            with contextlib.suppress(OSError):
                self._revisions.clean()
            return found

    def close(self) -> None:
        """Look a last time at what was displaced; keep what somebody wrote into it.

        Without the lock: a conflict copy is a new file, and a busy lock must not make a finished write look
        failed.
        """
        try:
            self._lingering.look_again(last=True)
        except OSError as error:
            raise WriteUnknown(
                f"what an editor wrote while a note was replaced can't be kept ({_reason(error)})"
            ) from error

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock.held(self._lock_timeout_s):
            self._settle()
            try:
                yield
            except SyncFailed as error:
                raise WriteUnknown(f"could not make it durable ({_reason(error)}); read it again") from error
            except OSError as error:
                raise WriteFailed(f"could not write ({_reason(error)}); nothing was changed") from error

    def _settle(self) -> bool:
        try:
            self._lingering.look_again()
            return recovery.settle(self._root, self._revisions)
        except OSError as error:
            raise WriteFailed(
                f"an earlier write could not be settled ({_reason(error)}); nothing was changed"
            ) from error

    def _change(self, path: NotePath, change: _Change) -> Written:
        with self._lock.held(self._lock_timeout_s):
            self._settle()
            for attempt in range(_ATTEMPTS):
                if attempt:
                    time.sleep(min(_LONGEST_WAIT_S, 0.001 * 2**attempt))
                try:
                    place = self._locate(path, change)
                    return self._attempt(place, change)
                except commit.Interfered as interfered:
                    self._lingering.add(place.parts, place.name, interfered.watch)
                except (
                    OSError
                ) as error:  # of looking and opening: errors of writing are judged where they are
                    raise WriteFailed(
                        f"{path!r} was not written ({_reason(error)}); it is as it was"
                    ) from error
        raise Busy(f"another program keeps writing to {path!r}; try again in a moment")

    def _locate(self, path: NotePath, change: _Change) -> _Place:
        real = resolve_beneath(self._root, path)
        *parts, name = real.relative_to(self._root).parts
        if change.name is not None and not os.path.lexists(real):
            name = change.name
        return _Place(path, tuple(parts), name)

    def _attempt(self, place: _Place, change: _Change) -> Written:
        """Read, decide, write once. Raises Interfered when somebody else wrote meanwhile."""
        seen = self._read(place)
        edit = change.decide(None if seen is None else seen.data)
        after_hash = ABSENT if edit.after is None else content_hash(edit.after)
        if after_hash == (ABSENT if seen is None else seen.hash):
            return Written(place.path, after_hash, "", edit.merged)
        if seen is None:
            self._check_new(place, change)
        entry = self._entry(place, change, seen, after_hash)
        with Folder.open(self._root, place.parts, create=seen is None) as folder:
            self._write(folder, place, entry, seen, edit.after)
        return Written(place.path, after_hash, entry.revision.id, edit.merged)

    def _read(self, place: _Place) -> Seen | None:
        try:
            with Folder.open(self._root, place.parts) as folder:
                return folder.read(place.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise NoteUnreadable(
                f"{place.path!r} can't be read ({_reason(error)}); it is left alone"
            ) from error

    def _check_new(self, place: _Place, change: _Change) -> None:
        if change.op != "undo":  # what comes back had its name before our rules
            check_note_path(place.path)
        other = find_collision(self._root, place.path)
        if other is not None:
            raise UnsafePath(
                f"{place.path!r} and the existing {other!r} are one file on some systems; use another name"
            )

    def _entry(self, place: _Place, change: _Change, seen: Seen | None, after_hash: str) -> Entry:
        revision = Revision(
            id=self._revisions.new_id(),
            path=place.path,
            when=self._clock.now(),
            op=change.op,
            before_hash=ABSENT if seen is None else seen.hash,
            after_hash=after_hash,
            size=0 if seen is None else len(seen.data),
        )
        mode = change.mode if seen is None else stat.S_IMODE(seen.stamp.mode)
        file = "/".join((*place.parts, place.name))
        return Entry(revision, file, TEMP_PREFIX + os.urandom(8).hex(), mode)

    def _write(
        self, folder: Folder, place: _Place, entry: Entry, seen: Seen | None, after: bytes | None
    ) -> None:
        ours = self._prepare(folder, place, entry, seen, after)
        name, temp, now = place.name, entry.temp, self._clock.now()
        watch = None
        try:
            if ours is None and seen is not None:
                watch = commit.take_away(folder, name, temp, seen, now)
            elif ours is not None and seen is not None:
                watch = commit.put_over(folder, name, temp, ours, seen, now)
            else:
                commit.put_new(folder, name, temp)
        except commit.Interfered:
            self._revisions.finish(entry, "aborted")
            raise
        except OSError as error:
            self._judge(folder, place, entry, ours, seen, error)
        self._revisions.finish(entry, "done")
        self._lingering.add(place.parts, place.name, watch)
        self._revisions.prune_when_due()

    def _prepare(
        self, folder: Folder, place: _Place, entry: Entry, seen: Seen | None, after: bytes | None
    ) -> Seen | None:
        """Make durable all that is needed, without touching the note. Returns the temp file with `after`."""
        try:
            self._revisions.begin(
                entry, *([] if seen is None else [seen.data]), *([] if after is None else [after])
            )
            if after is None:
                return None
            like = None if seen is None else place.name
            stamp = folder.write_temp(entry.temp, after, like=like, mode=entry.mode)
            return Seen(after, entry.revision.after_hash, stamp)
        except FileNotFoundError:  # the note went away while its attributes were copied
            self._revisions.finish(entry, "aborted")
            raise commit.Interfered from None
        except OSError as error:
            self._revisions.finish(entry, "aborted")
            raise WriteFailed(
                f"{place.path!r} was not written ({_reason(error)}); it is as it was"
            ) from error

    def _judge(
        self,
        folder: Folder,
        place: _Place,
        entry: Entry,
        ours: Seen | None,
        seen: Seen | None,
        error: OSError,
    ) -> NoReturn:
        """A call failed in the decisive part: say "failed" only when the note is known to be untouched."""
        try:
            if ours is not None:
                untouched = ours.stamp.same_file(folder.stamp(entry.temp))
            else:
                untouched = seen is not None and seen.stamp == folder.stamp(place.name)
            if untouched:
                folder.unlink(entry.temp)
        except OSError:
            untouched = False
        if untouched:
            self._revisions.finish(entry, "aborted")
            raise WriteFailed(
                f"{place.path!r} was not written ({_reason(error)}); it is as it was"
            ) from error
        # Left unfinished in the log: the next change, or the next start, settles it.
        raise WriteUnknown(
            f"the system failed while {place.path!r} was made durable ({_reason(error)}); read it again"
        ) from error


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
