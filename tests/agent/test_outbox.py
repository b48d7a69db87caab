"""What is to be sent is on disk until it was sent, or its owner was told that it won't be."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hindbrain.agent.channels.channel import Outgoing
from hindbrain.agent.channels.fake import FakeChannel
from hindbrain.agent.channels.outbox import Delivery, Outbox, problems
from hindbrain.agent.channels.posting import Post
from hindbrain.agent.channels.quiet import QuietHours, read_quiet_hours
from hindbrain.agent.channels.webhook import WebhookChannel
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Busy, ChannelDown, ConfigError, Refused, UsageError, WriteFailed
from hindbrain.vault.lock import FileLock

_DAY = 86_400.0


@pytest.fixture
def line() -> FakeChannel:
    return FakeChannel()


@pytest.fixture
def outbox(tmp_path: Path, line: FakeChannel, clock: FakeClock) -> Outbox:
    return Outbox(tmp_path, {"phone": line}, clock)


def note(text: str, key: str = "", channel: str = "phone") -> Outgoing:
    return Outgoing(key or f"key of {text}", channel, text, at=1.0)


def test_a_message_is_sent_at_once(outbox: Outbox, line: FakeChannel) -> None:
    delivery = outbox.send(note("hello"))
    assert (delivery.state, delivery.id) == ("sent", "id-1")
    assert line.texts() == ["hello"]
    assert outbox.waiting() == []


def test_the_same_key_is_the_same_message_also_after_it_went_out(
    tmp_path: Path, outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    outbox.send(note("hello", "k"))
    clock.advance(3_600)
    assert outbox.send(note("hello", "k")).id == "id-1"
    assert Outbox(tmp_path, {"phone": line}, clock).send(note("other words", "k")).state == "sent"
    assert line.texts() == ["hello"]


def test_what_was_sent_keeps_no_text_on_disk(tmp_path: Path, outbox: Outbox) -> None:
    outbox.send(note("a secret of ours"))
    kept = b"".join(file.read_bytes() for file in (tmp_path / "agent" / "outbox").iterdir())
    assert b"secret of ours" not in kept.replace(b"key of a secret of ours", b"")


def test_a_message_waits_while_its_channel_is_down_and_goes_when_it_is_up(
    tmp_path: Path, outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    delivery = outbox.send(note("hello"))
    assert (delivery.state, delivery.why, delivery.tries) == ("waiting", "no answer", 1)
    line.fails = None
    assert outbox.flush().deliveries == ()  # not yet: it was just tried
    clock.advance(31)
    again = Outbox(tmp_path, {"phone": line}, clock)  # another process
    assert [one.state for one in again.flush().deliveries] == ["sent"]
    assert line.texts() == ["hello"]
    assert again.flush().deliveries == ()


def test_the_waits_between_tries_grow_to_an_hour(outbox: Outbox, line: FakeChannel, clock: FakeClock) -> None:
    line.fails = ChannelDown("no answer")
    outbox.send(note("hello"))
    waits = []
    for _ in range(10):
        (waiting,) = outbox.waiting()
        waits.append(waiting.next - clock.now())
        clock.advance(waits[-1])
        outbox.flush()
    assert waits == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]


def test_a_clock_that_was_wrong_does_not_keep_a_message_waiting(
    outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    clock.advance(400 * _DAY)
    outbox.send(note("hello"))
    clock.advance(-400 * _DAY)
    line.fails = None
    assert [one.state for one in outbox.flush().deliveries] == ["sent"]


def test_messages_that_waited_go_out_in_their_order_before_a_new_one(
    outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    for text in ("one", "two", "three"):
        outbox.send(note(text))
        clock.advance(1)
    line.fails = None
    clock.advance(3_600)
    outbox.send(note("four"))
    assert line.texts() == ["one", "two", "three", "four"]


def test_one_message_that_never_passes_does_not_hold_up_the_others(
    outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.chokes_on = "poison"
    outbox.send(note("poison"))
    for text in ("one", "two", "three"):
        clock.advance(7_200)
        outbox.send(note(text))
    assert line.texts() == ["one", "two", "three"]
    assert [one.message.text for one in outbox.waiting()] == ["poison"]


def test_a_channel_that_is_down_is_not_tried_for_every_message(
    outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    for number in range(6):
        outbox.send(note(str(number)))
    clock.advance(7_200)
    assert len(outbox.flush().deliveries) == 2


def test_after_a_week_a_message_is_given_up_and_reported_until_it_is_dismissed(
    outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    outbox.send(note("hello", "k"))
    clock.advance(7 * _DAY - 1)
    assert outbox.flush().undeliverable == ()
    clock.advance(3_602)
    (given_up,) = outbox.flush().undeliverable
    assert (given_up.message.text, given_up.why) == ("hello", "no answer")
    clock.advance(30 * _DAY)
    line.fails = None
    assert outbox.flush().deliveries == ()
    assert [one.message.key for one in outbox.undeliverable()] == ["k"]
    assert len(problems(outbox.undeliverable())) == 1
    outbox.dismiss("k")
    assert outbox.undeliverable() == []
    assert line.texts() == []


def test_a_message_that_is_refused_for_good_is_reported_at_once(outbox: Outbox, line: FakeChannel) -> None:
    line.fails = Refused("no such chat")
    assert outbox.send(note("hello")).state == "undeliverable"
    assert [one.why for one in outbox.undeliverable()] == ["no such chat"]


def test_a_wrong_setting_costs_no_message(outbox: Outbox, line: FakeChannel, clock: FakeClock) -> None:
    line.fails = ConfigError("wrong token")
    assert outbox.send(note("hello")).state == "waiting"
    line.fails = None
    clock.advance(60)
    outbox.flush()
    assert line.texts() == ["hello"]


def test_a_message_for_a_channel_that_is_gone_waits_and_is_reported(
    tmp_path: Path, outbox: Outbox, line: FakeChannel, clock: FakeClock
) -> None:
    line.fails = ChannelDown("no answer")
    outbox.send(note("hello"))
    without = Outbox(tmp_path, {}, clock)
    clock.advance(3_600)
    assert [one.state for one in without.flush().deliveries] == ["waiting"]
    clock.advance(8 * _DAY)
    assert len(without.flush().undeliverable) == 1


def test_what_can_not_be_a_message_is_refused_before_it_is_kept(outbox: Outbox) -> None:
    for message in (note("hello", channel="pager"), note("  "), Outgoing("", "phone", "hello")):
        with pytest.raises(UsageError):
            outbox.send(message)
    assert outbox.waiting() == []


def test_a_message_waits_for_the_morning_unless_it_is_urgent(
    tmp_path: Path, line: FakeChannel, clock: FakeClock
) -> None:
    clock.advance(at_local("23:30") - clock.now())
    outbox = Outbox(tmp_path, {"phone": line}, clock, {"phone": read_quiet_hours("22:00-07:00")})
    delivery = outbox.send(note("tomorrow"))
    assert (delivery.state, delivery.next) == ("waiting", at_local("07:00", days=1))
    assert outbox.send(note("fire"), urgent=True).state == "sent"
    clock.advance(7.4 * 3_600)
    assert outbox.flush().deliveries == ()
    clock.advance(0.2 * 3_600)
    outbox.flush()
    assert line.texts() == ["fire", "tomorrow"]


def test_quiet_hours_of_one_channel_do_not_silence_another(tmp_path: Path, clock: FakeClock) -> None:
    phone, desk = FakeChannel("phone"), FakeChannel("desk")
    always = QuietHours(0, 24 * 60 - 1)
    outbox = Outbox(tmp_path, {"phone": phone, "desk": desk}, clock, {"phone": always})
    outbox.send(note("a", channel="phone"))
    outbox.send(note("b", channel="desk"))
    assert (phone.texts(), desk.texts()) == ([], ["b"])


def test_a_file_that_holds_no_message_is_kept_beside_and_reported(
    tmp_path: Path, outbox: Outbox, line: FakeChannel
) -> None:
    outbox.send(note("hello"))
    folder = tmp_path / "agent" / "outbox"
    bad = {
        "a": "",
        "b": "[]",
        "c": "{}",
        "d": '{"message": {"key": 1}}',
        "e": '{"message": {}, "state": "?"}',
    }
    for name, text in bad.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    assert outbox.waiting() == []
    assert outbox.flush().unreadable == tuple(sorted(bad))
    assert outbox.flush().unreadable == ()
    assert sorted(file.stem for file in folder.glob("*.bad")) == sorted(bad)


def test_two_who_flush_at_once_send_once(tmp_path: Path, outbox: Outbox, line: FakeChannel) -> None:
    with FileLock(tmp_path / "agent" / "outbox.lock").held(0), pytest.raises(Busy):
        outbox.flush()


def test_many_threads_lose_and_double_nothing(tmp_path: Path, line: FakeChannel, clock: FakeClock) -> None:
    def work(who: int) -> None:
        mine = Outbox(tmp_path, {"phone": line}, clock)
        for number in range(5):
            mine.send(note(f"{who}-{number}"))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(line.texts()) == sorted(f"{who}-{number}" for who in range(4) for number in range(5))


def test_a_disk_that_takes_nothing_is_told_and_sends_nothing(
    tmp_path: Path, outbox: Outbox, line: FakeChannel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(WriteFailed):
        outbox.send(note("hello"))
    assert line.texts() == []


def at_local(time: str, days: int = 0) -> float:
    """That time of the day of the tests' clock, where the machine is."""
    from datetime import datetime, timedelta

    from workbench import NOW

    hour, minute = map(int, time.split(":"))
    day = datetime.fromtimestamp(NOW).replace(hour=hour, minute=minute, second=0, microsecond=0)
    return (day + timedelta(days=days)).timestamp()


