"""Ranked lists without repetitions."""

from hypothesis import given
from hypothesis import strategies as st

from hindbrain.search.diversity import SeenWords, mmr


def words(first: int, stop: int) -> frozenset[str]:
    return frozenset(map(str, range(first, stop)))


def twin(one: frozenset[str], *seen: frozenset[str]) -> int | None:
    known = SeenWords()
    for other in seen:
        known.add(other)
    return known.twin_of(one)


def test_sets_that_share_nine_tenths_are_twins() -> None:
    assert twin(words(0, 100), words(3, 100)) == 0
    assert twin(words(0, 100), words(30, 130)) is None
    assert twin(words(0, 100), words(0, 50)) is None


def test_the_first_of_several_twins_is_named() -> None:
    assert twin(words(0, 100), words(200, 300), words(2, 100), words(0, 100)) == 1


def test_tiny_sets_have_no_twins() -> None:
    assert twin(words(0, 3), words(0, 3)) is None
    assert twin(frozenset(), frozenset()) is None


@given(
    st.lists(st.frozensets(st.sampled_from("abcdefghijklmno")), max_size=8),
    st.frozensets(st.sampled_from("abcdefghijklmno")),
)
def test_looking_by_size_finds_what_comparing_with_all_would(
    seen: list[frozenset[str]], one: frozenset[str]
) -> None:
    alike = [
        at
        for at, other in enumerate(seen)
        if min(len(one), len(other)) >= 6 and len(one & other) >= 0.9 * len(one | other)
    ]
    assert twin(one, *seen) == (alike[0] if alike else None)


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
