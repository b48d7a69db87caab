"""A server of JSON on loopback, behind the checks of `guard`: whoever serves gives the rules and the answers.

One thread per connection and one request on each, so that a slow client holds up nobody. Who comes while all
places are at work waits for one, and is told to come again when that takes too long. Nothing of a request is
read before it has passed the checks; nothing of it is logged. Knows no route.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Protocol

from hindbrain.edge.http.guard import Refusal, Rules, refusal
from hindbrain.edge.http.json_body import error_body
from hindbrain.edge.serving.sockets import has_gone

_SLOW_S = 10.0  # that a client may take for its whole request
_MOST_CONNECTIONS = 128
_MOST_WAITING = 128  # connections that wait for a place while all are at work
_PLACE_S = 5.0  # that they wait, then they are told to come again
_RETRY_AFTER_S = 1
_GOODBYE_S = 1.0  # for a client to take the answer and close
_MOST_LEFT = 20_000_000  # bytes of a body that nobody wanted, read so that its sender hears why
_LOOK_S = 0.5  # between looks at who is slow
_NEVER = float("inf")


class Asked(NamedTuple):
    """A request that passed the checks."""

    method: str
    path: str  # without the query
    query: str
    body: bytes
    agent: str  # who asks, in its own words; "" when it does not say
    has_gone: Callable[[], bool]  # has whoever asked closed the connection?


class Reply(NamedTuple):
    """`unheard` is called when whoever asked did not get it."""

    status: int
    told: Mapping[str, Any]
    unheard: Callable[[], None] | None = None


class Serves(Protocol):
    """What a server serves. Called by many threads."""

    @property
    def rules(self) -> Rules: ...

    def most_bytes(self, path: str) -> int:
        """The largest body that this route takes."""
        ...

    def refused(self, refused: Refusal) -> None:
        """Somebody was not served."""
        ...

    def answer(self, asked: Asked) -> Reply:
        """Never raises."""
        ...


class JsonServer:
    """Serves in threads of its own, until `close`."""

    def __init__(self, listening: socket.socket, serves: Serves, *, name: str) -> None:
        self._server = _Server(listening, serves)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_S,), name=name, daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """From now on nobody is served; answers that are under way are not waited for."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _let_go(connection: socket.socket) -> None:
    """Whoever reads from it finds it ended."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _is_heard(connection: socket.socket) -> bool:
    """Wait for the client to close: who closes with the answer unread breaks the connection off.

    Also keeps an answer from being lost that was given before the request was read.
    """
    left, until = _MOST_LEFT, time.monotonic() + _GOODBYE_S
    try:
        connection.shutdown(socket.SHUT_WR)
        while left > 0 and (wait_s := until - time.monotonic()) > 0:
            connection.settimeout(wait_s)
            part = connection.recv(65_536)
            if not part:
                return True
            left -= len(part)
    except TimeoutError:
        return True  # slow to close, and has it
    except OSError:
        return False
    return True


class _Waiting(NamedTuple):
    """A connection that waits for a place, and until when (of the monotonic clock)."""

    request: socket.socket
    client_address: Any
    until: float


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, serves: Serves) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.serves = serves
        self._waiting: list[_Waiting] = []  # the first to come first
        self._open: dict[int, tuple[socket.socket, float]] = {}  # and until when its request must be here
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        """When all places are taken, whoever has been silent for longest makes room; where all are at work,
        the new one waits for a place."""
        now = time.monotonic()
        with self._lock:
            full = len(self._open) >= _MOST_CONNECTIONS
            silent = [(until, one) for one, until in self._open.values() if until < _NEVER] if full else []
            at_work = full and not silent
            waits = at_work and len(self._waiting) < _MOST_WAITING
            if waits:
                self._waiting.append(_Waiting(request, client_address, now + _PLACE_S))
            elif not at_work:
                self._open[id(request)] = (request, now + _SLOW_S)
        if silent:
            _let_go(min(silent, key=lambda one: one[0])[1])
        if not at_work:
            super().process_request(request, client_address)
        elif not waits:
            self._turn_away(request)  # on this thread: the others stand in the system's line meanwhile

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(id(request), None)
        super().shutdown_request(request)
        self._take_next()

    def _take_next(self) -> None:
        """Give a free place to who has waited for longest."""
        with self._lock:
            if not self._waiting or len(self._open) >= _MOST_CONNECTIONS:
                return
            one = self._waiting.pop(0)
            self._open[id(one.request)] = (one.request, time.monotonic() + _SLOW_S)
        super().process_request(one.request, one.client_address)

    def _turn_away(self, request: socket.socket) -> None:
        """Say when to come again, without a look at the request, and let the answer arrive."""
        self.serves.refused(Refusal(503, "all places were taken"))
        body = (
            json.dumps(error_body("busy", "all connections are at work; try again")).encode("ascii") + b"\n"
        )
        head = (
            "HTTP/1.0 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nRetry-After: {_RETRY_AFTER_S}\r\nConnection: close\r\n\r\n"
        )
        with suppress(OSError):
            request.settimeout(_GOODBYE_S)
            request.sendall(head.encode("ascii") + body)
            _is_heard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        super().server_close()
        with self._lock:
            left, self._waiting = self._waiting, []
        for one in left:
            super().shutdown_request(one.request)

    def has_come_in(self, request: socket.socket) -> None:
        """The request is whole: from now on it is not its client who is slow."""
        with self._lock:
            if id(request) in self._open:
                self._open[id(request)] = (request, _NEVER)

    def service_actions(self) -> None:
        """Let go of who sends a request a byte at a time, and turn away who has waited too long."""
        now = time.monotonic()
        with self._lock:
            slow = [request for request, until in self._open.values() if until < now]
            late = [one.request for one in self._waiting if one.until < now]
            self._waiting = [one for one in self._waiting if one.until >= now]
        for request in slow:
            _let_go(request)
        for request in late:
            threading.Thread(target=self._turn_away, args=(request,), daemon=True).start()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SLOW_S
    wbufsize = -1  # head and body go out together
    disable_nagle_algorithm = True
    server_version = "hindbrain"
    sys_version = ""

    def _serve(self) -> None:
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        path, _, query = self.path.partition("?")
        serves = self.server.serves
        agent = self.headers.get("User-Agent", "")
        refused = refusal(self.command, path, headers, serves.rules) or self._wrong_length(path)
        body = b"" if refused else self._body()
        if body is None:
            refused = Refusal(400, "the body ended before it was whole")
        if refused is not None or body is None:
            assert refused is not None
            if not refused.proves:
                serves.refused(refused)
            self._send(refused.status, error_body("refused", refused.reason), refused.headers)
            _is_heard(self.connection)
            return
        self.server.has_come_in(self.connection)
        reply = serves.answer(Asked(self.command, path, query, body, agent, self._has_gone))
        heard = False
        try:
            if not (reply.unheard and self._has_gone()):
                self._send(reply.status, reply.told)
                heard = _is_heard(self.connection)
        finally:
            if reply.unheard is not None and not heard:
                reply.unheard()

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = do_TRACE = _serve

    def _wrong_length(self, path: str) -> Refusal | None:
        lengths = self.headers.get_all("Content-Length") or ["0" if self.command != "POST" else ""]
        most = self.server.serves.most_bytes(path)
        if self.headers.get("Transfer-Encoding") or not (lengths[0].isascii() and lengths[0].isdecimal()):
            return Refusal(411, "say with Content-Length how many bytes the body has")
        if len(set(lengths)) > 1 or len(lengths[0]) > 12 or int(lengths[0]) > most:
            return Refusal(413, f"a body has at most {most:,} bytes here")
        return None

    def _body(self) -> bytes | None:
        """None when its sender stops in the middle."""
        length = int(self.headers.get("Content-Length") or 0)
        try:
            found = self.rfile.read(length)
        except TimeoutError:
            return None
        return found if len(found) == length else None

    def _has_gone(self) -> bool:
        return has_gone(self.connection)

    def _send(self, status: int, told: Mapping[str, Any], headers: tuple[tuple[str, str], ...] = ()) -> None:
        body = json.dumps(told).encode("ascii") + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()
        self.close_connection = True

    def send_error(self, code: int, *_: object, **__: object) -> None:
        """What is no request at all, or has a method that nobody knows."""
        refused = Refusal(int(code), "this is no request that is served here")
        self.server.serves.refused(refused)
        self._send(refused.status, error_body("refused", refused.reason))
        _is_heard(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: what is asked is its owner's business."""
