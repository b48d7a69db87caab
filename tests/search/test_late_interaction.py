"""Passages scored by the tokens of an encoder: the formula, what is remembered, and the time it may take."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from hindbrain.base.errors import ConfigError, EmbedderDown
from hindbrain.index.store import IndexStore
from hindbrain.models.encoder import Encoder
from hindbrain.models.fake import FakeEncoder
from hindbrain.search.engine import SearchEngine
from hindbrain.search.late_interaction import LateInteraction, interaction, pack
from hindbrain.search.query import SearchQuery
from workbench import Bench

ALIKE = {"automobile": "car", "physician": "doctor"}


class Time:
    """A clock that only an encoder moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def unit(*rows: tuple[float, ...]) -> np.ndarray:
    array = np.array(rows, dtype=np.float32).reshape(len(rows), -1)
    return array / np.linalg.norm(array, axis=1, keepdims=True)


def test_a_score_is_the_mean_of_each_query_tokens_best_cosine():
    query = unit((1, 0, 0), (0, 1, 0))
    passages = [pack(unit((1, 0, 0), (0, 0, 1))), pack(unit((1, 0, 0), (1, 1, 0))), pack(unit((0, 0, 1)))]
    plain = interaction(query, [1, 1], passages)
    assert plain == pytest.approx([0.5, (1 + math.sqrt(0.5)) / 2, 0], abs=0.005)


def test_half_of_a_score_counts_each_query_token_with_its_weight():
    query = unit((1, 0), (0, 1))
    (score,) = interaction(query, [3, 1], [pack(unit((1, 0)))])
    assert score == pytest.approx((0.5 + 0.75) / 2, abs=0.005)


def test_a_side_without_tokens_scores_nothing():
    none = np.zeros((0, 3), dtype=np.float32)
    one = unit((1, 0, 0))
    assert interaction(none, [], [pack(one)]) == [0]
    assert interaction(one, [1], []) == []
    assert interaction(one, [0], [pack(none), pack(one), pack(none)]) == pytest.approx([0, 1, 0])


def test_packed_vectors_keep_their_cosines():
    random = np.random.default_rng(3)
    vectors = unit(*map(tuple, random.normal(size=(50, 384))))
    codes = pack(vectors)
    assert codes.bytes < vectors.nbytes / 3.8
    np.testing.assert_allclose(
        vectors @ (codes.rows * codes.factors[:, None]).T, vectors @ vectors.T, atol=0.005
    )


def test_a_passage_is_encoded_once():
    encoder = FakeEncoder()
    late = LateInteraction(encoder)
    texts = ["the doctor drives a car", "tea and cake", "the doctor drives a car"]
    first = late.scores("doctor", {}, texts, 1)
    encoder.calls.clear()
    assert late.scores("doctor", {}, texts, 1) == first
    assert encoder.texts() == ["doctor"]


def test_beyond_the_limit_the_passages_used_longest_ago_are_forgotten():
    encoder = FakeEncoder(64)
    late = LateInteraction(encoder, most_bytes=3 * 68)  # three tokens
    late.scores("q", {}, ["one", "two", "three"], 1)
    late.scores("q", {}, ["one"], 1)
    late.scores("q", {}, ["four"], 1)
    encoder.calls.clear()
    late.scores("q", {}, ["one", "three", "four", "two"], 1)
    assert encoder.texts() == ["q", "two"]


def test_what_there_is_no_time_for_is_left_out_from_there_on():
    clock = Time()
    encoder = FakeEncoder(sleep=clock.sleep)
    late = LateInteraction(encoder, clock=clock)
    known = late.scores("cat", {}, ["cat", "dog"], 1)
    assert known == pytest.approx([1, 0], abs=0.01)
    encoder.slow(calls=100, seconds=1.0)
    # The third is new: the query alone takes a second, so nothing after the two known ones is scored.
    assert late.scores("cat", {}, ["cat", "dog", "cow", "cat"], 0.5) == pytest.approx(known)
    assert clock.now == 1.0


def test_an_encoder_that_takes_a_second_is_not_waited_for_again_and_again():
    clock = Time()
    encoder = FakeEncoder(sleep=clock.sleep)
    encoder.slow(calls=10_000, seconds=1.0)
    late = LateInteraction(encoder, clock=clock)
    for _ in range(20):
        late.scores("cat", {}, [f"passage {n}" for n in range(30)], 0.03)
    assert clock.now <= 2.0


def test_after_a_slow_moment_the_encoder_is_used_again():
    clock = Time()
    encoder = FakeEncoder(sleep=clock.sleep)
    encoder.slow(calls=1, seconds=1.0)
    late = LateInteraction(encoder, clock=clock)
    texts = ["cat", "dog"]
    found = [late.scores("cat", {}, texts, 0.03) for _ in range(40)]
    assert found[0] == []
    assert len(found[-1]) == 2


