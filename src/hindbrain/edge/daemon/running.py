"""Being the daemon: from the lock to the last answer, in this process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import FrameType

from hindbrain.base.errors import Busy
from hindbrain.edge.daemon.listening import Listening, leave, listening
from hindbrain.edge.daemon.server import Daemon
from hindbrain.edge.daemon.starting import answers, is_free
from hindbrain.edge.serving.serving import say

_MAKE_ROOM_S = 10.0  # for a daemon that was asked to end
_LOOK_AGAIN_S = 0.1


def run_here(folder: Path, *, idle_minutes: float, vault: Path | None = None) -> str:
    """Be the daemon of this folder until it ends; returns why. Busy when another one answers there.

    `vault` is opened at the start, the others when they are asked about.
    """
    # Its helping threads wait by spinning, on cores that the host, too, would like to have: a turn took twice
    # as long with them. Read when numpy is imported, which nobody has done by now.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    signals = _Signals()
    deadline = time.monotonic() + _MAKE_ROOM_S
    while True:
        try:
            with listening(folder) as here:
                return _serve(here, signals, idle_minutes, vault)
        except Busy:
            # The other one may be ending, being of an older program; or beginning, and not to be found yet.
            if signals.why:
                return signals.why
            if answers(folder) or time.monotonic() > deadline:
                raise
            is_free(folder, _LOOK_AGAIN_S)


def _serve(here: Listening, signals: _Signals, idle_minutes: float, vault: Path | None) -> str:
    daemon = Daemon(here, idle_s=60 * idle_minutes, first=vault)
    signals.stop(daemon)
    if here.killed:
        say(f"the daemon before this one (process {here.killed}) ended without notice")
    say(f"listening at {here.address.place} ({here.address.kind}), process {here.address.pid}")
    try:
        why = daemon.run()
    finally:
        leave(here)  # first: whoever asks from now on is not kept waiting
        daemon.close()
    say(f"ended: {why}")
    return why


class _Signals:
    """Heard from before this daemon can be found: whoever finds it may end it at once."""

    def __init__(self) -> None:
        self.why = ""
        self._daemon: Daemon | None = None
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, self._heard)

    def stop(self, daemon: Daemon) -> None:
        """This is who is meant, also by a signal that has come already."""
        self._daemon = daemon
        if self.why:
            daemon.stop(self.why)

    def _heard(self, number: int, _: FrameType | None) -> None:
        self.why = self.why or f"signal {number}"
        if self._daemon is not None:
            self._daemon.stop(self.why)
