"""The bridge to OpenClaw over its gateway's WebSocket."""

from __future__ import annotations

import os
import socket
import stat
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("websockets")
pytest.importorskip("cryptography")

from tests.agent.openclaw_stub import TOKEN, Stub, gateway, refused, said_by

from hindbrain.agent.channels.channel import Outgoing
from hindbrain.agent.channels.openclaw.bridge import OpenClawBridge
from hindbrain.agent.channels.openclaw.device import load_device
from hindbrain.agent.channels.openclaw.gateway import Gateway, checked_address
from hindbrain.agent.channels.openclaw.history import Target
from hindbrain.base.errors import ChannelDown, ConfigError, HindbrainError, Refused

_TARGET = Target("telegram", "42")
_HELLO = Outgoing("key-1", "phone", "done: 3 files")


@pytest.fixture
def stub() -> Iterator[Stub]:
    with gateway() as running:
        yield running
    assert running.faults == []


def bridge(
    state: Path, url: str, *, token: str = TOKEN, timeout_s: float = 10.0, target: Target = _TARGET
) -> OpenClawBridge:
    return OpenClawBridge(
        "phone", Gateway(url, token, lambda: load_device(state), timeout_s=timeout_s), target
    )


def failure(channel: OpenClawBridge) -> HindbrainError:
    with pytest.raises(HindbrainError) as caught:
        channel.send(_HELLO)
    return caught.value


def test_a_message_goes_to_the_owners_chat_over_a_connection_that_the_device_signed(
    tmp_path: Path, stub: Stub
) -> None:
    assert bridge(tmp_path, stub.url).send(_HELLO) == "1"
    assert stub.sent == [
        {"channel": "telegram", "to": "42", "message": "done: 3 files", "idempotencyKey": "key-1"}
    ]
    assert stub.devices == [load_device(tmp_path).id]


def test_a_message_can_go_to_another_chat(tmp_path: Path, stub: Stub) -> None:
    bridge(tmp_path, stub.url).send(_HELLO._replace(to="77"))
    assert stub.sent[0]["to"] == "77"


def test_the_same_key_twice_is_one_message(tmp_path: Path, stub: Stub) -> None:
    channel = bridge(tmp_path, stub.url)
    assert channel.send(_HELLO) == channel.send(_HELLO)
    assert len(stub.sent) == 1


def test_the_device_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    first, second = load_device(tmp_path), load_device(tmp_path)
    assert first.id == second.id
    assert load_device(tmp_path / "other").id != first.id
    if os.name != "nt":
        mode = (tmp_path / "agent" / "openclaw-device.json").stat().st_mode
        assert stat.S_IMODE(mode) == 0o600


def test_a_damaged_device_file_is_told_and_not_replaced(tmp_path: Path) -> None:
    load_device(tmp_path)
    file = tmp_path / "agent" / "openclaw-device.json"
    for damage in ("", "{}", "[]", '{"private_key": "!"}', '{"private_key": 5}'):
        file.write_text(damage, encoding="utf-8")
        with pytest.raises(ConfigError):
            load_device(tmp_path)
        assert file.read_text(encoding="utf-8") == damage


def test_a_wrong_token_is_the_owners_to_put_right(tmp_path: Path, stub: Stub) -> None:
    error = failure(bridge(tmp_path, stub.url, token="not-it"))
    assert error.code == "config"
    assert "not-it" not in str(error)
    assert stub.sent == []


