"""Channels over HTTP: the generic webhook, and OpenClaw's tools and hook."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.http_listener import Listener, listening

from hindbrain.agent.channels.channel import Channel, Outgoing
from hindbrain.agent.channels.openclaw.history import Target
from hindbrain.agent.channels.openclaw.hooks import OpenClawHttp
from hindbrain.agent.channels.posting import Post
from hindbrain.agent.channels.webhook import WebhookChannel
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import ChannelDown, ConfigError, HindbrainError, Refused

_HELLO = Outgoing("key-1", "script", "done: ünïcode", at=1_778_846_400.0)


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as running:
        yield running


def webhook(listener: Listener, clock: FakeClock, *, token: str = "", timeout_s: float = 10.0) -> Channel:
    post = Post("script", f"{listener.url}/in", token, timeout_s=timeout_s)
    return WebhookChannel("script", post, None, clock, "owner")


def openclaw(listener: Listener, path: str = "") -> Channel:
    post = Post("phone", listener.url + path, "its-token")
    return OpenClawHttp("phone", post, Target("telegram", "42", since=1_000.0))


def failure(channel: Channel) -> HindbrainError:
    with pytest.raises(HindbrainError) as caught:
        channel.send(_HELLO)
    return caught.value


def test_a_webhook_posts_the_message_and_its_key(listener: Listener, clock: FakeClock) -> None:
    assert webhook(listener, clock).send(_HELLO) == "key-1"
    assert listener.posted[0].path == "/in"
    assert listener.posted[0].token == ""
    assert listener.posted[0].body == {
        "text": "done: ünïcode",
        "to": "owner",
        "key": "key-1",
        "at": "2026-05-15T12:00:00+00:00",
    }


def test_a_webhook_sends_its_token_and_returns_the_listeners_id(listener: Listener, clock: FakeClock) -> None:
    listener.body = {"id": 77}
    assert webhook(listener, clock, token="its-token").send(_HELLO._replace(to="77")) == "77"
    assert listener.posted[0].token == "Bearer its-token"
    assert listener.posted[0].body["to"] == "77"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, ConfigError),
        (403, ConfigError),
        (404, ConfigError),
        (302, ConfigError),
        (400, Refused),
        (413, Refused),
        (429, ChannelDown),
        (500, ChannelDown),
        (503, ChannelDown),
    ],
)
def test_an_answer_that_is_no_yes_waits_or_is_the_owners_or_never_goes(
    listener: Listener, clock: FakeClock, status: int, kind: type
) -> None:
    listener.status = status
    listener.headers = {"Location": "http://127.0.0.1:9/elsewhere"} if status == 302 else {}
    error = failure(webhook(listener, clock, token="its-token"))
    assert type(error) is kind
    assert "its-token" not in str(error)
    assert len(listener.posted) == 1  # tries are the outbox's business


def test_a_listener_that_is_down_or_silent_may_come_back(listener: Listener, clock: FakeClock) -> None:
    listener.hangs = True
    assert failure(webhook(listener, clock, timeout_s=0.3)).code == "channel_down"
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        post = Post("script", f"http://127.0.0.1:{unused.getsockname()[1]}")
    assert failure(WebhookChannel("script", post, None, clock)).code == "channel_down"


@pytest.mark.parametrize(
    "address",
    [
        "http://hooks.example.com/x",
        "ftp://host/x",
        "https://user:secret@host/x",
        "host/x",
        "https://h/x?token=secret",
    ],
)
def test_an_address_that_would_show_messages_or_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Post("script", address)
    assert "secret" not in str(caught.value)


def test_openclaws_message_tool_is_called(listener: Listener) -> None:
    listener.body = {"ok": True, "result": {"content": [], "details": {"ok": True, "messageId": "104"}}}
    assert openclaw(listener).send(_HELLO) == "104"
    path, token, body = listener.posted[0]
    assert (path, token) == ("/tools/invoke", "Bearer its-token")
    assert body == {
        "tool": "message",
        "action": "send",
        "args": {"channel": "telegram", "target": "42", "message": "done: ünïcode"},
    }


@pytest.mark.parametrize("body", ["ok", {"ok": False}, {"ok": True}, {"ok": True, "result": "?"}, [1]])
def test_an_answer_that_does_not_say_what_became_of_it_is_no_yes(listener: Listener, body: object) -> None:
    listener.body = body
    assert failure(openclaw(listener)).code == "channel_down"


@pytest.mark.parametrize("in_details", [True, False])
def test_openclaws_session_is_read_over_http(listener: Listener, in_details: bool) -> None:
    said = {
        "messages": [
            {"role": "user", "content": "old", "timestamp": 900_000},
            {"role": "user", "content": "new", "timestamp": 1_001_000, "__openclaw": {"id": "m2"}},
            {"role": "assistant", "content": "mine", "timestamp": 1_002_000},
        ]
    }
    told = {"details": said} if in_details else {"content": [{}, {"type": "text", "text": json.dumps(said)}]}
    listener.body = {"ok": True, "result": told}
    found = openclaw(listener).check(50)
    assert [(message.id, message.text) for message in found] == [("m2", "new")]
    assert listener.posted[0].body == {
        "tool": "sessions_history",
        "args": {"sessionKey": "main", "limit": 50},
    }


def test_openclaws_hook_is_told_what_to_say_and_can_not_read(listener: Listener) -> None:
    listener.body = {"ok": True, "runId": "run-9"}
    channel = openclaw(listener, "/hooks/agent")
    assert channel.send(_HELLO) == "run-9"
    path, _, body = listener.posted[0]
    assert path == "/hooks/agent"
    assert _HELLO.text in body["message"]
    assert (body["deliver"], body["channel"], body["to"]) == (True, "telegram", "42")
    with pytest.raises(ConfigError):
        channel.check(10)
    listener.body = {"ok": False}
    assert failure(channel).code == "channel_down"


def test_a_webhook_without_an_address_says_so(clock: FakeClock, tmp_path: Path) -> None:
    assert failure(WebhookChannel("script", None, tmp_path, clock)).code == "config"
