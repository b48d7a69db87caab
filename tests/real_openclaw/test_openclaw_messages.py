"""Messages to the owner's phone and back, through the gateway of the real OpenClaw."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytest.importorskip("websockets")
pytest.importorskip("cryptography")

from tests.real_openclaw.completions_stub import Call, CompletionsStub, Say
from tests.real_openclaw.gateway_process import HOOK_TOKEN, TOKEN, free_port, wait_until
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig
from tests.real_openclaw.telegram_stub import OWNER

from hindbrain.agent.channels.channel import Outgoing
from hindbrain.agent.channels.outbox import Outbox
from hindbrain.agent.channels.tables import make_channels
from hindbrain.agent.channels.unread import Unread
from hindbrain.agent.tools.messages import message_tools
from hindbrain.agent.tools.tool import Result, Toolbox
from hindbrain.base.clock import SystemClock
from hindbrain.models.chat import ToolCall

pytestmark = pytest.mark.openclaw
_PART = "Messages"


class Phone(NamedTuple):
    """The tools as an agent has them, over one channel."""

    tools: Toolbox
    outbox: Outbox
    unread: Unread

    def send(self, message: str) -> Result:
        return self._call("openclaw_send", message=message)

    def check(self) -> str:
        return self._call("openclaw_check").text

    def _call(self, name: str, **arguments: Any) -> Result:
        return self.tools.run(*self.tools.checked(ToolCall("1", name, arguments)))


@pytest.fixture
def phone(plain: Rig, tmp_path: Path) -> Callable[..., Phone]:
    def make(**table: str) -> Phone:
        words = {"kind": "openclaw", "channel": "telegram", "to": OWNER, "token": TOKEN, **table}
        if "program" not in words:
            words.setdefault("address", f"ws://127.0.0.1:{plain.gateway.port}")
        clock = SystemClock()
        channels = make_channels({"phone": words}, tmp_path, clock)
        outbox, unread = Outbox(tmp_path, channels, clock), Unread(tmp_path, channels)
        return Phone(Toolbox(message_tools(outbox, unread, clock)), outbox, unread)

    return make


def http(rig: Rig) -> str:
    return f"http://127.0.0.1:{rig.gateway.port}"


def the_owner_writes(rig: Rig, text: str, answer: str) -> None:
    """And OpenClaw's own agent answers: only then is the message in its session for sure."""
    rig.model.script(Say(answer))
    rig.telegram.write(text)
    rig.telegram.wait_for(answer)


def test_a_message_arrives_at_the_phone_and_the_answer_comes_back_once(
    plain: Rig, phone: Callable[..., Phone], record: Record
) -> None:
    agents = phone()
    began = time.monotonic()
    sent = agents.send("The report is ready: 3 files.")
    seconds = time.monotonic() - began
    assert not sent.failed
    assert plain.telegram.texts()[-1] == "The report is ready: 3 files."
    the_owner_writes(plain, "Thanks, and buy milk.", "I will.")
    found = agents.check()
    assert json.dumps("Thanks, and buy milk.") in found
    assert json.dumps(OWNER) in found
    assert "I will." not in found
    assert "milk" not in agents.check()
    record.shown(_PART, f"openclaw_send over the WebSocket arrived at the stub Telegram in {seconds:.1f} s")
    record.shown(_PART, "a message typed there came back through openclaw_check, once")


def test_the_same_key_is_one_message(plain: Rig, phone: Callable[..., Phone], record: Record) -> None:
    channel = phone().outbox.channels["phone"]
    message = Outgoing("key-of-this-test", "phone", "Only once, please.")
    first, second = channel.send(message), channel.send(message)
    assert first == second
    assert plain.telegram.texts().count("Only once, please.") == 1
    record.shown(_PART, "the same idempotency key, sent twice: one message")


def test_what_is_sent_while_the_gateway_is_down_waits_and_goes_out_once(
    plain: Rig, phone: Callable[..., Phone], record: Record
) -> None:
    agents = phone()
    plain.gateway.stop()
    waiting = agents.send("Sent into the void.")
    assert not waiting.failed
    assert [one.state for one in agents.outbox.waiting()] == ["waiting"]
    assert agents.check().startswith("phone could not be checked")
    plain.gateway.start()
    flushed = agents.outbox.flush(time.time() + 60)
    assert [one.state for one in flushed.deliveries] == ["sent"]
    assert agents.outbox.flush(time.time() + 120).deliveries == ()
    plain.telegram.wait_for("Sent into the void.")
    assert plain.telegram.texts().count("Sent into the void.") == 1
    record.shown(
        _PART, "sent while the gateway was down: kept in the outbox, delivered once when it was back"
    )


def test_messages_go_and_come_over_http_too(plain: Rig, phone: Callable[..., Phone], record: Record) -> None:
    agents = phone(address=http(plain))
    assert not agents.send("By the gateway's tools.").failed
    assert plain.telegram.texts()[-1] == "By the gateway's tools."
    the_owner_writes(plain, "Seen over HTTP.", "Good to know.")
    assert json.dumps("Seen over HTTP.") in agents.check()
    assert "Seen" not in agents.check()
    record.shown(_PART, "the second way, HTTP (/tools/invoke): the same message out, and the answer back")


