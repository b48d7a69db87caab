"""A window is divided; what is too long is told, dropped or condensed, and never cut silently."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.context.history.compaction import is_summary
from hindbrain.context.history.window import Built, ContextWindow, WindowBudget, budget_of
from hindbrain.context.messages import Message
from hindbrain.context.tokens import EstimatedTokens

COUNTER = EstimatedTokens()
SENTENCE = "The carpenter comes on Tuesday and brings the oak for the shelf. "
SMALL = budget_of(4_000)


def window(budget: WindowBudget = SMALL) -> ContextWindow:
    return ContextWindow(budget, COUNTER)


def talk(messages: int) -> list[Message]:
    return [
        Message("user" if at % 2 == 0 else "assistant", f"{at}. {SENTENCE * 3}") for at in range(messages)
    ]


def built(**parts: object) -> Built:
    given: dict[str, object] = {
        "system": "Be brief.",
        "skills": (),
        "memory": "",
        "history": (),
        "request": "Hi",
    }
    return window().build(**{**given, **parts})  # type: ignore[arg-type]


def test_the_parts_of_the_usual_window() -> None:
    budget = WindowBudget()
    assert budget.total == 200_000
    assert budget.input == 180_000
    assert budget_of(200_000) == budget


@settings(deadline=None)
@given(st.integers(1_000, 2_000_000))
def test_another_window_is_divided_alike_and_wholly(size: int) -> None:
    budget = budget_of(size)
    assert budget.total == size
    assert abs(budget.memory / size - 0.25) < 0.01
    assert abs(budget.reserve / size - 0.1) < 0.01


def test_a_window_that_can_not_be_divided_is_refused() -> None:
    with pytest.raises(UsageError):
        budget_of(999)


def test_messages_cost_their_text_and_what_is_around_it() -> None:
    none, one = window().count([]), window().count([Message("user", "hello")])
    assert none == 2
    assert one == 2 + 4 + COUNTER.count("hello") + COUNTER.count("user")
    assert window().count([Message("user", "hello")] * 3) == 2 + 3 * (one - 2)


def test_it_is_time_to_compact_at_85_and_to_flush_at_90_percent() -> None:
    def filled(share: float) -> list[Message]:
        one = Message("user", SENTENCE)
        return [one] * round((share * SMALL.total - 2) / (window().count([one]) - 2))

    def judged(share: float) -> tuple[bool, bool]:
        return window().should_compact(filled(share)), window().should_flush(filled(share))

    assert [judged(share) for share in (0.83, 0.87, 0.92)] == [(False, False), (True, False), (True, True)]
    assert window().utilisation(filled(1.5)) > 1.4


def test_parts_that_fit_are_put_together_in_their_order() -> None:
    history = talk(4)
    done = built(
        skills=["cut wood", "paint"], memory="<memory>oak</memory>", history=history, request="And now?"
    )
    assert [message.role for message in done.messages[:3]] == ["system"] * 3
    assert done.messages[0].text == "Be brief."
    assert "cut wood" in done.messages[1].text
    assert done.messages[2].text == "<memory>oak</memory>"
    assert done.messages[3:7] == tuple(history)
    assert done.messages[7:] == (Message("user", "And now?"),)
    assert (done.actions, done.fits, done.wanted) == ((), True, done.tokens)
    assert done.utilisation == done.tokens / SMALL.total


def test_empty_parts_leave_no_empty_messages() -> None:
    assert built(system="", skills=["", ""]).messages == (Message("user", "Hi"),)


def test_a_long_history_is_compacted_and_the_last_exchanges_stay() -> None:
    history = talk(120)
    done = built(history=history)
    assert done.did("history_compacted")
    assert done.did("flush_due")
    assert done.did("compact_due")
    assert done.tokens <= SMALL.input < done.wanted
    assert sum(map(is_summary, done.messages)) == 1
    assert done.messages[-7:-1] == tuple(history[-6:])


def test_old_tool_results_go_before_anything_that_was_said() -> None:
    history = [Message("user", "look"), Message("assistant", "", tool="ls", call="1")]
    history += [Message("tool", SENTENCE * 400, tool="ls", call="1"), *talk(8)]
    done = built(history=history)
    assert done.did("history_trimmed")
    assert not done.did("history_compacted")
    assert done.messages[2:4] == (history[1], done.messages[3])
    assert done.messages[4:-1] == tuple(history[3:])


def test_history_takes_what_the_other_parts_leave() -> None:
    history = talk(44)
    assert SMALL.history < window().count(history) < SMALL.input - 100
    assert built(history=history).messages[1:-1] == tuple(history)


def test_skills_are_dropped_from_the_last() -> None:
    skills = [f"skill {number}: {SENTENCE * 4}" for number in range(8)]
    done = built(skills=skills)
    assert done.did("skills_dropped")
    kept = [skill for skill in skills if skill in done.messages[1].text]
    assert 0 < len(kept) < 8
    assert kept == skills[: len(kept)]


def test_memory_is_whole_or_absent_and_may_use_what_history_does_not_need() -> None:
    memory = f"<memory>{SENTENCE * 150}</memory>"
    assert SMALL.memory < COUNTER.count(memory) < SMALL.input
    assert memory in [message.text for message in built(memory=memory).messages]
    crowded = built(memory=memory, history=talk(60))
    assert crowded.did("memory_left_out")
    assert memory not in [message.text for message in crowded.messages]


@pytest.mark.parametrize("part", ["system", "request"])
def test_a_part_that_is_never_cut_takes_from_the_others_and_that_is_told(part: str) -> None:
    long = SENTENCE * 100
    done = built(**{part: long}, history=talk(60), skills=["paint"])
    assert done.did("over_budget")
    assert done.fits
    assert done.tokens <= SMALL.input
    assert long in [message.text for message in done.messages]


def test_what_can_not_fit_is_said_and_still_not_cut() -> None:
    long = SENTENCE * 400
    done = built(request=long, history=talk(6), memory="<memory>oak</memory>", skills=["paint"])
    assert not done.fits
    assert done.did("too_long")
    assert [message.text for message in done.messages] == ["Be brief.", long]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 120),
    st.integers(0, 120),
    st.integers(0, 60),
    st.integers(0, 80),
    st.lists(st.integers(0, 12), max_size=6),
)
def test_a_request_never_exceeds_the_window_without_saying_so(
    system: int, request: int, memory: int, history: int, skills: list[int]
) -> None:
    done = built(
        system=SENTENCE * system,
        request=SENTENCE * request,
        memory=SENTENCE * memory,
        history=talk(history),
        skills=[SENTENCE * length for length in skills],
    )
    assert done.tokens == window().count(done.messages)
    assert done.fits == (done.tokens <= SMALL.input)
    assert done.fits != done.did("too_long")
    assert done.messages[-1] == Message("user", SENTENCE * request)
    assert not system or done.messages[0] == Message("system", SENTENCE * system)
