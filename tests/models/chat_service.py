"""A real HTTP server on the loopback that plays recorded answers of chat services, with faults or without."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

# whole: as HTTP says an end · cut: the connection closes in the middle · silent: it stays open, nothing comes
# mute: not even the first line of an answer comes
End = Literal["whole", "cut", "silent", "mute"]


@dataclass
class Played:
    """One answer."""

    pieces: Sequence[bytes] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/event-stream"})
    end: End = "whole"


@dataclass
class Asked:
    path: str
    headers: dict[str, str]  # names in lower case
    payload: Any


class ChatService:
    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.next: list[Played] = []
        self.props: Any = None  # what llama.cpp tells of itself; None: no such page
        self.hung_up = threading.Event()  # a client closed its connection while an answer was awaited
        self.url = ""


def stream(*told: Any, done: bool = False, named: bool = False, end: End = "whole") -> Played:
    """Events, each a piece of its own. `named`: by their own type; `done`: with OpenAI's last word."""
    pieces = []
    for one in told:
        name = f"event: {one['type']}\n" if named else ""
        pieces.append(f"{name}data: {json.dumps(one)}\n\n".encode())
    return Played([*pieces, b"data: [DONE]\n\n"] if done else pieces, end=end)


def plain(told: Any, status: int = 200, **headers: str) -> Played:
    body = told if isinstance(told, bytes) else json.dumps(told).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Played([body], status, {"Content-Type": "application/json", **named})


def _handler(service: ChatService) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = json.dumps(service.props).encode()
            self.send_response(404 if service.props is None else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            service.asked.append(Asked(self.path, headers, json.loads(raw)))
            try:
                self._answer(service.next.pop(0))
            except ConnectionError:  # it hung up while it was still being answered
                self.close_connection = True
                service.hung_up.set()

        def _answer(self, played: Played) -> None:
            if played.end != "mute":
                self._play(played)
            if played.end == "whole":
                self.wfile.write(b"0\r\n\r\n")
                return
            self.close_connection = True
            if played.end != "cut" and not self.connection.recv(1):
                service.hung_up.set()

        def _play(self, played: Played) -> None:
            self.send_response(played.status)
            for name, value in {**played.headers, "Transfer-Encoding": "chunked"}.items():
                self.send_header(name, value)
            self.end_headers()
            for piece in played.pieces:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.wfile.flush()

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that hangs up is part of the tests."""


def serve_chat() -> Iterator[ChatService]:
    service = ChatService()
    with _Server(("127.0.0.1", 0), _handler(service)) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
