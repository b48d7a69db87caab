"""Two ways to score by words, plain Python and numpy, give the same numbers."""

from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from hindbrain.search.lexical import ArrayScores, Keep, PlainScores, Term

_IDS = st.sets(st.integers(4, 400), max_size=60)
_TERMS = st.lists(st.tuples(_IDS, st.floats(0.01, 12.0)), max_size=6).map(
    lambda pairs: [
        Term(f"t{i}", weight, len(ids), ",".join(map(str, sorted(ids))))
        for i, (ids, weight) in enumerate(pairs)
    ]
)
_SPANS = st.lists(st.tuples(st.integers(4, 60), st.integers(1, 6)), max_size=8).map(
    lambda spans: [(first * 10, count) for first, count in {f: (f, c) for f, c in spans}.values()]
)
_NEAR = 1e-4  # float32 beside float64


@settings(max_examples=100, deadline=None)
@given(_TERMS)
def test_every_passage_has_the_same_score_both_ways(terms: list[Term]) -> None:
    ids = list(range(1, 420))
    assert ArrayScores(terms).of(ids) == approx(PlainScores(terms).of(ids), rel=_NEAR, abs=_NEAR)


@settings(max_examples=100, deadline=None)
@given(_TERMS, st.integers(0, 40), st.none() | _SPANS.map(Keep))
def test_the_best_have_the_same_scores_both_ways(terms: list[Term], limit: int, keep: Keep | None) -> None:
    plain = PlainScores(terms).best(limit, keep)
    arrays = ArrayScores(terms).best(limit, keep)
    assert [score for _, score in arrays] == approx([score for _, score in plain], rel=_NEAR, abs=_NEAR)
    assert len({id_ for id_, _ in arrays}) == len(arrays) <= limit
    assert keep is None or all(id_ in keep for id_, _ in arrays + plain)


@settings(max_examples=100, deadline=None)
@given(_SPANS, st.integers(0, 700))
def test_a_filter_says_the_same_of_one_passage_and_of_many(spans: list[tuple[int, int]], id_: int) -> None:
    import numpy as np

    keep = Keep(spans)
    assert bool(keep.mask(np.array([id_]))[0]) == (id_ in keep) == (id_ in keep.ids())
