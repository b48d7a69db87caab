"""The named formulas give what their sources say; expected values are computed by hand from those texts."""

import math

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.search.profiles import PROFILES, Candidate, profile_named


def totals(profile: str, *candidates: Candidate) -> list[float]:
    return [sum(shares.values()) for shares in profile_named(profile)(candidates)]


def test_reciprocal_ranks_add_up_with_k_60() -> None:
    first = Candidate(1, 1, bm25=9.0, semantic=0.2)  # keyword rank 1, vector rank 2
    second = Candidate(2, 1, bm25=4.0, semantic=0.8)  # keyword rank 2, vector rank 1
    assert totals("rrf", first, second) == pytest.approx([1 / 61 + 1 / 62, 1 / 62 + 1 / 61])


def test_what_one_ranking_lacks_has_rank_999_there() -> None:
    found = Candidate(1, 1, bm25=9.0, semantic=0.2)
    only_words = Candidate(2, 1, bm25=5.0)
    only_meaning = Candidate(3, 1, semantic=0.9)
    expected = [1 / 61 + 1 / 62, 1 / 62 + 1 / (60 + 999), 1 / (60 + 999) + 1 / 61]
    assert totals("rrf", found, only_words, only_meaning) == pytest.approx(expected)


def test_linear_is_seven_tenths_cosine_and_three_tenths_of_one_over_one_plus_the_rank() -> None:
    first = Candidate(1, 1, bm25=9.0, semantic=0.2)  # rank 0: 1 / (1 + 0)
    second = Candidate(2, 1, bm25=4.0, semantic=0.8)  # rank 1: 1 / (1 + 1)
    third = Candidate(3, 1, semantic=0.5)  # no keyword match
    assert totals("linear", first, second, third) == pytest.approx([0.14 + 0.3, 0.56 + 0.15, 0.35])


def test_linear_without_a_vector_has_its_keyword_part() -> None:
    assert totals("linear", Candidate(1, 1, bm25=2.0)) == pytest.approx([0.3])


def test_multi_factor_weighs_five_signals() -> None:
    candidate = Candidate(
        1, 1, semantic=0.6, overlap=0.25, age_days=7.0, importance=0.9, opened=4, opened_days=15.0
    )
    access = 0.5 + min(1.0, math.log1p(4) / 3) * 0.3 + (1 - 15 / 30) * 0.2
    expected = 0.30 * 0.6 + 0.20 * 0.25 + 0.20 * 0.5 + 0.15 * 0.9 + 0.15 * access
    assert totals("multi-factor", candidate) == pytest.approx([expected])


@pytest.mark.parametrize(("age_days", "recency"), [(0, 1.0), (-3, 1.0), (7, 0.5), (14, 0.25), (365, 0.1)])
def test_multi_factor_halves_recency_every_week_down_to_a_tenth(age_days: float, recency: float) -> None:
    (shares,) = PROFILES["multi-factor"]([Candidate(1, 1, age_days=age_days)])
    assert shares["recency"] == pytest.approx(0.20 * recency)


@pytest.mark.parametrize(
    ("opened", "days", "access"),
    [
        (0, math.nan, 0.5),
        (1, 0.0, 0.5 + math.log(2) / 3 * 0.3 + 0.2),
        (1, 45.0, 0.5 + math.log(2) / 3 * 0.3),
        (1_000, 0.0, 1.0),
    ],
)
def test_access_counts_often_and_lately(opened: int, days: float, access: float) -> None:
    (shares,) = PROFILES["multi-factor"]([Candidate(1, 1, opened=opened, opened_days=days)])
    assert shares["access"] == pytest.approx(0.15 * access)


@pytest.mark.parametrize(
    ("age_days", "recency"), [(0.5 / 24, 1.0), (0.5, 0.7), (3, 0.4), (8, 0.2), (math.nan, 0.2)]
)
def test_keyword_recency_has_steps_of_an_hour_a_day_and_a_week(age_days: float, recency: float) -> None:
    (shares,) = PROFILES["keyword-recency"]([Candidate(1, 1, age_days=age_days)])
    assert shares["recency"] == pytest.approx(0.3 * recency)


def test_keyword_recency_weighs_four_signals() -> None:
    best = Candidate(1, 1, lexical=8.0, age_days=0.0, opened=0, success=1.0)
    other = Candidate(2, 1, lexical=2.0, age_days=3.0, opened=3, success=0.5)
    expected = [0.4 + 0.3 + 0.1, 0.4 * 0.25 + 0.3 * 0.4 + 0.2 * math.log1p(3) / 3 + 0.1 * 0.5]
    assert totals("keyword-recency", best, other) == pytest.approx(expected)


def test_the_default_believes_vectors_as_far_as_the_embedder_knows_the_script() -> None:
    low, high = Candidate(1, 1, semantic=0.1), Candidate(2, 1, semantic=0.9)
    strange = Candidate(2, 1, semantic=0.9, trust=0.25)
    known, unknown = PROFILES["default"]([low, high])[1], PROFILES["default"]([low, strange])[1]
    assert unknown["semantic"] == pytest.approx(0.25 * known["semantic"])


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_takes_candidates_that_know_nothing(name: str) -> None:
    assert PROFILES[name]([]) == []
    assert all(math.isfinite(total) for total in totals(name, Candidate(1, 1), Candidate(2, 1)))


def test_an_unknown_profile_is_a_usage_error() -> None:
    with pytest.raises(UsageError) as raised:
        profile_named("best")
    assert raised.value.code == "usage"
