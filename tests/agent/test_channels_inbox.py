"""Messages that any program drops into a folder, and that each is given once, whatever happens in between."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hindbrain.agent.channels.fake import FakeChannel
from hindbrain.agent.channels.unread import Unread
from hindbrain.agent.channels.webhook import WebhookChannel
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import ChannelDown, UsageError


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    return tmp_path / "inbox"


@pytest.fixture
def channel(inbox: Path, clock: FakeClock) -> WebhookChannel:
    made = WebhookChannel("script", None, inbox, clock)
    made.check(1)
    return made


@pytest.fixture
def unread(tmp_path: Path, channel: WebhookChannel) -> Unread:
    return Unread(tmp_path / "state", {"script": channel})


def drop(inbox: Path, name: str, said: object, clock: FakeClock, age_s: float = 1.0) -> Path:
    file = inbox / name
    data = said if isinstance(said, bytes) else (said if isinstance(said, str) else json.dumps(said)).encode()
    file.write_bytes(data)
    os.utime(file, (clock.now() - age_s,) * 2)
    return file


def test_the_folder_is_made_and_its_files_are_messages(
    inbox: Path, channel: WebhookChannel, clock: FakeClock
) -> None:
    drop(inbox, "b.json", {"text": "second", "sender": "cron", "at": clock.now() - 5}, clock)
    drop(inbox, "a.txt", "\ufefffirst\n", clock, age_s=10)
    drop(inbox, "c.md", "third", clock)
    found = channel.check(10)
    assert [(one.text, one.sender) for one in found] == [
        ("first", "file"),
        ("second", "cron"),
        ("third", "file"),
    ]
    assert found[1].at == clock.now() - 5
    assert [one.text for one in channel.check(2)] == ["first", "second"]


def test_a_message_is_given_once_and_its_file_moved_away(
    inbox: Path, unread: Unread, clock: FakeClock
) -> None:
    drop(inbox, "a.txt", "hello", clock)
    assert [one.text for one in unread.take(10).messages] == ["hello"]
    assert unread.take(10).messages == ()
    assert list(inbox.glob("*.txt")) == []
    assert [file.read_text(encoding="utf-8") for file in (inbox / "taken").iterdir()] == ["hello"]


def test_what_is_only_looked_at_is_given_again_until_it_is_marked(
    tmp_path: Path, inbox: Path, unread: Unread, channel: WebhookChannel, clock: FakeClock
) -> None:
    drop(inbox, "a.txt", "hello", clock)
    looked = unread.unread(10)
    assert Unread(tmp_path / "state", {"script": channel}).unread(10) == looked
    unread.mark(looked.messages)
    assert unread.unread(10).messages == ()


def test_the_same_words_in_a_new_file_are_a_new_message(
    inbox: Path, unread: Unread, clock: FakeClock
) -> None:
    for age in (30, 20, 10):
        drop(inbox, "answer.txt", "yes", clock, age_s=age)
        assert [one.text for one in unread.take(10).messages] == ["yes"]
    assert len(list((inbox / "taken").iterdir())) == 3


def test_a_kill_between_marking_and_moving_gives_it_to_nobody_again(
    inbox: Path, unread: Unread, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    drop(inbox, "a.txt", "hello", clock)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(WebhookChannel, "_move", killed)
        with pytest.raises(KeyboardInterrupt):
            unread.take(10)
    assert (inbox / "a.txt").exists()
    assert unread.take(10).messages == ()
    assert not (inbox / "a.txt").exists()  # it is moved late


def test_what_does_not_fit_the_limit_comes_with_the_next_look(
    inbox: Path, unread: Unread, clock: FakeClock
) -> None:
    for number in range(5):
        drop(inbox, f"{number}.txt", str(number), clock, age_s=50 - number)
    first = unread.take(3)
    assert ([one.text for one in first.messages], first.left) == (["0", "1", "2"], 2)
    second = unread.take(3)
    assert ([one.text for one in second.messages], second.left) == (["3", "4"], 0)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.json", '{"text": "half a fi'),
        ("b.json", "[]"),
        ("c.json", {"text": 5}),
        ("d.json", {"text": " "}),
        ("e.json", "[" * 100_000),
        ("f.txt", b"\xff\xfe\x00"),
        ("g.txt", ""),
        ("h.txt", "x" * 1_000_001),
    ],
)
def test_a_file_that_is_no_message_may_become_one_and_is_set_aside_in_the_end(
    inbox: Path, unread: Unread, clock: FakeClock, name: str, said: object
) -> None:
    file = drop(inbox, name, said, clock)
    assert unread.take(10).messages == ()
    assert file.exists()
    drop(inbox, "good.txt", "hello", clock)
    assert [one.text for one in unread.take(10).messages] == ["hello"]
    clock.advance(61)
    assert unread.take(10).messages == ()
    assert [one.suffix for one in (inbox / "unreadable").iterdir()] == [file.suffix]


def test_files_in_the_making_and_other_things_are_left_alone(
    inbox: Path, unread: Unread, tmp_path: Path, clock: FakeClock
) -> None:
    drop(inbox, ".a.json", {"text": "not yet"}, clock)
    drop(inbox, "a.json.part", {"text": "not yet"}, clock)
    drop(inbox, "photo.png", b"\x89PNG", clock)
    (inbox / "folder.txt").mkdir()
    secret = tmp_path / "secret.txt"
    secret.write_text("not a message", encoding="utf-8")
    if os.name != "nt":
        (inbox / "link.txt").symlink_to(secret)
    assert unread.take(10).messages == ()
    assert secret.exists()


def test_a_channel_that_is_down_is_told_and_keeps_no_other_from_being_read(tmp_path: Path) -> None:
    down = FakeChannel("a")
    down.fails = ChannelDown("no answer")
    unread = Unread(tmp_path, {"a": down, "b": FakeChannel("b", ["hello"])})
    looked = unread.take(10)
    assert [one.text for one in looked.messages] == ["hello"]
    assert looked.failed == (("a", "no answer"),)
    assert unread.take(10, "b") == ((), 0, ())
    with pytest.raises(UsageError):
        unread.take(10, "c")


def test_the_same_id_on_two_channels_is_two_messages(tmp_path: Path) -> None:
    unread = Unread(tmp_path, {"a": FakeChannel("a", ["one"]), "b": FakeChannel("b", ["two"])})
    assert [one.text for one in unread.take(10, "a").messages] == ["one"]
    assert [one.text for one in unread.take(10).messages] == ["two"]


def test_a_long_chat_is_read_once_however_often_one_looks(tmp_path: Path) -> None:
    line = FakeChannel("a", [f"{n}" for n in range(150)])
    read: list[str] = []
    for _ in range(10):
        read += [one.text for one in Unread(tmp_path, {"a": line}).take(40).messages]
    assert read == [f"{n}" for n in range(150)]


def test_a_damaged_list_of_what_was_seen_gives_no_old_message_again(tmp_path: Path) -> None:
    unread = Unread(tmp_path, {"a": FakeChannel("a", ["rm everything"])})
    unread.take(10)
    file = tmp_path / "agent" / "seen" / "a.json"
    for damage in ("", "[]", '{"ids": 5}', "{}"):
        file.write_text(damage, encoding="utf-8")
        looked = unread.unread(10)
        assert looked.messages == ()
        assert [name for name, _ in looked.failed] == ["a"]