def test_a_gateway_that_is_down_may_be_up_later(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    channel = bridge(tmp_path, f"ws://127.0.0.1:{port}")
    assert failure(channel).code == "channel_down"
    with gateway(port=port) as running:
        assert channel.send(_HELLO) == "1"
    assert len(running.sent) == 1


@pytest.mark.parametrize("method", ["connect", "send"])
def test_a_gateway_that_never_answers_is_given_up(tmp_path: Path, stub: Stub, method: str) -> None:
    stub.silent_on = method
    assert failure(bridge(tmp_path, stub.url, timeout_s=0.5)).code == "channel_down"


def test_a_connection_cut_after_the_message_was_taken_does_not_double_it(tmp_path: Path, stub: Stub) -> None:
    stub.drops_after = "send"
    channel = bridge(tmp_path, stub.url)
    assert failure(channel).code == "channel_down"
    assert channel.send(_HELLO) == "1"
    assert len(stub.sent) == 1


def test_a_connection_cut_during_the_introduction_may_come_back(tmp_path: Path, stub: Stub) -> None:
    stub.drops_after = "connect"
    channel = bridge(tmp_path, stub.url)
    assert failure(channel).code == "channel_down"
    assert channel.send(_HELLO) == "1"


@pytest.mark.parametrize("protocol", [3, 5])
def test_another_version_of_the_protocol_is_told(tmp_path: Path, stub: Stub, protocol: int) -> None:
    stub.protocol = protocol
    assert failure(bridge(tmp_path, stub.url)).code == "config"


def test_a_gateway_that_grants_too_little_is_told(tmp_path: Path, stub: Stub) -> None:
    stub.granted = ("operator.read",)
    assert failure(bridge(tmp_path, stub.url)).code == "config"
    assert stub.sent == []


def test_a_device_that_is_to_be_approved_is_named_by_its_request(tmp_path: Path, stub: Stub) -> None:
    stub.connect_error = refused("NOT_PAIRED", details={"code": "PAIRING_REQUIRED", "requestId": "req-77"})
    error = failure(bridge(tmp_path, stub.url))
    assert error.code == "config"
    assert "req-77" in str(error)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused("UNAVAILABLE", details={"reason": "startup-sidecars"}, retryable=True), ChannelDown),
        (refused("INVALID_REQUEST", details={"code": "AUTH_RATE_LIMITED"}), ChannelDown),
        (refused("INVALID_REQUEST", details={"code": "DEVICE_AUTH_SIGNATURE_INVALID"}), ConfigError),
        (refused("INVALID_REQUEST"), ConfigError),
        ({}, ConfigError),
    ],
)
def test_a_refused_connection_waits_or_is_the_owners(
    tmp_path: Path, stub: Stub, error: dict[str, Any], kind: type
) -> None:
    if not error:
        stub.connect_error = {"details": ["not", "a", "mapping"]}
    else:
        stub.connect_error = error
    assert type(failure(bridge(tmp_path, stub.url))) is kind


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (refused("UNAVAILABLE"), ChannelDown),
        (refused("SOMETHING_NEW"), ChannelDown),
        (refused("INVALID_REQUEST"), Refused),
        (refused("INVALID_REQUEST", retryable=True), ChannelDown),
        (refused("FORBIDDEN", details={"code": "MISSING_SCOPE"}), ConfigError),
    ],
)
def test_a_refused_message_waits_or_is_the_owners_or_never_goes(
    tmp_path: Path, stub: Stub, error: dict[str, Any], kind: type
) -> None:
    stub.send_error = error
    assert type(failure(bridge(tmp_path, stub.url))) is kind


def test_a_message_that_the_gateway_has_queued_itself_counts_as_handed_over(
    tmp_path: Path, stub: Stub
) -> None:
    stub.send_error = refused("UNAVAILABLE", details={"code": "OUTBOUND_DELIVERY_QUEUED"})
    assert "queued" in bridge(tmp_path, stub.url).send(_HELLO)


def test_events_and_nonsense_before_an_answer_are_passed_over(tmp_path: Path, stub: Stub) -> None:
    stub.noise = True
    assert bridge(tmp_path, stub.url).send(_HELLO) == "1"


def test_only_what_people_wrote_since_then_is_read(tmp_path: Path, stub: Stub) -> None:
    stub.history = [
        said_by("42", "from last week", number=1, at=900.0),
        said_by("42", "buy milk", number=2, at=1_001.5),
        said_by("bot", "I did", number=3, at=1_002.0, role="assistant"),
        said_by("42", "  ", number=4, at=1_003.0),
        {
            **said_by("", "", number=5, at=1_004.0),
            "content": [{"type": "text", "text": "and"}, {"type": "image"}],
        },
        {"role": "user", "content": "no id"},
        {"role": "user", "content": 7, "__openclaw": "odd"},
        "nonsense",
    ]
    channel = bridge(tmp_path, stub.url, target=_TARGET._replace(since=1_000.0))
    found = channel.check(200)
    assert [(message.sender, message.text, message.at) for message in found] == [
        ("42", "buy milk", 1_001.5),
        ("", "and", 1_004.0),
        ("", "no id", 0.0),
    ]
    assert found[0].id == "m2"
    assert {message.channel for message in found} == {"phone"}
    assert channel.check(200) == found  # ids stay the same, also of one that has none


def test_a_long_message_is_read_to_its_end(tmp_path: Path, stub: Stub) -> None:
    letter = "Dear agent, " + "and so on, " * 5_000 + "yours, Ada"
    stub.history = [said_by("42", letter, number=1, at=1_001.0)]
    assert [message.text for message in bridge(tmp_path, stub.url).check(200)] == [letter]


@pytest.mark.parametrize(
    "address",
    [
        "ws://gateway.example.com",
        "ws://8.8.8.8:18789",
        "http://127.0.0.1",
        "ws://",
        "ws://user:secret@127.0.0.1",
        "ws://127.0.0.1:0",
        "ws://127.0.0.1:99999",
        "ws://127.0.0.1?token=secret",
        "ws://[::1",
        "",
    ],
)
def test_an_address_that_would_show_the_token_or_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        checked_address(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address", ["ws://127.0.0.1:18789/", "ws://[::1]:18789", "wss://gateway.example.com"]
)
def test_a_usable_address_is_taken(address: str) -> None:
    assert checked_address(address) == address.rstrip("/")


def test_a_redirect_leads_the_token_nowhere(tmp_path: Path, stub: Stub) -> None:
    class Redirect(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # an answer of an older one is not read

        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", stub.url)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    with HTTPServer(("127.0.0.1", 0), Redirect) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        error = failure(bridge(tmp_path, f"ws://127.0.0.1:{server.server_address[1]}"))
        thread.join()
    assert error.code == "channel_down"
    assert stub.devices == []
