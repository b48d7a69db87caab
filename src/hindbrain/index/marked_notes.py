"""Finds notes by their marks: through the index, and on disk where the index does not know a note as it is.

Reads only. What can't be looked at is no proof of absence: `Found.complete` says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, IndexFault
from hindbrain.index.plan import plan_sync
from hindbrain.index.store import IndexStore
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.marks import OWN_TAG, Marks, read_marks
from hindbrain.vault.moved_notes import Found
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.paths import read_note, stamp_of
from hindbrain.vault.scan import scan


class MarkedNotes:
    def __init__(
        self,
        root: Path,
        rules: Callable[[], IgnoreRules],
        index: Path,
        store: Callable[[], IndexStore],
        is_current: Callable[[], bool],
        clock: Clock,
        *,
        max_bytes: int,
    ) -> None:
        """`store` raises IndexFault without an index; `is_current`: was the index made by this version?"""
        self._root = root
        self._rules = rules
        self._index = index
        self._store = store
        self._is_current = is_current
        self._clock = clock
        self._max_bytes = max_bytes

    def typed(self, type_: str, date: str) -> list[str]:
        return self._paths(
            "SELECT path FROM note WHERE type = ?1 AND (?2 = '' OR date = ?2) AND"
            " (id IN (SELECT note_id FROM tag WHERE tag = ?3) OR id IN (SELECT note_id FROM block))",
            type_, date, OWN_TAG,
        )  # fmt: skip

    def holding(self, ids: Collection[str]) -> list[str]:
        wanted = json.dumps(sorted(ids))
        return self._paths(
            "SELECT DISTINCT path FROM note JOIN block ON note_id = note.id"
            " WHERE block.id IN (SELECT value FROM json_each(?))",
            wanted,
        )

    def holding_kind(self, kind: str) -> list[str]:
        return self._paths(
            "SELECT DISTINCT path FROM note JOIN block ON note_id = note.id"
            " WHERE block.id >= ?1 || '-' AND block.id < ?1 || '.'",
            kind,
        )

    def has_index(self) -> bool:
        return self._index.exists()

    def had(self, path: str) -> bool:
        return bool(self._paths("SELECT path FROM note WHERE path = ?", path))

    def knows(self, path: str) -> bool:
        try:
            known = self._store().known_note(path)
            return known is not None and stamp_of(self._root, check_existing_path(path)) == known.stamp
        except (HindbrainError, OSError):
            return False

    def everywhere(self) -> Found:
        try:
            known = self._store().known_notes() if self._is_current() else {}
        except IndexFault:
            known = {}
        stamps = {path: note.stamp for path, note in known.items()}
        try:
            scanned = scan(
                self._root, self._rules(), stamps, max_bytes=self._max_bytes, now=self._clock.now()
            )
        except HindbrainError:
            return Found({}, complete=False)
        plan = plan_sync(known, scanned, confirm=True)
        marked = self._paths(
            "SELECT path FROM note WHERE id IN (SELECT note_id FROM block)"
            " OR id IN (SELECT note_id FROM tag WHERE tag = ?)",
            OWN_TAG,
        )
        gone = set(plan.remove)
        paths = {path for path in marked if path not in gone} if known else set()
        notes: dict[str, Marks] = {}
        complete = not scanned.out_of_reach(known)
        for path in sorted(paths | {file.path for file in plan.read}):
            try:
                data = read_note(self._root, check_existing_path(path), max_bytes=self._max_bytes)
            except (HindbrainError, OSError):
                complete = False
                continue
            if (marks := read_marks(data)).ours:
                notes[path] = marks
        return Found(notes, complete)

    def _paths(self, sql: str, *values: str) -> list[str]:
        try:
            return [path for (path,) in self._store().select(sql, values)] if self._is_current() else []
        except IndexFault:
            return []
