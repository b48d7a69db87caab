"""Old tool results and screenshots make room; the conversation itself is not touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.context.history.cost import history_tokens
from hindbrain.context.history.trimming import (
    SCREENSHOT_REMOVED,
    TrimRules,
    drop_screenshots,
    hard_clear,
    priorities,
    soft_trim,
    trim,
)
from hindbrain.context.history.turns import partners, recent_from, turn_starts
from hindbrain.context.messages import Message
from hindbrain.context.tokens import EstimatedTokens

COUNTER = EstimatedTokens()
LONG = "\n".join(f"line {number} of a long listing" for number in range(400))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
MESSAGES = st.lists(
    st.builds(
        Message,
        st.sampled_from(["system", "user", "assistant", "tool"]),
        st.one_of(TEXT, st.just(LONG), st.just("x" * 9_000)),
        tool=st.sampled_from(["", "bash", "read"]),
        call=st.sampled_from(["", "1", "2", "3"]),
        failed=st.booleans(),
        images=st.integers(0, 2),
        critical=st.booleans(),
    ),
    max_size=24,
)


def rounds(count: int, text: str = LONG) -> list[Message]:
    """An agent at work: one request, then so many calls with their results."""
    made = [Message("user", "make it work")]
    for number in range(count):
        made += [
            Message("assistant", f"look at {number}", tool="bash", call=str(number)),
            Message("tool", text, tool="bash", call=str(number)),
        ]
    return made


def test_a_result_within_the_limit_stays_as_it_is() -> None:
    message = Message("tool", LONG, tool="bash")
    assert soft_trim(message, len(LONG)) is message


def test_a_long_result_keeps_its_first_and_last_lines_whole_and_says_what_is_missing() -> None:
    short = soft_trim(Message("tool", LONG, tool="bash"), 1_000).text
    lines = short.split("\n")
    assert len(short) <= 1_000
    assert (lines[0], lines[-1]) == ("line 0 of a long listing", "line 399 of a long listing")
    missing = [line for line in lines if line not in LONG.split("\n")]
    assert len(missing) == 1
    kept = sum(len(part) for part in short.split(missing[0])) - 2
    assert str(len(LONG) - kept) in missing[0]


def test_a_result_of_one_endless_line_keeps_both_ends() -> None:
    short = soft_trim(Message("tool", "a" * 50_000 + "z" * 50_000), 1_000).text
    assert len(short) <= 1_000
    assert short.startswith("a" * 300)
    assert short.endswith("z" * 300)


@settings(deadline=None)
@given(TEXT.map(lambda text: text * 20), st.integers(0, 500))
def test_shortening_never_lengthens_and_is_done_once(text: str, longest: int) -> None:
    once = soft_trim(Message("tool", text), longest)
    assert len(once.text) <= len(text)
    if longest >= 100:
        assert len(once.text) <= longest
        assert soft_trim(once, longest) == once


def test_a_cleared_result_says_how_long_it_was_and_of_what_and_is_cleared_once() -> None:
    cleared = hard_clear(Message("tool", LONG, tool="bash", call="7"))
    assert cleared.text == f"[tool result cleared: {len(LONG)} characters of bash; run it again if needed]"
    assert cleared.call == "7"
    assert hard_clear(cleared) is cleared
    assert hard_clear(Message("tool", "done", tool="bash")).text == "done"


def test_a_window_with_room_is_left_alone() -> None:
    messages = rounds(10)
    assert trim(messages, 10_000_000, counter=COUNTER).messages == tuple(messages)


def test_results_are_shortened_before_any_is_cleared() -> None:
    messages = rounds(10)
    used = history_tokens(messages, COUNTER)
    soft = trim(messages, int(used / 0.4), counter=COUNTER)
    assert soft.shortened
    assert not soft.cleared
    assert soft.after < soft.before == used
    hard = trim(messages, used // 4, counter=COUNTER)
    assert hard.cleared
    assert hard.after < hard.before


def test_the_oldest_go_first_and_no_more_than_needed() -> None:
    messages = rounds(10)
    trimmed = trim(messages, int(history_tokens(messages, COUNTER) / 0.35), counter=COUNTER)
    touched = trimmed.shortened
    assert touched == tuple(range(2, 2 + 2 * len(touched), 2))
    assert 0 < len(touched) < 7


def test_the_last_turns_are_never_touched() -> None:
    messages = rounds(10)
    trimmed = trim(messages, 1, counter=COUNTER)
    recent = recent_from(messages, TrimRules().keep_recent)
    assert recent == len(messages) - 6
    assert trimmed.messages[recent:] == tuple(messages[recent:])
    assert trimmed.cleared == tuple(range(2, recent, 2))


def test_what_is_far_from_the_topic_goes_before_what_is_older() -> None:
    messages = rounds(10)
    relevance = [0.1 if index == 8 else 0.9 for index in range(len(messages))]
    window = int(history_tokens(messages, COUNTER) / 0.305)  # one has to go
    assert trim(messages, window, counter=COUNTER).shortened == (2,)
    assert trim(messages, window, counter=COUNTER, relevance=relevance).shortened == (8,)
    assert max(range(len(messages)), key=priorities(messages, relevance).__getitem__) == 8


def test_a_failure_is_kept_longer_than_any_success() -> None:
    messages = rounds(10)
    messages[2] = messages[2]._replace(failed=True)
    relevance = [0.0 if index == 2 else 1.0 for index in range(len(messages))]
    assert min(priorities(messages, relevance)) == priorities(messages, relevance)[2]
    window = int(history_tokens(messages, COUNTER) / 0.305)
    assert trim(messages, window, counter=COUNTER, relevance=relevance).shortened == (4,)


def test_relevances_that_do_not_belong_to_the_messages_are_refused() -> None:
    with pytest.raises(UsageError):
        priorities(rounds(2), [0.5])


def test_screenshots_are_dropped_after_five_turns_and_leave_a_word() -> None:
    messages = [
        message._replace(images=1) if message.role == "tool" else message for message in rounds(8, "seen")
    ]
    kept, dropped = drop_screenshots(messages)
    assert dropped == (2, 4, 6)
    assert kept[2].text == f"seen\n{SCREENSHOT_REMOVED}"
    assert [message.images for message in kept if message.role == "tool"] == [0, 0, 0, 1, 1, 1, 1, 1]
    assert history_tokens(kept, COUNTER) < history_tokens(messages, COUNTER)
    assert drop_screenshots(kept) == (kept, ())


def test_a_critical_screenshot_stays() -> None:
    messages = [Message("user", "as it should look", images=1, critical=True), *rounds(8, "seen")]
    assert drop_screenshots(messages) == (messages, ())


def test_a_turn_begins_with_the_user_or_with_the_next_step_of_an_agent() -> None:
    talk = [Message("user", "a"), Message("assistant", "b"), Message("user", "c"), Message("assistant", "d")]
    assert turn_starts(talk) == [0, 2]
    assert turn_starts(rounds(3)) == [0, 3, 5]
    assert turn_starts([]) == []


def test_calls_are_paired_by_id_and_without_one_by_their_tool() -> None:
    by_id = partners(rounds(2))
    assert by_id == {1: {1, 2}, 2: {1, 2}, 3: {3, 4}, 4: {3, 4}}
    nameless = [message._replace(call="") for message in rounds(2)]
    assert partners(nameless) == by_id
    parallel = [nameless[1], nameless[3], nameless[2], nameless[4]]
    assert partners(parallel) == {0: {0, 2}, 2: {0, 2}, 1: {1, 3}, 3: {1, 3}}


@settings(deadline=None)
@given(MESSAGES, st.integers(1, 20_000))
def test_trimming_changes_only_old_results_and_screenshots(messages: list[Message], window: int) -> None:
    trimmed = trim(messages, window, counter=COUNTER)
    assert trimmed.after == history_tokens(trimmed.messages, COUNTER)
    assert len(trimmed.messages) == len(messages)
    changed = {*trimmed.shortened, *trimmed.cleared, *trimmed.screenshots}
    recent = recent_from(messages, TrimRules().keep_recent)
    for index, (old, new) in enumerate(zip(messages, trimmed.messages, strict=True)):
        assert (old != new) == (index in changed)
        assert new._replace(text=old.text, images=old.images) == old
        if old.critical or index >= recent:
            assert new == old
        elif old.role != "tool":
            assert new.text.removesuffix(SCREENSHOT_REMOVED).startswith(old.text)


@settings(deadline=None)
@given(MESSAGES, st.integers(1, 20_000))
def test_what_was_trimmed_once_is_not_trimmed_again(messages: list[Message], window: int) -> None:
    once = trim(messages, window, counter=COUNTER)
    assert trim(once.messages, window, counter=COUNTER).messages == once.messages
