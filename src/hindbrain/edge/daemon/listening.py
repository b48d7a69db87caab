"""The daemon's side of its address: one per state folder, where only its owner gets in, gone when it ends.

A Unix socket in the state folder where its path is short enough for the system, else in a private folder of
the runtime or temp folder; a loopback port where there are no Unix sockets. What a killed daemon left behind
is taken away by the next one.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hindbrain import __version__
from hindbrain.base.errors import Busy, WriteFailed
from hindbrain.base.files import make_folder, replace_file
from hindbrain.edge.daemon.address import (
    ADDRESS_FILE,
    LOCK_FILE,
    LOOPBACK,
    UNIX,
    Address,
    address_data,
    read_address,
)
from hindbrain.edge.daemon.silence import forget_silence
from hindbrain.vault.lock import FileLock

_SOCKET = "socket"
_PRIVATE_PREFIX = "hindbrain-"
_LONGEST_PATH = 103 if sys.platform == "darwin" else 107  # bytes, without the zero at the end
_BACKLOG = 128
_ASIDE_S = 0.25  # a client that looks whether anybody holds the lock holds it for a moment


class Listening(NamedTuple):
    """An open endpoint that can be found."""

    socket: socket.socket
    address: Address
    folder: Path
    killed: int = 0  # the process of a daemon that ended without notice before this one


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[Listening]:
    """Listen for the daemon of this folder. Busy when one runs already; WriteFailed when it can't be found by
    others, with a full disk perhaps. Leaves nothing behind."""
    make_private(folder)
    try:
        held = contextlib.ExitStack()
        held.enter_context(FileLock(folder / LOCK_FILE).held(_ASIDE_S))
    except Busy as error:
        raise Busy("a daemon runs already; `hindbrain up status` shows it") from error
    with held:
        killed = _clear_former(folder)
        opened, kind, place = _open(folder)
        address = Address(kind, place, secrets.token_urlsafe(32), os.getpid(), __version__, time.time())
        here = Listening(opened, address, folder, killed)
        try:
            _write_address(folder, address)
            yield here
        finally:
            leave(here)


def is_ours(here: Listening) -> bool:
    """Can this daemon still be found? Its folder may have been deleted, or replaced from a backup."""
    found = read_address(str(here.folder))
    return found is not None and found.token == here.address.token


def make_private(folder: Path) -> None:
    """Make the folder, for its owner alone. Raises WriteFailed."""
    try:
        make_folder(folder)
        if os.name != "nt" and folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise WriteFailed(f"the folder {str(folder)!r} can't be made private: {error.strerror}") from error


def peer_is_owner(connection: socket.socket) -> bool:
    """Is whoever connected the user that this process runs as? True where the system can't tell: the token
    and the folder's mode stand in front of it."""
    if connection.family != getattr(socket, "AF_UNIX", None):
        return True
    try:
        if hasattr(socket, "SO_PEERCRED"):
            _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        elif sys.platform == "darwin":  # struct xucred: version, uid, ...
            _, uid = struct.unpack_from("2I", connection.getsockopt(0, 1, 76))
        else:
            return True
    except OSError:
        return False
    return sys.platform == "win32" or bool(uid == os.geteuid())


def _open(folder: Path) -> tuple[socket.socket, str, str]:
    if hasattr(socket, "AF_UNIX"):
        for place in _places(folder):
            with contextlib.suppress(OSError):  # a file system without sockets; the next place may do
                return _bind_unix(place), UNIX, str(place)
    opened = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: nobody else may listen beside us
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        opened.bind(("127.0.0.1", 0))
        opened.listen(_BACKLOG)
    except OSError as error:
        opened.close()
        raise WriteFailed(f"no place to listen at: {error.strerror}") from error
    return opened, LOOPBACK, str(opened.getsockname()[1])


def _places(folder: Path) -> Iterator[Path]:
    """Where a socket could be: the daemon's folder, else one that only this process knows the name of."""
    own = folder / _SOCKET
    if len(os.fsencode(own)) <= _LONGEST_PATH:
        yield own
    for base in dict.fromkeys((os.environ.get("XDG_RUNTIME_DIR", ""), tempfile.gettempdir())):
        if not base or len(os.fsencode(base)) > _LONGEST_PATH - 30:
            continue
        with contextlib.suppress(OSError):
            yield Path(tempfile.mkdtemp(prefix=_PRIVATE_PREFIX, dir=base)) / _SOCKET


def _bind_unix(place: Path) -> socket.socket:
    if sys.platform == "win32":  # whose Python has no such sockets
        raise OSError(f"no socket can be made at {str(place)!r}")
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        opened.bind(str(place))
        place.chmod(0o600)
        opened.listen(_BACKLOG)
    except OSError:
        opened.close()
        _remove_socket(place)
        raise
    return opened


def _write_address(folder: Path, address: Address) -> None:
    """Whole or not at all, and only for its owner's eyes: it holds the token."""
    file = folder / ADDRESS_FILE
    try:
        replace_file(file, json.dumps(address_data(address)).encode("ascii"), durable=False)
    except OSError as error:
        raise WriteFailed(
            f"{str(file)!r} can't be written ({error.strerror}); nobody would find it"
        ) from error


def leave(here: Listening) -> None:
    """Take away what is this daemon's; may be called twice. From then on nobody finds it, and it is the only
    one until the lock is given back. In a folder that was deleted and made anew there may be another's."""
    here.socket.close()
    place = Path(here.address.place)
    found = read_address(str(here.folder))
    if is_ours(here):
        with contextlib.suppress(OSError):
            (here.folder / ADDRESS_FILE).unlink()
        forget_silence(str(here.folder))
    elif found is not None and found.place == here.address.place:
        return
    if here.address.kind == UNIX:
        _remove_socket(place)


def _clear_former(folder: Path) -> int:
    """Take away what a killed daemon left; returns its process id, 0 when none was killed. Only called by
    whoever holds the lock."""
    former = read_address(str(folder))
    forget_silence(str(folder))
    for left in (folder / ADDRESS_FILE, *folder.glob(f"{ADDRESS_FILE}.*.tmp")):
        with contextlib.suppress(OSError):
            left.unlink(missing_ok=True)
    _remove_socket(folder / _SOCKET)
    if former is not None and former.kind == UNIX:
        place = Path(former.place)
        if place.name == _SOCKET and place.parent.name.startswith(_PRIVATE_PREFIX):
            _remove_socket(place)
    return former.pid if former is not None else 0


def _remove_socket(place: Path) -> None:
    with contextlib.suppress(OSError):
        if place.is_socket():
            place.unlink()
    if place.parent.name.startswith(_PRIVATE_PREFIX):
        with contextlib.suppress(OSError):  # only when it is empty
            place.parent.rmdir()
