"""A model's API on loopback: answers real agent hosts from a script, and keeps what it was asked.

Speaks Anthropic's Messages and OpenAI's Responses, streamed or whole. Knows nothing of hooks or of Hindbrain.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]


class Say(NamedTuple):
    """The model answers with words, and the turn ends."""

    text: str
    tokens: int = 900  # what it says that the request cost: a host compacts by this


class Call(NamedTuple):
    """The model calls a tool of the host."""

    tool: str
    arguments: Mapping[str, Any]
    tokens: int = 900


Reply: TypeAlias = Say | Call
_NOTHING_LEFT = Say("Done.")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in."""

    path: str
    body: Json

    @property
    def main(self) -> bool:
        """Whether it is a step of the conversation, rather than a title or a count on the side."""
        if self.path.endswith("/responses"):
            return (
                True  # Codex asks for a summary without tools, and it is a step that a script has to answer
            )
        return bool(self.body.get("tools")) and not self.path.endswith("/count_tokens")

    @property
    def messages(self) -> list[Json]:
        """The conversation as it was sent, whichever of the two shapes it has."""
        return list(self.body.get("messages") or self.body.get("input") or ())

    @property
    def text(self) -> str:
        """All the words of the conversation, without system prompt and tools."""
        return "\n".join(_words(self.messages))


@dataclass
class StubModel:
    """Start with `with StubModel() as model:`; the port is free and only on loopback."""

    asked: list[Asked] = field(default_factory=list)
    _script: deque[Reply] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def __enter__(self) -> StubModel:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="stub-model", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *replies: Reply) -> None:
        """Answer the next steps of the conversation with these, one each; then with "Done."."""
        with self._lock:
            self._script = deque(replies)
            self.asked.clear()

    @property
    def steps(self) -> list[Asked]:
        """What was asked in the conversation itself, in order."""
        with self._lock:
            return [asked for asked in self.asked if asked.main]

    def answer(self, asked: Asked) -> tuple[int, Reply]:
        """Keep the request and give the number of the answer and the answer."""
        with self._lock:
            self.asked.append(asked)
            self._count += 1
            if asked.main and self._script:
                return self._count, self._script.popleft()
            return self._count, _NOTHING_LEFT


def _words(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _words(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in ("type", "role", "id", "call_id", "tool_use_id", "cache_control"):
                yield from _words(item)


def _handler_for(model: StubModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Be silent: what was asked is in the model's list."""

        def do_HEAD(self) -> None:
            self._send(b"", "application/json")

        def do_GET(self) -> None:
            model.answer(Asked(self.path, {}))
            self._send_json({"data": [], "models": [], "has_more": False})

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(size)
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                body = {"unparsed": raw.decode("utf-8", "replace")}
            path = self.path.partition("?")[0]
            asked = Asked(path, body if isinstance(body, dict) else {"list": body})
            number, reply = model.answer(asked)
            if path.endswith("/count_tokens"):
                self._send_json({"input_tokens": reply.tokens})
            elif path.endswith("/messages"):
                self._answer(
                    asked, _anthropic_events(number, reply, asked), _anthropic_whole(number, reply, asked)
                )
            elif path.endswith("/responses"):
                self._answer(asked, _openai_events(number, reply), _openai_whole(number, reply))
            else:
                self._send_json({})

        def _answer(self, asked: Asked, events: list[Json], whole: Json) -> None:
            if not asked.body.get("stream"):
                self._send_json(whole)
                return
            lines = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            self._send(lines.encode(), "text/event-stream")

        def _send_json(self, value: Json) -> None:
            self._send(json.dumps(value).encode(), "application/json")

        def _send(self, body: bytes, kind: str) -> None:
            try:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the host was killed, as some tests do

    return Handler


def _anthropic_block(number: int, reply: Reply) -> Json:
    if isinstance(reply, Say):
        return {"type": "text", "text": reply.text}
    return {
        "type": "tool_use",
        "id": f"toolu_{number:04}",
        "name": reply.tool,
        "input": dict(reply.arguments),
    }


def _anthropic_whole(number: int, reply: Reply, asked: Asked) -> Json:
    return {
        "id": f"msg_{number:04}",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", "stub"),
        "content": [_anthropic_block(number, reply)],
        "stop_reason": "end_turn" if isinstance(reply, Say) else "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": reply.tokens,
            "output_tokens": 20,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }


def _anthropic_events(number: int, reply: Reply, asked: Asked) -> list[Json]:
    whole = _anthropic_whole(number, reply, asked)
    block = _anthropic_block(number, reply)
    if isinstance(reply, Say):
        empty: Json = {"type": "text", "text": ""}
        delta: Json = {"type": "text_delta", "text": reply.text}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
            "usage": {"output_tokens": 20},
        },
        {"type": "message_stop"},
    ]


def _openai_item(number: int, reply: Reply) -> Json:
    if isinstance(reply, Say):
        words = {"type": "output_text", "text": reply.text, "annotations": []}
        return {
            "type": "message",
            "id": f"msg_{number:04}",
            "role": "assistant",
            "status": "completed",
            "content": [words],
        }
    return {
        "type": "function_call",
        "id": f"fc_{number:04}",
        "call_id": f"call_{number:04}",
        "name": reply.tool,
        "arguments": json.dumps(dict(reply.arguments)),
        "status": "completed",
    }


def _openai_whole(number: int, reply: Reply) -> Json:
    return {
        "id": f"resp_{number:04}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": "stub",
        "output": [_openai_item(number, reply)],
        "usage": {
            "input_tokens": reply.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": reply.tokens + 20,
        },
    }


def _openai_events(number: int, reply: Reply) -> list[Json]:
    whole = _openai_whole(number, reply)
    item = _openai_item(number, reply)
    events: list[Json] = [
        {"type": "response.created", "response": {**whole, "status": "in_progress", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
    ]
    if isinstance(reply, Say):
        where = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events.append({"type": "response.output_text.delta", **where, "delta": reply.text})
    events += [
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return [{**event, "sequence_number": place} for place, event in enumerate(events)]
