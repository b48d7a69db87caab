"""The sign of life of a watcher: a small file in the state folder, for `status` and `doctor`.

Owns `watch.json` and what its silence means. Knows nothing of what the watcher does.
"""

import contextlib
import json
import os
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from hindbrain.base.clock import Clock
from hindbrain.base.files import make_folder, replace_file

HEARTBEAT_FILE = "watch.json"
_BEAT_S = 3.0  # five are promised; a loaded machine may take a while
_STALE_S = 30.0
_LONGEST_SYNC_S = 600.0  # one that takes longer may hang
_MAX_BYTES = 64 * 1024
_MAX_ERROR_CHARS = 500


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Times are in seconds since the epoch; 0 means not yet, or not now."""

    pid: int
    beat_at: float
    since: float
    mode: str  # "events" or "polling"
    last_sync_at: float = 0.0  # the last one that ended well
    last_error: str = ""  # what keeps the index from saying what the vault says; "" when nothing does
    pending: int = 0  # passages without a vector
    busy_since: float = 0.0  # the sync that is under way; one of many minutes may hang
    events_fault: str = ""  # why the system's events can't be used; "" when they can


@dataclass(frozen=True, slots=True)
class WatchState:
    heartbeat: Heartbeat
    alive: bool
    why_stale: str = ""  # "" when alive


def read_heartbeat(state: Path, now: float) -> WatchState | None:
    """Return how the watcher of this state folder is; None when none runs, or the last one ended cleanly."""
    beat = _read(state / HEARTBEAT_FILE)
    if beat is None:
        return None
    if not _is_running(beat.pid):
        return WatchState(beat, False, f"process {beat.pid} is gone")
    if now - beat.beat_at > _STALE_S:
        return WatchState(beat, False, f"no sign of life for {now - beat.beat_at:.0f} s")
    return WatchState(beat, True)


def is_keeping_up(state: Path, now: float) -> bool:
    """Return whether a watcher takes in what changes, vectors included, as far as its heartbeat shows."""
    found = read_heartbeat(state, now)
    if found is None or not found.alive or found.heartbeat.last_error:
        return False
    busy_since = found.heartbeat.busy_since
    return not busy_since or now - busy_since < _LONGEST_SYNC_S


class Beating:
    """Writes the heartbeat in a thread of its own, since a sync may take minutes; removes it at the end."""

    def __init__(
        self, state: Path, clock: Clock, now: Callable[[], Heartbeat], *, every_s: float = _BEAT_S
    ) -> None:
        self._path = state / HEARTBEAT_FILE
        self._clock = clock
        self._now = now
        self._every_s = every_s
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> "Beating":
        self.beat()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        with contextlib.suppress(OSError):
            self._path.unlink()

    def beat(self) -> None:
        """Write it now. A full disk leaves the old one, which then goes stale, as it should."""
        with self._lock, contextlib.suppress(OSError):
            make_folder(self._path.parent)
            replace_file(self._path, json.dumps(asdict(self._now())).encode("utf-8"), durable=False)

    def _run(self) -> None:
        while not self._over.wait(self._every_s):
            self.beat()


def _read(path: Path) -> Heartbeat | None:
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(_MAX_BYTES))
        return Heartbeat(
            pid=int(found["pid"]),
            beat_at=float(found["beat_at"]),
            since=float(found["since"]),
            mode=str(found["mode"]),
            last_sync_at=float(found.get("last_sync_at", 0)),
            last_error=str(found.get("last_error", ""))[:_MAX_ERROR_CHARS],
            pending=int(found.get("pending", 0)),
            busy_since=float(found.get("busy_since", 0)),
            events_fault=str(found.get("events_fault", ""))[:_MAX_ERROR_CHARS],
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def _is_running(pid: int) -> bool:
    if os.name == "nt":
        return True  # os.kill would end it there; the age of the beat decides alone
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # another user's
    return True
