"""Vector search in memory: exact while small, chosen by signs and rescored beyond."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hindbrain.base.errors import EmbedderError, EmbedderMismatch, UsageError
from hindbrain.index.vectors import open_vector_index, quantise

SIGNS_AT_ONCE = 1  # for `exact_numbers`: leaves the exact tier with the first vector


def naive_cosines(query, codes):
    wide, query = codes.astype(np.float64), query.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1) * np.linalg.norm(query)
    return np.divide(wide @ query, lengths, out=np.zeros(len(codes)), where=lengths > 0)


def naive_search(query, ids, codes, k):
    cosines = naive_cosines(query, codes)
    order = np.lexsort((ids, -cosines))[:k]
    return ids[order], cosines[order]


def clustered(rng, count, dim, clusters=50, spread=0.7):
    """Unit vectors around common points, as passages are around their topics."""
    centres = rng.standard_normal((clusters, dim))
    vectors = centres[rng.integers(0, clusters, count)] + spread * rng.standard_normal((count, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def filled(codes, ids=None, **options):
    index = open_vector_index(codes.shape[1], len(codes), **options)
    index.add(np.arange(len(codes)) if ids is None else ids, codes)
    return index


@pytest.fixture
def rng():
    return np.random.default_rng(20)


# --- codes


def test_a_quantised_row_reaches_127_and_keeps_its_direction(rng):
    vectors = clustered(rng, 200, 256)
    codes = quantise(vectors)
    assert codes.dtype == np.int8
    assert (np.abs(codes.astype(int)).max(axis=1) == 127).all()
    cosines = [naive_cosines(v, c[np.newaxis])[0] for v, c in zip(vectors, codes, strict=True)]
    assert min(cosines) > 0.9995


def test_the_code_does_not_depend_on_the_length_of_the_vector(rng):
    vectors = clustered(rng, 20, 64)
    assert (quantise(vectors * np.float32(4)) == quantise(vectors)).all()


def test_a_zero_vector_has_a_zero_code_and_no_rows_give_no_codes():
    assert not quantise(np.zeros((2, 8), dtype=np.float32)).any()
    assert quantise(np.empty((0, 8), dtype=np.float32)).shape == (0, 8)


# --- the exact tier


@pytest.mark.parametrize(("count", "dim"), [(1, 256), (700, 256), (5000, 256), (9000, 100), (1500, 3072)])
def test_exact_search_gives_what_sorting_all_cosines_gives(rng, count, dim):
    codes = quantise(clustered(rng, count, dim))
    ids = np.cumsum(rng.integers(1, 9, count))
    index = open_vector_index(dim, exact_numbers=1 << 40)
    index.add(ids, codes)
    for query in clustered(rng, 5, dim):
        found, cosines = index.search(query, 50)
        expected, expected_cosines = naive_search(query, ids, codes, 50)
        assert found.tolist() == expected.tolist()
        np.testing.assert_allclose(cosines, expected_cosines, atol=1e-6)


def test_exact_search_is_the_same_when_codes_no_longer_fit_the_wide_form(rng):
    codes = quantise(clustered(rng, 20_000, 256))
    index = open_vector_index(256, exact_numbers=1 << 40)
    for start in range(0, len(codes), 3000):  # grows out of the float32 form on the way
        index.add(np.arange(start, min(start + 3000, len(codes))), codes[start : start + 3000])
    query = clustered(rng, 1, 256)[0]
    assert (
        index.search(query, 200)[0].tolist() == naive_search(query, np.arange(20_000), codes, 200)[0].tolist()
    )


@st.composite
def small_index(draw):
    dim = draw(st.integers(1, 70))
    count = draw(st.integers(0, 40))
    # Few different numbers, so that equal rows, zero rows and ties are common.
    codes = draw(hnp.arrays(np.int8, (count, dim), elements=st.integers(-2, 2)))
    gaps = draw(st.lists(st.integers(1, 5), min_size=count, max_size=count))
    query = draw(hnp.arrays(np.float32, dim, elements=st.integers(-3, 3)))
    return np.cumsum(np.array(gaps, dtype=np.int64)), codes, query


@settings(max_examples=150, deadline=None)
@given(small_index(), st.integers(1, 60), st.data())
def test_exact_search_equals_sorting_by_cosine(case, k, data):
    ids, codes, query = case
    gone = np.array(
        data.draw(st.lists(st.sampled_from(ids.tolist()), unique=True)) if len(ids) else [], dtype=np.int64
    )
    allowed = data.draw(st.none() | st.sets(st.integers(0, 220)).map(sorted))
    index = filled(codes, ids)
    index.remove(gone)
    found, cosines = index.search(query, k, None if allowed is None else np.array(allowed, dtype=np.int64))

    kept = ~np.isin(ids, gone)
    if allowed is not None:
        kept &= np.isin(ids, allowed)
    true = dict(zip(ids[kept].tolist(), naive_cosines(query, codes[kept]).tolist(), strict=True))
    expected = min(k, len(true)) if query.any() else 0
    assert len(found) == len(set(found.tolist())) == expected
    for passage, cosine in zip(found.tolist(), cosines.tolist(), strict=True):
        assert cosine == pytest.approx(true[passage], abs=1e-6)
    # Best first, ties by id, and nobody left out is better than the last one in.
    assert [(-c, i) for c, i in zip(cosines, found, strict=True)] == sorted(zip(-cosines, found, strict=True))
    left_out = [cosine for passage, cosine in true.items() if passage not in set(found.tolist())]
    if expected and left_out:
        assert max(left_out) <= float(cosines[-1]) + 1e-6


def test_equal_vectors_come_in_the_order_of_their_ids(rng):
    codes = quantise(clustered(rng, 3000, 77))
    codes[::3] = codes[0]
    found, cosines = filled(codes).search(codes[0].astype(np.float32), 500)
    assert found.tolist() == list(range(0, 1500, 3))
    assert len(set(cosines.tolist())) == 1


def test_boilerplate_that_outnumbers_what_is_rescored_does_not_hide_better_hits(rng):
    codes = np.repeat(quantise(clustered(rng, 1, 32)), 12_000, axis=0)
    query = codes[0].astype(np.float32)
    codes[:11_000, :8] = -codes[:11_000, :8]  # 11,000 equal passages, a little off
    codes[:6_000] = rng.integers(-127, 128, (6_000, 32))
    found, cosines = filled(codes).search(query, 1100)
    assert found[:1000].tolist() == list(range(11_000, 12_000))
    assert (np.diff(cosines) <= 0).all()


def test_a_zero_vector_has_cosine_zero_and_a_zero_query_finds_nothing(rng):
    codes = quantise(clustered(rng, 10, 16))
    codes[4] = 0
    index = filled(codes)
    query = codes[1].astype(np.float32)
    found, cosines = index.search(query, 10)
    assert cosines[found.tolist().index(4)] == 0
    assert index.score(query, np.array([4])).tolist() == [0.0]
    assert len(index.search(np.zeros(16, dtype=np.float32), 10)[0]) == 0


def test_an_empty_index_finds_nothing():
    index = open_vector_index(8)
    query = np.ones(8, dtype=np.float32)
    ids, cosines = index.search(query, 5)
    assert (index.size, len(ids), len(cosines)) == (0, 0, 0)
    assert (ids.dtype, cosines.dtype) == (np.int64, np.float32)  # type: ignore[comparison-overlap]
    assert np.isnan(index.score(query, np.array([1, 2]))).all()
    index.remove(np.array([1]))
    assert index.search(query, 5, np.array([1, 2]))[0].tolist() == []


def test_fewer_vectors_than_asked_for_are_all_returned(rng):
    index = filled(quantise(clustered(rng, 3, 16)))
    assert sorted(index.search(np.ones(16, dtype=np.float32), 100)[0].tolist()) == [0, 1, 2]
    assert len(index.search(np.ones(16, dtype=np.float32), 0)[0]) == 0


# --- the tier of signs


@pytest.mark.parametrize("dim", [100, 256, 320])
def test_choosing_by_signs_finds_nearly_all_of_the_true_best(rng, dim):
    vectors = clustered(rng, 40_000, dim)
    codes = quantise(vectors[:-20])
    index = filled(codes, exact_numbers=SIGNS_AT_ONCE)
    ten, many = [], []
    for query in vectors[-20:]:
        found, cosines = index.search(query, 200)
        expected, _ = naive_search(query, np.arange(len(codes)), codes, 200)
        ten.append(len(set(found[:10].tolist()) & set(expected[:10].tolist())) / 10)
        many.append(len(set(found.tolist()) & set(expected.tolist())) / 200)
        np.testing.assert_allclose(cosines, naive_cosines(query, codes[found]), atol=1e-6)
    assert np.mean(ten) >= 0.98
    assert np.mean(many) >= 0.95


def test_the_tier_of_signs_keeps_tombstones_and_filters(rng):
    vectors = clustered(rng, 30_000, 128)
    codes = quantise(vectors)
    index = filled(codes, exact_numbers=SIGNS_AT_ONCE)
    gone = np.arange(0, 30_000, 7)
    index.remove(gone)
    allowed = np.arange(0, 30_000, 2)
    for query in vectors[:5]:
        assert not set(index.search(query, 100)[0].tolist()) & set(gone.tolist())
        found = index.search(query, 100, allowed)[0]
        kept = np.setdiff1d(allowed, gone)
        assert set(found.tolist()) <= set(kept.tolist())
        expected = kept[naive_search(query, np.arange(len(kept)), codes[kept], 100)[0]]
        assert len(set(found.tolist()) & set(expected.tolist())) >= 90


def test_few_allowed_ids_are_scored_exactly_in_the_tier_of_signs(rng):
    vectors = clustered(rng, 30_000, 64)
    codes = quantise(vectors)
    index = filled(codes, exact_numbers=SIGNS_AT_ONCE)
    allowed = np.sort(rng.choice(30_000, 2500, replace=False))
    found = index.search(vectors[0], 200, allowed)[0]
    assert (
        found.tolist() == allowed[naive_search(vectors[0], np.arange(2500), codes[allowed], 200)[0]].tolist()
    )


def test_thousands_of_equal_vectors_give_the_lowest_ids_in_the_tier_of_signs(rng):
    codes = quantise(clustered(rng, 30_000, 256))
    codes[5_000:25_000] = codes[5_000]
    found = filled(codes, exact_numbers=SIGNS_AT_ONCE).search(codes[5_000].astype(np.float32), 300)[0]
    assert found.tolist() == list(range(5_000, 5_300))


def test_an_opposite_vector_is_never_among_the_best(rng):
    codes = quantise(clustered(rng, 30_000, 256))
    codes[codes == 0] = 1
    codes[17] = -codes[16]  # all 256 signs differ, one more than a byte counts
    found, _ = filled(codes, exact_numbers=SIGNS_AT_ONCE).search(codes[16].astype(np.float32), 100)
    assert found[0] == 16
    assert 17 not in found


# --- changes


def test_removed_passages_are_gone_and_the_rest_stay_before_and_after_compaction(rng):
    vectors = clustered(rng, 1000, 48)
    codes = quantise(vectors)
    ids = np.arange(1000) * 3
    index = filled(codes, ids)
    alive = np.ones(1000, dtype=bool)
    for step in range(8):  # an eighth at a time: compaction happens on the way
        gone = np.flatnonzero(rng.permutation(1000) % 8 == step)
        index.remove(ids[gone])
        alive[gone] = False
        assert index.size == alive.sum()
        found, _ = index.search(vectors[0], 40)
        assert found.tolist() == naive_search(vectors[0], ids[alive], codes[alive], 40)[0].tolist()
        assert np.isnan(index.score(vectors[0], ids[gone])).all()
    index.remove(ids)
    assert index.size == 0
    assert len(index.search(vectors[0], 5)[0]) == 0


def test_an_emptied_index_can_be_filled_again_with_higher_ids_only(rng):
    codes = quantise(clustered(rng, 10, 16))
    index = filled(codes)
    index.remove(np.arange(10))
    with pytest.raises(UsageError):
        index.add(np.array([9]), codes[:1])
    index.add(np.array([10]), codes[:1])
    assert index.search(codes[0].astype(np.float32), 5)[0].tolist() == [10]


def test_removing_unknown_or_repeated_ids_changes_nothing_else(rng):
    index = filled(quantise(clustered(rng, 10, 16)))
    index.remove(np.array([3, 3, 99, -1]))
    index.remove(np.array([3]))
    assert index.size == 9


def test_adding_in_small_steps_gives_the_same_answers_as_adding_at_once(rng):
    vectors = clustered(rng, 2000, 96)
    codes = quantise(vectors)
    index = open_vector_index(96)
    for start in range(0, 2000, 37):
        index.add(np.arange(start, min(start + 37, 2000)), codes[start : start + 37])
    assert index.search(vectors[5], 60)[0].tolist() == filled(codes).search(vectors[5], 60)[0].tolist()


def test_score_answers_in_the_order_asked_with_nan_where_there_is_no_vector(rng):
    codes = quantise(clustered(rng, 5, 32))
    index = filled(codes, np.array([2, 4, 6, 8, 10]))
    query = clustered(rng, 1, 32)[0]
    scores = index.score(query, np.array([8, 3, 2, 11, 8]))
    expected = naive_cosines(query, codes)
    np.testing.assert_allclose(scores, [expected[3], np.nan, expected[0], np.nan, expected[3]], atol=1e-6)


def test_a_search_sees_a_whole_change_or_none_of_it(rng):
    codes = quantise(clustered(rng, 6000, 32))
    index = open_vector_index(32)
    index.add(np.arange(1000), codes[:1000])
    done, wrong = threading.Event(), []

    def keep_searching():
        while not done.is_set():
            found, cosines = index.search(codes[0].astype(np.float32), 100)
            true = naive_cosines(codes[0].astype(np.float32), codes[found])
            if len(found) != 100 or found[0] != 0 or not np.allclose(cosines, true, atol=1e-6):
                wrong.append(found)

    reader = threading.Thread(target=keep_searching)
    reader.start()
    try:
        for start in range(1000, 6000, 50):
            index.add(np.arange(start, start + 50), codes[start : start + 50])
            index.remove(np.arange(start - 30, start))
    finally:
        done.set()
        reader.join()
    assert not wrong


# --- wrong input


def test_vectors_of_another_dimension_are_refused(rng):
    index = filled(quantise(clustered(rng, 5, 32)))
    with pytest.raises(EmbedderMismatch):
        index.search(np.ones(16, dtype=np.float32), 5)
    with pytest.raises(EmbedderMismatch):
        index.add(np.array([9]), np.ones((1, 16), dtype=np.int8))
    assert index.size == 5


@pytest.mark.promise("P13")
def test_a_query_vector_that_is_not_finite_is_an_error_and_not_an_answer(rng):
    index = filled(quantise(clustered(rng, 5, 4)))
    for bad in (np.nan, np.inf):
        with pytest.raises(EmbedderError):
            index.search(np.array([1, bad, 0, 0], dtype=np.float32), 5)


def test_ids_that_do_not_ascend_and_codes_that_are_not_int8_are_refused(rng):
    index = open_vector_index(4)
    codes = np.ones((2, 4), dtype=np.int8)
    for ids in ([5, 5], [5, 4]):
        with pytest.raises(UsageError):
            index.add(np.array(ids), codes)
    with pytest.raises(UsageError):
        index.add(np.array([1, 2]), codes.astype(np.float32))
    assert index.size == 0
