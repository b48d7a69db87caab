"""The languages of prompts and notes: by script, by function words, and in doubt by what the vault has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.search.generic_prompts import generic_prompts, prompts_in, unseen_prompts
from hindbrain.search.languages import LANGUAGES, prompt_languages, vault_languages

GERMAN = "Heute war ich mit dem Rad bei der alten Mühle, und auf dem Weg zurück ist mir die Kette gerissen."
FRENCH = (
    "Ce matin nous avons pris le train pour la mer, et il y avait du monde sur la plage avec les enfants."
)
ENGLISH = (
    "This morning we took the train to the sea, and there were many people on the beach with their dogs."
)
CHINESE = "今天早上我们坐火车去海边，沙滩上有很多人。"
JAPANESE = "今朝は電車で海に行きました。浜辺にはたくさんの人がいました。"


@pytest.mark.parametrize(
    ("prompt", "languages"),
    [
        ("写一首俳句", ("zh",)),
        ("用Python实现快速排序", ("zh",)),
        ("このファイルを二つに分けて", ("ja",)),
        ("이 함수를 나눠 줘", ("ko",)),
        ("почини падающий тест", ("ru",)),
        ("أضف تعليقا", ("ar",)),
        ("एक टिप्पणी जोड़ो", ("hi",)),
        ("warum ist das hier null?", ("de",)),
        ("pourquoi est-ce que c'est nul ici ?", ("fr",)),
        ("fix the failing test", ()),
        ("klingt gut", ()),
        ("", ()),
        ("γεια σου", ()),
    ],
)
def test_a_prompt_tells_its_language_by_script_and_function_words(
    prompt: str, languages: tuple[str, ...]
) -> None:
    assert prompt_languages(prompt) == languages


def test_in_doubt_a_prompt_may_be_in_the_languages_of_the_notes() -> None:
    assert prompt_languages("klingt gut", ["de", "zh"]) == ("de",)
    assert prompt_languages("fix the failing test", ["de", "zh"]) == ()
    assert prompt_languages("次回予告", ["ja"]) == ("ja",)
    assert prompt_languages("次回予告", ["zh"]) == ("zh",)


@pytest.mark.parametrize(
    ("texts", "languages"),
    [
        ([ENGLISH] * 9, ()),
        ([CHINESE] * 5 + [ENGLISH] * 4, ("zh",)),
        ([JAPANESE] * 9, ("ja",)),
        ([GERMAN] * 6 + [FRENCH] * 3, ("de", "fr")),
        ([ENGLISH] * 99 + [GERMAN], ()),
        (["MIT " * 40, "der Fall", ""], ()),
        ([], ()),
    ],
)
def test_the_languages_of_notes_are_found(texts: list[str], languages: tuple[str, ...]) -> None:
    assert vault_languages(texts) == languages


@given(st.text(), st.lists(st.sampled_from(LANGUAGES), unique=True))
def test_any_text_has_known_languages_or_none(text: str, vault: list[str]) -> None:
    assert set(prompt_languages(text, vault)) <= set(LANGUAGES)
    assert set(vault_languages([text])) <= set(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_has_a_list_that_shares_no_prompt_with_another(language: str) -> None:
    own = [prompt.text for prompt in prompts_in(language)]
    others = [prompt.text for name in LANGUAGES if name != language for prompt in prompts_in(name)]
    common = [prompt.text for prompt in generic_prompts()]
    unseen = [prompt.text for prompt in unseen_prompts(language)]
    assert len(own) == len(set(own)) > 40
    assert {prompt.kind for prompt in prompts_in(language)} == {"coding", "agent", "general", "talk"}
    assert not {*map(str.casefold, own)} & {*map(str.casefold, [*others, *common, *unseen])}
    assert not {*map(str.casefold, unseen)} & {*map(str.casefold, common)}
