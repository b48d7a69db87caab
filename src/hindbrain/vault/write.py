"""The only module that writes to a vault.

A change is made under a cross-process lock, against the hash that the caller read, and in this order: the
bytes before and after become durable in the state folder, then the intent, then a temp file beside the note;
names are swapped; what was displaced is looked at (`commit`); the folder is made durable; only then does a
call return.
Knows nothing of Markdown, the index or models. While it holds the lock, it calls no code of others but pure
functions of a note's bytes.
"""

import contextlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, takewhile
from pathlib import Path
from types import TracebackType
from typing import IO, Literal, NoReturn, TypeAlias

from hindbrain.base.clock import Clock
from hindbrain.base.errors import (
    Busy,
    HindbrainError,
    NoteChanged,
    NoteUnreadable,
    NotFound,
    UnsafePath,
    VaultAway,
    WriteFailed,
    WriteUnknown,
)
from hindbrain.vault import commit, edits, recovery
from hindbrain.vault.actions import CurrentAction, action, current_action
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
from hindbrain.vault.revisions import Action, Actions, Entry, OwnChange, Revision, Revisions
from hindbrain.vault.state_files import StateFiles
from hindbrain.vault.turns import turn

Adjust: TypeAlias = Callable[[str, bytes, bytes], bytes]

