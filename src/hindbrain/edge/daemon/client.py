"""Asks the daemon. Standard library only: a hook imports this and little else.

No answer is no error: whoever asks then does the job itself. Never waits longer than it is told to, never
sends a word to a place that is not known to be the daemon's, and leaves a daemon alone for a while that did
not answer at all (`silence`).
"""

from __future__ import annotations

import _socket  # `socket` without its comforts, which take longer to import than an answer takes
import os
import time

from hindbrain import __version__
from hindbrain.edge.daemon.address import LOCK_FILE, LOOPBACK, Address, read_address
from hindbrain.edge.daemon.quick_json import dumps, loads

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without its module
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PROTOCOL = 1
LARGEST = 8_000_000  # bytes of a request or an answer, as one line
TAKEN = b"\n"  # what the daemon hears from a caller that has the whole answer
_MARGIN_S = 0.05  # the daemon gives up a little before its caller does
_SEND_S = 0.2  # for what needs no answer
_SILENT = "silent"  # `silence.FILE`, without its module


def ask(
    folder: str | os.PathLike[str], verb: str, vault: str | os.PathLike[str], arguments: Mapping[str, object],
    *, timeout_s: float, near: str = "", fits: Callable[[Mapping[str, object]], bool] | None = None,
) -> dict[str, object] | None:  # fmt: skip
    """The result of `verb` on a vault, as `verbs.answer` gives it.

    `folder` is the daemon's own (`address.daemon_folder`, or `likely_folder`). `near`: instead of a vault,
    the folder from which one is looked for, so that the caller needs no settings. None: there is no daemon,
    it did not answer in time, or it could not do it; the caller does it itself, and learns what is wrong.
    `fits`: can the caller use the result? Else the daemon is not told that it was taken.
    """
    place = os.fspath(folder)
    address = _running(place)
    if address is None:
        return None
    was_silent = os.path.exists(os.path.join(place, _SILENT))  # noqa: PTH110, PTH118
    if was_silent:
        from hindbrain.edge.daemon.silence import forget_silence, patience_s

        timeout_s = patience_s(place, address, timeout_s)
        if not timeout_s:
            return None
    try:
        reply = _exchanged(address, verb, os.fspath(vault), arguments, timeout_s, near, fits)
    except TimeoutError:
        _note_if_silent(place, address)
        return None
    except (OSError, ValueError):
        return None
    if was_silent:
        forget_silence(place)
    result = reply.get("result") if reply is not None and reply.get("ok") is True else None
    return result if isinstance(result, dict) else None


def _note_if_silent(folder: str, address: Address) -> None:
    """One that is merely slow, as with a cold disk, still says that it is there."""
    from hindbrain.edge.daemon.silence import AGAIN_S, note_silence

    try:
        _exchanged(address, "ping", "", {}, AGAIN_S, "")
    except TimeoutError:
        note_silence(folder, address)
    except (OSError, ValueError):
        return


def request(
    folder: str | os.PathLike[str], verb: str, vault: str | os.PathLike[str], arguments: Mapping[str, object],
    *, timeout_s: float, near: str = "",
) -> dict[str, object] | None:  # fmt: skip
    """The whole answer, also one that says what failed; None when there is no daemon or no answer in time.
    Asks it whatever it did before."""
    address = _running(os.fspath(folder))
    if address is None:
        return None
    try:
        return _exchanged(address, verb, os.fspath(vault), arguments, timeout_s, near)
    except (OSError, ValueError):
        return None


def _exchanged(
    address: Address,
    verb: str,
    vault: str,
    arguments: Mapping[str, object],
    timeout_s: float,
    near: str,
    fits: Callable[[Mapping[str, object]], bool] | None = None,
) -> dict[str, object] | None:
    """Raises TimeoutError when there was no answer, OSError when nobody is there, ValueError for nonsense."""
    deadline = time.monotonic() + timeout_s
    line = _line(address, verb, vault, arguments, max(0.0, timeout_s - _MARGIN_S), near)
    if line is None:
        return None
    connection = _connect(address, deadline)
    try:
        _send(connection, line, deadline)
        reply = _received(connection, deadline)
        result = reply.get("result") if reply is not None else None
        if isinstance(result, dict) and (fits is None or fits(result)):
            _acknowledge(connection)
        return reply
    finally:
        connection.close()


