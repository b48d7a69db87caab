"""How tests run a daemon: as a process of its own, or on a thread with parts of the test's choosing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.address import Address, read_address
from hindbrain.edge.daemon.listening import leave, listening
from hindbrain.edge.daemon.server import Daemon
from hindbrain.edge.daemon.vaults import Vaults

PATIENCE_S = 30.0  # a limit for tests that would hang otherwise; never what is measured
_SLOW_DAEMON = Path(__file__).parent / "slow_daemon.py"


def wait_until(met: Callable[[], Any]) -> Any:
    """The first true value of `met`."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if found := met():
            return found
        threading.Event().wait(0.01)
    raise AssertionError("it did not come to that")


def halt(process: subprocess.Popen[bytes]) -> None:
    """Stop it in its tracks, and wait until it stands: a signal that was sent has not arrived yet."""
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


class Daemons:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        self._others: list[int] = []

    def start(self, *options: str, **kwargs: Any) -> subprocess.Popen[bytes]:
        """`hindbrain up --foreground`, and wait until it can be found."""
        return self._run([sys.executable, "-m", "hindbrain", "up", "--foreground", *options], **kwargs)

    def start_slow(self) -> subprocess.Popen[bytes]:
        """One that also knows the verb `block`, which marks that it has begun and then never ends."""
        return self._run([sys.executable, str(_SLOW_DAEMON), str(self.folder)])

    def _run(self, command: list[str], **kwargs: Any) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, **{"stderr": subprocess.DEVNULL, **kwargs})
        self._started.append(process)
        wait_until(lambda: self.pid == process.pid or process.poll() is not None)
        return process

    def also(self, pid: int) -> None:
        """A daemon that a command of this test has put into the background."""
        self._others.append(pid)

    @property
    def address(self) -> Address | None:
        return read_address(str(self.folder))

    @property
    def pid(self) -> int:
        found = self.address
        return found.pid if found is not None else 0

    def ask(
        self, verb: str, vault: Path | str = "", *, timeout_s: float = PATIENCE_S, **arguments: object
    ) -> dict[str, Any]:
        reply = client.request(self.folder, verb, vault, arguments, timeout_s=timeout_s)
        assert reply is not None
        return dict(reply)

    def end_all(self) -> None:
        for process in self._started:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
            process.wait(PATIENCE_S)
        client.request(self.folder, "stop", "", {}, timeout_s=5)  # what a test that failed has forgotten
        for pid in self._others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class InProcess:
    """A daemon on a thread of the test's process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.ended_because = ""
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self.daemon: Daemon

    def start(self, **settings: Any) -> Daemon:
        def idle(_: object) -> bool:
            return False

        def run() -> None:
            with listening(self.folder) as here:
                self.daemon = Daemon(
                    here, **{"idle_s": 0.0, "vaults": Vaults(self.folder.parent, idle, idle), **settings}
                )
                self._ready.set()
                self.ended_because = self.daemon.run()
                leave(here)
                self.daemon.close()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        return self.daemon

    def ask(
        self, verb: str, vault: Path | str = "", arguments: Mapping[str, object] | None = None
    ) -> dict[str, Any]:
        reply = client.request(self.folder, verb, vault, arguments or {}, timeout_s=PATIENCE_S)
        assert reply is not None
        return dict(reply)

    def join(self) -> str:
        assert self._thread is not None
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.ended_because

    def end(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.daemon.stop("the test is over")
            self._thread.join(PATIENCE_S)
