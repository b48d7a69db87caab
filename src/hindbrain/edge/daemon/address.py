"""Where the daemon of a state folder can be reached: the values in `daemon.json`, and how they are read.

Standard library only, and little of it: a hook reads this on its way to every answer. What the daemon itself
does to listen there is in `listening`.
"""

from __future__ import annotations

import os
import sys

from hindbrain.edge.daemon.quick_json import loads

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its module
if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = "daemon"  # in the state folder; only its owner may look into it
ADDRESS_FILE = "daemon.json"
LOCK_FILE = "daemon.lock"  # held for as long as the daemon runs, and freed by the system when it dies
LOG_FILE = "log"

UNIX, LOOPBACK = "unix", "loopback"
_MOST_BYTES = 65_536


class Address:
    """Where one daemon listens, and what it must be told."""

    __slots__ = ("kind", "pid", "place", "started", "token", "version")

    def __init__(self, kind: str, place: str, token: str, pid: int, version: str, started: float) -> None:
        self.kind = kind  # UNIX or LOOPBACK
        self.place = place  # the socket's path, or the port
        self.token = token
        self.pid = pid  # to be shown to a person; nothing of ours ends a process by it
        self.version = version  # of the program that runs
        self.started = started  # seconds since the epoch


def daemon_folder(state: str | os.PathLike[str]) -> str:
    """The daemon's own folder in a state folder."""
    return os.path.join(os.fspath(state), FOLDER)  # noqa: PTH118  pathlib costs more than the whole question


def likely_folder(environ: Mapping[str, str]) -> str:
    """The daemon's folder where the settings file does not move it; "" when only the settings can tell.

    Reading the settings costs a hook as much as all the rest. Where this is wrong there is no daemon, or one
    that knows better and ends: whoever gets no answer reads the settings and asks again.
    """
    state = environ.get("HINDBRAIN_STATE_FOLDER", "")
    if not state:
        data = "" if environ.get("HINDBRAIN_CONFIG") else _usual_data_folder(environ)
        if not data:
            return ""
        state = os.path.join(data, "hindbrain")  # noqa: PTH118
    return daemon_folder(os.path.abspath(os.path.expanduser(state)))  # noqa: PTH100, PTH111


def _usual_data_folder(environ: Mapping[str, str]) -> str:
    """Where applications keep their data; "" when that takes more than a look at the environment."""
    home, named = environ.get("HOME", ""), environ.get("XDG_DATA_HOME", "").strip()
    if sys.platform == "win32":
        return environ.get("LOCALAPPDATA", "")
    if not home or environ.get("ANDROID_DATA"):
        return ""
    if sys.platform == "darwin":
        return "" if named else f"{home}/Library/Application Support"
    return named or f"{home}/.local/share"


def read_address(folder: str) -> Address | None:
    """What `daemon.json` says; None when there is none, or nothing that can be used."""
    try:
        with open(os.path.join(folder, ADDRESS_FILE), "rb") as file:  # noqa: PTH118
            found = loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError):
        return None
    return _checked(found) if isinstance(found, dict) else None


def _checked(found: Mapping[str, object]) -> Address | None:
    kind, place, token, version = (found.get(name) for name in ("kind", "address", "token", "version"))
    pid, started = found.get("pid"), found.get("started")
    if kind not in (UNIX, LOOPBACK) or not isinstance(pid, int) or not isinstance(started, int | float):
        return None
    if not (isinstance(place, str) and isinstance(token, str) and isinstance(version, str)):
        return None
    if kind == LOOPBACK and not (place.isascii() and place.isdecimal() and 0 < int(place) < 65_536):
        return None
    return Address(str(kind), place, token, pid, version, float(started))


def address_data(address: Address) -> dict[str, object]:
    """As `daemon.json` has it."""
    return {
        "kind": address.kind,
        "address": address.place,
        "token": address.token,
        "pid": address.pid,
        "version": address.version,
        "started": address.started,
    }
