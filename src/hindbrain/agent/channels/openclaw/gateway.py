"""A client of the OpenClaw gateway's WebSocket protocol, version 4: a connection, requests and answers.

Knows nothing of messages and channels. What the gateway says is not trusted beyond its meaning as an answer.
Connections are short: whoever sends a message now and then needs none that stays open.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hindbrain import __version__
from hindbrain.agent.channels.openclaw.device import Device, Hello, not_installed
from hindbrain.agent.channels.openclaw.refusals import connect_refusal, queued_there, request_refusal
from hindbrain.base.errors import ChannelDown, ConfigError
from hindbrain.models.http import is_nearby

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

PROTOCOL = 4
_CLIENT = "gateway-client"
_MODE = "backend"
_ROLE = "operator"
_SCOPES = ("operator.read", "operator.write")
_PORTS = {"ws": 80, "wss": 443}
_MOST_BYTES = 25 * 1024 * 1024  # of one frame, as the gateway has it
_CLOSE_S = 1.0


class Gateway:
    """One gateway at one address."""

    def __init__(
        self, address: str, token: str, device: Callable[[], Device], *, timeout_s: float = 20.0
    ) -> None:
        self.address = checked_address(address)
        self._token = token
        self._device = device
        self._timeout_s = timeout_s

    @contextlib.contextmanager
    def connected(self) -> Iterator[Connection]:
        """A connection that the gateway has accepted. `timeout_s` bounds all that is done with it.

        ChannelDown: not reachable, too slow, closed on us. ConfigError: the owner has to do something first.
        """
        try:
            from websockets.exceptions import WebSocketException
            from websockets.sync.client import connect
        except ImportError:
            raise not_installed() from None
        deadline = time.monotonic() + self._timeout_s
        try:
            # With a socket of our own the library follows no redirect: the token goes to this address alone.
            with connect(
                self.address,
                sock=self._socket(),
                ssl=ssl.create_default_context() if self.address.startswith("wss:") else None,
                proxy=None,
                compression=None,
                open_timeout=self._timeout_s,
                close_timeout=_CLOSE_S,
                max_size=_MOST_BYTES,
            ) as socket_:
                connection = Connection(self.address, socket_, deadline)
                connection.introduce(self._token, self._device())
                yield connection
        except TimeoutError as error:
            raise ChannelDown(
                f"the OpenClaw gateway at {self.address!r} did not answer within {self._timeout_s:g} s; "
                "check that it is well"
            ) from error
        except (OSError, WebSocketException, ValueError) as error:
            raise ChannelDown(
                f"the OpenClaw gateway at {self.address!r} can't be reached ({error}); check that it runs: "
                "openclaw gateway status"
            ) from error

    def _socket(self) -> socket.socket:
        parts = urlsplit(self.address)
        assert parts.hostname is not None
        return socket.create_connection((parts.hostname, parts.port or _PORTS[parts.scheme]), self._timeout_s)


class Connection:
    """A connection on which one request after the other is made. Events in between are passed over."""

    def __init__(self, address: str, socket_: ClientConnection, deadline: float) -> None:
        self._address = address
        self._socket = socket_
        self._deadline = deadline
        self._last = 0

    def introduce(self, token: str, device: Device) -> None:
        challenge = self._challenge()
        hello = Hello(
            _CLIENT, _MODE, _ROLE, _SCOPES, challenge["ts"], token, challenge["nonce"], sys.platform
        )
        answer = self._ask(
            "connect",
            {
                "minProtocol": PROTOCOL,
                "maxProtocol": PROTOCOL,
                "client": {
                    "id": _CLIENT,
                    "mode": _MODE,
                    "displayName": "Hindbrain",
                    "version": __version__,
                    "platform": sys.platform,
                },
                "role": _ROLE,
                "scopes": list(_SCOPES),
                "auth": {"token": token},
                "device": {
                    "id": device.id,
                    "publicKey": device.public_key,
                    "signedAt": hello.at_ms,
                    "nonce": hello.nonce,
                    "signature": device.sign(hello),
                },
            },
        )
        if not answer.get("ok"):
            raise connect_refusal(self._address, _mapping(answer.get("error")))
        self._check_welcome(_mapping(answer.get("payload")))

    def request(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        """The answer's payload; {"queued": why} where the gateway keeps trying by itself.

        Refused: it won't do that, now or later.
        """
        answer = self._ask(method, params)
        if answer.get("ok"):
            return _mapping(answer.get("payload"))
        error = _mapping(answer.get("error"))
        if why := queued_there(error):
            return {"queued": why}
        raise request_refusal(self._address, method, error)

    def _challenge(self) -> Mapping[str, Any]:
        frame = self._receive()
        payload = _mapping(frame.get("payload"))
        nonce, at = payload.get("nonce"), payload.get("ts")
        if frame.get("event") != "connect.challenge" or not isinstance(nonce, str) or not isinstance(at, int):
            raise ConfigError(
                f"{self._address!r} does not speak as an OpenClaw gateway does; check `address` in agent.toml"
            )
        return payload

    def _check_welcome(self, welcome: Mapping[str, Any]) -> None:
        if welcome.get("protocol") != PROTOCOL:
            raise ConfigError(
                f"the OpenClaw gateway at {self._address!r} speaks protocol {welcome.get('protocol')!r}, and "
                f"this program {PROTOCOL}; update the older of the two"
            )
        granted = _mapping(welcome.get("auth")).get("scopes")
        missing = set(_SCOPES) - set(granted if isinstance(granted, list) else ())
        if missing:
            raise ConfigError(
                f"the OpenClaw gateway at {self._address!r} does not grant {', '.join(sorted(missing))}; "
                "approve this device there: openclaw devices list"
            )

    def _ask(self, method: str, params: Mapping[str, object]) -> Mapping[str, Any]:
        self._last += 1
        number = str(self._last)
        frame = {"type": "req", "id": number, "method": method, "params": params}
        self._socket.send(json.dumps(frame))
        while True:
            answer = self._receive()
            if answer.get("type") == "res" and answer.get("id") == number:
                return answer

    def _receive(self) -> Mapping[str, Any]:
        """The next frame; one that is no JSON object counts as empty."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        data = self._socket.recv(timeout=left)
        try:
            return _mapping(json.loads(data))
        except (ValueError, RecursionError):
            return {}


def checked_address(address: str) -> str:
    """ConfigError unless it is a usable ws(s) address; unencrypted only nearby: it carries a token."""
    try:
        parts = urlsplit(address)
        usable = parts.scheme in _PORTS and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment or parts.username is not None:
        raise ConfigError("a gateway's address is not usable; write it as ws://127.0.0.1:18789")
    if parts.scheme == "ws" and not is_nearby(address):
        raise ConfigError(f"the token is not sent to {parts.hostname!r} unencrypted; use wss://")
    return address.rstrip("/")


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
