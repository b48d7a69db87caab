"""Explicit requests to remember something, in each language of the table. A TOML file has the sentences."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from hindbrain.context.flush.rules import find_candidates
from hindbrain.context.messages import Message
from hindbrain.context.topic.intent import understand_intent
from hindbrain.context.topic.request_words import LANGUAGES
from hindbrain.memory.policy.policy import Policy

SENTENCES = tomllib.loads(Path(__file__).with_name("remember_requests.toml").read_text("utf-8"))
KEPT = [(said, memory) for rows in SENTENCES.values() for said, memory in rows["kept"]]
WAITS = [said for rows in SENTENCES.values() for said in rows.get("waits", ())]
LEFT = [said for rows in SENTENCES.values() for said in rows["left"]]


def stored(said: str) -> list[str]:
    finds = find_candidates([Message("user", said)], today=date(2026, 5, 15))
    return [find.text for find in finds if find.category != "action"]


def test_each_language_has_its_sentences() -> None:
    assert list(SENTENCES) == [words.language for words in LANGUAGES]
    assert all(len(rows["kept"]) >= 8 and len(rows["left"]) >= 6 for rows in SENTENCES.values())


@pytest.mark.parametrize(("said", "memory"), KEPT)
def test_a_request_is_kept_in_its_own_language(said: str, memory: str) -> None:
    [find] = find_candidates([Message("user", said)], today=date(2026, 5, 15))
    assert (find.text, find.sure, find.from_owner) == (memory, True, True)
    assert find.evidence in said


@pytest.mark.parametrize("said", LEFT)
def test_what_is_no_request_to_remember_is_left_alone(said: str) -> None:
    assert stored(said) == []


def test_what_is_asked_for_needs_no_approval() -> None:
    held = [memory for _, memory in KEPT if Policy().judge(memory, source="agent").action != "accept"]
    assert held == []


@pytest.mark.parametrize("said", WAITS)
def test_what_is_told_to_you_waits_for_a_person(said: str) -> None:
    [find] = find_candidates([Message("user", said)], today=date(2026, 5, 15))
    assert not find.sure


# A prompt that is only a request asks for nothing


@pytest.mark.parametrize(
    "said",
    [
        *(rows["kept"][0][0] for rows in SENTENCES.values()),
        "Could you please remember that I'm allergic to cats?",
        "Remember that I met Bob yesterday.",
        "Ich bin Vegetarier, merk dir das bitte.",
        "Mon médecin est à Lyon. Ne l'oublie pas.",
        "私は猫アレルギーです。覚えておいてください。",
        "내가 고양이 알레르기가 있다는 것을 기억해 줘.",
        "Perşembe günleri evden çalıştığımı unutma.",
    ],
)
def test_a_request_looks_for_nothing(said: str) -> None:
    intent = understand_intent(said)
    assert (intent.query, intent.asks_days, intent.asks_open) == ("", False, False)


@pytest.mark.parametrize(
    "prompt",
    [
        "Remember that I am allergic to nuts. What shall I cook tonight?",
        "Remember that I am allergic to nuts and suggest a dinner",
        "Merk dir, dass ich vegan bin. Was soll ich kochen?",
        "Do you remember that I am allergic to cats?",
        "Erinnerst du dich, dass ich im Homeoffice bin?",
        "私が猫アレルギーだって覚えてる？",
        "Remember to pay the rent for the boat in Oban",
        "Summarise the notes on Kyoto, remember that",
        "Remember that function we wrote for the invoices?",
    ],
)
def test_a_prompt_that_asks_for_something_is_searched(prompt: str) -> None:
    assert understand_intent(prompt).query == prompt
