"""Services for embeddings and chat that are down, slow or wrong: real HTTP servers on the loopback."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FAULTS: Mapping[str, tuple[int, bytes]] = {
    "error": (500, b'{"error": "out of order"}'),
    "overloaded": (429, b'{"error": "too many requests"}'),
    "not found": (404, b"no such model"),
    "no key": (401, b'{"error": "bad key"}'),
    "garbage": (200, b"<html>hello</html>"),
    "empty": (200, b""),
    "cut": (200, b'{"data": [{"index": 0, "embedding": [0.1, 0.'),
    "other shape": (200, b'{"data": "yes", "choices": 7}'),
    "NaN": (
        200,
        b'{"data": [{"index": 0, "embedding": [NaN, NaN]}], "choices": [{"message": {"content": NaN}}]}',
    ),
    "wrong dimension": (200, b'{"data": [{"index": 0, "embedding": [1.0]}], "choices": [{"message": {}}]}'),
    "nothing": (200, b'{"data": [], "choices": []}'),
}
HANGS = "hangs"
REFUSES = "refuses"


class Faulty:
    """A service with one fault."""

    def __init__(self, fault: str) -> None:
        self.let_go = threading.Event()
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.asked += 1
                if fault == HANGS:
                    outer.let_go.wait()
                    return
                status, body = FAULTS[fault]
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        if fault == REFUSES:
            self.close()

    def close(self) -> None:
        self.let_go.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()
