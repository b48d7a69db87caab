"""Ranked lists without repetitions."""

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.search.diversity import mmr, near_duplicate


def test_sets_that_share_nine_tenths_are_near_duplicates() -> None:
    assert near_duplicate(frozenset(range(100)), frozenset(range(3, 100)))
    assert not near_duplicate(frozenset(range(100)), frozenset(range(30, 130)))
    assert not near_duplicate(frozenset(range(100)), frozenset(range(50)))


def test_tiny_sets_are_never_near_duplicates() -> None:
    assert not near_duplicate(frozenset({1, 2, 3}), frozenset({1, 2, 3}))
    assert not near_duplicate(frozenset(), frozenset())


def test_mmr_without_diversity_keeps_the_order() -> None:
    assert mmr([0.9, 0.8, 0.7], lambda *_: 1.0, 3, 0.0) == [0, 1, 2]


def test_mmr_puts_what_is_alike_behind_what_is_not() -> None:
    alike = {(0, 1), (1, 0)}
    assert mmr([1.0, 0.95, 0.6], lambda a, b: float((a, b) in alike), 3, 0.5) == [0, 2, 1]


@given(
    st.lists(st.floats(0, 1), max_size=12),
    st.integers(0, 12),
    st.floats(0, 1),
)
def test_mmr_picks_each_item_at_most_once_and_as_many_as_asked(
    scores: list[float], limit: int, diversity: float
) -> None:
    picked = mmr(scores, lambda a, b: ((a * 7 + b * 3) % 10) / 10, limit, diversity)
    assert len(picked) == len(set(picked)) == min(limit, len(scores))