def test_what_had_no_time_is_encoded_when_there_is_some():
    clock = Time()
    encoder = FakeEncoder(sleep=clock.sleep)
    late = LateInteraction(encoder, clock=clock)
    texts = [f"passage {n}" for n in range(30)]
    assert late.scores("passage", {}, texts, 0.0) == []
    encoder.slow(calls=2, seconds=1.0)
    assert late.encode_pending(0.03)  # one piece at a time
    while late.encode_pending(0.03):
        pass
    encoder.calls.clear()
    assert not late.encode_pending(1)
    clock.now += 1
    assert len(late.scores("passage", {}, texts, 10)) == 30
    assert encoder.texts() == ["passage"]


def test_a_text_that_a_later_search_had_time_for_waits_no_longer():
    clock = Time()
    encoder = FakeEncoder(sleep=clock.sleep)
    late = LateInteraction(encoder, clock=clock)
    assert late.scores("passage", {}, ["one", "two"], 0.0) == []
    assert len(late.scores("passage", {}, ["one", "two"], 10)) == 2
    encoder.calls.clear()
    assert not late.encode_pending(1)
    assert encoder.calls == []


@contextmanager
def engine_of(bench: Bench, encoder: Callable[[], Encoder | None]) -> Iterator[SearchEngine]:
    store = IndexStore(bench.app.index_path)
    try:
        yield SearchEngine(store, lambda: bench.embedder, bench.app.clock, warm=True, encoder=encoder)
    finally:
        store.close()


@pytest.fixture
def garage(bench: Bench) -> Bench:
    for at in range(15):
        bench.vault.write(f"other{at}.md", f"Repair log {at}: the garage door was painted.\n")
    bench.vault.write("visit.md", "Repair of the automobile took two days.\n")
    bench.sync()
    return bench


def test_the_encoder_brings_up_what_is_said_in_other_words(garage):
    query = SearchQuery("repair of the car", k=5)
    with engine_of(garage, lambda: FakeEncoder(alike=ALIKE)) as engine:
        hit = engine.search(query).hits[0]
    assert hit.path == "visit.md"
    assert hit.why["late"] == pytest.approx(1.0)


def test_shares_with_the_encoder_still_add_up_to_the_score(garage):
    with engine_of(garage, lambda: FakeEncoder(alike=ALIKE)) as engine:
        hits = engine.search(SearchQuery("repair of the car")).hits
    top = sum(hits[0].why.values())
    for hit in hits:
        assert sum(hit.why.values()) == pytest.approx(hit.score * top, abs=2e-3)


def test_without_time_the_answer_is_the_one_without_an_encoder(garage):
    query = SearchQuery("repair of the car", k=5)
    with engine_of(garage, lambda: None) as plain, engine_of(garage, lambda: FakeEncoder()) as hurried:
        assert hurried.search(query, encode_s=0.0) == plain.search(query)
        assert not hurried.encode_pending(0.03)  # only loads it: no passage was asked for yet
        assert hurried.search(query, encode_s=0.0) == plain.search(query)
        while hurried.encode_pending(0.03):
            pass
        assert "late" in hurried.search(query, encode_s=0.5).hits[0].why


@pytest.mark.parametrize(
    "query",
    [SearchQuery("repair car", mode="keyword"), SearchQuery("repair car", profile="rrf")],
)
def test_a_search_that_does_not_need_the_encoder_does_not_make_it(garage, query):
    def never() -> Encoder | None:
        raise AssertionError("the encoder was made")

    with engine_of(garage, never) as engine:
        engine.search(query)


@pytest.mark.parametrize("error", [ConfigError("no folder"), EmbedderDown("damaged")])
def test_an_encoder_that_can_not_be_made_costs_a_notice_and_nothing_else(garage, error):
    def broken() -> Encoder | None:
        raise error

    query = SearchQuery("repair of the car", k=5)
    with engine_of(garage, lambda: None) as plain, engine_of(garage, broken) as engine:
        found = engine.search(query)
        assert found.hits == plain.search(query).hits
    assert [notice.split(":")[0] for notice in found.notices] == ["encoder_unusable"]


def test_an_encoder_that_fails_is_asked_no_more(garage):
    encoder = FakeEncoder()
    encoder.fail("down")
    query = SearchQuery("repair of the car", k=5)
    with engine_of(garage, lambda: encoder) as engine:
        assert engine.search(query).hits
        encoder.calls.clear()
        found = engine.search(query)
    assert encoder.calls == []
    assert [notice.split(":")[0] for notice in found.notices] == ["encoder_unusable"]
