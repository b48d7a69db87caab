"""Whether what was found is worth its tokens."""

from __future__ import annotations

from hindbrain.context.packs.worth import worth_of
from hindbrain.search.hit import Hit


def hit(confidence: float, *terms: str) -> Hit:
    return Hit("0" * 16, "a.md", "a", "", 1, 1, "text", "", 1.0, confidence, {}, terms)


def test_nothing_found_is_worth_nothing() -> None:
    assert worth_of([]) == 0.0


def test_a_surer_hit_is_worth_more() -> None:
    assert worth_of([hit(0.05, "tea")]) < worth_of([hit(0.3, "tea")]) < worth_of([hit(0.8, "tea")])


def test_words_that_stand_together_are_worth_more_than_words_apart() -> None:
    apart = worth_of([hit(0.1, "green"), hit(0.1, "tea")])
    assert apart < worth_of([hit(0.1, "green", "tea"), hit(0.1)])


def test_a_long_prompt_is_not_worth_more_by_its_length() -> None:
    three, ten = worth_of([hit(0.05, *"abc")]), worth_of([hit(0.05, *"abcdefghij")])
    assert three == ten


def test_a_name_that_is_found_counts() -> None:
    hits = [hit(0.05, "mr", "okafor")]
    assert worth_of(hits) < worth_of(hits, ("Mr Okafor",))
    assert worth_of(hits) == worth_of(hits, ("Ilse Brandt",)) == worth_of(hits, ("Mr",))


def test_certainty_has_no_end_of_its_own() -> None:
    assert 0.0 < worth_of([hit(0.0)]) < worth_of([hit(1.0, "a", "b", "c")]) <= 1.0
