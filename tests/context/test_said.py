"""What a host without a transcript hands over is kept once, however often it is sent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import WriteFailed
from hindbrain.context.capture import catching_up, cursors, heard, said, spool
from hindbrain.context.capture.catching_up import Capture
from hindbrain.context.capture.keeping import Keeps
from hindbrain.context.capture.spool import count_waiting
from hindbrain.context.flush.flusher import Flushed
from hindbrain.context.messages import Message
from hindbrain.context.purging import purge_conversations
from hindbrain.context.turn import SessionKey
from hindbrain.learn.importing.captured import take_captured
from workbench import NOW, Vault

SESSION = SessionKey("openclaw", "agent:main:main", keeps=False)
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


class Listener:
    """Stands in for the flusher: keeps what it is told."""

    def __init__(self) -> None:
        self.heard: list[Message] = []

    def flush(self, messages: Sequence[Message], session: SessionKey, *, project: str = "") -> Flushed:
        assert session.id and not project
        self.heard += [message for message in messages if message.id]  # without one: context from before
        return Flushed()

    @property
    def texts(self) -> list[str]:
        return [message.text for message in self.heard]


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> Iterator[App]:
    app = make_app(vault.root, embedding_provider="none")
    yield app
    app.close()


def captured(app: App, flusher: Keeps | None = None, *, ticks: Callable[[], float] = lambda: 0.0) -> Listener:
    listener = Listener()
    Capture(app.memory, flusher or listener, app.state, app.clock, ticks=ticks).catch_up(deadline_s=1.0)
    return listener


def talk(*texts: str, first: int = 1, at: float = NOW - 100) -> list[Message]:
    return [
        Message("user" if number % 2 else "assistant", text, at=at + number, id=f"m{number}")
        for number, text in enumerate(texts, start=first)
    ]


def test_what_was_said_is_durable_at_once_and_captured_later(app: App) -> None:
    messages = talk("I moved to Lisbon", "noted")
    assert app.context.said(SESSION, messages, "/home/me") == messages[-1].at
    assert count_waiting(app.state) == 1
    assert captured(app).texts == ["I moved to Lisbon", "noted"]
    assert count_waiting(app.state) == 0


def test_the_same_messages_sent_twice_are_captured_once(app: App) -> None:
    app.context.said(SESSION, talk("one", "two"))
    app.context.said(SESSION, talk("one", "two", "three"))
    app.context.said(SESSION, talk("one", "two", "three"))
    assert count_waiting(app.state) == 2
    assert captured(app).texts == ["one", "two", "three"]
    app.context.said(SESSION, talk("one", "two", "three", "four"))
    assert captured(app).texts == ["four"]


def test_a_message_that_is_in_two_events_is_captured_once(app: App) -> None:
    for _ in range(2):  # as two processes do that look at the same moment
        event = {"event": "said", "host": SESSION.host, "session": SESSION.id}
        message = {"id": "m1", "role": "user", "text": "I moved to Lisbon", "at": NOW - 1}
        spool.append_event(app.state, event | {"messages": [message]})
    assert captured(app).texts == ["I moved to Lisbon"]


def test_what_a_session_carries_over_from_another_is_not_captured_again(app: App) -> None:
    carried = Message("user", "I moved to Lisbon", at=NOW - 9, id="channel-user:v1:0123456789abcdef")
    app.context.said(SESSION, [carried])
    captured(app)
    later = SESSION._replace(id="after-a-compaction")
    app.context.said(later, [carried, Message("user", "and then to Porto", at=NOW - 5, id="u2")])
    assert captured(app).texts == ["and then to Porto"]
    app.context.said(later, [carried])
    assert count_waiting(app.state) == 0


def test_until_when_it_is_kept_is_known_before_and_after_capture_and_to_another_process(
    app: App, make_app: Callable[..., App]
) -> None:
    assert app.context.kept_until(SESSION) == 0
    app.context.said(SESSION, talk("one", "two"))
    assert app.context.kept_until(SESSION) == NOW - 98
    captured(app)
    assert count_waiting(app.state) == 0
    assert make_app(app.root, embedding_provider="none").context.kept_until(SESSION) == NOW - 98
    assert app.context.kept_until(SESSION._replace(id="another")) == 0


def test_messages_of_one_instant_or_without_a_time_are_all_kept(app: App) -> None:
    at_once = [Message("user", f"fact {n}", at=NOW - 5, id=f"a{n}") for n in range(3)]
    app.context.said(SESSION, at_once[:2])
    app.context.said(SESSION, at_once)
    app.context.said(SESSION, [Message("user", "timeless", id="b1")])
    assert app.context.kept_until(SESSION) == NOW - 5
    assert captured(app).texts == ["fact 0", "fact 1", "fact 2", "timeless"]
    assert app.context.kept_until(SESSION) == NOW - 5


def test_a_clock_that_jumps_loses_nothing(app: App) -> None:
    ahead = Message("user", "said in the future", at=NOW + 86_400, id="f1")
    assert app.context.said(SESSION, [ahead]) == NOW
    captured(app)
    assert app.context.kept_until(SESSION) == NOW
    back = Message("user", "said when the clock was right again", at=NOW - 50, id="f2")
    assert app.context.said(SESSION, [ahead, back]) == NOW - 50
    assert captured(app).texts == ["said when the clock was right again"]


def test_messages_without_an_id_are_known_by_what_they_say_and_when(app: App) -> None:
    same = [Message("user", "yes", at=NOW - 9), Message("user", "yes", at=NOW - 9), Message("user", "no")]
    app.context.said(SESSION, same)
    app.context.said(SESSION, same)
    assert captured(app).texts == ["yes", "yes", "no"]
    app.context.said(SESSION, [*same, Message("user", "yes", at=NOW - 3)])
    assert captured(app).texts == ["yes"]


def test_a_failure_and_its_cure_become_a_known_issue(app: App) -> None:
    def ran(number: int, command: str, output: str, failed: bool) -> list[Message]:
        arguments = f'{{"command": "{command}"}}'
        return [
            Message("assistant", arguments, "exec", f"c{number}", at=NOW - 60 + number, id=f"c{number}"),
            Message("tool", output, "exec", f"c{number}", failed, at=NOW - 59 + number, id=f"r{number}"),
        ]

    missing = "ModuleNotFoundError: No module named 'yaml'\n\nProcess exited with code 1"
    app.context.said(SESSION, ran(1, "pytest", missing, False))
    app.context.catch_up(deadline_s=30)
    app.context.said(SESSION, ran(2, "pip install pyyaml", "ok", False) + ran(3, "pytest", "3 passed", False))
    assert app.context.catch_up(deadline_s=30).fixes == 1
    app.memory.flush(timeout_s=30)
    assert any("pip install pyyaml" in item.text for item in app.memory.book.items())


def test_what_the_memory_answered_is_not_captured_as_something_new(app: App) -> None:
    app.context.said(
        SESSION,
        [
            Message("assistant", '{"query": "tea"}', "memory_search", "c1", at=NOW - 4, id="c1"),
            Message("tool", "The user prefers tea.", "memory_search", "c1", at=NOW - 3, id="r1"),
            Message("user", "and coffee on Sundays", at=NOW - 2, id="u1"),
        ],
    )
    assert "The user prefers tea." not in captured(app).texts


def test_a_message_in_which_nobody_said_anything_is_not_sent_for_again(app: App) -> None:
    empty = [Message("user", "<system-reminder>be quick</system-reminder>", at=NOW - 1, id="s1")]
    app.context.said(SESSION, empty)
    assert captured(app).texts == []
    app.context.said(SESSION, empty)
    assert count_waiting(app.state) == 0
    assert app.context.kept_until(SESSION) == NOW - 1


@pytest.mark.promise("P21")
def test_no_secret_lies_in_what_waits(app: App) -> None:
    app.context.said(SESSION, talk(f"my token is {TOKEN}, keep it"))
    stored = b"".join(path.read_bytes() for path in (app.state / spool.FOLDER).iterdir())
    assert stored and TOKEN.encode() not in stored


def test_a_long_history_is_captured_in_pieces_and_goes_on_where_the_time_was_up(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said, "_PART_CHARS", 400)
    monkeypatch.setattr(catching_up, "_PIECE_BYTES", 400)
    history = talk(*(f"fact number {n} " + "x" * 100 for n in range(20)))
    app.context.said(SESSION, history)
    clock = iter(range(1_000))
    heard: list[Message] = []
    for _ in range(20):
        heard += captured(app, ticks=lambda: float(next(clock))).heard
    assert [one.id for one in heard] == [one.id for one in history]
    assert count_waiting(app.state) == 0


def test_a_kill_between_two_files_loses_nothing_and_doubles_nothing(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(said, "_PART_CHARS", 10)
    messages = talk("the first fact", "the second fact", "the third fact")
    written: list[object] = []
    append = spool.append_event

    def dies_after_one(*args: object, **kwargs: object) -> None:
        if written:
            raise OSError(28, "No space left on device")
        written.append(args)
        append(*args, **kwargs)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(spool, "append_event", dies_after_one)
        with pytest.raises(WriteFailed):
            app.context.said(SESSION, messages)
    assert app.context.kept_until(SESSION) == messages[0].at
    app.context.said(SESSION, messages)
    assert captured(app).texts == [message.text for message in messages]


def test_the_ids_of_a_very_long_session_are_remembered_the_latest_ones_for_sure(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursors, "_MOST_BYTES", 500)
    monkeypatch.setattr(cursors, "_MOST_IDS", 4)
    for number in range(1, 13, 2):
        app.context.said(SESSION, talk(f"fact {number}", f"fact {number + 1}", first=number))
        captured(app)
    latest = talk("fact 11", "fact 12", first=11)
    app.context.said(SESSION, latest)
    assert count_waiting(app.state) == 0


def test_several_threads_that_hand_over_the_same_have_it_captured_once(app: App) -> None:
    messages = talk(*(f"fact number {n}" for n in range(10)))
    context = app.context
    threads = [Thread(target=context.said, args=(SESSION, messages)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert captured(app).texts == [message.text for message in messages]


def test_the_person_is_not_quoted_as_the_owner_of_a_memory(app: App) -> None:
    app.context.said(SESSION, talk("I prefer green tea over coffee.", "Noted."))
    app.context.catch_up(deadline_s=30)
    app.memory.flush(timeout_s=30)
    items = [item for item in app.memory.book.items() if "green tea" in item.text]
    assert items and {item.source for item in items} == {"agent"}


@pytest.mark.skipif(sys.platform == "win32", reason="folders of Windows have no such modes")
def test_a_folder_that_takes_nothing_is_an_error_with_a_code(
    app: App, clock: FakeClock, tmp_path: Path
) -> None:
    state = tmp_path / "a-file"
    state.write_text("no folder", encoding="utf-8")
    with pytest.raises(WriteFailed):
        said.keep_said(state, SESSION, talk("one"), cwd="", now=clock.now())


def work(number: int, command: str, output: str) -> list[Message]:
    at = NOW - 5_000 + 10 * number
    return [
        Message("assistant", f'{{"command": "{command}"}}', "exec", f"c{number}", at=at, id=f"c{number}"),
        Message("tool", output, "exec", f"c{number}", at=at + 1, id=f"r{number}"),
    ]


def test_what_was_handed_over_can_be_learned_from_and_is_forgotten_when_asked(
    app: App, clock: FakeClock
) -> None:
    app.context.said(
        SESSION,
        [
            Message("user", "Please release version 2 of the harbour app", at=NOW - 5_000, id="u1"),
            *work(1, "make test", "ok"),
            *work(2, "make release", "released"),
            Message("assistant", "Version 2 of the harbour app is released.", at=NOW - 4_900, id="a1"),
            Message("user", f"Thanks! The token {TOKEN} may go.", at=NOW - 4_800, id="u2"),
        ],
    )
    app.context.catch_up(deadline_s=30)
    file = heard.heard_file(app.state, SESSION)
    assert TOKEN.encode() not in file.read_bytes()
    os.utime(file, (NOW - 4_800, NOW - 4_800))
    runs = app.learning.runs
    first, second = (
        take_captured(runs, app.root, app.state, now=NOW, named=lambda _: ()).runs for _ in range(2)
    )
    assert (first, second) == (1, 0)
    assert purge_conversations(app.state, lambda text: "harbour" in text) >= 1
    assert b"harbour" not in file.read_bytes()
    os.utime(file, (NOW, NOW))
    clock.advance(8 * 86_400)
    app.context.said(SESSION._replace(id="later"), talk("something else"))
    captured(app)
    assert not file.exists()
