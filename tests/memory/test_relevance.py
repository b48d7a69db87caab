"""How well memories fit a prompt: meaning leads, words and cues help, generic prompts set the bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import EmbedderError
from hindbrain.memory.encoded_texts import EncodedTexts
from hindbrain.memory.relevance import BestRelevance, Relevance, TableEncoder, WordsAlone
from hindbrain.models.encoder import ENGLISH
from hindbrain.models.fake import FakeEmbedder
from hindbrain.models.static import load_static
from hindbrain.search.generic_prompts import generic_prompts, unseen_prompts
from hindbrain.vault.items.item import MemoryItem

if TYPE_CHECKING:
    from hindbrain.models.embedder import Vectors

KNOWN = (
    "Drives a 2017 Skoda Octavia",
    "The vet is Dr. Okafor on Mill Street",
    "Is allergic to peanuts",
    "Plays tennis on Thursdays",
    "Likes espresso without sugar",
    "The wifi router is a Fritzbox",
    "Daughter Mia was born in 2019",
    "Prefers trains over flights",
)


def items(*texts: str, cues: Sequence[str] = ()) -> list[MemoryItem]:
    return [
        MemoryItem(f"m-{at:03d}", text, path="Memory/fact.md", line=at + 1, cues=tuple(cues))
        for at, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def relevance() -> Relevance:
    return Relevance(TableEncoder(load_static()), false_rate=0.05)


def close(relevance: Relevance | BestRelevance, prompt: str, memories: Sequence[MemoryItem]) -> list[str]:
    return [fit.item.text for fit in relevance.rank(prompt, memories) if fit.close]


@pytest.mark.parametrize(
    ("topic", "memory"),
    [
        ("car", "Drives a 2017 Skoda Octavia"),
        ("coffee", "Likes espresso without sugar"),
        ("doctor for the dog", "The vet is Dr. Okafor on Mill Street"),
        ("my kids", "Daughter Mia was born in 2019"),
        ("sport", "Plays tennis on Thursdays"),
    ],
)
def test_who_asks_finds_a_memory_without_a_word_in_common(
    relevance: Relevance, topic: str, memory: str
) -> None:
    assert relevance.rank(topic, items(*KNOWN), asked=True)[0].item.text == memory


@pytest.mark.parametrize(
    ("prompt", "memory"),
    [
        ("Which dessert with nuts could I bake for the party?", "Is allergic to peanuts"),
        ("Can you recommend a good vet for my cat's teeth?", "The vet is Dr. Okafor on Mill Street"),
        ("How should I travel from Vienna to Hamburg, by plane or by rail?", "Prefers trains over flights"),
    ],
)
def test_a_prompt_gets_the_memory_that_it_needs(relevance: Relevance, prompt: str, memory: str) -> None:
    assert memory in close(relevance, prompt, items(*KNOWN))


def test_generic_prompts_get_a_memory_as_seldom_as_they_may(relevance: Relevance) -> None:
    prompts = [prompt for prompt in generic_prompts() if prompt.kind in ("coding", "agent")]
    got = sum(bool(close(relevance, prompt.text, items(*KNOWN))) for prompt in prompts)
    assert got <= 0.1 * len(prompts)


@pytest.mark.parametrize(
    "prompt", ["what's the capital of Peru?", "How do I cook rice?", "python decorators", "door code"]
)
def test_a_single_memory_is_not_shown_to_whoever_asks_something_else(
    relevance: Relevance, prompt: str
) -> None:
    assert close(relevance, prompt, items("Bob's boat lies in Genoa")) == []


def test_a_memory_that_says_nothing_fits_nothing(relevance: Relevance) -> None:
    memories = items(*KNOWN, "a b c d", "ok")
    for prompt in ("What are my notes on CRDTs?", "a b c", "Which plan do I have for b and c?"):
        assert not {"a b c d", "ok"} & set(close(relevance, prompt, memories))


def test_a_cue_in_the_prompt_brings_its_memory(relevance: Relevance) -> None:
    memories = [*items(*KNOWN), *items("Trains legs first", cues=["gym", "workout plan"])]
    assert close(relevance, "put together a workout plan", memories)[0] == "Trains legs first"
    assert "Trains legs first" not in close(relevance, "put together a reading list", memories)


@pytest.mark.parametrize("cue", ["fix", "the", "write a function", "code"])
def test_a_cue_that_stands_in_every_other_prompt_tells_nothing(relevance: Relevance, cue: str) -> None:
    memories = items(*KNOWN, cues=[cue])
    assert close(relevance, "fix the code: write a function that sorts the list", memories) == []


def test_a_cue_does_not_push_out_a_memory_that_fits(relevance: Relevance) -> None:
    car = items("Drives a 2017 Skoda Octavia", cues=["inspection"])
    memories = [*items(*KNOWN[1:], "The database for bridge inspections is MySQL"), *car]
    got = close(relevance, "Which database do we use for inspections?", memories)
    assert got == ["Drives a 2017 Skoda Octavia", "The database for bridge inspections is MySQL"]


def test_a_name_is_not_taken_for_the_word_that_it_begins_with(relevance: Relevance) -> None:
    memories = items("Mi suegra se llama Carmen y vive en Valencia", *KNOWN)
    ranked = relevance.rank("wash the car on Sunday", memories)
    assert ranked[0].item.text == "Drives a 2017 Skoda Octavia"
    assert not next(fit.close for fit in ranked if "Carmen" in fit.item.text)


CHINESE = (
    "我喜欢喝绿茶", "我对花生过敏", "我的车是一辆2017年的斯柯达", "女儿叫小雨，今年六岁",
    "每周二晚上打羽毛球", "我们决定数据库用MySQL", "家里的路由器放在客厅", "不喜欢吃香菜",
)  # fmt: skip


def test_the_bar_is_that_of_the_prompts_language(relevance: Relevance) -> None:
    memories = items(*CHINESE)
    assert close(relevance, "我们用什么数据库？", memories) == ["我们决定数据库用MySQL"]
    assert "女儿叫小雨，今年六岁" in close(relevance, "给女儿买什么生日礼物？", memories)
    generic = unseen_prompts("zh")
    assert sum(bool(close(relevance, prompt.text, memories)) for prompt in generic) <= 0.1 * len(generic)


@pytest.mark.parametrize(
    "prompt", ["mop the kitchen floor", "give the baby a bottle", "my order has not arrived"]
)
def test_errands_get_no_memory_of_a_life_like_that(relevance: Relevance, prompt: str) -> None:
    assert close(relevance, prompt, items(*KNOWN)) == []


def test_nothing_comes_of_nothing(relevance: Relevance) -> None:
    assert relevance.rank("which car do I drive?", []) == []
    assert relevance.rank("  ", items(*KNOWN)) == []


def test_long_and_foreign_texts_are_judged_like_others(relevance: Relevance) -> None:
    texts = ("word " * 10_000, "我喜欢喝绿茶", "Trinkt nur grünen Tee", "お茶が好きです", "يحب الشاي", "🫖")
    fits = relevance.rank("Welchen Tee soll ich kaufen?" * 500, items(*texts))
    assert {fit.item.text for fit in fits} == set(texts)
    assert all(np.isfinite(fit.margin) for fit in fits)


def test_many_memories_are_encoded_once_while_they_stay_the_same() -> None:
    counted: list[int] = []

    class Counting(TableEncoder):
        def encode(self, texts: Sequence[str]) -> Vectors:
            counted.append(len(texts))
            return super().encode(texts)

    relevance = Relevance(Counting(load_static()), false_rate=0.05)
    memories = items(*(f"Fact number {at} about the harbour" for at in range(2_000)))
    relevance.rank("where is the harbour?", memories, version=1)
    counted.clear()
    relevance.rank("where is the boat?", memories, version=1)
    relevance.rank("where is the boat?", [*memories, *items("A new one")], version=2)
    assert counted == [1, 1, 1]  # two prompts and the one new memory


def test_without_an_embedder_shared_words_decide() -> None:
    relevance = Relevance(WordsAlone(), false_rate=0.05)
    memories = items("Project Alpha is due in May", "Plays tennis on Thursdays")
    assert close(relevance, "when is Project Alpha due?", memories) == ["Project Alpha is due in May"]
    assert close(relevance, "sort this list by date", memories) == []


# The encoder, in the background


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory-vectors.db"


def encoded(file: Path, embedder: FakeEmbedder | None = None) -> EncodedTexts:
    return EncodedTexts(embedder or FakeEmbedder(16), file, FakeClock(1_000.0))


def test_the_table_judges_until_the_encoder_has_read_everything(file: Path) -> None:
    texts = encoded(file)
    best = BestRelevance(TableEncoder(load_static()), lambda: texts, false_rate=0.05)
    by_table = best.rank("which car do I drive?", items(*KNOWN))
    assert by_table[0].item.text == "Drives a 2017 Skoda Octavia"
    while best.encode_some(60.0):
        pass
    assert texts.knows(KNOWN)
    assert best.rank("which car do I drive?", items(*KNOWN)) != by_table
    assert best.rank("which car do I drive?", items("Never read"))[0].item.text == "Never read"


def test_what_was_read_is_known_to_the_next_process(file: Path) -> None:
    first = encoded(file)
    first.knows(KNOWN)
    assert not first.encode_some(60.0)
    embedder = FakeEmbedder(16)
    second = encoded(file, embedder)
    assert not second.knows(KNOWN)
    second.encode_some(0.0)
    assert second.knows(KNOWN)
    assert not set(embedder.texts()) & set(KNOWN)
    same = np.allclose(first.encode(KNOWN), second.encode(KNOWN), atol=1e-3)
    assert same


def test_who_waits_is_judged_by_the_encoder_where_all_was_read_before(file: Path) -> None:
    before = encoded(file)
    best = BestRelevance(TableEncoder(load_static()), lambda: before, false_rate=0.05)
    best.rank("which car do I drive?", items(*KNOWN))
    while best.encode_some(60.0):
        pass
    at_once = EncodedTexts(FakeEmbedder(16), file, FakeClock(1_000.0), at_once=True)
    waiting = BestRelevance(TableEncoder(load_static()), lambda: at_once, false_rate=0.05)
    asked = "which car do I drive?"
    by_encoder = [fit.item.text for fit in best.rank(asked, items(*KNOWN))]
    assert [fit.item.text for fit in waiting.rank(asked, items(*KNOWN))] == by_encoder
    by_table = Relevance(TableEncoder(load_static()), false_rate=0.05).rank(asked, items("Never read"))
    assert waiting.rank(asked, items("Never read")) == by_table


def test_an_english_encoder_does_not_judge_other_languages(file: Path) -> None:
    english = FakeEmbedder(16)
    english.name = ENGLISH
    texts = encoded(file, english)
    best = BestRelevance(TableEncoder(load_static()), lambda: texts, false_rate=0.05)
    best.rank("我们用什么数据库？", items(*CHINESE))
    assert not best.encode_some(60.0)  # nothing to read for that
    assert best.rank("我们用什么数据库？", items(*CHINESE))[0].item.text == "我们决定数据库用MySQL"


def test_a_damaged_file_costs_only_the_time_to_read_again(file: Path) -> None:
    file.write_bytes(b"no database" * 1_000)
    texts = encoded(file)
    texts.knows(KNOWN)
    assert not texts.encode_some(60.0)
    assert texts.knows(KNOWN)


def test_an_encoder_that_fails_leaves_the_table_to_judge(file: Path) -> None:
    class Failing(FakeEmbedder):
        def embed_query(self, text: str) -> Vectors:
            raise EmbedderError(f"it is out of order for {text!r}")

    texts = encoded(file, Failing(16))
    best = BestRelevance(TableEncoder(load_static()), lambda: texts, false_rate=0.05)
    best.rank("which car do I drive?", items(*KNOWN))
    with pytest.raises(EmbedderError):
        best.encode_some(60.0)
    assert best.rank("car", items(*KNOWN), asked=True)[0].item.text == "Drives a 2017 Skoda Octavia"


@pytest.mark.parametrize(
    "prompt", ["sounds good", "what do you think?", "继续", "ja, weiter", "hang on, wait"]
)
def test_small_talk_gets_no_memory_but_by_its_cue(relevance: Relevance, prompt: str) -> None:
    plain = [
        MemoryItem("", text) for text in ("Waits for nobody", "Thinks that tea sounds good", "继续学习中文")
    ]
    assert not any(fit.close for fit in relevance.rank(prompt, plain))
    cued = [*plain, MemoryItem("", "Reads the logs aloud before going on", cues=("zeppelin mode",))]
    assert relevance.rank(f"{prompt} zeppelin mode", cued)[0].item.cues
