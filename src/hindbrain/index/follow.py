"""Keeps the index in step with the vault while it runs: takes in what changes, and looks again now and then.

Owns when to sync, what to retry and when, and what to tell. How changes are noticed is in `vault.changes`,
what a sync does in `sync`. No failure ends the loop: it is told, kept in the heartbeat, and tried again.

Text comes first and vectors after, in slices, so that neither a slow embedder nor a dead one delays words.
"""

import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.errors import Busy, HindbrainError, NotFound, VaultError
from hindbrain.base.plural import plural
from hindbrain.index.heartbeat import Beating, Heartbeat, WatchState, read_heartbeat
from hindbrain.index.progress import Listener, Progress
from hindbrain.index.sync import Syncer, SyncReport
from hindbrain.models.embedder import Embedder
from hindbrain.vault.changes import Changes, ChangeSource
from hindbrain.vault.lock import FileLock
from hindbrain.vault.path_rules import NotePath

__all__ = ["FollowEvent", "Follower", "HiddenEditFinder", "WatchState", "read_heartbeat"]

EventKind: TypeAlias = Literal[
    "started",
    "synced",  # the text of the vault, or of some notes, was taken in
    "checked",  # a look at the whole vault found nothing new
    "embedded",
    "error",  # tried again later
    "frozen",  # the vault is not there, or not to be believed; the index stays as it was
    "resumed",  # what was wrong is over
    "mode",  # how changes are noticed has changed; the message says why
    "stopped",
]

_T = TypeVar("_T")

_EARLY = 0.9  # looks come a little early, so that their own time is within what was promised
_REST = 10  # times as long as the last scan took, at least, until the next
_FIRST_RETRY_S, _LAST_RETRY_S = 1.0, 5.0
_FIRST_EMBED_RETRY_S, _LAST_EMBED_RETRY_S = 15.0, 300.0
_UNCLEAN_S = 15.0  # until a vault that could not be taken in wholly is looked at again
_SETTLE_S = 2.0  # until a new folder is looked at once more
_SLICE_S = 5.0  # of embedding, before the text of newer changes has its turn
_AT_ONCE = 2_048  # passages that are embedded without a slice
_MISSES = 2  # looks in a row that found what no event had told


@dataclass(frozen=True, slots=True)
class FollowEvent:
    kind: EventKind
    at: float  # seconds since the epoch
    report: SyncReport | None = None
    code: str = ""  # of an error
    message: str = ""
    took_s: float = 0.0  # of what the report tells


class HiddenEditFinder(Protocol):
    def find(self) -> frozenset[NotePath]:
        """Return the notes that differ from the index though their stamps do not."""
        ...


class _Stopped(Exception):
    """The caller wants to end; what is committed stays, and the next sync goes on."""


class _TimeUp(Exception):
    """Enough embedded for now."""


@dataclass(slots=True)
class _Retry:
    """Waits longer after each failure in a row. Times are of the monotonic clock."""

    first_s: float
    last_s: float
    at: float = 0.0
    _wait_s: float = 0.0

    def failed(self, now: float) -> None:
        self._wait_s = min(max(self._wait_s * 2, self.first_s), self.last_s)
        self.at = now + self._wait_s

    def worked(self) -> None:
        self.at = self._wait_s = 0.0


@dataclass(slots=True)
class _Health:
    """What the heartbeat says, kept by the loop and read by the beating thread."""

    since: float
    last_sync_at: float = 0.0
    text_error: str = ""
    embed_error: str = ""
    pending: int = 0
    busy_since: float = 0.0


@dataclass(slots=True)
class _Events:
    """Do the system's events tell what happens? Two looks in a row that find more say no."""

    misses: int = 0
    heard: bool = True  # since the last look
    unannounced: bool = field(default=False)  # the last look found something; its event may yet come

    def hear(self, batch: Changes) -> None:
        if batch:
            self.heard, self.unannounced, self.misses = True, False, 0
        elif self.unannounced:
            self.unannounced = False
            self.misses += 1

    def looked(self, found: bool) -> None:
        self.unannounced = found and not self.heard
        self.heard = False


