"""What a person said at a prompt is captured once: whether the host's record comes late, cut or never."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.context.test_capture import NOW, Desk, said

from hindbrain.base.clock import FakeClock
from hindbrain.context.capture import spool
from hindbrain.context.capture.catching_up import Capture
from hindbrain.context.capture.prompts import Pairs, pairs_from
from hindbrain.context.capture.spool import count_waiting, keep_event
from hindbrain.context.flush.flusher import Flushed, Flusher
from hindbrain.context.messages import Message

PREFERENCE = "I prefer tabs over spaces in Makefiles, always."


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def record(desk: Desk) -> Path:
    return desk.folder / "t.jsonl"


def prompt(desk: Desk, text: str, *, at: float = NOW, **fields: object) -> None:
    told = {"event": "prompt", "host": "claude-code", "session": "s1", "transcript": str(record(desk))}
    keep_event(desk.state, {**told, "prompt": text, "at": at, **fields})


def stop(desk: Desk, answer: str = "Noted.", *, at: float = NOW, event: str = "stop") -> None:
    desk.tell(event=event, transcript=str(record(desk)), last_assistant_message=answer, at=at)


def written(desk: Desk, lines: Sequence[str]) -> None:
    desk.write("t.jsonl", lines)


def line(number: int, text: str, role: str = "user", *, at: float = NOW) -> str:
    return said(number, text, role, timestamp=at)


@pytest.mark.promise("P1")
def test_a_prompt_is_captured_from_its_event_when_the_record_never_comes(desk):
    prompt(desk, PREFERENCE)
    stop(desk)
    assert desk.catch_up().messages == 2
    assert desk.listener.texts == [PREFERENCE, "Noted."]
    assert count_waiting(desk.state) == 0
    assert desk.catch_up().messages == 0


@pytest.mark.promise("P1")
@pytest.mark.parametrize("lines", [0, 1, 2])
def test_a_record_that_comes_late_is_not_captured_a_second_time(desk, lines):
    talk = [line(1, PREFERENCE), line(2, "Noted.", "assistant")]
    written(desk, talk[:lines])
    prompt(desk, PREFERENCE)
    stop(desk)
    desk.catch_up()
    written(desk, [*talk, line(3, "And now the tests."), line(4, "Done.", "assistant")])
    stop(desk, "", event="session-end")
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE, "Noted.", "And now the tests.", "Done."]


@pytest.mark.promise("P1")
def test_a_record_that_is_cut_in_its_middle_loses_no_prompt(desk):
    talk = [line(1, PREFERENCE), line(2, "Noted.", "assistant"), line(3, "We decided to use SQLite.")]
    written(desk, [*talk[:2], talk[2][:30]])
    for text in (PREFERENCE, "We decided to use SQLite."):
        prompt(desk, text)
        stop(desk)
    desk.catch_up()
    assert sorted(desk.listener.texts).count(PREFERENCE) == 1
    assert desk.listener.texts.count("We decided to use SQLite.") == 1
    written(desk, [*talk, line(4, "Right.", "assistant")])
    stop(desk, "Right.")
    desk.catch_up()
    assert [text for text in desk.listener.texts if text.startswith("We")] == ["We decided to use SQLite."]


def test_while_its_turn_goes_on_a_prompt_is_left_to_the_record(desk):
    prompt(desk, PREFERENCE, at=NOW - 5)
    assert desk.catch_up().messages == 0
    assert count_waiting(desk.state) == 1
    written(desk, [line(1, PREFERENCE)])
    stop(desk)
    assert desk.catch_up().messages == 1
    assert count_waiting(desk.state) == 0


@pytest.mark.promise("P1")
@pytest.mark.parametrize(
    "at", [NOW - 61, NOW + 3_600]
)  # killed in the middle of a turn; a clock was set back
def test_a_prompt_whose_turn_never_ended_is_captured_after_a_while(desk, at):
    prompt(desk, PREFERENCE, at=at)
    assert desk.catch_up().messages == 1
    assert desk.listener.texts == [PREFERENCE]


def test_the_event_of_a_prompt_may_come_after_its_record_was_captured(desk):
    written(desk, [line(1, PREFERENCE)])
    desk.tell(event="session-start", transcript=str(record(desk)))
    desk.catch_up()
    prompt(desk, PREFERENCE, at=NOW + 2)
    stop(desk, at=NOW + 3)
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE]


def test_an_old_saying_does_not_stand_for_a_new_one(desk):
    written(desk, [line(1, PREFERENCE, at=NOW - 3_600)])
    desk.tell(event="session-start", transcript=str(record(desk)))
    desk.catch_up()
    prompt(desk, PREFERENCE, at=NOW)
    stop(desk)
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE, PREFERENCE, "Noted."]


def test_what_is_said_again_in_another_turn_was_said_twice(desk):
    written(desk, [line(1, "go on"), line(2, "one", "assistant")])
    for answer in ("one", "two"):
        prompt(desk, "go on")
        stop(desk, answer)
    desk.catch_up()
    assert desk.listener.texts == ["go on", "one", "go on", "two"]
    later = [line(3, "go on"), line(4, "two", "assistant")]
    written(desk, [line(1, "go on"), line(2, "one", "assistant"), *later])
    stop(desk)
    desk.catch_up()
    assert desk.listener.texts == ["go on", "one", "go on", "two"]


def test_a_prompt_that_its_host_sends_again_was_said_once(desk):
    written(desk, [line(1, PREFERENCE), line(2, "No, I prefer spaces.")])
    prompt(desk, PREFERENCE)
    prompt(desk, PREFERENCE)  # the model was overloaded; or the daemon kept it too
    prompt(desk, "No, I prefer spaces.")
    stop(desk)
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE, "No, I prefer spaces."]


def test_both_versions_of_a_prompt_that_was_rewound_are_captured_in_their_order(desk):
    written(desk, [line(2, "I prefer spaces.")])  # the host has dropped the first
    prompt(desk, PREFERENCE)
    stop(desk)
    desk.catch_up()
    prompt(desk, "I prefer spaces.")
    stop(desk)
    desk.catch_up()
    assert sorted(desk.listener.texts) == sorted([PREFERENCE, "Noted.", "I prefer spaces."])


@pytest.mark.promise("P18")
@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/compact keep the names", []),
        ("/model opus", []),
        ("/remember I prefer tabs.", ["I prefer tabs."]),
        ("/etc/hosts is wrong", ["/etc/hosts is wrong"]),
        ("<system-reminder>I prefer tabs.</system-reminder>", []),
        ("<memory_context>\n- I prefer tabs. ^m-1a2b\n</memory_context>\nHello", ["Hello"]),
        ("<local-command-stdout>I prefer tabs.</local-command-stdout>", []),
    ],
)
def test_only_what_a_person_typed_is_captured_of_a_prompt(desk, typed, expected):
    prompt(desk, typed)
    stop(desk, "")
    desk.catch_up()
    assert desk.listener.texts == expected
    assert count_waiting(desk.state) == 0


def test_a_skill_that_is_called_by_its_name_is_captured_once(desk):
    echo = "<command-message>note</command-message>\n<command-name>/note</command-name>\n"
    written(desk, [line(1, f"{echo}<command-args>{PREFERENCE}</command-args>")])
    prompt(desk, f"/note {PREFERENCE}")
    stop(desk)
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE]


def test_secrets_of_a_prompt_are_not_in_the_spool_and_do_not_part_it_from_its_record(desk):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"The token is {secret}, and I prefer tabs."
    prompt(desk, text)
    stop(desk)
    assert secret.encode() not in b"".join(file.read_bytes() for file in desk.state.rglob("*.json"))
    desk.catch_up()
    written(desk, [line(1, text), line(2, "Noted.", "assistant")])
    stop(desk)
    desk.catch_up()
    assert len(desk.listener.texts) == 2


def test_a_prompt_of_any_length_is_known_again_in_the_record(desk):
    from hindbrain.edge.hooks.payloads import shortened

    text = "Look at this. " + "lorem ipsum " * 50_000 + PREFERENCE
    prompt(desk, shortened(text, 200_000))
    stop(desk)
    desk.catch_up()
    written(desk, [line(1, text), line(2, "Noted.", "assistant")])
    stop(desk)
    desk.catch_up()
    assert len(desk.listener.texts) == 2


@pytest.mark.promise("P18")
@pytest.mark.parametrize(("lost", "before"), [(False, ["I suggest Redis."]), (True, [])])
def test_a_yes_is_no_answer_to_words_before_those_that_were_lost(desk, lost, before):
    contexts: list[list[str]] = []  # of each flush: what was said before its messages
    hear = desk.listener.flush

    def flush(messages: Sequence[Message], *args: object, **options: object) -> Flushed:
        contexts.append([message.text for message in messages if not message.id])
        flushed: Flushed = hear(messages, *args, **options)
        return flushed

    desk.listener.flush = flush
    talk = [line(1, "Which cache?"), line(2, "I suggest Redis.", "assistant"), line(3, "Which log?")]
    written(desk, talk if lost else talk[:2])
    prompt(desk, "Which cache?")
    stop(desk, "I suggest Redis.")
    if lost:
        prompt(desk, "Which log?")
        stop(desk, "I suggest JSON lines.")
    desk.catch_up()
    prompt(desk, "Yes, let's do that.")
    stop(desk)
    desk.catch_up()
    assert (desk.listener.texts[-2], contexts[-1]) == ("Yes, let's do that.", before)


def test_a_host_without_a_record_that_tells_a_prompt_again_at_its_stop_said_it_once(desk):
    for answer in ("one", "two"):
        prompt(desk, "go on", host="opencode", transcript="")
        for event in ("pre-compact", "stop"):
            desk.tell(host="opencode", event=event, prompt="go on", last_assistant_message=answer)
    desk.catch_up()
    assert desk.listener.texts.count("go on") == 2


def test_a_sentence_that_is_said_in_two_turns_is_one_memory(desk):
    flusher = Flusher(desk.app.memory, lambda: None, FakeClock(NOW))
    for _ in range(2):
        prompt(desk, PREFERENCE)
        stop(desk)
        Capture(desk.app.memory, flusher, desk.state, FakeClock(NOW)).catch_up(deadline_s=60)
    written(desk, [line(1, PREFERENCE), line(2, "Noted.", "assistant"), line(3, PREFERENCE)])
    stop(desk)
    Capture(desk.app.memory, flusher, desk.state, FakeClock(NOW)).catch_up(deadline_s=60)
    desk.app.memory.settle(idle=True)
    kept = [item.text for item in desk.app.memory.book.items() if "tabs" in item.text]
    assert len(kept) == 1


WORDS = ("I prefer tabs.", "go on", "yes", "We use SQLite.")


@pytest.mark.promise("P1")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    turns=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6),
    looks=st.lists(st.integers(0, 12), min_size=1, max_size=5),
)
def test_whenever_the_record_is_written_and_looked_at_each_prompt_is_captured_once(
    tmp_path_factory, turns, looks
):
    desk = Desk(tmp_path_factory.mktemp("pairs"))
    lines: list[str] = []
    for number, text in enumerate(turns):
        prompt(desk, text)
        stop(desk, f"Answer {number}.")
        lines += [line(2 * number, text), line(2 * number + 1, f"Answer {number}.", "assistant")]
        written(desk, lines[: min(len(lines), looks[number % len(looks)])])
        desk.catch_up()
    written(desk, lines)
    stop(desk, "", event="session-end")
    desk.catch_up()
    desk.catch_up()
    assert sorted(desk.listener.texts) == sorted([*turns, *(f"Answer {n}." for n in range(len(turns)))])
    assert count_waiting(desk.state) == 0


def _fail(*_: object) -> None:
    raise OSError("gone")


@pytest.mark.promise("P1")
def test_a_capture_that_dies_before_its_events_are_dropped_captures_nothing_twice(desk, monkeypatch):
    written(desk, [line(1, PREFERENCE), line(2, "Noted.", "assistant")])
    prompt(desk, PREFERENCE)
    stop(desk)
    prompt(desk, "We use SQLite.")
    stop(desk)
    with monkeypatch.context() as dying:
        dying.setattr(spool, "drop_events", _fail)
        desk.catch_up()
    desk.catch_up()
    assert desk.listener.texts == [PREFERENCE, "Noted.", "We use SQLite.", "Noted."]


def test_pairs_come_back_as_they_were():
    pairs = Pairs(("a", "b"), (("c", 1.5),), "d", "e")
    assert pairs_from(json.loads(json.dumps(pairs._asdict()))) == pairs
    nonsense: list[object] = [None, 5, [], {"ahead": 3}, {"ahead": [], "behind": [1]}, "text"]
    for garbage in nonsense:
        assert pairs_from(garbage) == Pairs()
