"""The gate: generic prompts get no notes, questions that the vault answers do, in doubt it is strict."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.context.messages import Message
from hindbrain.context.packs.assembling import is_empty
from hindbrain.context.packs.gate import (
    LEAST_PASSAGES,
    Evidence,
    Null,
    asks_for_notes,
    evidence_of,
    judge,
    null_of,
    score_of,
)
from hindbrain.context.packs.null_file import NULL_FILE, shipped_nulls
from hindbrain.context.topic.intent import is_pleasantry, understand_intent
from hindbrain.edge.opening import sync_with_progress
from hindbrain.edge.output import Output
from hindbrain.search.generic_prompts import generic_prompts, unseen_prompts
from hindbrain.search.hit import Hit, QueryWord
from workbench import Vault

NULL = Null(tuple((words, score / 10) for words in (1, 4, 12) for score in range(100)), 0.3, 0.1)
ANSWERED = "Which resin did we choose for the Halvorsen mooring buoy?"
GENERIC = (
    "fix the failing test", "write a haiku about spring", "thanks a lot!", "explain what a closure is",
    "and now?", "summarise this paragraph", "corrige les fautes de ce texte", "danke dir", "escribe un poema",
    "спасибо большое", "напиши короткий рассказ", "翻译这段话", "ありがとう", "감사합니다", "teşekkürler",
    "شكرا", "obrigado", "napisz krótki wiersz",
)  # fmt: skip


def hit(*terms: str, cosine: float | None = None, named: float = 0.0) -> Hit:
    return Hit("0", "a.md", "a", "", 1, 1, "", "", 1.0, 0.5, {}, terms, cosine=cosine, named=named)


def words(*texts: str) -> list[QueryWord]:
    return [QueryWord(text, 2) for text in texts]


@pytest.fixture
def large(vault: Vault) -> Vault:
    """A vault that is large enough to be measured."""
    subjects = ("harbour", "orchard", "violin", "glacier", "bakery", "lighthouse", "tapestry", "beehive")
    for number in range(LEAST_PASSAGES + 20):
        subject = subjects[number % len(subjects)]
        text = (
            f"Entry {number}: the {subject} was quiet, and somebody wrote a poem about test number {number}."
        )
        vault.write(f"{subject}/{number}.md", f"# {subject.title()} {number}\n\n{text}\n")
    vault.write(
        "Buoy.md", "# Mooring\n\nFor the Halvorsen mooring buoy we chose vinylester resin, not epoxy.\n"
    )
    return vault


# Pure


def test_words_of_generic_prompts_count_less_than_others() -> None:
    generic = evidence_of([hit("function", "test")], words("function", "test"), 1_000)
    rare = evidence_of([hit("halvorsen", "mooring")], words("halvorsen", "mooring"), 1_000)
    assert generic.together < 0.3 < 1 < rare.together


def test_words_that_stand_together_count_more_than_one_alone_or_many_apart() -> None:
    asked = words("halvorsen", "mooring", "vinylester")
    together = evidence_of([hit("halvorsen", "mooring", "vinylester")], asked, 1_000)
    apart = evidence_of([hit("halvorsen"), hit("mooring"), hit("vinylester")], asked, 1_000)
    assert score_of(together, NULL) > score_of(apart, NULL)


def test_a_note_called_by_its_name_and_a_near_meaning_raise_the_score() -> None:
    plain = evidence_of([hit("mooring", cosine=0.3)], words("mooring"), 1_000)
    near = evidence_of([hit("mooring", cosine=0.6)], words("mooring"), 1_000)
    named = evidence_of([hit("mooring", cosine=0.3, named=1.0)], words("mooring"), 1_000)
    assert score_of(plain, NULL) < score_of(near, NULL) < score_of(named, NULL)


@pytest.mark.parametrize(
    ("text", "held", "names"),
    [("kite1234", 1, True), ("48213", 5, True), ("kite1234", 6, False), ("3x3", 1, False), ("2024", 1, False),
     ("mooring", 1, False)],
)  # fmt: skip
def test_an_identifier_in_few_passages_names_what_they_are_about(text: str, held: int, names: bool) -> None:
    found = evidence_of([hit(text)], [QueryWord(text, held)], 20_000)
    assert (found.named > 0) == names
    assert not evidence_of([hit("other")], [QueryWord(text, held), QueryWord("other", 9)], 20_000).named


def test_without_hits_nothing_is_let_through_but_at_a_rate_of_one() -> None:
    assert not judge(evidence_of([], words("mooring"), 1_000), [NULL], 0.05).allowed
    assert not judge(Evidence(), [NULL], 1.0).allowed


def test_a_prompt_is_compared_with_generic_prompts_of_its_length() -> None:
    null = Null(tuple([(1, 0.1 * at) for at in range(300)] + [(20, 50 + 0.1 * at) for at in range(300)]))
    assert null.share_above(40.0, 1) < 0.01
    assert null.share_above(40.0, 20) > 0.99


@given(st.floats(-50, 50), st.floats(-50, 50), st.integers(1, 60), st.floats(0, 1))
def test_a_higher_score_never_gets_less(one: float, other: float, length: int, rate: float) -> None:
    low, high = sorted((one, other))
    assert NULL.share_above(high, length) <= NULL.share_above(low, length)
    assert NULL.share_above(high, length) > 0  # no sample shows that nothing scores as high


def test_the_null_of_what_found_nothing_by_meaning_has_a_usable_scale() -> None:
    null = null_of([Evidence(words=2, together=0.5), Evidence(words=3, together=0.7)])
    assert math.isfinite(score_of(Evidence(words=2, together=0.5, cosine=0.4), null))


def test_the_shipped_prompts_are_of_many_kinds_and_none_stands_twice() -> None:
    texts = [prompt.text for prompt in generic_prompts()]
    assert len(texts) == len(set(texts)) > 500
    assert {prompt.kind for prompt in generic_prompts()} == {"coding", "agent", "general", "talk", "greeting"}


@pytest.mark.parametrize(
    "text", ["merci beaucoup", "Vielen Dank!", "谢谢你", "спасибо вам", "muchas gracias"]
)
def test_greetings_and_thanks_ask_for_nothing_in_other_languages_too(text: str) -> None:
    assert is_pleasantry(text)
    assert not understand_intent(text, [Message("user", "the Halvorsen mooring buoy")]).query


def test_a_word_that_goes_on_borrows_from_the_conversation() -> None:
    intent = understand_intent("it still fails", [Message("user", "the Halvorsen mooring buoy leaks")])
    assert "halvorsen" in intent.query.lower()


# Through the doors


@pytest.mark.parametrize("measured", [True, False])
def test_generic_prompts_get_nothing_and_questions_do(
    large: Vault, make_app: Callable[..., App], measured: bool
) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    if measured:
        assert not app.measure_null()
    got = [prompt for prompt in GENERIC if not is_empty(app.context.pack(prompt))]
    assert got == []
    assert "vinylester" in app.context.rendered(app.context.pack(ANSWERED))
    assert any(one.startswith("gate_unmeasured:") for one in app.context.pack(ANSWERED).notices) != measured


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]", b'{"v": 99}', b'{"v": 1, "recipe": 1, "passages": "x"}', b"\xff\xfe\x00"]
)
def test_a_damaged_null_makes_the_gate_strict_says_so_and_is_measured_again(
    large: Vault, make_app: Callable[..., App], damage: bytes
) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    (app.state / NULL_FILE).write_bytes(damage)
    assert app.null_state() == "damaged"
    pack = app.context.pack(ANSWERED)
    assert any(one.startswith("gate_unmeasured:") for one in pack.notices)
    assert is_empty(app.context.pack("fix the failing test"))
    app.measure_null()
    assert app.null_state() == "measured"


def test_a_null_whose_scores_are_no_numbers_is_damaged(large: Vault, make_app: Callable[..., App]) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    app.measure_null()
    told = json.loads((app.state / NULL_FILE).read_bytes())
    told["hybrid"]["scores"] = [[1, math.inf]]
    (app.state / NULL_FILE).write_text(json.dumps(told), encoding="utf-8")
    assert app.null_state() == "damaged"


def test_it_is_measured_again_when_the_vault_has_grown_by_a_fifth(
    large: Vault, make_app: Callable[..., App]
) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    app.measure_null()
    file = app.state / NULL_FILE
    before = json.loads(file.read_bytes())["passages"]
    app.measure_null()
    assert json.loads(file.read_bytes())["passages"] == before
    for number in range(before // 4):
        large.write(f"more/{number}.md", f"# More {number}\n\nMore of the kind, number {number}.\n")
    app.sync()
    app.measure_null()
    assert json.loads(file.read_bytes())["passages"] > before


@pytest.mark.parametrize("provider", ["builtin", "none"])
def test_hindbrain_sync_measures_with_vectors_and_without(
    large: Vault, make_app: Callable[..., App], provider: str
) -> None:
    app = make_app(large.root, embedding_provider=provider)
    sync_with_progress(app, Output(json=True))
    assert app.null_state() == "measured"
    assert "vinylester" in app.context.rendered(app.context.pack(ANSWERED))


@pytest.mark.parametrize("measured", [True, False])
def test_without_vectors_an_identifier_finds_its_note(
    vault: Vault, make_app: Callable[..., App], measured: bool
) -> None:
    for number in range(LEAST_PASSAGES + 20):
        text = f"The kite{number} server runs on port {7_000 + number} in rack w{number % 97}."
        vault.write(f"n{number}.md", f"# Kite {number}\n\n{text}\n")
    app = make_app(vault.root, embedding_provider="none")
    app.sync()
    if measured:
        app.measure_null()
    assert "7017" in app.context.rendered(app.context.pack("which port has the kite17 server?"))
    assert "7017" in app.context.rendered(app.context.pack("kite17"))
    assert is_empty(app.context.pack("which port should a server use?"))


def test_measuring_stops_when_the_time_is_up_and_goes_on_later(
    large: Vault, make_app: Callable[..., App]
) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    steps = iter([False] * 5 + [True])
    assert app.measure_null(lambda: next(steps))
    assert not (app.state / NULL_FILE).exists()
    assert not app.measure_null()
    assert app.null_state() == "measured"


def test_a_vault_of_one_note_answers_what_it_says_and_nothing_else(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    vault.write(
        "Buoy.md", "# Mooring\n\nFor the Halvorsen mooring buoy we chose vinylester resin, not epoxy.\n"
    )
    app = make_app(vault.root, warm=True)
    app.sync()
    assert not app.measure_null()
    assert app.null_state() == "small"
    assert "vinylester" in app.context.rendered(app.context.pack(ANSWERED))
    assert [prompt for prompt in GENERIC if not is_empty(app.context.pack(prompt))] == []


def test_a_vault_of_drawings_an_empty_prompt_and_a_very_long_one_get_an_answer_without_a_fault(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    (vault.root / "Plan.excalidraw").write_text("{}", encoding="utf-8")
    (vault.root / "Map.canvas").write_text('{"nodes": [], "edges": []}', encoding="utf-8")
    app = make_app(vault.root, warm=True)
    app.sync()
    assert not app.measure_null()
    for prompt in ("", " ", ANSWERED, "lorem " * 10_000, " ".join(f"word{at}" for at in range(10_000))):
        assert is_empty(app.context.pack(prompt))


def test_a_false_rate_of_one_lets_in_whatever_is_found(large: Vault, make_app: Callable[..., App]) -> None:
    app = make_app(large.root, warm=True, context_false_rate="1")
    app.sync()
    assert not is_empty(app.context.pack("write a poem about a test"))


def test_what_the_window_holds_already_does_not_open_the_gate(
    large: Vault, make_app: Callable[..., App], tmp_path: Path
) -> None:
    app = make_app(large.root, warm=True)
    app.sync()
    held = frozenset(one for excerpt in app.context.pack(ANSWERED).excerpts for one in excerpt.passages)
    assert is_empty(app.context.pack(ANSWERED, exclude=held))


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [
        ("Summarise my note about IPFS", True),
        ("What did I write about CRDTs?", True),
        ("Was steht in meinen Notizen über Boote?", True),
        ("Write a note class in Python", False),
        ("add release notes", False),
    ],
)
def test_who_asks_for_their_notes_is_understood(prompt: str, asks: bool) -> None:
    assert asks_for_notes(prompt) == asks


# In other languages than English


CHINESE = (
    ("今天我", "昨天下午我们", "他上周末", "开会的时候大家", "吃完饭以后我", "为了下个月的旅行，她"),
    ("写了一个", "又修改了", "重新整理了", "测试了几遍", "删掉了", "更新了", "翻译了", "总结了一下"),
    ("函数", "文件", "这篇文章", "句子", "按钮的颜色", "网页的标题", "变量的名字", "短篇故事", "菜谱"),
    ("，因为上一个版本不太清楚。", "，不过还是有一些错误。", "，朋友觉得这样更好。", "，花了半个小时。"),
)  # fmt: skip
GERMAN = (
    ("Heute habe ich", "Gestern haben wir", "Am Wochenende hat er", "In der Sitzung haben alle"),
    ("noch einmal", "zum ersten Mal", "mit dem Kind", "für die Kunden", "ohne Fehler", "in zwei Stunden"),
    ("den Test", "diese Datei", "das Programm", "die E-Mail", "den Abschnitt", "die Regel", "ein Gedicht",
     "den Plan", "die Liste der Ideen", "eine Nachricht"),
    ("geschrieben, weil das hier nicht klar war.", "erklärt, und das gefiel den meisten.",
     "geteilt, aber warum ist offen.", "sortiert, mehr wird es diese Woche nicht.",
     "gelesen, der Unterschied ist klein."),
)  # fmt: skip


@pytest.fixture
def diary(vault: Vault, request: pytest.FixtureRequest) -> Vault:
    """A vault of everyday notes, in the everyday words of one language."""
    parts: tuple[tuple[str, ...], ...] = request.param
    chance = random.Random(7)
    for number in range(LEAST_PASSAGES + 20):
        said = [" ".join(map(chance.choice, parts)) for _ in range(3)]
        if parts is CHINESE:
            said = [sentence.replace(" ", "") for sentence in said]
        vault.write(f"{number}.md", f"# {number}\n\n{' '.join(said)}\n")
    vault.write(
        "Boje.md",
        "# Boje\n\nHalvorsen 浮标选用乙烯基酯树脂。 Für die Boje Halvorsen nehmen wir Vinylester.\n",
    )
    return vault


@pytest.mark.parametrize(
    ("diary", "language", "answered"),
    [
        (CHINESE, "zh", "Halvorsen 浮标选用哪种乙烯基酯树脂？"),
        (GERMAN, "de", "Welches Vinylester nehmen wir für die Boje Halvorsen?"),
    ],
    indirect=["diary"],
)
def test_generic_prompts_in_the_language_of_the_notes_get_as_little_as_english_ones(
    diary: Vault, make_app: Callable[..., App], language: str, answered: str
) -> None:
    app = make_app(diary.root, warm=True)
    app.sync()
    app.measure_null()
    assert app.languages() == (language,)
    prompts = [prompt.text for prompt in unseen_prompts(language)]
    got = [prompt for prompt in prompts if not is_empty(app.context.pack(prompt))]
    assert len(got) <= 0.1 * len(prompts), got
    assert "Vinylester" in app.context.rendered(app.context.pack(answered))


def test_the_null_of_a_language_judges_its_own_prompts_only() -> None:
    chinese = NULL._replace(scores=tuple((4, 50.0) for _ in range(100)), language="zh")
    found = evidence_of([hit("halvorsen", "mooring", named=1.0)], words("halvorsen", "mooring"), 1_000)
    assert judge(found, [NULL, chinese], 0.05).allowed
    assert not judge(found._replace(languages=("zh",)), [NULL, chinese], 0.05).allowed


def test_a_short_list_does_not_keep_out_what_is_above_all_of_it() -> None:
    short = Null(tuple((4, 1.0) for _ in range(40)), language="pl")
    assert short.share_above(1.0, 4) == 1.0
    assert short.share_above(2.0, 4) == 0.0


@pytest.mark.parametrize("language", ["zh", "ja"])
def test_a_small_vault_is_compared_with_shipped_prompts_of_the_language(language: str) -> None:
    for mode in ("hybrid", "keyword"):
        nulls, _ = shipped_nulls(mode, 10)
        assert language in {null.language for null in nulls}
