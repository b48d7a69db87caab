"""What a sync has to do, decided from what is known and what a scan saw. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.scan_result import FileStamp, Missing, ScannedFile, ScanResult, missing

# A file written in the same tick of the clock in which it was read keeps its stamp. Stamps this close to the
# reading prove nothing, so such a file is read again next time.
_RACY_NS = 2_000_000_000


@dataclass(frozen=True, slots=True)
class KnownNote:
    stamp: FileStamp
    hash: str
    indexed_ns: int  # when its bytes were read


@dataclass(frozen=True, slots=True)
class SyncPlan:
    read: tuple[ScannedFile, ...]  # new, changed, or not provably unchanged
    remove: tuple[NotePath, ...]
    unchanged: int
    missing: Missing


def plan_sync(
    known: Mapping[NotePath, KnownNote], scanned: ScanResult, *, verify: bool = False, confirm: bool = False
) -> SyncPlan:
    """`verify` reads every file again, whatever its stamp says; `confirm` lets a large deletion pass."""
    read = tuple(
        file for file in scanned.files if verify or not _is_unchanged(known.get(file.path), file.stamp)
    )
    gone = missing({path: note.stamp for path, note in known.items()}, scanned, confirm=confirm)
    return SyncPlan(read, gone.to_remove, len(scanned.files) - len(read), gone)


def _is_unchanged(note: KnownNote | None, stamp: FileStamp) -> bool:
    if note is None or not stamp.unchanged_since(note.stamp):
        return False
    return stamp.mtime_ns < note.indexed_ns - _RACY_NS
