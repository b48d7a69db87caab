"""Vault to index: scan, plan, then apply; full text first, vectors after.

Every step can be interrupted at any moment: what is committed is true, and the next sync goes on from there.
A file that fails affects only itself and is named in the report.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import apsw

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, NoteUnreadable
from hindbrain.index.embed import EmbedOutcome, embed_pending
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.plan import KnownNote, SyncPlan, plan_sync
from hindbrain.index.progress import Listener, Progress, silent
from hindbrain.index.record import make_record
from hindbrain.index.writer import IndexWriter
from hindbrain.models.embedder import Embedder
from hindbrain.vault.discover import vault_id
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.lock import FileLock
from hindbrain.vault.parse import decode_note, parse_note
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import read_note, stamp_of
from hindbrain.vault.scan import DEFAULT_MAX_BYTES, scan
from hindbrain.vault.scan_result import FileStamp, Missing, Noticed, ScannedFile, ScanResult, Skipped

_RECIPE = 1  # how notes are cut and recorded; a change makes every index be made again
_BATCH_NOTES = 250
_BATCH_BYTES = 4_000_000
_SETTLE_FROM = 1_000  # notes written: below this, merging the full-text segments is not worth its time
_BINARY_LOOK = 8_192  # bytes in which a NUL marks a file that is no text


@dataclass(frozen=True, slots=True)
class FileFailure:
    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did and what it could not do."""

    files: int  # notes seen in the vault
    indexed: int = 0
    removed: int = 0
    unchanged: int = 0
    failed: tuple[FileFailure, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    noticed: tuple[Noticed, ...] = ()
    missing: Missing = Missing()
    suspicious: str = ""  # why the vault is not believed; nothing was changed then
    embedded: int = 0
    pending: int = 0  # passages without a vector
    embedder_error: str = ""

    @property
    def clean(self) -> bool:
        """Does the index now say what the vault says, as far as it could be seen?"""
        return not (self.failed or self.suspicious or self.missing.frozen or self.missing.unseen)


class Syncer:
    """Keeps one index in step with one vault. One at a time, across processes: the others wait, then get Busy."""

    def __init__(
        self, root: Path, state: Path, rules: IgnoreRules, chunks: ChunkSettings, clock: Clock,
        *, max_bytes: int = DEFAULT_MAX_BYTES, lock_timeout_s: float = 10.0,
    ) -> None:  # fmt: skip
        self._root = root
        self._state = state
        self._rules = rules
        self._chunks = chunks
        self._clock = clock
        self._max_bytes = max_bytes
        self._lock = FileLock(state / "index.lock")
        self._lock_timeout_s = lock_timeout_s

    @property
    def index_path(self) -> Path:
        return self._state / "index.db"

    def sync(
        self,
        embedder: Embedder | None,
        listener: Listener = silent,
        *,
        verify: bool = False,
        confirm: bool = False,
    ) -> SyncReport:
        """Bring the whole index up to date. `verify` trusts no time stamp; `confirm` lets a large deletion pass."""
        with self._writing() as writer:
            report = self._sync_text(writer, listener, verify=verify, confirm=confirm)
            if embedder is None or report.suspicious:
                return replace(report, pending=writer.pending_count())
            return _with_vectors(report, embed_pending(writer, embedder, self._now_ns(), listener))

    def sync_paths(self, paths: Iterable[NotePath], embedder: Embedder | None) -> SyncReport:
        """Bring single notes up to date, without a look at the others. Removes nothing: only a scan can tell a
        deletion from a vault that is not there."""
        with self._writing() as writer:
            report = self._sync_some(writer, sorted(set(paths)))
            if embedder is None:
                return replace(report, pending=writer.pending_count())
            return _with_vectors(report, embed_pending(writer, embedder, self._now_ns(), silent))

    def _writing(self) -> contextlib.AbstractContextManager[IndexWriter]:
        return _opened(self._lock, self._lock_timeout_s, self.index_path)

    def _sync_text(
        self, writer: IndexWriter, listener: Listener, *, verify: bool, confirm: bool
    ) -> SyncReport:
        known = writer.known_notes()
        listener(Progress("scan", 0, len(known)))
        scanned = self._scan(writer, {path: note.stamp for path, note in known.items()})
        if scanned.suspicious:
            return SyncReport(len(scanned.files), suspicious=scanned.suspicious, skipped=scanned.skipped)
        remake = writer.meta("recipe") != self._recipe()
        plan = plan_sync(known, scanned, verify=verify or remake, confirm=confirm)
        changed, failed = self._apply(writer, plan, {} if remake else known, listener)
        report = SyncReport(
            files=len(scanned.files),
            indexed=changed,
            removed=len(plan.remove),
            unchanged=len(scanned.files) - changed - len(failed),
            failed=failed,
            skipped=scanned.skipped,
            noticed=scanned.noticed,
            missing=plan.missing,
        )
        self._close(writer, report, scanned)
        return report

    def _scan(self, writer: IndexWriter, stamps: dict[NotePath, FileStamp]) -> ScanResult:
        expect = writer.meta("vault_id")
        return scan(
            self._root, self._rules, stamps,
            expect_id=str(expect) if expect else None, expect_marker=bool(writer.meta("has_marker")),
            max_bytes=self._max_bytes, now=self._clock.now(),
        )  # fmt: skip

    def _apply(
        self, writer: IndexWriter, plan: SyncPlan, known: Mapping[NotePath, KnownNote], listener: Listener
    ) -> tuple[int, tuple[FileFailure, ...]]:
        """Write what the plan says; return how many notes changed, and what failed."""
        changed, failed, done = 0, [], 0
        if plan.remove:
            with writer.transaction():
                for path in plan.remove:
                    writer.remove_note(path)
        for batch in _batches(plan.read):
            with writer.transaction():
                for file in batch:
                    try:
                        changed += self._put(writer, file, known.get(file.path))
                    except HindbrainError as error:
                        failed.append(FileFailure(file.path, error.code, str(error)))
            done += len(batch)
            listener(Progress("text", done, len(plan.read)))
        return changed, tuple(failed)

    def _put(self, writer: IndexWriter, file: ScannedFile, known: KnownNote | None) -> bool:
        """Index one file; False when it has the bytes that are known."""
        now_ns = self._now_ns()
        data = read_note(self._root, file.path, max_bytes=self._max_bytes)
        digest = content_hash(data)
        if known is not None and known.hash == digest:
            writer.restamp(file.path, file.stamp, now_ns)
            return False
        if b"\0" in data[:_BINARY_LOOK] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise NoteUnreadable(f"{file.path!r} is a binary file with a note's name; it is left out")
        text, problems = decode_note(data)
        note = parse_note(text, stem=file.path.rpartition("/")[2].rpartition(".")[0])
        if problems:
            note = replace(note, problems=problems + note.problems)
        writer.put_note(make_record(file.path, note, self._chunks), file.stamp, digest, now_ns)
        return True

    def _sync_some(self, writer: IndexWriter, paths: Sequence[NotePath]) -> SyncReport:
        changed, failed = 0, []
        with writer.transaction():
            for path in paths:
                try:
                    known = writer.known_note(path)
                    stamp = stamp_of(self._root, path)
                    if known is not None and known.stamp.size and not stamp.size:
                        raise NoteUnreadable(
                            f"{path!r} is empty just now; it is looked at again by the next scan"
                        )
                    changed += self._put(writer, ScannedFile(path, stamp, path), known)
                except HindbrainError as error:
                    failed.append(FileFailure(path, error.code, str(error)))
        return SyncReport(len(paths), indexed=changed, failed=tuple(failed))

    def _close(self, writer: IndexWriter, report: SyncReport, scanned: ScanResult) -> None:
        """Record what this sync saw, for `status`, and what the next one should expect to see."""
        with writer.transaction():
            writer.put_report(
                [
                    *((item.path, item.code, item.message) for item in report.failed),
                    *((item.path, item.reason, item.detail) for item in (*report.skipped, *report.noticed)),
                    *(
                        (path, "unseen", "could not be looked at; kept as it was")
                        for path in report.missing.unseen
                    ),
                    *((path, "brake", "missing with many others; kept") for path in _braked(report.missing)),
                ]
            )
            writer.set_meta(
                {
                    "recipe": self._recipe(),
                    "vault_id": vault_id(self._root),
                    "has_marker": int(scanned.has_marker),
                    "synced_at": self._clock.now(),
                    "sqlite": apsw.sqlite_lib_version(),
                }
            )
        if report.indexed + report.removed >= _SETTLE_FROM:
            writer.settle()

    def _recipe(self) -> str:
        return f"{_RECIPE}:{self._chunks.tokens}/{self._chunks.overlap}"

    def _now_ns(self) -> int:
        return int(self._clock.now() * 1e9)


@contextlib.contextmanager
def _opened(lock: FileLock, timeout_s: float, path: Path) -> Iterator[IndexWriter]:
    with lock.held(timeout_s):
        writer = IndexWriter(path)
        try:
            yield writer
        finally:
            writer.close()


def _batches(files: Sequence[ScannedFile]) -> Iterator[list[ScannedFile]]:
    batch: list[ScannedFile] = []
    size = 0
    for file in files:
        batch.append(file)
        size += file.stamp.size
        if len(batch) >= _BATCH_NOTES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _braked(gone: Missing) -> tuple[NotePath, ...]:
    return gone.deleted if gone.frozen else ()


def _with_vectors(report: SyncReport, outcome: EmbedOutcome) -> SyncReport:
    return replace(report, embedded=outcome.embedded, pending=outcome.pending, embedder_error=outcome.error)
