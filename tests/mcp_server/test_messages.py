"""With `--messages`, an agent of another host writes to the owner and reads along."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_clients import Servers

from hindbrain.agent.channels.tables import make_channels
from hindbrain.agent.channels.unread import Unread
from hindbrain.base.clock import FakeClock


@pytest.fixture
def inbox(servers: Servers, tmp_path: Path) -> Path:
    """The folder of messages of the only channel, which has no address to send to."""
    folder = tmp_path / "inbox"
    folder.mkdir()
    config = Path(servers.environ["HINDBRAIN_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    table = f'[channels.phone]\nkind = "webhook"\ninbox = {json.dumps(str(folder))}\n'
    (config.parent / "agent.toml").write_text(table, encoding="utf-8")
    return folder


def drop(inbox: Path, text: str) -> None:
    message = {"id": text, "sender": "ann", "text": text}
    (inbox / f"{text[:5]}.json").write_text(json.dumps(message), encoding="utf-8")


def test_a_host_reads_along_and_takes_no_message_away(servers: Servers, inbox: Path, tmp_path: Path) -> None:
    drop(inbox, "bring milk")

    async def check(client: Client) -> list[Any]:
        first = await client.call_tool("openclaw_check", {})
        again = await client.call_tool("openclaw_check", {})
        sent = await client.call_tool("openclaw_send", {"message": "done"})
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return [first, again, sent, tools]

    first, again, sent, tools = servers.talk(check, "--messages")

    assert "bring milk" in first.content[0].text
    assert "bring milk" not in again.content[0].text
    assert tools["openclaw_send"].annotations.open_world_hint
    assert tools["openclaw_check"].annotations.read_only_hint
    state = next(path for path in (tmp_path / "state").iterdir() if (path / "agent").is_dir())
    assert not sent.is_error
    assert len(list((state / "agent" / "outbox").iterdir())) == 1  # kept until it can be sent
    channels = make_channels({"phone": {"kind": "webhook", "inbox": str(inbox)}}, state, FakeClock())
    assert [message.text for message in Unread(state, channels).unread(10).messages] == ["bring milk"]


def test_they_are_offered_only_when_asked_for(servers: Servers, inbox: Path) -> None:
    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    assert not {"openclaw_send", "openclaw_check"} & servers.talk(names, "--tools", "all")


def test_without_a_channel_the_option_is_a_mistake(servers: Servers) -> None:
    process = servers.start("--messages")
    _, said = process.communicate(b"", timeout=60)
    assert process.returncode == 2
    assert b"(usage)" in said
