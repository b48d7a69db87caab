"""When a conversation turns to something else, what that is called, and how near old messages are to it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import EmbedderError
from hindbrain.context.messages import Message
from hindbrain.context.topic.drift import (
    CALIBRATIONS,
    UNKNOWN,
    WORDS_ALONE,
    Topic,
    TopicReader,
    calibration_for,
    judge_drift,
    similarity,
)
from hindbrain.context.topic.relevance import relevance_of
from hindbrain.context.topic.status import STALE_S, memory_status
from hindbrain.index.standing import IndexStanding, Making
from hindbrain.models.fake import FakeEmbedder
from hindbrain.models.static import load_static

BUDGET = (
    "What is my grocery budget for this month?",
    "How much of the grocery budget went to Costco?",
    "Raise the monthly budget for groceries to 600 dollars",
)
JAPAN = "Actually, help me plan my vacation to Japan with flights and hotels"


def said(*prompts: str) -> list[Message]:
    return [Message("user", prompt) for prompt in prompts]


@pytest.fixture(params=["words", "builtin"])
def reader(request: pytest.FixtureRequest) -> TopicReader:
    return TopicReader(load_static) if request.param == "builtin" else TopicReader()


def test_another_matter_is_a_shift(reader: TopicReader) -> None:
    assert judge_drift(reader.talk(said(*BUDGET)), reader.prompt(JAPAN)).shifted


def test_the_same_matter_is_none(reader: TopicReader) -> None:
    before = reader.talk(said(*BUDGET[:2]))
    drift = judge_drift(before, reader.prompt(BUDGET[2]))
    assert not drift.shifted
    assert drift.label == ""


@pytest.mark.parametrize(
    "prompt",
    ["", "ok", "continue", "yes, do it", "Thanks, that was really helpful!", "and the second one?", "👍",
     "/compact"],
)  # fmt: skip
def test_what_says_nothing_never_is_a_shift(reader: TopicReader, prompt: str) -> None:
    assert not judge_drift(reader.talk(said(*BUDGET)), reader.prompt(prompt)).shifted


def test_topics_in_scripts_without_spaces_are_compared_by_words(reader: TopicReader) -> None:
    before = reader.talk(said("这个月的杂货预算是多少", "杂货预算花了多少钱"))
    assert before.vector is None
    assert judge_drift(before, reader.prompt("帮我计划去日本旅行的航班和酒店")).shifted
    assert not judge_drift(before, reader.prompt("把杂货预算提高到六百元")).shifted


def test_the_first_prompt_is_no_shift(reader: TopicReader) -> None:
    assert not judge_drift(reader.talk([]), reader.prompt(JAPAN)).shifted


def test_a_shift_is_called_by_the_telling_words_of_both_sides() -> None:
    reader = TopicReader()
    drift = judge_drift(reader.talk(said(*BUDGET)), reader.prompt("plan the vacation flights to Japan"))
    before, arrow, now = drift.label.partition(" -> ")
    assert arrow
    assert "budget" in before
    assert "vacation" in now


def test_a_label_never_shows_a_secret() -> None:
    reader = TopicReader()
    now = reader.prompt("the vacation booking has password: Tr0ub4dor&3xyz and needs flights, hotels")
    drift = judge_drift(reader.talk(said(*BUDGET)), now)
    assert drift.shifted
    assert "tr0ub4dor" not in drift.label.lower()


def test_what_was_answered_counts_for_the_topic_and_what_tools_say_does_not() -> None:
    reader = TopicReader()
    prompt = reader.prompt("are the cherry blossoms out in Kyoto by then?")
    asked = Message("user", "where shall I go in spring?")
    answered = Message("assistant", "Kyoto: the cherry blossoms are famous")
    shown = Message("tool", "Kyoto: the cherry blossoms are famous")
    called = Message("assistant", "Kyoto: the cherry blossoms", tool="search")
    assert similarity(reader.talk([asked, answered]), prompt) > similarity(reader.talk([asked]), prompt)
    assert similarity(reader.talk([asked, called, shown]), prompt) == similarity(reader.talk([asked]), prompt)


def test_a_topic_is_made_of_the_last_three_prompts_the_newest_counting_most() -> None:
    reader = TopicReader()
    topic = reader.talk(said("zebra stripes", "violin lessons", "tomato seedlings", "bicycle tyres"))
    assert "zebra" not in topic.words
    assert topic.words["bicycl"] > topic.words["tomato"] > topic.words["violin"]


def test_injected_memory_is_not_the_topic() -> None:
    reader = TopicReader()
    topic = reader.prompt("<memory>\n- the dentist is in Basel\n</memory>\nmy bicycle tyres")
    assert set(topic.shown.values()) == {"bicycle", "tyres"}


# Embedders


class Failing(FakeEmbedder):
    """A service that is down; counts who asks."""

    asked = 0

    def embed_query(self, text: str) -> np.ndarray:
        self.asked += 1
        raise EmbedderError(f"the service is down and never saw {text!r}")


def test_an_embedder_that_fails_costs_no_turn_and_is_not_asked_each_time() -> None:
    embedder = Failing()
    reader = TopicReader(lambda: embedder)
    for _ in range(5):
        drift = judge_drift(reader.talk(said(*BUDGET)), reader.prompt(JAPAN))
        assert drift.shifted
        assert drift.threshold == WORDS_ALONE.threshold
    assert embedder.asked == 1


def test_only_what_is_new_is_embedded() -> None:
    embedder = Counting()
    reader = TopicReader(lambda: embedder)
    for turn in range(1, 4):
        reader.talk(said(*BUDGET[: turn - 1]))
        reader.prompt(BUDGET[turn - 1])
    assert embedder.asked_for == list(BUDGET)


class Counting(FakeEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.asked_for: list[str] = []

    def embed_query(self, text: str) -> np.ndarray:
        self.asked_for.append(text)
        return super().embed_query(text)


def test_each_embedder_has_its_own_measure() -> None:
    builtin, words = TopicReader(load_static).prompt(JAPAN), TopicReader().prompt(JAPAN)
    unknown = TopicReader(FakeEmbedder).prompt(JAPAN)
    assert calibration_for(builtin, builtin) == CALIBRATIONS[builtin.embedder]
    assert calibration_for(words, builtin) == WORDS_ALONE
    assert calibration_for(unknown, unknown) == UNKNOWN
    assert calibration_for(builtin, unknown) == WORDS_ALONE


@settings(max_examples=60)
@given(st.lists(st.text(max_size=80), max_size=5), st.text(max_size=80))
def test_similarity_is_a_share_for_any_texts(prompts: Sequence[str], prompt: str) -> None:
    for reader in (TopicReader(), TopicReader(load_static)):
        now = reader.prompt(prompt)
        drift = judge_drift(reader.talk(said(*prompts)), now)
        assert 0.0 <= drift.similarity <= 1.0
        assert similarity(now, now) == pytest.approx(1.0, abs=1e-3) or not now.said


# Stage 0 of pruning


def test_messages_far_from_the_topic_are_less_relevant() -> None:
    topic = TopicReader().prompt("vacation in Japan: flights and hotels")
    far, near = relevance_of(
        [Message("tool", "grocery budget: 500 dollars"), Message("tool", "hotels in Kyoto, Japan")], topic
    )
    assert far == 0.0 < near


def test_a_long_result_about_the_topic_is_not_far_off_for_being_long() -> None:
    topic = TopicReader().prompt("vacation flights")
    noise = " ".join(f"token{number}" for number in range(60))
    assert relevance_of([Message("tool", f"vacation flights {noise}")], topic) == [1.0]


def test_a_result_is_as_near_as_the_call_that_it_answers() -> None:
    topic = TopicReader().prompt("vacation flights")
    call = Message("assistant", "search vacation flights", tool="search", call="c1")
    assert relevance_of([call, Message("tool", "ok", tool="search", call="c1")], topic) == [1.0, 1.0]


def test_without_a_topic_everything_is_relevant() -> None:
    assert relevance_of(said("a", "b"), Topic()) == [1.0, 1.0]


# The status line


NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("standing", "making", "state"),
    [
        (IndexStanding("ready", 725, NOW), Making(150, 725), 'state="indexing" progress="150/725"'),
        (IndexStanding("ready", 725, NOW - STALE_S - 1), None, 'state="stale"'),
        (IndexStanding("index_missing"), None, 'state="missing"'),
        (IndexStanding("index_damaged"), None, 'state="degraded"'),
        (IndexStanding("index_missing"), Making(0, 725), 'state="indexing" progress="0/725"'),
    ],
)
def test_the_status_says_what_an_agent_should_know(
    standing: IndexStanding, making: Making | None, state: str
) -> None:
    line = memory_status(standing, making, now=NOW)
    assert line == f'<memory_status provider="hindbrain" {state} />'


def test_a_search_by_words_alone_is_said() -> None:
    assert 'state="degraded"' in memory_status(IndexStanding("ready", 1, NOW), now=NOW, by_words=True)


@pytest.mark.parametrize("making", [None, Making(725, 725)])
def test_a_ready_memory_costs_no_token(making: Making | None) -> None:
    assert memory_status(IndexStanding("ready", 725, NOW), making, now=NOW) == ""