# --- kills -----------------------------------------------------------------------------------------------


@pytest.fixture
def listener() -> Iterator[tuple[str, list[str]]]:
    """An address, and the keys that were posted to it."""
    got: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["key"])
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *args: object) -> None:
            """Keep the test's output clean."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", got
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="faults are injected through fork and kill")
def test_a_kill_at_any_call_loses_no_message_and_doubles_it_at_most_once(
    tmp_path: Path, listener: tuple[str, list[str]], clock: FakeClock
) -> None:
    from tests.anomalies.killer import CHANGES_FILES, NEVER, Faults, kill, run_forked

    address, got = listener

    def outbox_in(folder: Path) -> Outbox:
        channel = WebhookChannel("phone", Post("phone", address), None, clock)
        return Outbox(folder, {"phone": channel}, clock)

    def sending(folder: Path, faults: Faults) -> Callable[[], None]:
        def act() -> None:
            outbox = outbox_in(folder)
            with faults.active():
                outbox.send(note("hello", "the key"))

        return act

    dry = Faults(NEVER, kill)
    sending(tmp_path / "dry", dry)()  # also loads what a child must not load under fire
    assert got == ["the key"]
    calls = [number for number, name in enumerate(dry.calls, start=1) if name in CHANGES_FILES]
    assert len(calls) > 5
    outcomes: set[tuple[bool, int]] = set()
    for at in calls:
        got.clear()
        folder = tmp_path / f"{at}"
        (folder / "agent").mkdir(parents=True)
        _, came_back = run_forked(sending(folder, Faults(at, kill)))
        assert not came_back
        posted = len(got)
        kept = [one.message.text for one in outbox_in(folder).waiting()]
        clock.advance(60)
        outbox_in(folder).flush()
        outbox_in(folder).flush()
        assert posted <= 1
        assert set(kept) <= {"hello"}
        assert len(got) == posted + len(kept), f"killed at call {at}"
        assert len(got) >= 1 or not kept
        outcomes.add((bool(kept), posted))
        # Whoever asked starts again with the same key, as it was told nothing: it is there exactly once more.
        before = len(got)
        assert outbox_in(folder).send(note("hello", "the key")).state == "sent"
        assert len(got) == max(1, before)
    # Before it was kept; kept and not sent; sent and not noted.
    assert {(False, 0), (True, 0), (True, 1)} <= outcomes


def test_a_delivery_reads_back_as_it_was(tmp_path: Path, outbox: Outbox, line: FakeChannel) -> None:
    line.fails = ChannelDown("no answer")
    message = Outgoing("k", "phone", "Zeile\n\u2028 \U0001f600 \ud800", "42", 5.5)
    outbox.send(message, urgent=True)
    (kept,) = outbox.waiting()
    assert isinstance(kept, Delivery)
    assert (kept.message, kept.urgent) == (message, True)
