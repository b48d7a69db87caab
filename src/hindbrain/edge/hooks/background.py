"""What an event sets going, without waiting for it: the daemon, or one round of catching up."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import HindbrainError

_DETACHED = 0x00000208 if sys.platform == "win32" else 0  # DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP
_SETTLE_S = 120


def begin_session(config: Config, root: Path, *, running: bool) -> None:
    """Never raises and never waits. `running`: the daemon has just answered."""
    from hindbrain.edge.hooks.journal import forget_old_sessions

    forget_old_sessions(state_folder(config))
    try:
        if running:
            _poke_daemon(config, root)
        elif wants_daemon(config):
            start_daemon(config)
        else:
            _settle_in_background(config, root)
    except (OSError, HindbrainError):
        return  # the next session tries again; what waits goes on waiting


def start_daemon(config: Config) -> None:
    """Where one is wanted. One that is there and silent leaves no room for another; only a person ends it."""
    from hindbrain.edge.daemon import silence
    from hindbrain.edge.daemon.starting import folder_of, start_in_background

    if wants_daemon(config) and not (folder_of(config) / silence.FILE).exists():
        start_in_background(config)


def wants_daemon(config: Config) -> bool:
    return config.flag("hooks.daemon")


def _poke_daemon(config: Config, root: Path) -> None:
    from hindbrain.edge.daemon.address import daemon_folder
    from hindbrain.edge.daemon.client import tell

    tell(daemon_folder(state_folder(config).absolute()), "settle", root, {})


def _settle_in_background(config: Config, root: Path) -> None:
    """For an owner who wants no daemon: a process that catches up and ends."""
    import subprocess

    subprocess.Popen(
        [
            sys.executable,
            "-m",
            "hindbrain",
            "hook",
            "settle",
            "--vault",
            str(root),
            "--seconds",
            str(_SETTLE_S),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HINDBRAIN_STATE_FOLDER": str(state_folder(config).absolute())},
        start_new_session=sys.platform != "win32",
        creationflags=_DETACHED,
    ).returncode = 0  # it outlives us
