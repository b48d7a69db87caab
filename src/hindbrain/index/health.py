"""Whether an index agrees with itself and with the vault. Looks, and changes nothing.

The file's own soundness is SQLite's word (`IndexStore.check`); here rows are counted against each other, and
notes against a scan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from hindbrain.base.errors import HindbrainError
from hindbrain.index.plan import KnownNote, plan_sync
from hindbrain.index.schema import as_fault, open_reader
from hindbrain.index.store import IndexStore
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import read_note
from hindbrain.vault.scan import scan


@dataclass(frozen=True, slots=True)
class RowCounts:
    notes: int
    note_texts: int  # rows of full text, one a note
    promised: int  # passages that the notes say they have
    passages: int
    passage_texts: int  # rows of full text, one a passage
    vectors: int
    lost_vectors: int  # of passages that are gone

    @property
    def agree(self) -> bool:
        """Has every note and passage its full text, and nothing more? Vectors may still be pending."""
        same = self.notes == self.note_texts and self.promised == self.passages == self.passage_texts
        return same and not self.lost_vectors


@dataclass(frozen=True, slots=True)
class Drift:
    """Where the index does not say what the vault says."""

    new: tuple[NotePath, ...] = ()
    changed: tuple[NotePath, ...] = ()
    gone: tuple[NotePath, ...] = ()
    unseen: tuple[NotePath, ...] = ()  # could not be looked at
    suspicious: str = ""

    @property
    def any(self) -> bool:
        return bool(self.new or self.changed or self.gone)


def count_rows(path: Path) -> RowCounts:
    """Raises IndexFault when the index can't be read."""
    db = open_reader(path)
    try:
        row: tuple[int, ...] = db.execute(
            "SELECT (SELECT count(*) FROM note), (SELECT count(*) FROM note_fts_docsize),"
            " (SELECT coalesce(sum(passages), 0) FROM note), (SELECT count(*) FROM passage),"
            " (SELECT count(*) FROM passage_fts_docsize), (SELECT count(*) FROM vector),"
            " (SELECT count(*) FROM vector WHERE passage_id NOT IN (SELECT id FROM passage))"
        ).fetchall()[0]  # type: ignore[assignment]
        return RowCounts(*row)
    except apsw.Error as error:
        raise as_fault(error, path) from error
    finally:
        db.close()


def find_drift(root: Path, rules: IgnoreRules, store: IndexStore, *, max_bytes: int, now: float) -> Drift:
    """Compare a scan with the index. Every note is read: a stamp proves nothing."""
    try:
        known = store.known_notes()
    except apsw.Error as error:
        raise as_fault(error, store.path) from error
    expect = store.meta("vault_id")
    scanned = scan(
        root, rules, {path: note.stamp for path, note in known.items()},
        expect_id=str(expect) if expect else None, expect_marker=bool(store.meta("has_marker")),
        max_bytes=max_bytes, now=now,
    )  # fmt: skip
    if scanned.suspicious:
        return Drift(suspicious=scanned.suspicious)
    plan = plan_sync(known, scanned, verify=True, confirm=True)
    failed = {path for path, _, _ in store.report()}
    new = tuple(file.path for file in plan.read if file.path not in known and file.path not in failed)
    doubtful = (file.path for file in plan.read if file.path in known)
    changed = tuple(path for path in doubtful if _differs(root, path, known, max_bytes))
    return Drift(new, changed, plan.remove, plan.missing.unseen)


def _differs(root: Path, path: NotePath, known: Mapping[NotePath, KnownNote], max_bytes: int) -> bool:
    try:
        return content_hash(read_note(root, path, max_bytes=max_bytes)) != known[path].hash
    except HindbrainError:
        return True