_ATTEMPTS = 12  # against an editor that writes all the time; with the waits below about 0.3 s
_LONGEST_WAIT_S = 0.05
_NEVER = "-"  # the hash of nothing: later changes lie between those that are undone


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
class NotTakenBack:
    """A note of an action that stays as it is."""

    path: str
    revision_id: str  # its last change
    code: str  # of the error
    message: str


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What an undo or a redo did."""

    op: Literal["undo", "redo"]
    action: str  # what was undone or redone: an action, or a single change
    by: str  # the command or tool that had done it
    notes: tuple[Undone, ...]
    failed: tuple[NotTakenBack, ...] = ()
    skipped: tuple[Action, ...] = ()  # later background work, which an undo without an id leaves alone


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

    def __init__(
        self, root: Path, state: Path, clock: Clock,
        *, lock_timeout_s: float = 10.0, check: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        """`check` raises VaultAway when another folder, or none, is where the vault was."""
        self._root = Path(os.path.realpath(root))
        self._clock = clock
        self._lock_timeout_s = lock_timeout_s
        self._check = check
        self._lock = FileLock(state / "write.lock")
        self._mine = threading.local()  # `.held`: this thread holds the lock
        self._turns = state / "turns"
        self._revisions = Revisions(state, clock)
        self._files = StateFiles(self._root, self._revisions)
        self._lingering = Lingering(self._root, clock)
        if state.is_dir():
            with contextlib.suppress(Busy, VaultAway):  # whoever holds the lock has settled it before
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

    def edit_note(self, path: str, change: edits.BytesChange) -> Written:
        """Change the note to what `change` makes of it, which is pure and quick: it runs under the lock.

        It sees what is there then (None: no note) and returns what shall be there, or None to leave it. No
        other writer comes in between, so it is never too late.
        """
        return self._change(check_existing_path(path), _Change("replace", edits.changing(change)))

    def delete_note(self, path: str, *, expected_hash: str) -> Written:
        """Remove the note; its bytes stay in the revisions."""
        known = check_existing_path(path)
        return self._change(known, _Change("delete", edits.deleting(path, expected_hash)))

    def undo(self, revision_id: str | None = None, *, force: bool = False) -> Undone:
        """Bring back what one change replaced; the last change when no id is given.

        Byte for byte where nothing came after it. Where something did, that change alone is taken out and
        the later ones stay; NoteChanged when they touched the same lines, unless `force`, which brings the
        old bytes back and keeps the present ones as a revision. The undo is a change and can be undone.
        """
        return self._take_back([self._revisions.find(revision_id)], "undo", force=force)

    def undo_action(
        self,
        wanted: str = "",
        *,
        force: bool = False,
        locate: Callable[[Revision], str] | None = None,
        adjust: Adjust | None = None,
    ) -> TakenBack:
        """Take back the last action that is not taken back yet, or the action or single change `wanted`.

        The last action that somebody asked for: background work is taken back by its id only.

        Each note by itself, as `undo` does it: a note that can't be taken back is in `failed`, and keeps no
        other one from it; when there is no other one, its error is raised. Taking back an undo is a redo.
        `locate`: where the note of a change is now, since its owner may have moved it. `adjust` changes what
        comes back, given the path, the present bytes and the old ones; it is pure, and runs under the lock.
        """
        actions = self._revisions.actions()
        if wanted in actions.undoes:
            return self.redo_action(actions.undoes[wanted], force=force, locate=locate)
        skipped: list[Action] = []
        if wanted:
            chosen = actions.by_id.get(wanted) or self._action_of_one(actions, self._revisions.find(wanted))
        else:
            to_undo = actions.to_undo()
            skipped = list(takewhile(lambda one: one.is_background, to_undo))
            if len(skipped) == len(to_undo):
                work = "; background work is undone by its id" if skipped else ""
                raise NotFound(f"there is nothing to undo{work}; hindbrain undo --list shows what was done")
            chosen = to_undo[len(skipped)]
        if chosen.id in actions.undone_by:
            raise NotFound(f"{chosen.id!r} is undone already; hindbrain redo {chosen.id} brings it back")
        left = tuple(entry for entry in chosen.entries if entry.revision.id not in actions.undone_by)
        return self._take_action_back(
            Action(chosen.id, left),
            "undo",
            chosen.id,
            force=force,
            locate=locate,
            adjust=adjust,
            lines=actions.logged.get(chosen.id, ()),
            skipped=skipped,
            before=next((one for one in actions.to_undo(chosen.id) if not one.is_background), None),
        )

    def redo_action(
        self, wanted: str = "", *, force: bool = False, locate: Callable[[Revision], str] | None = None
    ) -> TakenBack:
        """Bring back the action that was taken back last, or the one that is `wanted`; as `undo_action`."""
        actions = self._revisions.actions()
        of = actions.undoes.get(wanted, wanted) or actions.last_undone
        if not of:
            raise NotFound("there is nothing to redo: nothing was undone")
        if not wanted and actions.is_stale:
            raise NotFound(
                "there is nothing to redo: other things were done after the last undo; hindbrain redo "
                f"{of} brings back what it took"
            )
        if of not in actions.undone_by:
            known = of in actions.by_id
            what = f"{of!r} is not undone" if known else f"no action {of!r}"
            raise NotFound(f"{what}; hindbrain undo --list shows what is")
        undo = actions.by_id.get(actions.undone_by[of], Action(actions.undone_by[of], ()))
        name = actions.by_id[of].by if of in actions.by_id else ""
        lines = actions.logged.get(of, ())
        return self._take_action_back(undo, "redo", of, force=force, locate=locate, by=name, lines=lines)

    def actions(self) -> list[Action]:
        """What was done here, newest first; without undos and redos themselves."""
        return list(reversed(self._revisions.actions().done))

    def _action_of_one(self, actions: Actions, entry: Entry) -> Action:
        """A single change, as an action. One that was all of its action stands for it."""
        whole = actions.by_id[entry.revision.action]
        return whole if len(whole.entries) == 1 else Action(entry.revision.id, (entry,))

    def _take_action_back(
        self,
        chosen: Action,
        op: Literal["undo", "redo"],
        of: str,
        *,
        force: bool,
        locate: Callable[[Revision], str] | None,
        by: str = "",
        adjust: Adjust | None = None,
        lines: Sequence[OwnChange] = (),
        skipped: Sequence[Action] = (),
        before: Action | None = None,
    ) -> TakenBack:
        by = by or chosen.by
        notes: dict[str, list[Entry]] = {}
        for entry in reversed(chosen.entries):  # the last note first
            notes.setdefault(entry.revision.path, []).insert(0, entry)
        taken: list[Undone] = []
        failed: list[NotTakenBack] = []
        error: HindbrainError | None = None
        with action(op, new=True):
            for path, entries in notes.items():
                try:
                    place = locate(entries[-1].revision) if locate else path
                    taken.append(self._take_back(entries, op, force=force, place=place, adjust=adjust))
                except (NoteChanged, NotFound, NoteUnreadable, UnsafePath) as failure:
                    error = failure
                    message = self._why_not(failure, path)
                    failed.append(NotTakenBack(path, entries[-1].revision.id, failure.code, message))
            if error is not None and not taken:
                raise _not_taken_back(error, failed[-1].message, op, f"{by} ({of})", of, before)
            current = self._action()
            with self._writing():
                self._revisions.mark("undid" if op == "undo" else "redid", current.id, of)
            if not failed:
                self._take_lines_back([one for one in lines if not one.whole], op)
                for one in lines:
                    if one.whole:
                        self._take_file_back(one, op)
        return TakenBack(op, of, by, tuple(taken), tuple(failed), tuple(skipped))

    def _why_not(self, error: HindbrainError, path: str) -> str:
        if not isinstance(error, NoteChanged) or not error.current_hash:
            return str(error)
        last = self._revisions.history(path, 1)
        ours = bool(last) and last[0].after_hash == error.current_hash
        return f"{error} by {'later actions' if ours else 'hand'}"

    def _take_file_back(self, own: OwnChange, op: Literal["undo", "redo"]) -> None:
        """Put back the file of ours that an action has replaced; what its owner has changed since stays."""
        now, wanted = (own.line, own.before) if op == "undo" else (own.before, own.line)
        if now is None:
            if wanted is not None and not (self._root / ".hindbrain" / own.file).exists():
                self.put_state_file(own.file, wanted.encode())
        elif wanted is None:
            self.remove_state_file(own.file, expected_hash=content_hash(now.encode()))
        else:
            old, new = now.encode(), wanted.encode()
            self.edit_state_file(own.file, lambda data: new if data == old else data)

    def _take_lines_back(self, lines: Sequence[OwnChange], op: Literal["undo", "redo"]) -> None:
        """Take the lines of an action out of our logs, or put them there again."""
        for log in dict.fromkeys(one.file for one in lines):
            wanted = [one.line.encode() for one in lines if one.file == log]

            def change(data: bytes, wanted: list[bytes] = wanted) -> bytes:
                there = data.split(b"\n")
                if op == "redo":
                    there[-1:] = [*(line for line in wanted if line not in there), there[-1]]
                else:
                    there = [line for line in there if line not in wanted]
                return b"\n".join(there)

            self.edit_state_file(log, change)

    def _take_back(
        self,
        entries: Sequence[Entry],
        op: str,
        *,
        force: bool,
        place: str = "",
        adjust: Adjust | None = None,
    ) -> Undone:
        """Take some changes of one note back, oldest first in `entries`; in the note at `place`, if given."""
        first, last = entries[0].revision, entries[-1].revision
        data = None if first.before_hash == ABSENT else self._revisions.load(first.before_hash)
        if data is None and first.before_hash != ABSENT:
            raise NotFound(
                f"the bytes before {first.id!r} are no longer kept, or were purged; nothing was changed"
            )
        in_a_row = all(
            one.revision.after_hash == next_.revision.before_hash for one, next_ in pairwise(entries)
        )
        decide = edits.restoring(
            first.path,
            data,
            last.after_hash if in_a_row else _NEVER,
            lambda: self._revisions.versions_around(entries),
            force=force,
        )
        if adjust is not None:
            decide = edits.adjusted(decide, partial(adjust, place or first.path))
        change = _Change(op, decide, mode=entries[0].mode, name=entries[0].file.rpartition("/")[2])
        written = self._change(check_existing_path(place or first.path), change)
        if not written.hash and (place or first.path) == first.path:
            self._remove_folders(entries[0])
        return Undone(written.path, written.hash, written.revision_id, last.id, written.merged)

    def _remove_folders(self, entry: Entry) -> None:
        """Remove the folders that were made for a note that is gone again, as far as they are empty."""
        parts = entry.file.split("/")[:-1]
        if not entry.folders:
            return
        # The note is gone, whatever happens to its folders.
        with contextlib.suppress(OSError, HindbrainError), self._writing():
            for count in range(entry.folders):
                self._root.joinpath(*parts[: len(parts) - count]).rmdir()

    def _action(self) -> CurrentAction:
        """The action that goes on, with an id; one of its own for a change outside of any."""
        current = current_action() or CurrentAction("", "")
        current.id = current.id or f"a{self._revisions.new_id()}"
        return current

    def history(self, path: str | None = None, limit: int | None = 50) -> list[Revision]:
        """Changes made here, newest first; `limit` None: all."""
        return self._revisions.history(path, limit)

    def kept(self, digest: str) -> bytes | None:
        """The bytes of that hash as a revision keeps them, or None."""
        return self._revisions.load(digest)

    def put_state_file(self, relative: str, data: bytes, *, undoable: bool = False) -> None:
        """Write one of our own files in the vault's `.hindbrain` folder, whole or not at all.

        `undoable`: it goes and comes with the action that is going on. For small texts.
        """
        with self._writing():
            before = self._own_text(relative) if undoable else None
            self._files.put(relative, data)
            if undoable and current_action() is not None:
                change = OwnChange(relative, data.decode("utf-8", "replace"), whole=True, before=before)
                self._revisions.note_own(self._action().id, change)

    def _own_text(self, relative: str) -> str | None:
        try:
            return (self._root / ".hindbrain" / relative).read_bytes().decode("utf-8", "replace")
        except OSError:
            return None

    def extend_state_file(self, relative: str, more: IO[bytes]) -> None:
        """Add lines to one of our own files in the vault, all of them or none; durable when this returns.

        For what is too large to be held in memory. `more` is read from its beginning.
        """
        with self._writing():
            self._files.extend(relative, more)

    def append_state_line(
        self, relative: str, line: str, *, durable: bool = True, undoable: bool = False
    ) -> None:
        """Add one line to a log in the vault's `.hindbrain` folder; durable when this returns.

        Not `durable`: it survives a kill, and a power cut from the next durable line of that log on.
        `undoable`: it goes and comes with the action that is going on.
        """
        with self._writing():
            self._files.append(relative, line, durable=durable)
            if undoable and current_action() is not None:
                self._revisions.note_own(self._action().id, OwnChange(relative, line))

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
    def held(self) -> Iterator[None]:
        """Hold the lock for several quick changes by this thread: they wait once, not once for each.

        Raises Busy. Wait for no other lock inside, and ask no model.
        """
        if getattr(self._mine, "held", False):
            yield
            return
        with self._lock.held(self._lock_timeout_s):
            self._mine.held = True
            try:
                yield
            finally:
                self._mine.held = False

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        with self.held():
            self._settle()
            try:
                yield
            except SyncFailed as error:
                raise WriteUnknown(f"could not make it durable ({_reason(error)}); read it again") from error
            except OSError as error:
                raise WriteFailed(f"could not write ({_reason(error)}); nothing was changed") from error

    def _settle(self) -> bool:
        self._check()
        try:
            self._lingering.look_again()
            return recovery.settle(self._root, self._revisions)
        except OSError as error:
            raise WriteFailed(
                f"an earlier write could not be settled ({_reason(error)}); nothing was changed"
            ) from error

    def _change(self, path: NotePath, change: _Change) -> Written:
        if path.lower().endswith(".canvas"):
            raise UnsafePath(f"{path!r} is a canvas, which is only read; change it where you drew it")
        with self.held():
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
        if change.op not in ("undo", "redo"):  # what comes back had its name before our rules
            check_note_path(place.path)
        other = find_collision(self._root, place.path)
        if other is not None:
            raise UnsafePath(
                f"{place.path!r} and the existing {other!r} are one file on some systems; use another name"
            )

    def _entry(self, place: _Place, change: _Change, seen: Seen | None, after_hash: str) -> Entry:
        id_, within = self._revisions.new_id(), current_action()
        revision = Revision(
            id=id_,
            path=place.path,
            when=self._clock.now(),
            op="create" if seen is None and change.op == "replace" else change.op,
            before_hash=ABSENT if seen is None else seen.hash,
            after_hash=after_hash,
            size=0 if seen is None else len(seen.data),
            action=self._action().id if within else id_,
            by=within.by if within else "",
            via=within.via if within else "",
        )
        missing = 0
        while seen is None and not self._root.joinpath(*place.parts[: len(place.parts) - missing]).exists():
            missing += 1
        mode = change.mode if seen is None else stat.S_IMODE(seen.stamp.mode)
        file = "/".join((*place.parts, place.name))
        return Entry(revision, file, TEMP_PREFIX + os.urandom(8).hex(), mode, missing)

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


def _not_taken_back(
    error: HindbrainError,
    message: str,
    op: Literal["undo", "redo"],
    name: str,
    id_: str,
    before: Action | None,
) -> HindbrainError:
    """The error when no note of an action could be taken back, with what can be done instead."""
    if not isinstance(error, NoteChanged):
        return error
    state = "before" if op == "undo" else "after"
    other = "redo" if op == "undo" else "undo"
    text = (
        f"{name} can't be {'undone' if op == 'undo' else 'redone'}: {message}. hindbrain {op} --force {id_} "
        f"puts the whole note back as it was {state} that action, without what was written in it since "
        f"(hindbrain {other} {id_} brings that back)"
    )
    if before is not None:
        text += f"; hindbrain undo {before.id} goes on with the action before it ({before.by})"
    return NoteChanged(text)


def _reason(error: OSError) -> str:
    return error.strerror or type(error).__name__
