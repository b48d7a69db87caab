"""An OpenClaw gateway on the loopback that checks what it is sent as the real one does, and misbehaves.

WebSocket protocol 4: challenge, connect with a signed device, `send`, `chat.history`. What is wrong about a
request is refused, or, where the real one would not notice, kept in `faults` for the test to look at.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

TOKEN = "test-token-123"
_CONNECT = {
    "minProtocol", "maxProtocol", "client", "caps", "commands", "permissions", "pathEnv", "role", "scopes",
    "device", "auth", "locale", "userAgent",
}  # fmt: skip
_CLIENT = {
    "id",
    "displayName",
    "version",
    "platform",
    "deviceFamily",
    "modelIdentifier",
    "mode",
    "instanceId",
}
_SEND = {"to", "message", "channel", "idempotencyKey", "accountId", "threadId", "sessionKey", "agentId"}
_HISTORY = {"sessionKey", "agentId", "limit", "maxChars"}


@dataclass
class Stub:
    """What the gateway does, and what it was asked."""

    url: str = ""
    protocol: int = 4
    token: str = TOKEN
    granted: tuple[str, ...] | None = None  # None: what was asked for
    connect_error: dict[str, Any] | None = None
    send_error: dict[str, Any] | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    silent_on: str = ""  # a method that is never answered
    drops_after: str = ""  # a method after whose effect the connection is cut, once
    noise: bool = False  # events and nonsense before each answer
    sent: list[dict[str, Any]] = field(default_factory=list)  # what really went out
    devices: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    let_go: threading.Event = field(default_factory=threading.Event)
    _by_key: dict[str, dict[str, Any]] = field(default_factory=dict)

    def talk(self, socket: ServerConnection) -> None:
        nonce, at = f"nonce-{len(self.devices)}", 1_794_837_821_074
        self._event(socket, "connect.challenge", {"nonce": nonce, "ts": at})
        first = json.loads(socket.recv())
        error = (
            self._wrong_connect(first, nonce, at) if first.get("method") == "connect" else _invalid("connect")
        )
        if error is not None:
            _answer(socket, first["id"], error=error)
            socket.close(1008, "refused")
            return
        if self._is_cut(socket, first):
            return
        scopes = first["params"]["scopes"] if self.granted is None else list(self.granted)
        welcome = {
            "type": "hello-ok",
            "protocol": self.protocol,
            "auth": {"role": "operator", "scopes": scopes},
        }
        _answer(socket, first["id"], payload=welcome)
        for data in socket:
            request = json.loads(data)
            answer = self._do(request)
            if self._is_cut(socket, request):
                return
            if self.noise:
                self._event(socket, "tick", {"ts": at})
                socket.send("not json")
                socket.send("[1, 2]")
                _answer(socket, "another", payload={"messageId": "not ours"})
            _answer(socket, request["id"], **answer)

    def _do(self, request: dict[str, Any]) -> dict[str, Any]:
        params = request["params"]
        if request["method"] == "chat.history":
            most = params.get("maxChars", 8_000)
            if set(params) - _HISTORY or not 1 <= params["limit"] <= 1000 or not 1 <= most <= 500_000:
                return {"error": _invalid("history")}
            messages = [_cut(message, most) for message in self.history[-params["limit"] :]]
            return {"payload": {"sessionKey": params["sessionKey"], "messages": messages}}
        if request["method"] != "send" or set(params) - _SEND or not params.get("idempotencyKey"):
            return {"error": _invalid(request["method"])}
        if self.send_error is not None:
            return {"error": self.send_error}
        key = params["idempotencyKey"]
        if key not in self._by_key:
            self.sent.append(params)
            self._by_key[key] = {"runId": key, "messageId": str(len(self.sent)), "channel": params["channel"]}
        return {"payload": self._by_key[key]}

    def _is_cut(self, socket: ServerConnection, request: dict[str, Any]) -> bool:
        if request["method"] == self.silent_on:
            self.let_go.wait(30)
            return True
        if request["method"] != self.drops_after:
            return False
        self.drops_after = ""
        socket.socket.close()
        return True

    def _event(self, socket: ServerConnection, name: str, payload: dict[str, Any]) -> None:
        socket.send(json.dumps({"type": "event", "event": name, "payload": payload}))

    def _wrong_connect(self, frame: dict[str, Any], nonce: str, at: int) -> dict[str, Any] | None:
        params = frame["params"]
        client = params["client"]
        if (
            set(frame) != {"type", "id", "method", "params"}
            or set(params) - _CONNECT
            or set(client) - _CLIENT
        ):
            return _invalid("unknown fields")
        if (client["id"], client["mode"], params["role"]) != ("gateway-client", "backend", "operator"):
            return _invalid("client")
        if not params["minProtocol"] <= self.protocol <= params["maxProtocol"]:
            return _refusal("PROTOCOL_MISMATCH")
        if params["auth"].get("token") != self.token:
            return _refusal("AUTH_TOKEN_MISMATCH")
        wrong = self._wrong_device(params, nonce, at)
        return _refusal(wrong) if wrong else self.connect_error

    def _wrong_device(self, params: dict[str, Any], nonce: str, at: int) -> str:
        device, client = params["device"], params["client"]
        public = _bytes(device["publicKey"])
        if device["id"] != hashlib.sha256(public).hexdigest():
            return "DEVICE_AUTH_DEVICE_ID_MISMATCH"
        if (device["nonce"], device["signedAt"]) != (nonce, at):
            return "DEVICE_AUTH_NONCE_MISMATCH"
        said = [
            "v3", device["id"], client["id"], client["mode"], params["role"], ",".join(params["scopes"]),
            str(at), params["auth"]["token"], nonce, client["platform"], client.get("deviceFamily", ""),
        ]  # fmt: skip
        try:
            Ed25519PublicKey.from_public_bytes(public).verify(
                _bytes(device["signature"]), "|".join(said).encode()
            )
        except InvalidSignature:
            return "DEVICE_AUTH_SIGNATURE_INVALID"
        self.devices.append(device["id"])
        return ""


@contextmanager
def gateway(stub: Stub | None = None, port: int = 0) -> Iterator[Stub]:
    """A running one, until the block ends."""
    stub = stub or Stub()

    def handle(socket: ServerConnection) -> None:
        try:
            stub.talk(socket)
        except ConnectionClosed:
            pass  # a client that gave up is part of the tests
        except (KeyError, TypeError, ValueError) as error:
            stub.faults.append(repr(error))

    with serve(handle, "127.0.0.1", port, close_timeout=1) as server:
        stub.url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield stub
        finally:
            stub.let_go.set()
            server.shutdown()
            thread.join()


def said_by(sender: str, content: Any, *, number: int, at: float, role: str = "user") -> dict[str, Any]:
    """A message of a session as `chat.history` has it."""
    return {
        "role": role,
        "content": content,
        "timestamp": int(at) * 1000,
        "__openclaw": {"id": f"m{number}", "seq": number, "senderId": sender, "recordTimestampMs": at * 1000},
    }


def refused(code: str, **details: Any) -> dict[str, Any]:
    return {"code": code, "message": "as the stub was told", **details}


def _refusal(code: str) -> dict[str, Any]:
    return refused("INVALID_REQUEST", details={"code": code})


def _invalid(what: str) -> dict[str, Any]:
    return {"code": "INVALID_REQUEST", "message": f"invalid {what}"}


def _cut(message: Any, most: int) -> Any:
    """As the real one cuts a text that is longer than was asked for."""
    text = message.get("content") if isinstance(message, dict) else None
    if not isinstance(text, str) or len(text) <= most:
        return message
    return {**message, "content": f"{text[:most]}\n...(truncated)..."}


def _answer(socket: ServerConnection, number: str, **fields: Any) -> None:
    socket.send(json.dumps({"type": "res", "id": number, "ok": "error" not in fields, **fields}))


def _bytes(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