def tell(
    folder: str | os.PathLike[str], verb: str, vault: str | os.PathLike[str], arguments: Mapping[str, object],
    *, near: str = "",
) -> bool:  # fmt: skip
    """Ask for something and do not wait for the answer. False when nobody heard it."""
    place = os.fspath(folder)
    address = _running(place)
    if address is None or os.path.exists(os.path.join(place, _SILENT)):  # noqa: PTH110, PTH118
        return False
    return _tell(address, verb, os.fspath(vault), arguments, near)


def _tell(address: Address, verb: str, vault: str, arguments: Mapping[str, object], near: str = "") -> bool:
    deadline = time.monotonic() + _SEND_S
    line = _line(address, verb, vault, arguments, 0.0, near)
    if line is None:
        return False
    connection = None
    try:
        connection = _connect(address, deadline)
        _send(connection, line, deadline)
    except OSError:
        return False
    finally:
        if connection is not None:
            connection.close()
    return True


def _running(folder: str) -> Address | None:
    """Where the daemon is that this program may talk to. An older one is asked to make room for the next."""
    address = read_address(folder)
    if address is None or (address.kind == LOOPBACK and _nobody_holds(folder)):
        return None
    if address.version == __version__:
        return address
    if _parts(address.version) < _parts(__version__):
        _tell(address, "stop", "", {})
    return None  # another program's: its answers may have another shape


def _nobody_holds(folder: str) -> bool:
    """A port of a daemon that was killed may be anybody's by now, and is told nothing."""
    from pathlib import Path

    from hindbrain.base.errors import Busy, HindbrainError
    from hindbrain.vault.lock import FileLock

    try:
        with FileLock(Path(folder) / LOCK_FILE).held(0):
            return True
    except Busy:
        return False
    except HindbrainError:
        return True


def _parts(version: str) -> list[int]:
    return [int(part) if part.isdecimal() else -1 for part in version.split(".")]


def _line(
    address: Address,
    verb: str,
    vault: str,
    arguments: Mapping[str, object],
    patience_s: float,
    near: str = "",
) -> bytes | None:
    """The request as it is sent; None when it is too large or can't be said in JSON.

    The token comes first: nobody is listened to for long without one.
    """
    asked = {
        "v": PROTOCOL,
        "token": address.token,
        "verb": verb,
        "vault": vault,
        "near": near,
        "patience_s": round(patience_s, 3),
        "arguments": arguments,
    }
    try:
        text = dumps(asked)
    except (TypeError, ValueError, RecursionError):
        return None
    line = text.encode("utf-8", "surrogatepass") + b"\n"  # half a character, from a broken file name
    return line if len(line) <= LARGEST else None


def _connect(address: Address, deadline: float) -> _socket.socket:
    place: str | tuple[str, int] = address.place
    if address.kind == LOOPBACK:
        family, place = _socket.AF_INET, ("127.0.0.1", int(address.place))
    elif hasattr(_socket, "AF_UNIX"):
        family = _socket.AF_UNIX
    else:
        raise OSError("this system has no Unix sockets")
    connection = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        connection.settimeout(_left(deadline))
        connection.connect(place)
    except BaseException:
        connection.close()
        raise
    return connection


def _send(connection: _socket.socket, line: bytes, deadline: float) -> None:
    connection.settimeout(_left(deadline))
    connection.sendall(line)  # the time-out is for all of it


def _received(connection: _socket.socket, deadline: float) -> dict[str, object] | None:
    """One line of JSON; None when it is not one. A daemon that dies meanwhile closes the connection."""
    parts: list[bytes] = []
    size = 0
    while not (parts and parts[-1].endswith(b"\n")):
        connection.settimeout(_left(deadline))
        part = connection.recv(65_536)
        size += len(part)
        if not part or size > LARGEST:
            return None
        parts.append(part)
    answer = loads(b"".join(parts))
    return answer if isinstance(answer, dict) else None


def _acknowledge(connection: _socket.socket) -> None:
    try:
        connection.send(TAKEN)
    except OSError:
        return  # it did not want to know


def _left(deadline: float) -> float:
    left_s = deadline - time.monotonic()
    if left_s <= 0:
        raise TimeoutError
    return left_s
