"""Starts the daemon as a process of its own that outlives whoever started it, and asks it to end.

Knows it from outside only: by its lock and by what it answers.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import Busy, HindbrainError, WriteFailed
from hindbrain.edge.daemon.address import LOCK_FILE, LOG_FILE, daemon_folder
from hindbrain.edge.daemon.client import request

if TYPE_CHECKING:
    import subprocess

IDLE_MINUTES = 30.0
_END_S = 15.0  # for it to end: it puts its vaults in order first
_ANSWERS_S = 20.0  # for a new one to begin; a slow disk, a cold cache
_PING_S = 1.0
_ASK_AGAIN_S = 1.0  # to end
_LOOK_AGAIN_S = 0.02
_DETACHED = 0x00000208 if sys.platform == "win32" else 0  # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP


def folder_of(config: Config) -> Path:
    """The daemon's folder of these settings."""
    return Path(daemon_folder(state_folder(config).absolute()))


def start_in_background(config: Config, *, idle_minutes: float = IDLE_MINUTES) -> bool:
    """Start a daemon and do not wait for it. False when it could not be started; one that runs is fine."""
    try:
        _let_go(launch(config, idle_minutes))
    except (OSError, HindbrainError):
        return False
    return True


def ensure_running(config: Config, *, idle_minutes: float = IDLE_MINUTES) -> bool:
    """Return when a daemon answers; True when this call started it. Raises Busy or WriteFailed otherwise."""
    folder = folder_of(config)
    if answers(folder):
        return False
    child = launch(config, idle_minutes)
    deadline = time.monotonic() + _ANSWERS_S
    while time.monotonic() < deadline:
        ended = child.poll() is not None
        if pid := answers(folder):
            _let_go(child)
            return pid == child.pid
        if ended and is_free(folder, 0):  # else it found another one, which has not come to answer us yet
            raise WriteFailed(f"the daemon did not start: {_why(folder)}")
        time.sleep(_LOOK_AGAIN_S)
    _let_go(child)
    raise Busy(f"the daemon was started (process {child.pid}) and does not answer; see {folder / LOG_FILE}")


def _let_go(child: subprocess.Popen[bytes]) -> None:
    """It outlives us: nobody is to wait for it, or to complain that nobody did."""
    child.returncode = 0


def answers(folder: Path) -> int:
    """The process id of the daemon that answers; 0 when none does."""
    reply = request(folder, "ping", "", {}, timeout_s=_PING_S)
    result = reply.get("result") if reply else None
    pid = result.get("pid") if isinstance(result, dict) else None
    return pid if isinstance(pid, int) else 0


def launch(config: Config, idle_minutes: float) -> subprocess.Popen[bytes]:
    """A process of its own: no terminal, no pipe of ours, nothing that keeps our caller waiting."""
    import subprocess

    from hindbrain.edge.daemon.listening import make_private

    folder = folder_of(config)
    make_private(folder)
    command = [sys.executable, "-m", "hindbrain", "up", "--foreground", "--idle-minutes", f"{idle_minutes:g}"]
    log = _open_log(folder)
    try:
        return subprocess.Popen(
            command,
            cwd=folder,  # a vault's disk can be unmounted while the daemon runs
            env=_environ(config),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=sys.platform != "win32",
            creationflags=_DETACHED,
        )
    finally:
        os.close(log)


def _environ(config: Config) -> dict[str, str]:
    """Ours, with places that hold wherever the process stands."""
    places = {"HINDBRAIN_CONFIG": str(config.file.absolute())}
    if "HINDBRAIN_STATE_FOLDER" in os.environ:
        places["HINDBRAIN_STATE_FOLDER"] = str(state_folder(config).absolute())
    return {**os.environ, **places}


def _open_log(folder: Path) -> int:
    """The log, open for appending; a disk that has no room for it is no reason not to start."""
    try:
        return os.open(folder / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)


def _why(folder: Path) -> str:
    from hindbrain.edge.daemon.log import last_lines

    lines = last_lines(folder / LOG_FILE, 1)
    return lines[0] if lines else f"nothing is in its log {str(folder / LOG_FILE)!r}"


def stop_running(config: Config) -> bool:
    """Ask the daemon to end, by its own socket, and wait. False when none runs; Busy when it does not end.

    No process is ever ended by a number in a file: the number may be another process's by now.
    """
    folder = folder_of(config)
    if is_free(folder, 0):
        return False
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        # Again and again: one that was being started meanwhile takes the place of the one that ends.
        request(folder, "stop", "", {}, timeout_s=_PING_S)
        if is_free(folder, _ASK_AGAIN_S):
            return True
    raise Busy("the daemon was asked to end and has not; `hindbrain up status` shows its process")


def is_free(folder: Path, timeout_s: float) -> bool:
    """Does no daemon run here, or has it ended within this time? The system frees the lock of a dead one."""
    from hindbrain.vault.lock import FileLock

    if not (folder / LOCK_FILE).exists():
        return True
    try:
        with FileLock(folder / LOCK_FILE).held(timeout_s):
            return True
    except Busy:
        return False
