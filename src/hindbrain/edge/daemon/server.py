"""The daemon: takes requests, hands them to the vault they are about, and ends when nobody needs it.

One thread accepts; each connection has a thread of its own, so that a slow or silent client holds up nobody;
the work is done on the lane of its vault. What nobody waits for is done on another, piece by piece.
Who has gone before the work begins gets none done; who goes before the answer is there has not been told.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hindbrain import __version__
from hindbrain.base.errors import Busy, HindbrainError, Refused, UsageError
from hindbrain.edge.daemon import protocol
from hindbrain.edge.daemon.chores import CatchUp, InTurn, MeasureNull, TryCanary, WarmUp
from hindbrain.edge.daemon.client import TAKEN
from hindbrain.edge.daemon.listening import Listening, is_ours, peer_is_owner
from hindbrain.edge.daemon.protocol import Request
from hindbrain.edge.daemon.tidying import Tidying
from hindbrain.edge.daemon.vaults import Served, Vaults
from hindbrain.edge.daemon.verbs import PASSAGES, PIECE_S, Result, answer, checked, take_back
from hindbrain.edge.service.port import ServicePort
from hindbrain.edge.serving.serving import encode_piece, report_failure, say
from hindbrain.edge.serving.sockets import has_gone, readable
from hindbrain.edge.serving.waiting import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from hindbrain.app import App
    from hindbrain.edge.serving.serving import Serving

_MOST_CONNECTIONS = 64
_FULL_S = 0.02  # between looks whether a place is free
_REQUEST_S = 5.0  # for a request to come in whole
_SEND_S = 5.0  # for an answer to be taken
_TAKEN_S = 2.0  # for the word that it was; it comes at once, or never
_LOOK_S = 30.0  # between looks whether this daemon can still be found
_CLOSING_S = 1.5  # for the vaults to be put in order at the end; whoever ends us does not wait much longer
_LAST_ANSWERS_S = 0.5
_LONGEST_SETTLING_S = 60.0


class Daemon:
    """Serves until it is stopped, or until nobody has asked about a vault for `idle_s` (0: never)."""

    def __init__(
        self, here: Listening, *, idle_s: float, vaults: Vaults | None = None,
        clock: Callable[[], float] = time.monotonic, first: Path | None = None,
    ) -> None:  # fmt: skip
        """`first`: a vault that is opened at the start: its index is kept and its memory tidied unasked."""
        self._here = here
        self._idle_s = idle_s
        self._clock = clock
        when_opened = InTurn(WarmUp(), encode_piece)
        chores = InTurn(CatchUp(), Tidying(), MeasureNull(), TryCanary())
        self.vaults = vaults or Vaults(here.folder.parent, when_opened, chores)
        self._service = ServicePort(here.folder.parent, self.vaults, self._note_use)
        self._first = first
        self._looked = clock()
        self._last_use = clock()
        self._active = 0
        self._change = threading.Condition()
        self._stopping = ""  # why
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._wake_writer.setblocking(False)

    def stop(self, why: str) -> None:
        """Let `run` end. May be called by any thread, and by a signal."""
        self._stopping = self._stopping or why
        with suppress(OSError):  # full: it wakes up anyway; closed: it has ended
            self._wake_writer.send(b"!")

    def run(self) -> str:
        """Serve; returns why it ended. Requests that were accepted are answered first."""
        self._here.socket.setblocking(False)  # whoever made it ready may have gone before it is accepted
        self._service.look()
        self._open_first()
        while not self._stopping:
            # Who comes while all places are taken stands in the system's line until one is free.
            full = self._active >= _MOST_CONNECTIONS
            waiting = [self._wake_reader] if full else [self._here.socket, self._wake_reader]
            ready = readable(waiting, _FULL_S if full else self._next_look_s())
            if self._here.socket in ready and not self._stopping:
                self._accept()
            elif not ready:
                self._stopping = self._reason_to_end()
            if self._clock() - self._looked >= _LOOK_S:
                self._looked = self._clock()
                self._service.look()
        return self._stopping

    def _open_first(self) -> None:
        if self._first is None:
            return
        try:
            self.vaults.served_at(str(self._first))
        except HindbrainError as error:  # it may be there when it is asked about
            say(f"{str(self._first)!r} is not opened: {error}  ({error.code})")

    def close(self) -> None:
        """Put the vaults in order, as far as there is time, and let the last answers out.

        What was acknowledged is durable, and what is cut short here goes on at the next start.
        """
        ending = threading.Thread(target=self._service.close, name="hindbrain-closing", daemon=True)
        ending.start()
        if not self.vaults.close(_CLOSING_S):
            say("it ends in the middle of something; that goes on at the next start")
        ending.join(_CLOSING_S)
        with self._change:
            self._change.wait_for(lambda: not self._active, _LAST_ANSWERS_S)
        self._wake_reader.close()
        self._wake_writer.close()

    @property
    def _stays(self) -> bool:
        """Nobody starts it again for a plugin that asks once a day."""
        return not self._idle_s or self._service.wanted > 0

    def _next_look_s(self) -> float:
        if self._stays:
            return _LOOK_S
        return min(_LOOK_S, max(0.0, self._last_use + self._idle_s - self._clock()) + 0.01)

    def _reason_to_end(self) -> str:
        if not is_ours(self._here):
            return "its folder was taken away"
        if self._stays or self._active or self.vaults.at_work():
            return ""
        idle_s = self._clock() - self._last_use
        return f"nobody asked for {self._idle_s / 60:g} minutes" if idle_s >= self._idle_s else ""

    def _accept(self) -> None:
        try:
            connection, _ = self._here.socket.accept()
        except OSError:  # whoever it was has gone again, or there are too many open files
            time.sleep(0.01)
            return
        with self._change:
            self._active += 1
        threading.Thread(target=self._serve, args=(connection,), name="hindbrain-asks", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._exchange(connection)
        except OSError:  # whoever asked has gone
            pass
        except Exception as error:  # noqa: BLE001  the outermost handler
            report_failure("answering a request", error)
        finally:
            with self._change:
                self._active -= 1
                self._change.notify_all()

    def _exchange(self, connection: socket.socket) -> None:
        asked = _Asked(connection)
        line = self._answered(asked)
        taken = False
        try:
            connection.settimeout(_SEND_S)
            connection.sendall(line)
            if asked.take_back is not None:
                connection.settimeout(_TAKEN_S)
                taken = connection.recv(1) == TAKEN
        finally:
            if asked.take_back is not None and not taken:
                asked.take_back()

    def _answered(self, asked: _Asked) -> bytes:
        try:
            if not peer_is_owner(asked.connection):
                raise Refused("this daemon serves another user")
            token = self._here.address.token
            request = protocol.parse_request(
                protocol.read_line(asked.connection, token, timeout_s=_REQUEST_S), token
            )
            return protocol.result_line(self._do(request, asked))
        except (HindbrainError, TimeoutError) as error:
            return protocol.failure_line(error)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001  the caller is told that, the log knows more
            report_failure("a request", error)
            return protocol.failure_line(error)

    def _do(self, request: Request, asked: _Asked) -> Result:
        if not request.vault and not request.near:
            return self._own_verb(request.verb)
        checked(request.verb, request.arguments)  # before a vault is opened for it
        try:
            served = self._served(request)
            if request.verb == "settle":
                return self._settle(served.chores, request.arguments)
            result = self._on_lane(served.serving, request, asked)
            if request.verb == "keep":
                served.chores.submit(lambda _: None)  # it looks at what waits soon after each call
            return result
        finally:
            self._note_use()

    def _note_use(self) -> None:
        self._last_use = self._clock()
        if self.vaults.moved:
            self.stop("the settings name another state folder by now")

    def _served(self, request: Request) -> Served:
        if request.vault:
            return self.vaults.served_at(request.vault)
        return self.vaults.served_near(request.near)

    def _own_verb(self, verb: str) -> Result:
        if verb == "ping":
            return {"pid": self._here.address.pid, "version": __version__}
        if verb == "status":
            self._service.look()  # whoever has changed its settings asks how it stands
            return self.status()
        if verb == "stop":
            self.stop("it was asked to")
            return {"pid": self._here.address.pid}
        raise UsageError(f"{verb!r} needs a vault; without one there are: ping, status, stop")

    def status(self) -> Result:
        """The daemon as a whole."""
        now = self._clock()
        return {
            "pid": self._here.address.pid,
            "version": __version__,
            "since": self._here.address.started,
            "idle_s": round(now - self._last_use, 1),
            "ends_after_idle_s": 0.0 if self._stays else self._idle_s,
            "service": self._service.data(),
            "vaults": [
                {
                    "path": str(one.root),
                    "since": one.since,
                    "requests": one.requests,
                    "making_index": None if one.serving.making is None else str(one.serving.making),
                }
                for one in self.vaults.served()
            ],
        }

    def _on_lane(self, serving: Serving, request: Request, asked: _Asked) -> Result:
        def work(app: App) -> Result:
            return answer(app, request.verb, request.arguments)

        if not request.patience_s:  # told, not asked
            serving.submit(work)
            return {}
        result = wait_for(
            serving.submit, work, patience_s=request.patience_s, has_gone=asked.has_gone,
            too_late=lambda late: _take_back(serving, request, late),
        )  # fmt: skip
        if result.get(PASSAGES):
            asked.take_back = lambda: _take_back(serving, request, result)
        return result

    def _settle(self, chores: Serving, arguments: Mapping[str, object]) -> Result:
        """Piece by piece, so that it ends when the daemon does."""
        limit_s = min(checked("settle", arguments).get("deadline_s", PIECE_S), _LONGEST_SETTLING_S)
        deadline = self._clock() + limit_s
        total: Result = {}
        while not self._stopping:
            piece_s = min(PIECE_S, max(0.0, deadline - self._clock()))
            asked = {**arguments, "deadline_s": piece_s}
            piece = chores.submit(lambda app, asked=asked: answer(app, "settle", asked)).result()  # type: ignore[misc]
            total = _added(total, piece)
            if not piece.get("more") or not piece.get("sessions") or self._clock() >= deadline:
                return total
        raise Busy("the daemon is ending")


class _Asked:
    """A connection on which something was asked. `take_back`: to be done when nobody hears the answer."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.take_back: Callable[[], None] | None = None

    def has_gone(self) -> bool:
        """Has whoever asked closed the connection? A daemon that was stopped for a while finds many such."""
        return has_gone(self.connection)


def _take_back(serving: Serving, request: Request, result: Mapping[str, object]) -> None:
    with suppress(Busy):  # it ends: the ledger says a little too much
        serving.submit(lambda app: take_back(app, request.arguments, result))


def _added(total: Result, piece: Mapping[str, object]) -> Result:
    """Counts are summed, lists joined; of the rest the last word holds."""
    added = dict(total)
    for name, value in piece.items():
        before = added.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and isinstance(before, int):
            added[name] = before + value
        elif isinstance(value, list | tuple) and isinstance(before, list | tuple):
            added[name] = [*before, *value]
        else:
            added[name] = value
    return added
