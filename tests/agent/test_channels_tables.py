"""The owner's tables of channels: what each means, and that a wrong one is told by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.agent.channels.channel import Channel
from hindbrain.agent.channels.openclaw.bridge import OpenClawBridge
from hindbrain.agent.channels.openclaw.cli import OpenClawProgram
from hindbrain.agent.channels.openclaw.hooks import OpenClawHttp
from hindbrain.agent.channels.tables import make_channels, owners_of, quiet_hours, read_tables
from hindbrain.agent.channels.webhook import WebhookChannel
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import ConfigError

_PHONE: dict[str, Any] = {"kind": "openclaw", "channel": "telegram", "to": "42"}
_SCRIPT: dict[str, Any] = {"kind": "webhook", "address": "http://127.0.0.1:9/x"}


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        ({**_PHONE, "address": "ws://127.0.0.1:18789", "token": "t"}, OpenClawBridge),
        ({**_PHONE, "address": "wss://claw.example.com", "token": "t"}, OpenClawBridge),
        ({**_PHONE, "address": "http://127.0.0.1:18789", "token": "t"}, OpenClawHttp),
        ({**_PHONE, "address": "https://claw.example.com/hooks/agent", "token": "t"}, OpenClawHttp),
        (_PHONE, OpenClawProgram),
        (_SCRIPT, WebhookChannel),
        ({"kind": "webhook", "inbox": "/tmp/agent-inbox"}, WebhookChannel),
    ],
)
def test_the_address_decides_which_way_is_taken(
    tmp_path: Path, clock: FakeClock, table: dict[str, Any], kind: type[Channel]
) -> None:
    if "inbox" in table:
        table = {**table, "inbox": str(tmp_path / "inbox")}
    made = make_channels({"a-1": table}, tmp_path, clock)
    assert type(made["a-1"]) is kind
    assert made["a-1"].name == "a-1"


def test_channels_keep_the_owners_order(tmp_path: Path, clock: FakeClock) -> None:
    assert list(make_channels({"z": _PHONE, "a": _SCRIPT}, tmp_path, clock)) == ["z", "a"]
    assert make_channels({}, tmp_path, clock) == {}


@pytest.mark.parametrize(
    ("name", "table", "named"),
    [
        ("Phone", _PHONE, "Phone"),
        ("default", _PHONE, "default"),
        ("../x", _PHONE, "../x"),
        ("phone", {"channel": "telegram", "to": "42"}, "kind"),
        ("phone", {**_PHONE, "kind": "pigeon"}, "pigeon"),
        ("phone", {**_PHONE, "adress": "ws://127.0.0.1"}, "'address'"),
        ("phone", {**_PHONE, "inbox": "/x"}, "inbox"),
        ("phone", {**_PHONE, "to": 42}, "to"),
        ("phone", {**_PHONE, "to": ""}, "to"),
        ("phone", {"kind": "openclaw", "channel": "telegram"}, "to"),
        ("phone", {**_PHONE, "owners": "42"}, "owners"),
        ("phone", {**_PHONE, "owners": [42]}, "owners"),
        ("phone", {**_PHONE, "quiet": "at night"}, "at night"),
        ("phone", {**_PHONE, "token": "a", "token_file": "b"}, "token_file"),
        ("phone", {**_PHONE, "address": "ws://claw.example.com", "token": "secret"}, "claw.example.com"),
        ("phone", {**_PHONE, "address": "http://claw.example.com", "token": "secret"}, "claw.example.com"),
        ("script", {"kind": "webhook"}, "inbox"),
        ("script", {"kind": "webhook", "inbox": "relative"}, "inbox"),
        ("script", {**_SCRIPT, "token": "two words"}, "127.0.0.1"),
        ("script", [], "script"),
    ],
)
def test_a_wrong_table_is_told_by_name(
    tmp_path: Path, clock: FakeClock, name: str, table: Any, named: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_channels({name: table}, tmp_path, clock)
    assert named in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_token_can_be_in_a_file_that_nobody_else_reads(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "token"
    table = {**_PHONE, "address": "ws://127.0.0.1:18789", "token_file": str(file)}
    with pytest.raises(ConfigError):
        make_channels({"phone": table}, tmp_path, clock)
    file.write_text("the-token\n", encoding="utf-8")
    file.chmod(0o600)
    make_channels({"phone": table}, tmp_path, clock)
    if os.name != "nt":
        file.chmod(0o644)
        with pytest.raises(ConfigError):
            make_channels({"phone": table}, tmp_path, clock)


def test_what_was_said_before_a_channel_was_configured_is_not_ours(tmp_path: Path, clock: FakeClock) -> None:
    def since() -> float:
        (made,) = make_channels({"phone": _PHONE}, tmp_path, clock).values()
        assert isinstance(made, OpenClawProgram)
        return made.target.since

    first = clock.now()
    assert since() == first
    clock.advance(3_600)
    assert since() == first


def test_quiet_hours_and_owners_are_read_by_channel() -> None:
    tables = {"phone": {**_PHONE, "quiet": "22:00-07:00", "owners": ["42"]}, "script": _SCRIPT}
    assert quiet_hours(tables) == {"phone": (22 * 60, 7 * 60)}
    assert owners_of(tables) == {"phone": frozenset({"42"}), "script": frozenset()}
    assert read_tables(tables)["phone"].session == "main"


def test_reading_tables_loads_nothing_heavy(tmp_path: Path) -> None:
    import subprocess

    tables = {"p": {**_PHONE, "address": "ws://127.0.0.1:1", "token": "t"}, "s": _SCRIPT}
    code = (
        "import sys; from pathlib import Path\n"
        "from hindbrain.agent.channels.tables import make_channels\n"
        "from hindbrain.base.clock import FakeClock\n"
        f"make_channels({tables!r}, Path({str(tmp_path)!r}), FakeClock())\n"
        "print([name for name in ('websockets', 'cryptography', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "[]"
