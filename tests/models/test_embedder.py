import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hindbrain.base.errors import EmbedderError, EmbedderMismatch
from hindbrain.models.embedder import batches, no_vectors, normalised, prepared

NUMBERS = st.floats(min_value=-1e300, max_value=1e300, allow_nan=False, allow_subnormal=False)


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 9)), elements=NUMBERS))
def test_every_row_that_is_not_zero_comes_out_with_length_one(rows):
    if not np.abs(rows).max(axis=1).all():
        with pytest.raises(EmbedderError):
            normalised(rows, 0, source="m")
        return
    vectors = normalised(rows, rows.shape[1], source="m")
    assert vectors.dtype == np.float32
    assert vectors.shape == rows.shape
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_the_direction_of_a_row_is_kept():
    np.testing.assert_allclose(
        normalised([[3, 4], [0, -2]], 2, source="m"), np.array([[0.6, 0.8], [0, -1]]), rtol=1e-6
    )


@pytest.mark.promise("P13")
@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, float("nan")]],
        [[1.0, float("inf")]],
        [[1.0, 2.0], [0.0, 0.0]],
        [["NaN", "1"]],
        [[1.0, None]],
        [[True, False]],
        [[1.0], [1.0, 2.0]],
        [[10**400, 1]],
        [1.0, 2.0],
        [[[1.0]]],
        [[]],
        ["text"],
        [None],
        [{"a": 1}],
    ],
)
def test_rows_that_are_no_vectors_are_refused(rows):
    with pytest.raises(EmbedderError) as raised:
        normalised(rows, 0, source="m")
    assert raised.value.code == "embedder"


@pytest.mark.promise("P13")
def test_another_dimension_than_expected_is_a_mismatch():
    with pytest.raises(EmbedderMismatch):
        normalised([[1.0, 2.0]], 3, source="m")


def test_no_texts_give_no_rows_of_the_known_width():
    assert no_vectors(7).shape == (0, 7)


@given(st.lists(st.text(max_size=30), max_size=40), st.integers(1, 7), st.integers(1, 60))
def test_batches_keep_every_text_in_order_and_both_limits(texts, max_count, max_chars):
    cut = list(batches(texts, max_count=max_count, max_chars=max_chars))
    assert [text for batch in cut for text in batch] == texts
    for batch in cut:
        assert 1 <= len(batch) <= max_count
        assert len(batch) == 1 or sum(map(len, batch)) <= max_chars


@given(st.text(st.characters(codec=None), max_size=50), st.integers(1, 60))
def test_what_is_sent_is_never_blank_never_too_long_and_always_utf8(text, max_chars):
    sent = prepared(text, "p: ", max_chars)
    sent.encode("utf-8")
    assert sent.startswith("p: ")
    assert sent.removeprefix("p: ").strip()
    assert len(sent) <= 3 + max(max_chars, len("(empty)"))
