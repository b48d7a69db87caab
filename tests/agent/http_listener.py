"""An HTTP server on the loopback that keeps what is posted to it, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Posted(NamedTuple):
    path: str
    token: str  # the whole header
    body: Any


@dataclass
class Listener:
    url: str = ""
    status: int = 200
    body: Any = "ok"  # a text is sent as it is, anything else as JSON
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    posted: list[Posted] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            listener.posted.append(Posted(self.path, self.headers.get("Authorization", ""), body))
            if listener.hangs:
                listener.let_go.wait(30)
            said = listener.body if isinstance(listener.body, str) else json.dumps(listener.body)
            self.send_response(listener.status)
            for name, value in listener.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(said.encode())))
            self.end_headers()
            self.wfile.write(said.encode())

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that gave up waiting is part of the tests."""

    with Server(("127.0.0.1", 0), Handler) as server:
        listener.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield listener
        finally:
            listener.let_go.set()
            server.shutdown()
            thread.join()
