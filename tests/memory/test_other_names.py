"""A memory is found by any name of what it speaks of."""

from __future__ import annotations

import json

import pytest

from hindbrain.edge.main import main
from hindbrain.memory.other_names import OtherNames
from workbench import Vault

NAMES = OtherNames([("Robert Smith", "Bob", "Bobby"), ("Design", "design system")])


def test_a_name_brings_all_names_of_its_note() -> None:
    assert NAMES.of("[[Robert Smith]] drinks tea") == ["Robert Smith", "Bob", "Bobby"]
    assert NAMES.of("Bob's daughter starts school") == ["Robert Smith", "Bob", "Bobby"]


@pytest.mark.parametrize("text", ["", "Robert drinks tea", "the design of the house", "Bobsleigh in winter"])
def test_what_is_not_the_name_brings_nothing(text: str) -> None:
    assert NAMES.of(text) == []


def test_names_without_words_are_harmless() -> None:
    assert OtherNames([("", "…")]).of("… and so on") == []
    assert OtherNames().of("Bob") == []


@pytest.fixture
def friends(vault: Vault, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Vault:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "builtin")
    vault.write("People/Robert Smith.md", "---\naliases: [Bob]\n---\n# Robert Smith\n")
    run = ["--vault", str(vault.root)]
    assert main(["sync", *run]) == 0
    for text in ("Robert Smith is vegetarian", "The router stands in the hall", "Prefers window seats"):
        assert main(["remember", text, *run]) == 0
    capsys.readouterr()
    return vault


def test_an_alias_finds_the_memory_by_recall_and_in_packs(
    friends: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["what should I cook when Bob comes to dinner?", "--vault", str(friends.root)]
    assert main(["recall", *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "Robert Smith" in found["memories"][0]["text"] and not found["memories"][0].get("cues")
    assert main(["context", *asked]) == 0
    pack = capsys.readouterr().out
    assert "vegetarian" in pack and "router" not in pack and "window" not in pack


def test_an_alias_that_is_taken_away_finds_it_no_more(
    friends: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["context", "call Bob about the invoice", "--vault", str(friends.root)]
    main(asked)
    assert "vegetarian" in capsys.readouterr().out
    friends.write("People/Robert Smith.md", "# Robert Smith\n")
    assert main(["sync", "--vault", str(friends.root)]) == 0
    capsys.readouterr()
    main(asked)
    assert "vegetarian" not in capsys.readouterr().out
