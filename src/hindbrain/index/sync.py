"""Vault to index: scan, plan, then apply; full text first, vectors after.

Every step can be interrupted at any moment: what is committed is true, and the next sync goes on from there.
A file that fails affects only itself and is named in the report.
"""

import contextlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import apsw

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, IndexFault, NoteUnreadable
from hindbrain.base.files import make_folder
from hindbrain.base.plural import plural
from hindbrain.index.embed import EmbedOutcome, embed_pending
from hindbrain.index.parallel import on_all_cores
from hindbrain.index.passages import MOST_PASSAGES, ChunkSettings
from hindbrain.index.plan import KnownNote, SyncPlan, plan_sync
from hindbrain.index.progress import Listener, Progress, silent
from hindbrain.index.reading import FileFailure, Reading, ReadSettings, as_failure, read_files
from hindbrain.index.schema import as_fault, damaged, index_recipe
from hindbrain.index.writer import IndexWriter
from hindbrain.models.embedder import Embedder
from hindbrain.vault.discover import is_logseq, vault_id
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.lock import FileLock
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.paths import stamp_of
from hindbrain.vault.scan import DEFAULT_MAX_BYTES, scan
from hindbrain.vault.scan_result import (
    AttachmentKind,
    FileStamp,
    LeftOut,
    Missing,
    Noticed,
    ScannedFile,
    ScanResult,
    Skipped,
)

_PARALLEL_FROM = 2_000  # files to read: below this, starting other processes takes longer than it saves
_BATCH_NOTES = 250
_BATCH_BYTES = 4_000_000
_SETTLE_FROM = 1_000  # notes written: below this, merging the full-text segments is not worth its time


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
    left_out: tuple[LeftOut, ...] = ()
    attachments: Mapping[AttachmentKind, int] = field(default_factory=dict)
    missing: Missing = field(default_factory=Missing)
    suspicious: str = ""  # why the vault is not believed; nothing was changed then
    embedded: int = 0
    pending: int = 0  # passages without a vector
    embedder_error: str = ""
    embedder_code: str = ""  # of that error

    @property
    def clean(self) -> bool:
        """Does the index now say what the vault says, as far as it could be seen?"""
        return not (self.failed or self.suspicious or self.missing.frozen or self.missing.unseen)


class Syncer:
    """Keeps one index in step with one vault. One at a time across processes: others wait, then get Busy."""

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
        self._reading = ReadSettings(root, chunks, max_bytes, logseq=is_logseq(root))
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
        """Bring the index up to date. `verify` trusts no time stamp; `confirm` lets many deletions pass."""
        with self._writing() as writer:
            report = self._sync_text(writer, listener, verify=verify, confirm=confirm)
            if embedder is None or report.suspicious:
                return replace(report, pending=writer.pending_count())
            return _with_vectors(report, embed_pending(writer, embedder, self._now_ns(), listener))

    def sync_paths(
        self, paths: Iterable[NotePath], embedder: Embedder | None,
        *, gone: Iterable[NotePath] = (), most_vectors: int | None = None,
    ) -> SyncReport:  # fmt: skip
        """Bring single notes up to date, without a look at the others.

        Removes only `gone`: the caller has read their folders and knows that the vault is there.
        `most_vectors`: make none when more than that are pending in the whole index, since somebody waits.
        """
        with self._writing() as writer:
            report = self._sync_some(writer, sorted(set(paths)))
            report = replace(report, removed=_remove(writer, gone))
            pending = writer.pending_count()
            if embedder is None or (most_vectors is not None and pending > most_vectors):
                return replace(report, pending=pending)
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
        if not known:  # said at once: a first index that is cut short goes on from what it has
            with writer.transaction():
                writer.set_meta({"recipe": self.recipe})
        remake = writer.meta("recipe") != self.recipe
        plan = plan_sync(known, scanned, verify=verify or remake, confirm=confirm)
        changed, failed = self._apply(writer, plan, {} if remake else known, listener)
        if remake and failed:
            with writer.transaction():
                writer.outdate(item.path for item in failed)
        report = SyncReport(
            files=len(scanned.files),
            indexed=changed,
            removed=len(plan.remove),
            unchanged=len(scanned.files) - changed - len(failed),
            failed=failed,
            skipped=scanned.skipped,
            noticed=(*scanned.noticed, *_too_long(writer)),
            left_out=scanned.left_out,
            attachments=scanned.attachments,
            missing=plan.missing,
        )
        self._close(writer, report, scanned)
        return report

    def _scan(self, writer: IndexWriter, stamps: dict[NotePath, FileStamp]) -> ScanResult:
        expect = writer.meta("vault_id")
        return scan(
            self._root, self._rules, stamps,
            expect_id=str(expect) if expect else None, expect_marker=bool(writer.meta("has_marker")),
            max_bytes=self._max_bytes, now=self._clock.now(), count_left_out=True,
        )  # fmt: skip

    def _apply(
        self, writer: IndexWriter, plan: SyncPlan, known: Mapping[NotePath, KnownNote], listener: Listener
    ) -> tuple[int, tuple[FileFailure, ...]]:
        """Write what the plan says; return how many notes changed, and what failed."""
        changed, done = 0, 0
        failed: list[FileFailure] = []
        _remove(writer, plan.remove)
        for results in self._readings(plan.read, known):
            changed += _write(writer, results, failed)
            done += len(results)
            listener(Progress("text", done, len(plan.read)))
        return changed, tuple(failed)

    def _readings(
        self, files: Sequence[ScannedFile], known: Mapping[NotePath, KnownNote]
    ) -> Iterator[list[Reading | FileFailure]]:
        jobs = (
            (self._reading, [(file, known.get(file.path)) for file in batch], self._now_ns())
            for batch in _batches(files)
        )
        if len(files) < _PARALLEL_FROM:
            return (read_files(*job) for job in jobs)
        return on_all_cores(read_files, jobs)

    def _sync_some(self, writer: IndexWriter, paths: Sequence[NotePath]) -> SyncReport:
        results: list[Reading | FileFailure] = []
        failed: list[FileFailure] = []
        for path in paths:
            try:
                known = writer.known_note(path)
                stamp = stamp_of(self._root, path)
                if known is not None and known.stamp.size and not stamp.size:
                    raise NoteUnreadable(
                        f"{path!r} is empty just now; it is looked at again by the next scan"
                    )
                results += read_files(
                    self._reading, [(ScannedFile(path, stamp, path), known)], self._now_ns()
                )
            except HindbrainError as error:
                failed.append(as_failure(path, error))
            except OSError as error:
                unreadable = NoteUnreadable(f"{path!r} can't be read now: {error.strerror or error}")
                failed.append(as_failure(path, unreadable))
        changed = _write(writer, results, failed)
        return SyncReport(len(paths), indexed=changed, failed=tuple(failed))

    def _close(self, writer: IndexWriter, report: SyncReport, scanned: ScanResult) -> None:
        """Record what this sync saw, for `status`, and what the next one should expect to see."""
        with writer.transaction():
            writer.put_report(
                [
                    *((item.path, item.code, item.message) for item in report.failed),
                    *((item.path, item.reason, item.detail) for item in report.skipped),
                    *((item.path, item.reason, item.detail) for item in report.noticed),
                    *((item.path, item.rule, str(item.notes)) for item in report.left_out),
                    *(
                        (path, "unseen", "could not be looked at; kept as it was")
                        for path in report.missing.unseen
                    ),
                    *((path, "brake", "missing with many others; kept") for path in _braked(report.missing)),
                ]
            )
            writer.set_meta(
                {
                    "recipe": self.recipe,
                    "vault_id": vault_id(self._root),
                    "has_marker": int(scanned.has_marker),
                    "rules": self._rules.key,
                    "left_out": "\n".join(sorted(scanned.excluded)),
                    "attachments": json.dumps(dict(report.attachments)),
                    "synced_at": self._clock.now(),
                    "sqlite": apsw.sqlite_lib_version(),
                }
            )
        if report.indexed + report.removed >= _SETTLE_FROM:
            writer.settle()

    @property
    def recipe(self) -> str:
        return index_recipe(self._chunks.tokens, self._chunks.overlap, logseq=self._reading.logseq)

    def _now_ns(self) -> int:
        return int(self._clock.now() * 1e9)


