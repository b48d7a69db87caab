"""Scores by words: the formula on examples made by hand, and what a filter leaves."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hindbrain.index.writer import NOTE_GAP
from hindbrain.search.lexical import (
    AFTER,
    BEFORE,
    ArrayScores,
    Keep,
    PlainScores,
    Scores,
    Term,
    idf,
    score_passages,
)
from hindbrain.search.query import SearchQuery
from workbench import Bench

BOTH = pytest.mark.parametrize("kind", [PlainScores, ArrayScores])


def term(*ids: int, weight: float = 1.0) -> Term:
    return Term("word", weight, len(ids), ",".join(map(str, ids)))


def saturated(count: float) -> float:
    return count * 1.9 / (count + 0.9)


@BOTH
def test_a_passage_has_a_term_wholly_and_its_neighbours_have_a_share(kind: type[Scores]) -> None:
    scores = kind([term(10, weight=2.0)])
    expected = {10: 1.0, 11: 0.5, 12: 0.35, 13: 0.2, 9: 0.3, 8: 0.2, 7: 0.1, 14: 0.0, 6: 0.0}
    found = scores.of(list(expected))
    assert found == pytest.approx([2.0 * saturated(count) for count in expected.values()], rel=1e-6)


@BOTH
def test_shares_of_one_term_add_up_before_they_saturate(kind: type[Scores]) -> None:
    scores = kind([term(10, 12)])
    # the passage between has half from the one before it and 0.3 from the one after it
    assert scores.of([11])[0] == pytest.approx(saturated(0.8), rel=1e-6)


@BOTH
def test_two_different_terms_add_more_than_one_term_twice(kind: type[Scores]) -> None:
    twice = kind([term(10, 11)]).of([11])[0]
    both = kind([term(10), term(11)]).of([11])[0]
    assert both > twice


@BOTH
def test_the_best_come_first_and_ties_go_by_number(kind: type[Scores]) -> None:
    scores = kind([term(10, 30, 50), term(30)])
    assert [id_ for id_, _ in scores.best(5, None)] == [30, 31, 32, 10, 50]


@BOTH
def test_no_limit_no_hits(kind: type[Scores]) -> None:
    assert kind([term(10, 11, 12)]).best(0, None) == []


@BOTH
def test_a_query_without_known_words_scores_nothing(kind: type[Scores]) -> None:
    scores = kind([Term("unknown", 3.0, 0, "")])
    assert scores.best(10, None) == []
    assert scores.of([1, 2]) == [0.0, 0.0]


@BOTH
def test_a_filter_keeps_only_the_passages_of_its_notes(kind: type[Scores]) -> None:
    scores = kind([term(10, 20, 30)])
    keep = Keep([(20, 1), (30, 2)])
    assert {id_ for id_, _ in scores.best(10, keep)} == {20, 30, 31}


@BOTH
def test_a_filter_that_lets_nothing_through_leaves_nothing(kind: type[Scores]) -> None:
    assert kind([term(10, 20)]).best(10, Keep([])) == []


def test_neighbours_reach_no_farther_than_the_gap_between_notes() -> None:
    assert max(len(BEFORE), len(AFTER)) <= NOTE_GAP


def test_a_word_never_counts_for_a_neighbouring_note(plain: Bench) -> None:
    for name in "abcdefgh":
        plain.vault.write(f"{name}.md", f"plain {name}\n" if name != "d" else "zebra\n")
    plain.sync()
    assert plain.paths("zebra") == ["d.md"]


@pytest.mark.parametrize("notes", [15, 150])
def test_numbers_between_notes_take_no_places(plain: Bench, notes: int) -> None:
    """One paragraph a note: beside a note with both words, empty numbers score higher than one with one."""
    for number in range(notes):
        words = "zebra quagga" if number < 9 else "zebra"
        plain.vault.write(f"{number:03}.md", f"{words} {' '.join(f'w{number}x{i}' for i in range(9))}\n")
    plain.sync()
    assert len(plain.paths(SearchQuery("zebra quagga", k=10))) == 10


def test_the_weight_of_a_term_is_that_of_bm25_and_never_negative() -> None:
    assert idf(1, 100) == pytest.approx(math.log(1 + 99.5 / 1.5))
    assert idf(100, 100) > 0
    assert idf(7, 0) > 0  # a count that is ahead of the total, between two commits


def test_long_lists_take_the_arrays_and_give_the_same() -> None:
    ids = tuple(range(10, 12_000, 2))
    few, many = score_passages([term(10, 12)], 5), score_passages([term(*ids)], 5)
    assert isinstance(few.scores, PlainScores)
    assert isinstance(many.scores, ArrayScores)
    assert many.best[0][1] == pytest.approx(PlainScores([term(*ids)]).best(1, None)[0][1], rel=1e-5)


def test_keep_knows_its_passages() -> None:
    keep = Keep([(30, 2), (10, 3)])
    inside = [i for i in range(1, 40) if i in keep]
    assert inside == [10, 11, 12, 30, 31]
    assert keep.ids().tolist() == inside
    ids = np.arange(1, 40)
    assert ids[keep.mask(ids)].tolist() == inside
    assert Keep([]).ids().tolist() == []


@pytest.mark.parametrize("scores", [PlainScores, ArrayScores])
def test_it_is_known_which_terms_stand_in_a_passage(scores: type[PlainScores] | type[ArrayScores]) -> None:
    found = scores([term(1, 12, 123, 1_234), term(12, 13), Term("unknown", 1.0, 0, "")])
    assert found.terms_in(12) == [0, 1]
    assert found.terms_in(13) == [1]
    assert found.terms_in(1_234) == [0]
    assert found.terms_in(2) == found.terms_in(234) == []