def test_openclaws_own_agent_can_be_told_to_say_it(
    plain: Rig, phone: Callable[..., Phone], record: Record
) -> None:
    agents = phone(address=f"{http(plain)}/hooks/agent", token=HOOK_TOKEN)
    plain.model.script(Say("The hook was heard."))
    assert not agents.send("Tell them: heard.").failed
    plain.telegram.wait_for("The hook was heard.")
    assert "Tell them: heard." in plain.model.steps[0].text
    assert "could not be checked" in agents.check()
    record.shown(_PART, "its hook (/hooks/agent): OpenClaw's agent said it to the stub Telegram")


@pytest.mark.skipif(os.name == "nt", reason="npm installs a script there, which is given no message to")
def test_messages_go_and_come_by_openclaws_own_program(
    plain: Rig, phone: Callable[..., Phone], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in plain.gateway.environ.items():
        monkeypatch.setenv(name, value)
    agents = phone(program="openclaw")
    assert not agents.send("-- By its own program.").failed
    assert plain.telegram.texts()[-1] == "-- By its own program."
    the_owner_writes(plain, "Seen by the program.", "Fine.")
    assert json.dumps("Seen by the program.") in agents.check()


@pytest.mark.parametrize("way", ["ws", "http"])
def test_a_wrong_token_waits_for_its_owner_and_says_what_to_set(
    plain: Rig, phone: Callable[..., Phone], way: str
) -> None:
    agents = phone(address=f"{way}://127.0.0.1:{plain.gateway.port}", token="not-the-token")
    before = len(plain.telegram.texts())
    told = agents.send("Nobody hears this.")
    assert not told.failed  # it is kept: a wrong token can be put right
    assert "token" in told.text
    assert "not-the-token" not in told.text
    assert [one.state for one in agents.outbox.waiting()] == ["waiting"]
    assert len(plain.telegram.texts()) == before


def test_another_port_is_named(plain: Rig, phone: Callable[..., Phone]) -> None:
    for port in (free_port(), int(plain.model.url.split(":")[2].split("/")[0])):
        told = phone(address=f"ws://127.0.0.1:{port}").send("Anybody there?")
        assert f"127.0.0.1:{port}" in told.text
        assert "kept" in told.text


def test_a_message_to_a_channel_that_openclaw_does_not_have_is_given_up_with_its_reason(
    plain: Rig, phone: Callable[..., Phone]
) -> None:
    agents = phone(channel="carrier-pigeon")
    told = agents.send("Coo.")
    assert told.failed
    assert "channel" in told.text
    assert [one.state for one in agents.outbox.undeliverable()] == ["undeliverable"]


def test_a_long_message_is_read_to_its_end(plain: Rig, phone: Callable[..., Phone]) -> None:
    agents = phone()
    letter = "Dear agent, " + "and so on, " * 2_000 + "yours, Ada"
    plain.gateway.ask(letter)
    assert json.dumps(letter) in agents.check()


def test_an_agent_that_runs_reaches_its_owner_and_hears_the_answer(plain: Rig, record: Record) -> None:
    """By the command line alone, as a person sets it up."""
    (plain.folder / "agent.toml").write_text(
        '[channels.phone]\nkind = "openclaw"\nchannel = "telegram"\nto = "42"\nowners = ["42"]\n'
        f'address = "ws://127.0.0.1:{plain.gateway.port}"\ntoken = "{TOKEN}"\n',
        encoding="utf-8",
    )
    with CompletionsStub() as model:
        plain.gateway.extra.update(
            HINDBRAIN_CHAT_PROVIDER="openai",
            HINDBRAIN_CHAT_MODEL="stub-1",
            HINDBRAIN_CHAT_BASE_URL=model.url,
        )
        model.script(Call("openclaw_send", {"message": "Shall I order the chard?"}), Say("Asked."))
        ran = plain.hindbrain("run", "ask me on my phone whether to order the chard", "--no-memory")
        assert ran.code == 0, ran
        assert plain.telegram.texts()[-1] == "Shall I order the chard?"
        the_owner_writes(plain, "Yes, two bags.", "Noted.")
        model.script(Call("openclaw_check", {}), Say("They want two bags."))
        ran = plain.hindbrain("run", "what did I answer?", "--no-memory")
        assert ran.code == 0, ran
        assert any("Yes, two bags." in result for result in model.steps[-1].tool_results)
    record.shown(_PART, "`hindbrain run` asked its owner on the phone, and read the answer in the next run")


def test_a_gateway_that_restarts_is_the_same_device_to_it(plain: Rig, phone: Callable[..., Phone]) -> None:
    agents = phone()
    assert not agents.send("Before.").failed
    plain.gateway.kill()
    plain.gateway.start()
    assert not agents.send("After.").failed
    wait_until(lambda: plain.telegram.texts()[-1] == "After.", what="the second message")