@contextlib.contextmanager
def _opened(lock: FileLock, timeout_s: float, path: Path) -> Iterator[IndexWriter]:
    _make_folder(path.parent)
    with lock.held(timeout_s):
        writer = IndexWriter(path)
        try:
            yield writer
        except apsw.Error as error:
            raise as_fault(error, path) from error
        except zlib.error as error:
            raise damaged(error, path) from error
        finally:
            writer.close()


def _make_folder(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise IndexFault(f"the index folder {str(folder)!r} can't be made: {error.strerror}") from error


def _remove(writer: IndexWriter, paths: Iterable[NotePath]) -> int:
    """Remove notes in one transaction; return how many were there."""
    gone = tuple(paths)
    if not gone:
        return 0
    with writer.transaction():
        return sum(writer.remove_note(path) for path in gone)


def _write(writer: IndexWriter, results: Sequence[Reading | FileFailure], failed: list[FileFailure]) -> int:
    """Write a batch in one transaction; return how many notes changed. What failed is added to `failed`."""
    readings = [result for result in results if isinstance(result, Reading)]
    failed += [result for result in results if isinstance(result, FileFailure)]
    try:
        with writer.transaction():
            for reading in readings:
                _put(writer, reading)
    except HindbrainError:
        raise  # of the index, not of a note: the disk is full, the file is damaged
    except Exception as error:  # noqa: BLE001 - one bad note affects only itself
        if len(readings) == 1:
            failed.append(as_failure(readings[0].file.path, error))
            return 0
        # Find it by writing each alone. A savepoint per note would flush the full-text index each time.
        return sum(_write(writer, [reading], failed) for reading in readings)
    return sum(reading.record is not None for reading in readings)


def _put(writer: IndexWriter, reading: Reading) -> None:
    if reading.record is None:
        writer.restamp(reading.file.path, reading.file.stamp, reading.at_ns)
    else:
        writer.put_note(reading.record, reading.file.stamp, reading.digest, reading.at_ns)


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


def _too_long(writer: IndexWriter) -> Iterator[Noticed]:
    for path in writer.notes_with_more(MOST_PASSAGES):
        told = f"more than {plural(MOST_PASSAGES, 'passage')}; the rest is found only roughly: split the note"
        yield Noticed(path, "too_many_passages", told)


def _braked(gone: Missing) -> tuple[NotePath, ...]:
    return gone.deleted if gone.frozen else ()


def _with_vectors(report: SyncReport, outcome: EmbedOutcome) -> SyncReport:
    return replace(
        report, embedded=outcome.embedded, pending=outcome.pending,
        embedder_error=outcome.error, embedder_code=outcome.code,
    )  # fmt: skip
