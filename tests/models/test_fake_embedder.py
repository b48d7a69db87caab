import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.errors import EmbedderDown, EmbedderError, EmbedderMismatch
from hindbrain.models.fake import FakeEmbedder


@given(st.lists(st.text(max_size=40), max_size=5))
def test_vectors_are_of_length_one_and_the_same_every_time(texts):
    first = FakeEmbedder(32).embed_documents(texts)
    assert first.shape == (len(texts), 32)
    np.testing.assert_allclose(np.linalg.norm(first, axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(first, FakeEmbedder(32).embed_documents(texts))


def test_texts_that_share_words_are_nearer():
    embedder = FakeEmbedder()
    near, far = embedder.embed_documents(["the cat on the mat", "quarterly tax report"])
    query = embedder.embed_query("cat mat")
    assert query @ near > query @ far


def test_calls_are_recorded_by_role():
    embedder = FakeEmbedder()
    embedder.embed_documents(["a", "b"])
    embedder.embed_query("q")
    embedder.embed_documents([])
    assert embedder.texts() == ["a", "b"]
    assert embedder.queries() == ["q"]
    embedder.calls.clear()
    assert embedder.texts() == []


@pytest.mark.promise("P13")
@pytest.mark.parametrize(
    ("fault", "error"), [("down", EmbedderDown), ("wrong_dim", EmbedderMismatch), ("nan", EmbedderError)]
)
def test_it_fails_as_told_until_it_recovers(fault, error):
    embedder = FakeEmbedder(16)
    embedder.fail(fault)
    for _ in range(2):
        with pytest.raises(error):
            embedder.embed_documents(["a"])
    embedder.recover()
    assert embedder.embed_query("a").shape == (16,)


def test_it_fails_only_as_often_as_told():
    embedder = FakeEmbedder()
    embedder.fail("down", calls=1)
    with pytest.raises(EmbedderDown):
        embedder.embed_query("a")
    embedder.embed_query("a")


def test_it_is_slow_only_as_often_as_told():
    waits: list[float] = []
    embedder = FakeEmbedder(sleep=waits.append)
    embedder.slow(calls=2, seconds=9.0)
    for _ in range(3):
        embedder.embed_query("a")
    assert waits == [9.0, 9.0]
