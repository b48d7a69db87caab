"""Telegram's Bot API on loopback: people write to the bot, and what the bot sends is kept.

Enough of it for OpenClaw's channel: long polling, sending, and a friendly "true" to everything else.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

from tests.real_openclaw.completions_stub import QuietServer

Json: TypeAlias = dict[str, Any]
BOT_TOKEN = "777:TEST"
OWNER = "42"
OTHER = "43"  # somebody else, in the same group
GROUP = "-1001"
_LONGEST_POLL_S = 5.0  # so that a gateway that ends does not wait long for us
_BOT = {"id": 777, "is_bot": True, "first_name": "Claw", "username": "claw_bot"}


@dataclass
class TelegramStub:
    """Start with `with TelegramStub() as telegram:`; the port is free and only on loopback."""

    sent: list[Json] = field(default_factory=list)  # parameters of each sendMessage
    called: list[str] = field(default_factory=list)  # methods, in order
    _updates: list[Json] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _ended: bool = False

    def __enter__(self) -> TelegramStub:
        self._server = QuietServer(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._server.serve_forever, name="telegram", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)

    @property
    def url(self) -> str:
        """As `apiRoot` of the channel has it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def write(self, text: str, *, sender: str = OWNER, group: str = "") -> None:
        """Somebody writes to the bot: alone with it, or in a group."""
        who = {"id": int(sender), "is_bot": False, "first_name": "Ada" if sender == OWNER else "Eve"}
        chat: Json = {"id": int(sender), "type": "private", "first_name": who["first_name"]}
        if group:
            chat = {"id": int(group), "type": "supergroup", "title": "The club"}
        with self._changed:
            number = len(self._updates) + 1
            message: Json = {"message_id": 1_000 + number, "from": who, "chat": chat, "text": text}
            message["date"] = int(time.time())
            if text.startswith("@claw_bot"):
                message["entities"] = [{"type": "mention", "offset": 0, "length": len("@claw_bot")}]
            self._updates.append({"update_id": number, "message": message})
            self._changed.notify_all()

    def texts(self, chat: str = OWNER) -> list[str]:
        """What the bot sent to a chat."""
        with self._changed:
            return [str(one.get("text")) for one in self.sent if str(one.get("chat_id")) == chat]

    def wait_for(self, words: str, *, chat: str = OWNER, timeout_s: float = 120.0) -> str:
        """The first message of the bot with these words in it, once it is there."""
        deadline = time.monotonic() + timeout_s
        while True:
            for text in self.texts(chat):
                if words in text:
                    return text
            with self._changed:
                left = deadline - time.monotonic()
                assert left > 0, f"{words!r} did not come within {timeout_s} s; there is {self.sent!r}"
                self._changed.wait(min(left, 1.0))

    def answer(self, method: str, params: Json) -> object:
        with self._changed:
            self.called.append(method)
            if method == "getUpdates":
                return self._new_updates(params)
            if method == "getMe":
                return {**_BOT, "can_join_groups": True, "can_read_all_group_messages": True}
            if method in ("sendMessage", "editMessageText"):
                self.sent.append(params)
                self._changed.notify_all()
                chat = {"id": params.get("chat_id"), "type": "private"}
                number = params.get("message_id") or len(self.sent)
                return {
                    "message_id": number, "date": int(time.time()), "chat": chat,
                    "from": _BOT, "text": params.get("text", ""),
                }  # fmt: skip
            if method == "getMyCommands":
                return []
            if method == "getWebhookInfo":
                return {"url": "", "has_custom_certificate": False, "pending_update_count": 0}
            if method == "getChat":
                return {"id": params.get("chat_id"), "type": "private"}
            return True

    def _new_updates(self, params: Json) -> list[Json]:
        after = int(params.get("offset") or 0)
        until = time.monotonic() + min(float(params.get("timeout") or 0), _LONGEST_POLL_S)
        while True:
            new = [update for update in self._updates if update["update_id"] >= after]
            left = until - time.monotonic()
            if new or left <= 0 or self._ended:
                return new
            self._changed.wait(left)


def _handler_for(telegram: TelegramStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Be silent: what was sent is in the stub's list."""

        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            kind = self.headers.get("Content-Type") or ""
            self._answer(_fields(raw, kind))

        def _answer(self, params: Json) -> None:
            address = urlsplit(self.path)
            params = {**{name: values[0] for name, values in parse_qs(address.query).items()}, **params}
            known = address.path.startswith(f"/bot{BOT_TOKEN}/")
            result = telegram.answer(address.path.rpartition("/")[2], params) if known else None
            said = {"ok": True, "result": result} if known else {"ok": False, "description": "Unauthorized"}
            body = json.dumps(said).encode()
            try:
                self.send_response(200 if known else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    return Handler


def _fields(raw: bytes, kind: str) -> Json:
    if kind.startswith("application/json"):
        found = json.loads(raw or b"{}")
        return found if isinstance(found, dict) else {}
    if kind.startswith("application/x-www-form-urlencoded"):
        return {name: values[0] for name, values in parse_qs(raw.decode()).items()}
    return {}
