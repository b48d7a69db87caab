"""A model's API on loopback for OpenClaw: answers from a script, and keeps what it was asked.

Speaks OpenAI's chat completions, streamed or whole, and embeddings. Knows nothing of OpenClaw's sessions.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, TypeAlias

Json: TypeAlias = dict[str, Any]
Embed: TypeAlias = Callable[[Sequence[str]], Sequence[Sequence[float]]]
_DIM = 256


class Say(NamedTuple):
    """The model answers with words, and the turn ends."""

    text: str
    tokens: int = 0  # what it says that the request cost; 0: as many as the request has, roughly


class Call(NamedTuple):
    """The model calls a tool of the host."""

    tool: str
    arguments: Mapping[str, Any]
    tokens: int = 0


Reply: TypeAlias = Say | Call
Step: TypeAlias = "Reply | Callable[[Asked], Reply]"
_NOTHING_LEFT = Say("Done.")
_INTERNAL = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>"  # a message that OpenClaw writes behind the user's


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in."""

    path: str
    body: Json
    number: int = 0

    @property
    def main(self) -> bool:
        """Whether it is a step of a conversation; a summary or a title is asked for without tools."""
        return bool(self.body.get("tools"))

    @property
    def messages(self) -> list[Json]:
        return list(self.body.get("messages") or ())

    @property
    def system(self) -> str:
        return "\n".join(text_of(one) for one in self.messages if one.get("role") in ("system", "developer"))

    @property
    def said(self) -> str:
        """The latest message of the user with all that was put into it, as it was sent."""
        said = [text_of(one) for one in self.messages if one.get("role") == "user"]
        return next((text for text in reversed(said) if not text.startswith(_INTERNAL)), "")

    @property
    def text(self) -> str:
        """All the words of the conversation, without the system prompt."""
        return "\n".join(
            text_of(one) for one in self.messages if one.get("role") not in ("system", "developer")
        )

    @property
    def tools(self) -> dict[str, Json]:
        """The tools that the model is offered: name to JSON Schema of the arguments."""
        offered = [tool.get("function", {}) for tool in self.body.get("tools") or ()]
        return {str(tool.get("name")): tool.get("parameters") or {} for tool in offered}

    @property
    def tool_results(self) -> list[str]:
        return [text_of(one) for one in self.messages if one.get("role") == "tool"]


class QuietServer(ThreadingHTTPServer):
    """A gateway that is ended in mid-request is part of a test, and no reason for a traceback."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002
        if not isinstance(sys.exception(), ConnectionError):
            traceback.print_exc()


@dataclass
class CompletionsStub:
    """Start with `with CompletionsStub() as model:`; the port is free and only on loopback.

    A step of a script is a reply, or a function that is given the request and makes one: it may do
    something first, as ending a process in the middle of a turn. `otherwise` answers when no script is left.
    """

    embed: Embed | None = None  # None: vectors by the words alone
    otherwise: Step = _NOTHING_LEFT
    asked: list[Asked] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)
    _script: deque[Step] = field(default_factory=deque)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _count: int = 0

    def __enter__(self) -> CompletionsStub:
        self._server = QuietServer(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, name="model", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    @property
    def url(self) -> str:
        """As `baseUrl` of a provider has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *steps: Step) -> None:
        """Answer the next requests that offer tools with these, one each; what was asked before is let go."""
        with self._lock:
            self._script = deque(steps)
            self.asked.clear()

    @property
    def steps(self) -> list[Asked]:
        """What was asked in conversations, in order."""
        with self._lock:
            return [asked for asked in self.asked if asked.main]

    def answer(self, path: str, body: Json) -> tuple[Asked, Reply]:
        with self._lock:
            self._count += 1
            asked = Asked(path, body, self._count)
            self.asked.append(asked)
            step = self._script.popleft() if asked.main and self._script else self.otherwise
        return asked, step(asked) if callable(step) else step

    def vectors(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        with self._lock:
            self.embedded.extend(texts)
        return (self.embed or by_words)(texts)


def by_words(texts: Sequence[str]) -> list[list[float]]:
    """A vector that is near to another by the words both have."""
    found = []
    for text in texts:
        vector = [0.0] * _DIM
        for word in text.lower().split():
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:2], "big") % _DIM] += 1.0
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        found.append([value / length for value in vector])
    return found


def text_of(message: Mapping[str, Any]) -> str:
    """The words of a message, whichever shape its content has."""
    return "\n".join(_words(message.get("content")))


def _words(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                yield block["text"]


def _handler_for(model: CompletionsStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Be silent: what was asked is in the model's list."""

        def do_GET(self) -> None:
            self._send_json({"object": "list", "data": [{"id": "stub-1", "object": "model"}]})

        def do_POST(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size) or b"{}")
            if self.path.endswith("/embeddings"):
                texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
                data = [
                    {"object": "embedding", "index": place, "embedding": [float(value) for value in vector]}
                    for place, vector in enumerate(model.vectors(texts))
                ]
                self._send_json({"object": "list", "data": data, "model": body.get("model", "stub")})
                return
            asked, reply = model.answer(self.path, body)
            if body.get("stream"):
                lines = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in _chunks(asked, reply))
                self._send(f"{lines}data: [DONE]\n\n".encode(), "text/event-stream")
            else:
                self._send_json(_whole(asked, reply))

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
                self.close_connection = True  # the gateway was ended, as some tests do

    return Handler


def _usage(asked: Asked, reply: Reply) -> Json:
    prompt = reply.tokens or len(json.dumps(asked.body, ensure_ascii=False)) // 4
    return {"prompt_tokens": prompt, "completion_tokens": 20, "total_tokens": prompt + 20}


def _message(asked: Asked, reply: Reply) -> Json:
    if isinstance(reply, Say):
        return {"role": "assistant", "content": reply.text}
    call = {
        "index": 0,
        "id": f"call_{asked.number:05}",
        "type": "function",
        "function": {"name": reply.tool, "arguments": json.dumps(dict(reply.arguments))},
    }
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _head(asked: Asked, kind: str) -> Json:
    return {
        "id": f"chatcmpl-{asked.number:05}",
        "object": kind,
        "created": 0,
        "model": asked.body.get("model", "stub-1"),
    }


def _finish(reply: Reply) -> str:
    return "stop" if isinstance(reply, Say) else "tool_calls"


def _whole(asked: Asked, reply: Reply) -> Json:
    choice = {"index": 0, "message": _message(asked, reply), "finish_reason": _finish(reply)}
    return {**_head(asked, "chat.completion"), "choices": [choice], "usage": _usage(asked, reply)}


def _chunks(asked: Asked, reply: Reply) -> list[Json]:
    head = _head(asked, "chat.completion.chunk")
    said = {"index": 0, "delta": _message(asked, reply), "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": _finish(reply)}
    return [
        {**head, "choices": [said]},
        {**head, "choices": [end]},
        {**head, "choices": [], "usage": _usage(asked, reply)},
    ]
