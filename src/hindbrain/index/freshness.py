"""Brings an index up to date with the files before it is read, within a time limit, or says what is missing.

Owns how much is done while somebody waits. What a look at files is lies in `vault.look`, what is taken in
lies in `sync`. Never raises for a vault or an index that can't be brought up to date: the reader goes on with
what there is, and is told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, HindbrainError
from hindbrain.base.plural import plural
from hindbrain.index.store import IndexStore
from hindbrain.vault.discover import has_marker, is_vault
from hindbrain.vault.look import KnownFile, Look, files_beneath, look
from hindbrain.vault.path_rules import NotePath

if TYPE_CHECKING:
    from hindbrain.index.sync import Syncer, SyncReport
    from hindbrain.models.embedder import Embedder
    from hindbrain.vault.event_paths import Changes
    from hindbrain.vault.ignore import IgnoreRules

QUICK_VECTORS = 500  # that are made while somebody waits: some 50 ms with the built-in embedder
_CHUNK = 32  # notes in one transaction; between two the time is looked at
_MOST_FILES = 1_000  # beyond this many changes the owner is told to sync
_MOST_GONE = 4  # deletions that need no scan: as many as `scan_result` always believes
_STAND_INS = (
    "SELECT 1 FROM report WHERE code IN ('conflict_copy', 'duplicate_link', 'name_collision') LIMIT 1"
)
_OUTDATED = (
    "index_outdated: the index was made by another version or with other settings; run: hindbrain sync"
)
_NEEDS_SYNC = "index_unchecked: what is left out of the vault has changed; run: hindbrain sync"


class Freshness(NamedTuple):
    """How the index compares with the files."""

    notices: tuple[str, ...] = ()  # what it lacks; () when it says what the vault says
    checked_at: float = 0.0  # when it was found to be true, seconds since the epoch; 0: it was not


class Freshener:
    """Keeps one index true for its readers. `syncer` is made at first need: most looks find nothing."""

    def __init__(
        self, root: Path, rules: Callable[[], IgnoreRules], syncer: Callable[[], Syncer], recipe: str,
        clock: Clock,
    ) -> None:  # fmt: skip
        self._root = root
        self._rules = rules
        self._syncer = syncer
        self._recipe = recipe  # how this version makes an index with these settings
        self._clock = clock
        self._deadline = 0.0  # of the call that is being answered, as are the next two
        self._age = ""
        self._embedder: Callable[[], Embedder | None] = lambda: None

    def freshen(
        self, store: IndexStore, pending: Changes | None, embedder: Callable[[], Embedder | None],
        *, budget_s: float, take_in: bool = True,
    ) -> Freshness:  # fmt: skip
        """Take in what has changed, for about `budget_s`.

        `pending`: what a watcher of this process has heard and not taken in yet; None where there is none.
        `embedder`: for vectors of what is taken in. `take_in=False` only looks.
        """
        self._deadline = time.monotonic() + budget_s
        self._age = _age(store, self._clock)
        self._embedder = embedder
        try:
            if not store.meta("synced_at"):
                return Freshness((_incomplete(store, self._look(store)),))
            if store.meta("recipe") != self._recipe:
                return Freshness((_OUTDATED,))
            found = self._heard(store, pending) if pending is not None else None
            return self._settled(store, found or self._look(store), take_in=take_in)
        except Busy:
            return Freshness(
                (f"index_behind: another process is writing the index ({self._age}); try again",)
            )
        except (HindbrainError, OSError) as error:
            return Freshness((f"index_unchecked: the vault could not be compared with the index: {error}",))

    def _heard(self, store: IndexStore, pending: Changes) -> Look | None:
        """What the watcher of this process says; None when only a look at all files can tell."""
        if pending.rescan and pending.unclear:
            return None
        from hindbrain.vault.paths import is_note

        inside = files_beneath(self._root, pending.folders, deadline=self._deadline)
        if inside.rescan or not inside.complete:
            return None
        gone = [
            path
            for path in pending.gone
            if not (self._root / path).exists() and not is_note(self._root, path)
        ]
        known = [path for path in gone if store.note_at(path) is not None]
        new = tuple(path for path in inside.new if path not in pending.paths)
        changed = tuple(sorted(pending.paths))
        return Look(changed, new, gone=tuple(known), has_marker=has_marker(self._root))

    def _settled(self, store: IndexStore, found: Look, *, take_in: bool) -> Freshness:
        new = self._accepted(found.new)
        paths = [*found.changed, *new.paths]
        behind = len(paths) + len(found.gone)
        unchecked = _unchecked(found, store, self._age) if found.unseen else ()
        if not take_in or len(paths) > _MOST_FILES:
            return self._judged(behind, unchecked)
        try:
            if not (new.rescan or self._needs_scan(store, found)):
                left = self._take_in(paths, found.gone)
                self._take_in(found.doubtful, ())
                return self._judged(left, unchecked)
            if found.complete and time.monotonic() < self._deadline:
                return self._judged(_left(self._syncer().sync(None)), unchecked)
        except Busy:
            return self._judged(behind, unchecked)
        return self._judged(behind, unchecked or (_NEEDS_SYNC,))

    def _look(self, store: IndexStore) -> Look:
        rows = store.select("SELECT path, size, mtime_ns, inode, indexed_ns FROM note")
        known = {row[0]: KnownFile._make(row) for row in rows}
        left_out = {path for (path,) in store.select("SELECT path FROM report")}
        left_out.update(str(store.meta("left_out") or "").split("\n"))
        return look(
            self._root, known, left_out, scanned_ns=int(1e9 * float(store.meta("synced_at") or 0)),
            now_ns=int(1e9 * self._clock.now()), deadline=self._deadline,
        )  # fmt: skip

    def _needs_scan(self, store: IndexStore, found: Look) -> bool:
        """Can't single files tell what happened?"""
        if found.rescan or len(found.gone) > _MOST_GONE or store.meta("rules") != self._rules().key:
            return True
        return bool(found.gone) and not self._is_there(store, found)

    def _is_there(self, store: IndexStore, found: Look) -> bool:
        """Is this the vault that was indexed, on the disk that it was on? Only then is absence deletion.

        Nor is it where a copy or a link was left out beside the note, and counts as one from now on.
        """
        expected = store.meta("vault_id")
        if expected and not is_vault(self._root, str(expected)):
            return False
        if store.meta("has_marker") and not found.has_marker:
            return False
        if store.select(_STAND_INS):
            return False
        devices = store.select("SELECT DISTINCT dev FROM note")
        return len(devices) == 1 and len(found.gone) < store.note_count()

    def _accepted(self, new: Sequence[str]) -> Changes:
        """Those of the new files that are notes."""
        from hindbrain.vault.event_paths import Changes, FileEvent, judge_events

        if not new:
            return Changes()
        top = os.path.realpath(self._root)
        return judge_events(top, self._rules(), [FileEvent("added", f"{top}/{path}") for path in new])

    def _take_in(self, paths: Sequence[str], gone: Sequence[str]) -> int:
        """Take in notes until the time is up; returns how many are left, with those that failed."""
        if not paths and not gone:
            return 0
        syncer, failed = self._syncer(), 0
        for start in range(0, max(1, len(paths)), _CHUNK):
            if start and time.monotonic() > self._deadline:
                return failed + len(paths) - start
            chunk = [NotePath(path) for path in paths[start : start + _CHUNK]]
            removed = () if start else [NotePath(path) for path in gone]
            report = syncer.sync_paths(chunk, self._embedder(), gone=removed, most_vectors=QUICK_VECTORS)
            failed += len(report.failed)
        return failed

    def _judged(self, behind: int, unchecked: tuple[str, ...] = ()) -> Freshness:
        if not behind and not unchecked:
            return Freshness((), self._clock.now())
        notes = f"{behind:,} changed note{'s are' if behind != 1 else ' is'}"
        said = f"index_behind: {notes} not in the index yet ({self._age}); run: hindbrain sync"
        return Freshness((*((said,) if behind else ()), *unchecked))


