"""One request whose answer comes in pieces, and that can be given up at any moment.

The connection is read on a thread of its own, so that whoever asked is never stuck in a read: it looks on the
pieces, asks in between whether the answer is still wanted, and hangs up when it is not. Owns the thread and
its connection. Knows nothing of what the events say.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.errors import Cancelled, ModelError
from hindbrain.models.http import (
    Credential,
    HttpClient,
    Transient,
    authority,
    failure_of,
    headers_for,
    judged,
    time_limits,
)
from hindbrain.models.sse import Event, EventReader

if TYPE_CHECKING:
    import httpx

WHOLE = "whole"  # the kind of the one event that an answer is which was not sent in pieces
_LOOK_S = 0.05  # how often whoever waits is asked whether it still wants to
_MAX_ANSWER_BYTES = 16 * 1024 * 1024


class Call(NamedTuple):
    """What is sent, and where."""

    url: str
    payload: object
    timeout_s: float  # of silence
    credential: Credential | None = None
    headers: Mapping[str, str] = {}


class Interrupted(Exception):
    """No whole answer came; asked again, it may."""

    def __init__(self, failure: Transient) -> None:
        super().__init__(failure.reason)
        self.failure = failure


def events(http: HttpClient, call: Call, cancelled: Callable[[], bool]) -> Generator[Event, None, None]:
    """The events of an answer. Close it to hang up.

    Interrupted: not reachable, silent for too long, overloaded, or broken off. ModelError: it answered, and
    won't do it. Cancelled: `cancelled` said so.
    """
    wire = _Wire(http, call)
    try:
        pieces = wire.pieces(cancelled)
        response = next(pieces)
        assert not isinstance(response, bytes)
        if response.is_success and "text/event-stream" in response.headers.get("Content-Type", ""):
            yield from _as_they_come(pieces)
        else:
            yield from _at_once(response, b"".join(_bytes(pieces)), call)
    finally:
        wire.hang_up()


def _as_they_come(pieces: Iterator[httpx.Response | bytes]) -> Iterator[Event]:
    reader = EventReader()
    for piece in _bytes(pieces):
        yield from reader.feed(piece)
    yield from reader.close()


def _at_once(response: httpx.Response, content: bytes, call: Call) -> Iterator[Event]:
    """An error, a plain answer, or a stream that does not say that it is one."""
    found = judged(response, content, call.url, call.credential)
    if isinstance(found, Transient):
        raise Interrupted(found)
    if content.lstrip().startswith((b"data:", b"event:", b":")):
        reader = EventReader()
        yield from reader.feed(content)
        yield from reader.close()
    else:
        yield Event(content.decode("utf-8", "replace"), WHOLE)


def _bytes(pieces: Iterator[httpx.Response | bytes]) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        assert isinstance(piece, bytes)
        size += len(piece)
        if size > _MAX_ANSWER_BYTES:
            raise ModelError(f"the answer has more than {_MAX_ANSWER_BYTES} bytes; lower max_tokens")
        yield piece


class _Wire:
    """A connection that is used once, and the thread that reads it."""

    def __init__(self, http: HttpClient, call: Call) -> None:
        headers = {**headers_for(call.url, call.credential), **call.headers, "Accept": "text/event-stream"}
        self._call = call
        self._body = json.dumps(call.payload).encode("ascii")
        self._client = http.client_for(call.url, keeps=False)
        self._got: SimpleQueue[httpx.Response | bytes | Exception | None] = SimpleQueue()  # None: all of it
        self._lock = threading.Lock()
        self._connection: Any = None  # the newest stream of the network, as the library gives it
        self._hung_up = False
        threading.Thread(target=self._read, args=(headers,), name="hindbrain-chat", daemon=True).start()

    def pieces(self, cancelled: Callable[[], bool]) -> Iterator[httpx.Response | bytes]:
        """First the response, then its body."""
        while True:
            if cancelled():
                raise Cancelled("the answer was cancelled")
            try:
                got = self._got.get(timeout=_LOOK_S)
            except Empty:
                continue
            if got is None:
                return
            if isinstance(got, Exception):
                raise self._meaning(got) from None
            yield got

    def hang_up(self) -> None:
        """The thread wakes and ends, whatever it waits for."""
        with self._lock:
            self._hung_up = True
            connection = self._connection
        if connection is not None:
            with contextlib.suppress(OSError, AttributeError):
                connection.get_extra_info("socket").shutdown(socket.SHUT_RDWR)

    def _read(self, headers: Mapping[str, str]) -> None:
        try:
            with self._client.stream(
                "POST",
                self._call.url,
                content=self._body,
                headers=headers,
                timeout=time_limits(self._call.timeout_s),
                extensions={"trace": self._note},
            ) as response:
                self._got.put(response)
                for piece in response.iter_bytes():
                    self._got.put(piece)
                    if self._hung_up:
                        break
            self._got.put(None)
        except Exception as error:  # noqa: BLE001  it belongs to whoever waits for the answer
            self._got.put(error)

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        with self._lock:
            if self._hung_up:
                raise ConnectionAbortedError
            self._connection = info["return_value"]

    def _meaning(self, error: Exception) -> Exception:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            return Interrupted(Transient(f"silent for {self._call.timeout_s:g} s"))
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL):
            return Interrupted(failure_of(error, self._call.url, self._call.credential))
        return ModelError(f"the request to {authority(self._call.url)!r} failed ({type(error).__name__})")
