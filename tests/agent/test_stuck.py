"""Going round in circles is noticed, and nothing else is taken for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.stuck import Deed, advice, circle

A, B, C = Deed("look", "{}", "1"), Deed("push", '{"x":1}', "2"), Deed("pull", "{}", "3")


@pytest.mark.parametrize(
    ("deeds", "found"),
    [
        ([], set()),
        ([A, A], set()),
        ([A, A, A], {A}),
        ([B, A, A, A], {A}),
        ([A, A, A, B], set()),
        ([A, B, A, B, A], set()),
        ([A, B, A, B, A, B], {A, B}),
        ([C, B, A, B, A, B, A], {A, B}),
        ([A, B, C, A, B, C, A, B, C], set()),
        ([A, A._replace(result="other"), A], set()),
        ([A, A._replace(arguments='{"y":1}'), A], set()),
    ],
)
def test_the_same_three_times_or_two_by_turns_is_a_circle(deeds: list[Deed], found: set[Deed]) -> None:
    assert circle(deeds) == found


DEEDS = st.lists(st.sampled_from([A, B, C]), max_size=12)


@given(DEEDS)
def test_a_circle_is_exactly_what_the_end_repeats_three_times(deeds: list[Deed]) -> None:
    repeated = any(
        len(deeds) >= 3 * length and deeds[-3 * length :] == deeds[-length:] * 3 for length in (1, 2)
    )
    assert bool(circle(deeds)) == repeated


@given(DEEDS, st.sampled_from([A, B, C]))
def test_something_new_always_breaks_a_circle(deeds: list[Deed], last: Deed) -> None:
    assert not circle([*deeds, last._replace(result="never seen")])


@given(DEEDS)
def test_who_goes_on_in_a_circle_is_in_the_same_one(deeds: list[Deed]) -> None:
    found = circle(deeds)
    if found:
        following = deeds[-len(found)]
        assert circle([*deeds, following]) == found


def test_the_advice_names_what_was_done() -> None:
    assert "`look` and `push`" in advice(frozenset({A, B}))