def _left(report: SyncReport) -> int:
    """How many notes a whole sync could not bring into line."""
    if report.suspicious:
        return max(1, report.files)
    missing = report.missing
    return len(report.failed) + len(missing.unseen) + (len(missing.deleted) if missing.frozen else 0)


def _incomplete(store: IndexStore, found: Look) -> str:
    notes = store.note_count()
    more = "" if found.complete else "more than "
    total = plural(notes + len(found.new), "note")
    return f"index_incomplete: {notes:,} of {more}{total} indexed; run: hindbrain sync"


def _unchecked(found: Look, store: IndexStore, age: str) -> tuple[str, ...]:
    total = store.note_count()
    return (
        f"index_unchecked: {found.unseen:,} of {plural(total, 'note')} not compared with files ({age}); "
        "run: hindbrain sync, or hindbrain up to keep the index up to date",
    )


def _age(store: IndexStore, clock: Clock) -> str:
    synced_at = float(store.meta("synced_at") or 0)
    if not synced_at:
        return "never synced"
    minutes = max(0.0, clock.now() - synced_at) / 60
    if minutes < 1:
        return "synced less than a minute ago"
    for unit, length in (("day", 1440.0), ("hour", 60.0), ("minute", 1.0)):
        if minutes >= length:
            count = int(minutes / length)
            return f"synced {count} {unit}{'s' if count != 1 else ''} ago"
    return ""
