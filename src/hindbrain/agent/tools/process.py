"""One program, run without a shell: its words as they are, a clean environment, nothing left behind.

Its own process group, so that what it started is ended with it; no input; a time limit; of long output the
beginning and the end. On Windows what a program started is ended through `taskkill`; that was not run there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, NamedTuple

KEPT_BYTES = 64_000  # of the output: half from its beginning, half from its end
_GLANCE_S = 0.05  # between looks whether it has ended
_GRACE_S = 1.0  # to end by itself, when asked to
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "TMPDIR")
_PASSED_ON_WINDOWS = ("SystemRoot", "SystemDrive", "USERPROFILE", "TEMP", "TMP", "PATHEXT", "ProgramFiles")
_FIXED = {
    "HINDBRAIN_AGENT_RUN": "1",  # so that our own commands know whose they are
    "TERM": "dumb",
    "PAGER": "cat",
    "NO_COLOR": "1",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    # A folder that the agent wrote must not be taken for a repository whose settings name a program to run.
    "GIT_CONFIG_COUNT": "2",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    "GIT_CONFIG_KEY_1": "core.fsmonitor",
    "GIT_CONFIG_VALUE_1": "false",
}


class Finished(NamedTuple):
    """How it ended."""

    code: int  # below 0: by that signal
    output: str  # what it printed, errors too
    left_out: int = 0  # bytes in the middle of the output
    ended: str = ""  # "time" when it took too long, "cancelled" when it was no longer wanted


def clean_environment(environ: Mapping[str, str], folders: Sequence[str]) -> dict[str, str]:
    """What a program gets to know: never a key, nor what would make it run something else."""
    names = (*_PASSED_ON, *(_PASSED_ON_WINDOWS if sys.platform == "win32" else ()))
    passed_on = {name: environ[name] for name in names if environ.get(name)}
    return {**passed_on, **_FIXED, "PATH": os.pathsep.join(folders)}


def run_process(
    argv: Sequence[str],
    *,
    program: str,
    cwd: str,
    environment: Mapping[str, str],
    timeout_s: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Finished:
    """Run it to its end, or to the end of its time. Raises OSError when it can't be started."""
    process = subprocess.Popen(
        list(argv),
        executable=program,
        cwd=cwd,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=sys.platform != "win32",
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    assert process.stdout is not None
    output = _Output(process.stdout)
    try:
        ended = _wait(process, timeout_s, cancelled)
    finally:
        _end_group(process)
        output.close()
    return Finished(process.returncode, output.text(), output.left_out, ended)


def _wait(process: subprocess.Popen[bytes], timeout_s: float, cancelled: Callable[[], bool]) -> str:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            process.wait(_GLANCE_S)
            return ""
        except subprocess.TimeoutExpired:
            if cancelled():
                return "cancelled"
            if time.monotonic() >= deadline:
                return "time"


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End it and whatever it started that is still there; what it left in the background, too."""
    if process.poll() is None:
        _signal_group(process, gently=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE_S)
    _signal_group(process, gently=False)
    process.wait()


if sys.platform == "win32":

    def _signal_group(process: subprocess.Popen[bytes], *, gently: bool) -> None:
        if gently:
            with contextlib.suppress(OSError):
                process.send_signal(signal.CTRL_BREAK_EVENT)
        elif process.poll() is None:
            taskkill = os.path.join(os.environ["SYSTEMROOT"], "System32", "taskkill.exe")  # noqa: PTH118
            subprocess.run([taskkill, "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)
            with contextlib.suppress(OSError):
                process.kill()

else:

    def _signal_group(process: subprocess.Popen[bytes], *, gently: bool) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGTERM if gently else signal.SIGKILL)


class _Output:
    """Reads all that comes, and keeps the beginning and the end of it."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._head = bytearray()
        self._tail = bytearray()
        self.left_out = 0
        self._thread = threading.Thread(target=self._read, name="reads a program's output", daemon=True)
        self._thread.start()

    def _read(self) -> None:
        half = KEPT_BYTES // 2
        with contextlib.suppress(OSError, ValueError):
            while piece := os.read(self._pipe.fileno(), 65_536):
                room = half - len(self._head)
                self._head += piece[: max(room, 0)]
                self._tail += piece[max(room, 0) :]
                if len(self._tail) > half:
                    self.left_out += len(self._tail) - half
                    del self._tail[:-half]

    def close(self) -> None:
        """After the program has ended. One that left its group may hold the pipe: it is not waited for."""
        self._thread.join(_GRACE_S)
        if not self._thread.is_alive():
            self._pipe.close()

    def text(self) -> str:
        head, tail = bytes(self._head), bytes(self._tail)
        if not self.left_out:
            return (head + tail).decode("utf-8", "replace")
        gap = f"\n[... {self.left_out:,} bytes left out ...]\n"
        return head.decode("utf-8", "replace") + gap + tail.decode("utf-8", "replace")
