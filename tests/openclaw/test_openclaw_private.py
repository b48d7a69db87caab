"""Who may write to the bot in private is answered from the vault: the owner, or it is told who else."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

import pytest
from claw_bench import PLAIN, Claw

from hindbrain.edge.mcp.json5_edit import set_member
from hindbrain.edge.openclaw.people import OWNERS, Private, private_chats
from hindbrain.edge.openclaw.place import find_openclaw, this_machine

TOLD = "does not say which of them are you"


def write(claw: Claw, **members: Any) -> None:
    text = PLAIN
    for name, value in members.items():
        text = set_member(text, (name,), value)
    claw.write(text)


def allowed(claw: Claw) -> Private:
    return private_chats(find_openclaw(this_machine()))


def pair(claw: Claw, channel: str, account: str, sender: str) -> None:
    """As OpenClaw 2026.9 keeps whom its owner has approved, as far as it is read."""
    file = claw.folder / "state" / "openclaw.sqlite"
    file.parent.mkdir(exist_ok=True)
    with sqlite3.connect(file) as database:
        database.execute(
            "CREATE TABLE IF NOT EXISTS channel_pairing_allow_entries "
            "(channel_key TEXT, account_id TEXT, entry TEXT, sort_order INTEGER)"
        )
        database.execute(
            "INSERT INTO channel_pairing_allow_entries VALUES (?, ?, ?, 0)", (channel, account, sender)
        )
    database.close()


CHANNELS: dict[str, tuple[dict[str, Any], Private]] = {
    "none": ({}, Private()),
    "one id": (
        {"telegram": {"dmPolicy": "allowlist", "allowFrom": ["telegram:42"]}},
        Private(("telegram:42",)),
    ),
    "a number": ({"telegram": {"dmPolicy": "allowlist", "allowFrom": [42]}}, Private(("telegram:42",))),
    "the same twice": (
        {"telegram": {"dmPolicy": "allowlist", "allowFrom": ["42", "tg:42", "telegram:42"]}},
        Private(("telegram:42",)),
    ),
    "two": (
        {"signal": {"dmPolicy": "allowlist", "allowFrom": ["+1", "+2"]}},
        Private(("signal:+1", "signal:+2")),
    ),
    "anybody": ({"irc": {"dmPolicy": "open", "allowFrom": ["*"]}}, Private(open=("irc",))),
    "open to one": ({"irc": {"dmPolicy": "open", "allowFrom": ["mara"]}}, Private(("irc:mara",))),
    "whom you approve": ({"telegram": {"botToken": "x"}}, Private(pairing=("telegram",))),
    "switched off": ({"irc": {"enabled": False, "allowFrom": ["*"]}}, Private()),
    "no private chats": ({"irc": {"dmPolicy": "disabled", "allowFrom": ["*"]}}, Private()),
    "in older words": (
        {"discord": {"dm": {"policy": "allowlist", "allowFrom": ["7"]}}},
        Private(("discord:7",)),
    ),
    "of an account": (
        {
            "telegram": {
                "dmPolicy": "allowlist",
                "allowFrom": ["1"],
                "accounts": {"a": {}, "b": {"allowFrom": ["2"]}, "c": {"enabled": False, "allowFrom": ["3"]}},
            }
        },
        Private(("telegram:1", "telegram:2")),
    ),
    "of a group of senders": (
        {"telegram": {"dmPolicy": "allowlist", "allowFrom": ["accessGroup:us"]}},
        Private(("telegram:all", "telegram:42")),
    ),
    "no channels": ({"defaults": {"allowFrom": ["*"]}, "modelByChannel": {}}, Private()),
    "of another kind": (
        {"telegram": ["*"], "irc": {"allowFrom": "*", "accounts": []}},
        Private(pairing=("irc",)),
    ),
}


@pytest.mark.parametrize("kind", CHANNELS)
def test_who_may_write_is_read_as_openclaw_reads_it(claw: Claw, kind: str) -> None:
    channels, expected = CHANNELS[kind]
    groups = {"us": {"type": "message.senders", "members": {"*": ["all"], "telegram": ["42"], "irc": ["x"]}}}
    write(claw, channels=channels, accessGroups=groups)
    assert allowed(claw) == expected


def test_whom_the_owner_has_approved_may_write_too(claw: Claw) -> None:
    write(claw, channels={"telegram": {"botToken": "x"}})
    pair(claw, "telegram", "default", "42")
    pair(claw, "telegram", "another", "43")
    pair(claw, "signal", "default", "44")
    assert allowed(claw).ids == ("telegram:42",)


def test_where_one_alone_may_write_it_is_the_owner(claw: Claw) -> None:
    write(claw, channels={"telegram": {"dmPolicy": "allowlist", "allowFrom": ["telegram:42"]}})
    done = claw.install()
    assert claw.entry["config"][OWNERS] == ["telegram:42"]
    assert any(one["where"].endswith(f".{OWNERS}") for one in done["edits"])
    assert not any(TOLD in note for note in done["notes"])
    assert not any(TOLD in what for what in claw.problems())
    before = claw.file.read_bytes()
    claw("uninstall")
    assert b"owners" in before
    assert b"owners" not in claw.file.read_bytes()


def test_who_is_let_in_later_does_not_become_an_owner(claw: Claw) -> None:
    write(claw, channels={"telegram": {"dmPolicy": "allowlist", "allowFrom": ["42"]}})
    claw.install()
    path = ("channels", "telegram", "allowFrom")
    claw.file.write_text(set_member(claw.file.read_text(encoding="utf-8"), path, ["43"]), encoding="utf-8")
    claw.install()
    assert claw.entry["config"][OWNERS] == ["telegram:42"]


def test_an_id_that_messages_may_have_in_another_form_is_left_to_the_owner(claw: Claw) -> None:
    write(claw, channels={"whatsapp": {"dmPolicy": "allowlist", "allowFrom": ["+15550100"]}})
    claw.install()
    assert OWNERS not in claw.entry["config"]
    assert not any(TOLD in what for what in claw.problems())


def test_over_mcp_nobody_knows_who_asks_and_that_is_told(claw: Claw) -> None:
    assert claw.install("--mcp")["notes"] == []
    claw("uninstall")
    write(claw, channels={"whatsapp": {}})
    assert any("in groups too" in note for note in claw.install("--mcp")["notes"])


@pytest.mark.parametrize("kind", ["two", "anybody", "whom you approve", "of an account"])
def test_where_others_may_write_it_is_told_what_follows_and_what_to_set(claw: Claw, kind: str) -> None:
    write(claw, channels=CHANNELS[kind][0], commands={"ownerAllowFrom": ["telegram:42"]})
    done = claw.install()
    assert OWNERS not in claw.entry["config"]
    assert any(TOLD in note for note in done["notes"])
    told = [one for one in claw("status", "--json").data["problems"] if TOLD in one["what"]]
    where = f"plugins.entries.hindbrain.config.{OWNERS}"
    assert [one["next"] for one in told] == [f"openclaw config set {where} '[\"telegram:42\"]'"]
    claw.file.write_text(
        set_member(claw.file.read_text(encoding="utf-8"), tuple(where.split(".")), ["42"]), encoding="utf-8"
    )
    assert not any(TOLD in what for what in claw.problems())
    assert json.loads(claw("status", "--json").out)["private"]["owners"] == ["42"]
