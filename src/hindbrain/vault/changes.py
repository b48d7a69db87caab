"""Watches a vault: batches of changed notes, as the system reports them or found by looking now and then.

Owns when a batch is complete, when events can't be trusted, and what to do then. What an event means is
judged in `event_paths`. Knows nothing of the index. A batch may be incomplete: who needs certainty scans from
time to time.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any, Literal, Protocol, TypeAlias

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import make_folder
from hindbrain.vault.event_paths import Changes, FileEvent, Kind, judge_events
from hindbrain.vault.ignore import IgnoreRules
from hindbrain.vault.scan import scan
from hindbrain.vault.scan_result import ScanResult

__all__ = ["ChangeSource", "Changes", "FileEvent", "Mode", "VaultChanges"]

Mode: TypeAlias = Literal["events", "polling"]
# Opens the system's watch and yields what it reported; an empty list when there was nothing for a moment.
OpenEvents: TypeAlias = Callable[[str, Event], Generator[list[FileEvent], None, None]]

_STEP_MS = 50  # how often the native watcher is asked: 0.1 % of a core
_ECHO_S = 0.05  # for the system to report a change of our own
_ECHO_NAME = "echo-"
_TICK_S = 1.0  # a sign of life at least so often
_HOLD_S = 1.0  # how long changes that do not cease may keep a few notes waiting
_HOLD_MANY_S = 5.0  # the same in a burst, where one sync is better than many
_MANY = 50
_POLL_S = 2.0
_POLL_SHARE = 10  # a look takes at most one part in so many of the time
_FAULTS = 5  # native watchers that broke within `_FAULTS_S`: then it looks by itself
_FAULTS_S = 60.0
_KINDS: dict[int, Kind] = {1: "added", 2: "modified", 3: "deleted"}
# Changes that other machines make there are not reported to this one.
_SILENT_SYSTEMS = frozenset(
    {
        *(
            "9p",
            "afs",
            "ceph",
            "cifs",
            "coda",
            "davfs",
            "drvfs",
            "glusterfs",
            "lustre",
            "ncpfs",
            "nfs",
            "nfs4",
        ),
        *("prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "fuse.davfs2", "fuse.gvfsd-fuse"),
        *("fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.vmhgfs-fuse"),
    }
)


class ChangeSource(Protocol):
    @property
    def mode(self) -> Mode: ...

    @property
    def events_fault(self) -> str:
        """Why the system's events can't be used; "" while they are, or where the file system has none."""
        ...

    def batches(self, stop: Event) -> Iterator[Changes]:
        """The first asks for a scan; an empty one comes at least every second or so. Ends with `stop`."""
        ...

    def pending(self) -> Changes | None:
        """What happened up to now and was not settled by whoever takes the batches. For other threads."""
        ...

    def distrust(self, reason: str) -> None:
        """Changes were found that had not been reported: look from now on instead of waiting to be told."""
        ...


class VaultChanges:
    """Watches one vault, through the loss and return of its root."""

    def __init__(
        self, root: Path, rules: IgnoreRules, *, debounce_ms: int = 300,
        say: Callable[[str], None], open_events: OpenEvents | None = None, poll_s: float = _POLL_S,
        echo: Path | None = None,
    ) -> None:  # fmt: skip
        """`say` is told why the mode changed. `debounce_ms` is the quiet time that ends a batch.

        `echo`: a folder of ours outside the vault, for `pending`.
        """
        self._root = root
        self._rules = rules
        self._quiet_s = debounce_ms / 1000
        self._say = say
        self._native = NativeEvents(echo) if open_events is None else None
        self._open_events = open_events or self._native_events
        self._poll_s = poll_s
        self._mode: Mode = "events"
        self._events_fault = ""
        self._faults: list[float] = []
        self._unsettled = Changes()  # heard, and not yet worked on by whoever takes the batches

    @property
    def mode(self) -> Mode:
        return self._mode

    @property
    def events_fault(self) -> str:
        return self._events_fault

    def distrust(self, reason: str) -> None:
        if self._mode == "events":
            self._events_fault = reason
            self._poll(reason)

    def _poll(self, reason: str) -> None:
        if self._mode == "events":
            self._mode = "polling"
            self._say(f"{reason}; looking for changes every {self._poll_s:g} s or more instead")

    def pending(self) -> Changes | None:
        """What happened up to now and was not settled by whoever takes the batches. For other threads.

        None when that can't be told: it looks instead of being told, or the system's events are late.
        """
        if self._mode != "events" or self._native is None:
            return None
        heard = self._native.heard_by_now()
        if heard is None:
            return None
        return judge_events(os.path.realpath(self._root), self._rules, heard) | self._unsettled

    def _native_events(self, top: str, stop: Event) -> Generator[list[FileEvent], None, None]:
        assert self._native is not None
        return self._native.events(top, stop)

    def batches(self, stop: Event) -> Iterator[Changes]:
        if (system := _silent_system(self._root)) is not None:
            self._poll(f"the vault is on {system}, which does not report the changes of other machines")
        while not stop.is_set():
            if (identity := _identity(self._root)) is None:
                yield Changes(rescan=True)  # the scan says what is wrong; nothing is removed by it
                yield from self._await_root(stop)
                continue
            follow = self._by_events if self._mode == "events" else self._by_looking
            yield from follow(identity, stop)

    def _await_root(self, stop: Event) -> Iterator[Changes]:
        while _identity(self._root) is None and not stop.wait(_TICK_S / 2):
            yield Changes()

    def _by_events(self, identity: tuple[int, int], stop: Event) -> Iterator[Changes]:
        """Until the root is another one, the native watcher breaks, or it is no longer believed."""
        top = os.path.realpath(self._root)
        batch = _Batch(self._quiet_s)
        try:
            with closing(self._open_events(top, stop)) as events:
                next(events, None)  # the watch stands now, so what the scan does not see will be reported
                self._unsettled = Changes(rescan=True)
                yield self._unsettled
                self._unsettled = Changes()
                for heard in events:
                    judged = judge_events(top, self._rules, heard)
                    self._unsettled |= judged
                    batch.add(judged)
                    if (ready := batch.ready(time.monotonic())) is not None:
                        yield ready
                        self._unsettled = Changes()
                        if self._mode != "events" or _identity(self._root) != identity:
                            return
        except FileNotFoundError:
            return  # the root went away this instant
        except OSError as error:
            self.distrust(f"the system can't watch this vault ({error})")
        except RuntimeError as error:  # the native watcher's own; a name that is not UTF-8 is enough
            self._count_fault(error)

    def _count_fault(self, error: RuntimeError) -> None:
        now = time.monotonic()
        self._faults = [at for at in self._faults if now - at < _FAULTS_S] + [now]
        if len(self._faults) >= _FAULTS:
            self.distrust(f"the watcher broke {_FAULTS} times within a minute ({error})")

    def _by_looking(self, identity: tuple[int, int], stop: Event) -> Iterator[Changes]:
        before = self._look()  # before the scan that is asked for: what changes in between is seen by both
        yield Changes(rescan=True)
        while _identity(self._root) == identity:
            started = time.monotonic()
            now = self._look()
            if found := _differences(before, now):
                yield found
            before = now
            due = max(started + self._poll_s, time.monotonic() + (time.monotonic() - started) * _POLL_SHARE)
            while (left_s := due - time.monotonic()) > 0:
                if stop.wait(min(left_s, _TICK_S)):
                    return
                yield Changes()

    def _look(self) -> ScanResult | None:
        try:
            return scan(self._root, self._rules)
        except HindbrainError:
            return None


class _Batch:
    """Gathers changes until they cease for a moment."""

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self._changes = Changes()
        self._first = self._last = self._told = time.monotonic()

    def add(self, changes: Changes) -> None:
        if not changes:
            return
        self._last = time.monotonic()
        if not self._changes:
            self._first = self._last
        self._changes |= changes

    def ready(self, now: float) -> Changes | None:
        """What is to be told now; None when it is better to wait."""
        if not self._changes:
            if now - self._told < _TICK_S:
                return None
        elif now - self._last < self._quiet_s and now - self._first < self._longest_s():
            return None
        ready, self._changes, self._told = self._changes, Changes(), now
        return ready

    def _longest_s(self) -> float:
        many = self._changes.rescan or len(self._changes.paths) > _MANY
        return max(_HOLD_MANY_S if many else _HOLD_S, self._quiet_s)


def _differences(before: ScanResult | None, now: ScanResult | None) -> Changes:
    if before is None or now is None:
        return Changes(rescan=before is not now)
    old = {file.path: file.stamp for file in before.files}
    new = {file.path: file.stamp for file in now.files}
    paths = frozenset(path for path, stamp in new.items() if old.get(path) != stamp)
    others = [(look.skipped, look.excluded, look.suspicious) for look in (before, now)]
    return Changes(paths, rescan=others[0] != others[1] or not old.keys() <= new.keys())


class NativeEvents:
    """The system's events of one vault, for the thread that waits for them and for others in a hurry.

    The system reports in order. Who wants to know all that happened up to now changes a file of our own,
    which is watched too, and waits for the report of that.
    """

    def __init__(self, echo: Path | None) -> None:
        self._echo = echo
        self._watcher: Any = None
        self._lock = threading.Lock()
        self._asked = self._heard = 0  # echoes
        self._inbox: list[FileEvent] = []  # for the waiting thread
        self._in_hand: list[FileEvent] = []  # given to it, until it asks for more

    def events(self, top: str, stop: Event) -> Generator[list[FileEvent], None, None]:
        from watchfiles._rust_notify import RustNotify  # 100 ms to import

        places = [top, *self._echo_folder()]
        # Never `ignore_permission_denied` (the last one): it hides as well that the watch limit was reached.
        with RustNotify(places, False, False, 300, True, False) as watcher:
            self._watcher = watcher
            try:
                yield []
                while True:
                    found = watcher.watch(2 * _STEP_MS, _STEP_MS, 2 * _STEP_MS, stop)
                    if found in ("stop", "signal"):
                        return
                    with self._lock:
                        self._take(found)
                        self._in_hand, self._inbox = self._inbox, []
                    yield self._in_hand
            finally:
                self._watcher = None

    def heard_by_now(self) -> list[FileEvent] | None:
        """What the waiting thread has not worked on yet; None when the system does not answer in time."""
        watcher, echo = self._watcher, self._echo
        if watcher is None or echo is None:
            return None
        deadline = time.monotonic() + _ECHO_S
        with self._lock:
            self._asked += 1
            asked = self._asked
        try:
            (echo / f"{_ECHO_NAME}{asked}").touch()
            while True:
                found = watcher.watch(1, 1, 1, None)
                with self._lock:
                    self._take(found)
                    if self._heard >= asked:
                        return [*self._in_hand, *self._inbox]
                if time.monotonic() > deadline:
                    return None
        except (OSError, RuntimeError):
            return None  # the watch has ended meanwhile
        finally:
            (echo / f"{_ECHO_NAME}{asked}").unlink(missing_ok=True)

    def _take(self, found: Any) -> None:
        if isinstance(found, str):  # "timeout"
            return
        for kind, path in found:
            _, ours, number = path.rpartition(_ECHO_NAME)
            if ours and self._echo is not None and path.startswith(str(self._echo)):
                self._heard = max(self._heard, int(number))
            elif self._echo is None or not path.startswith(str(self._echo)):
                self._inbox.append(FileEvent(_KINDS[int(kind)], path))

    def _echo_folder(self) -> list[str]:
        if self._echo is None:
            return []
        try:
            make_folder(self._echo)
            self._echo = Path(os.path.realpath(self._echo))
        except OSError:
            self._echo = None  # `pending` then can't tell, and others look for themselves
            return []
        return [str(self._echo)]


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _silent_system(root: Path) -> str | None:
    """The kind of file system the vault is on, when it is one that keeps changes to itself. Linux only."""
    if sys.platform == "win32":
        return None
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", errors="replace").splitlines()
        device = root.stat().st_dev
    except OSError:
        return None
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        mount, _, source = line.partition(" - ")
        if mount.split(" ")[2:3] == [wanted] and source.split(" ")[0] in _SILENT_SYSTEMS:
            return source.split(" ")[0]
    return None