class Follower:
    """Follows one vault. One at a time: a second one gets Busy when it starts."""

    def __init__(
        self, syncer: Syncer, changes: ChangeSource, hidden: HiddenEditFinder,
        embedder_factory: Callable[[], Embedder | None], state: Path, clock: Clock,
        *, rescan_s: float = 60.0, on_event: Callable[[FollowEvent], None],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._syncer = syncer
        self._changes = changes
        self._hidden = hidden
        self._embedder_factory = embedder_factory
        self._state = state
        self._clock = clock
        self._rescan_s = rescan_s
        self._on_event = on_event
        self._monotonic = monotonic
        self._health = _Health(clock.now())
        self._events = _Events()
        self._owed = Changes()
        self._taking = Changes()  # of it, what a sync is at work on
        self._retry = _Retry(_FIRST_RETRY_S, _LAST_RETRY_S)
        self._embed_retry = _Retry(_FIRST_EMBED_RETRY_S, _LAST_EMBED_RETRY_S)
        self._embed_due = True  # once at the start in any case: the embedder may be another one than before
        self._look_at = 0.0
        self._again_at: float | None = None

    def run(self, stop: threading.Event) -> None:
        """Follow until `stop` is set. Raises Busy when another process follows this vault already."""
        lock = FileLock(self._state / "watch.lock")
        try:
            with lock.held(0), ExitStack() as ending:
                left = read_heartbeat(self._state, self._clock.now())  # one that ends takes it away
                beating = ending.enter_context(Beating(self._state, self._clock, self._heartbeat))
                if left is not None:
                    before = f"the watcher before this one (process {left.heartbeat.pid})"
                    self._tell("mode", message=f"{before} ended without notice")
                self._tell("started")
                for batch in self._changes.batches(stop):
                    if stop.is_set():
                        break
                    if self._step(batch, stop):
                        beating.beat()
                self._tell("stopped")
        except Busy as error:
            raise Busy("another process watches this vault already; `hindbrain status` shows it") from error

    def pending(self) -> Changes | None:
        """What has changed and is not in the index yet; None when that can't be told. For other threads."""
        if self._health.text_error or not self._health.last_sync_at:
            return None
        found = self._changes.pending()
        return None if found is None else found | self._owed | self._taking

    def _heartbeat(self) -> Heartbeat:
        now, health = self._clock.now(), self._health
        return Heartbeat(
            os.getpid(), now, health.since, self._changes.mode, health.last_sync_at,
            health.text_error or health.embed_error, health.pending, health.busy_since,
            self._changes.events_fault,
        )  # fmt: skip

    def _step(self, batch: Changes, stop: threading.Event) -> bool:
        """Do what is due; False when nothing was."""
        now = self._monotonic()
        self._note(batch, now)
        try:
            if now >= self._look_at and now >= self._retry.at:
                self._look_at = now + self._rescan_s * _EARLY
                self._look(stop)
                # A vault that takes long to scan (a network drive) is not scanned all the time.
                self._look_at = max(self._look_at, now + _REST * (self._monotonic() - now))
            elif self._owed and now >= self._retry.at:
                self._take_in(stop)
            elif self._embed_due and not self._owed and now >= self._embed_retry.at:
                self._embed(stop)
            else:
                return False
        except _Stopped:
            pass
        finally:
            self._health.busy_since = 0.0
        return True

    def _note(self, batch: Changes, now: float) -> None:
        self._events.hear(batch)
        if self._events.misses >= _MISSES:
            self._events.misses = 0
            self._changes.distrust("changes were found that the system had not reported")
        self._owed |= batch
        if batch.new_folders:
            self._again_in(_SETTLE_S, now)
        if self._again_at is not None and now >= self._again_at:
            self._again_at = None
            self._owed |= Changes(rescan=True)

    def _again_in(self, seconds: float, now: float) -> None:
        at = now + seconds
        self._again_at = at if self._again_at is None else min(at, self._again_at)

    def _look(self, stop: threading.Event) -> None:
        """Compare the whole vault with the index, whatever was reported."""
        self._owed = Changes(rescan=True)
        report = self._take_in(stop, quietly=True)
        if report is None:
            return
        edited = self._attempt(self._hidden.find)
        if edited:
            self._owed |= Changes(edited)
            self._take_in(stop)
        self._events.looked(bool(report.indexed or report.removed or edited))

    def _take_in(self, stop: threading.Event, *, quietly: bool = False) -> SyncReport | None:
        """Sync the text of what is owed. None when that failed; it is then owed still, and a scan with it."""
        self._taking = owed = self._owed
        self._owed = Changes()
        self._health.busy_since = self._clock.now()
        if owed.rescan:
            report = self._attempt(lambda: self._syncer.sync(None, self._listener(stop)))
        else:
            report = self._attempt(lambda: self._syncer.sync_paths(owed.paths, None))
        if report is None or report.suspicious:
            # Not the same paths again: one that can't be opened would keep the others waiting.
            self._owed |= Changes(rescan=True)
            if report is not None:
                self._fail("frozen", "vault", _suspicion(report.suspicious))
            return None
        self._taking = Changes()
        self._took_in(report, whole=owed.rescan, quietly=quietly)
        return report

    def _took_in(self, report: SyncReport, *, whole: bool, quietly: bool) -> None:
        health = self._health
        if whole or not health.text_error:
            self._retry.worked()
        health.last_sync_at = self._clock.now()
        health.pending = report.pending
        self._embed_due = self._embed_due or report.pending > 0
        if not report.clean:
            self._again_in(min(_UNCLEAN_S if whole else _FIRST_RETRY_S, self._rescan_s), self._monotonic())
        changed = report.indexed or report.removed or report.failed
        self._tell("checked" if quietly and not changed else "synced", report)
        if whole:
            self._judge(report)

    def _judge(self, report: SyncReport) -> None:
        """After a scan: is there something that keeps the index from saying what the vault says?"""
        before, self._health.text_error = self._health.text_error, _what_is_wrong(report)
        if self._health.text_error == before:
            return
        if self._health.text_error:
            kind: EventKind = "frozen" if report.missing.frozen else "error"
            self._tell(kind, report, "incomplete", self._health.text_error)
        else:
            self._tell("resumed")

    def _embed(self, stop: threading.Event) -> None:
        """Give vectors to what has none. Only when no text is owed."""
        self._health.busy_since = self._clock.now()
        try:
            embedder = self._embedder_factory()
            if embedder is None:
                self._embed_due = False
                return
            if self._health.pending <= _AT_ONCE:
                report = self._syncer.sync_paths((), embedder)
            else:
                report = self._syncer.sync(embedder, self._listener(stop, slice_s=_SLICE_S))
        except _TimeUp:
            return
        except _Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a model does, the text goes on
            self._embed_failed(_code(error), str(error) or repr(error))
            return
        self._health.pending = report.pending
        if report.embedder_error:
            self._embed_failed(report.embedder_code, report.embedder_error)
            return
        self._embed_retry.worked()
        self._embed_due = report.pending > 0
        self._tell("embedded", report)
        if self._health.embed_error:
            self._health.embed_error = ""
            self._tell("resumed")

    def _embed_failed(self, code: str, message: str) -> None:
        self._embed_retry.failed(self._monotonic())
        is_new = message != self._health.embed_error
        self._health.embed_error = message
        if is_new:
            self._tell("error", None, code, message)

    def _listener(self, stop: threading.Event, *, slice_s: float | None = None) -> Listener:
        """Ends a sync between two of its transactions, where it can be ended safely."""
        started = self._monotonic()

        def listen(progress: Progress) -> None:
            if stop.is_set():
                raise _Stopped
            if progress.phase == "vectors":
                self._health.pending = progress.total - progress.done
                if slice_s is not None and self._monotonic() - started > slice_s and self._health.pending:
                    raise _TimeUp

        return listen

    def _attempt(self, work: Callable[[], _T]) -> _T | None:
        try:
            return work()
        except _Stopped:
            raise
        except (NotFound, VaultError) as error:
            self._fail("frozen", error.code, str(error))
        except Exception as error:  # noqa: BLE001 - a full disk or a bug must not end the watch; it is told
            self._fail("error", _code(error), str(error) or repr(error))
        return None

    def _fail(self, kind: EventKind, code: str, message: str) -> None:
        self._retry.failed(self._monotonic())
        is_new = message != self._health.text_error
        self._health.text_error = message
        if is_new:
            self._tell(kind, None, code, message)

    def _tell(
        self, kind: EventKind, report: SyncReport | None = None, code: str = "", message: str = ""
    ) -> None:
        now, since = self._clock.now(), self._health.busy_since
        took_s = now - since if report is not None and since else 0.0
        self._on_event(FollowEvent(kind, now, report, code, message, took_s))


def _code(error: Exception) -> str:
    return error.code if isinstance(error, HindbrainError) else "internal"


def _suspicion(why: str) -> str:
    says = {
        "empty": "the vault is empty, as an unmounted disk would be",
        "not_the_vault": "what is there now is not the vault that was indexed",
        "unreadable": "the vault's folder can't be read",
    }
    return f"{says.get(why, why)}; the index stays as it was until the vault is back"


def _what_is_wrong(report: SyncReport) -> str:
    gone = report.missing
    if gone.frozen:
        return (
            f"{plural(len(gone.deleted), 'note is', 'notes are')} missing at once; kept in the index; "
            "if they were deleted on purpose, run: hindbrain sync --yes"
        )
    if report.failed or gone.unseen:
        count = len(report.failed) + len(gone.unseen)
        return f"{plural(count, 'note')} could not be taken in; hindbrain status names them"
    return ""
