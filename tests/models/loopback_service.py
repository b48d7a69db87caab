"""A real HTTP server on the loopback that speaks every provider's shape, and misbehaves when told to."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hindbrain.models.http import Timing

DIM = 8


def vector_of(text: str, dim: int = DIM) -> list[float]:
    """Differs for every text, and is not of length 1."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 16 + 1 for byte in (digest * (dim // 32 + 1))[:dim]]


@dataclass
class Answer:
    """A canned answer; `body` may be anything JSON can say, or raw bytes."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    hangs: bool = False
    cut_at: int | None = None  # bytes really sent, of those announced


@dataclass
class Seen:
    path: str
    headers: dict[str, str]  # names in lower case
    payload: Any


class Service:
    def __init__(self) -> None:
        self.seen: list[Seen] = []
        self.next: list[Answer] = []  # used up first; then every request is answered as it should be
        self.let_go = threading.Event()
        self.dim = DIM
        self.url = ""

    def answer(self, seen: Seen) -> Answer:
        return self.next.pop(0) if self.next else Answer(body=self.right(seen))

    def right(self, seen: Seen) -> Any:
        asked = seen.payload
        if seen.path.endswith(":batchEmbedContents"):
            texts = [item["content"]["parts"][0]["text"] for item in asked["requests"]]
            return {"embeddings": [{"values": vector_of(text, self.dim)} for text in texts]}
        rows = [vector_of(text, self.dim) for text in asked["input"]]
        if seen.path.endswith("/api/embed"):
            return {"model": asked["model"], "embeddings": rows}
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        return {"object": "list", "data": data[::-1]}  # out of order, as the shape allows


def _handler(service: Service) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen = Seen(self.path, headers, json.loads(raw))
            service.seen.append(seen)
            answer = service.answer(seen)
            if answer.hangs:
                service.let_go.wait()
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: answer.cut_at])
            self.close_connection = answer.cut_at is not None

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    return Handler


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up waiting is part of the tests."""


def serve() -> Iterator[Service]:
    service = Service()
    with Server(("127.0.0.1", 0), _handler(service)) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            service.let_go.set()
            server.shutdown()
            thread.join()


class FakeTime:
    """Moves only when somebody sleeps, or when it is told to."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.elapsed = 0.0

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.elapsed += seconds

    def timing(self) -> Timing:
        return Timing(
            sleep=self.sleep,
            monotonic=lambda: self.elapsed,
            now=lambda: 1_700_000_000.0 + self.elapsed,
            chance=lambda: 0.5,
        )
