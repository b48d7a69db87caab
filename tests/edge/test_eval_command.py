"""`hindbrain eval` asks a vault about itself: the same questions each time, and without leaving a trace."""

from __future__ import annotations

import random
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.context.packs.pack import Pack
from hindbrain.context.service import Context
from hindbrain.search.generic_prompts import unseen_prompts
from hindbrain.search.own_questions import (
    KINDS,
    NoteNames,
    Question,
    alias_questions,
    heading_questions,
    memory_questions,
    one_a_note,
    share_out,
    without_rarest,
)
from hindbrain.vault.items.item import MemoryItem
from workbench import Vault

_TREES = ("Oak", "Birch", "Larch", "Alder", "Rowan", "Hazel", "Willow", "Poplar")


def contents(root: Path) -> dict[str, bytes]:
    files = (file for file in root.rglob("*") if file.is_file())
    return {str(file.relative_to(root)): blake2b(file.read_bytes()).digest() for file in files}


def kinds(data: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["kind"]: row for row in data["kinds"]}


@pytest.fixture
def grove(cli: Cli, vault: Vault) -> Vault:
    """Notes that link to each other, with headings and aliases, and two memories."""
    for at, tree in enumerate(_TREES):
        after = _TREES[(at + 1) % len(_TREES)]
        vault.write(
            f"{tree}.md",
            f"---\naliases: [{tree}wood of the north]\n---\n# {tree}\n\nThe {tree.lower()} is felled in "
            f"month {at} for its timber.\n\n## How the {tree.lower()} is planted\n\nIn rows of {at} beside "
            f"the river.\n\n## Later\n\nSaw number {at} is kept for the timber of the [[{after}]] alone.\n",
        )
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("remember", "The forester drinks barley coffee before sunrise").code == 0
    assert cli("remember", "Invoices of the sawmill go to Ludmila", "--cue", "sawmill billing").code == 0
    assert cli("sync").code == 0
    return vault


def test_a_vault_is_asked_about_itself(cli: Cli, grove: Vault) -> None:
    data = cli("eval", "--json").data
    rows = kinds(data)
    assert [row["kind"] for row in data["kinds"]] == list(KINDS)
    assert rows["link"]["questions"] == rows["heading"]["questions"] == rows["alias"]["questions"] == 8
    assert rows["memory"]["questions"] == 2 and rows["memory"]["too_few"]
    assert rows["alias"]["found"] == [{"way": "as set", "at_1": 8, "at_5": 8, "at_10": 8}]
    assert rows["heading"]["found"][0]["at_5"] == 8
    assert rows["memory"]["found"][0]["at_1"] == 2
    for question in data["questions"]:
        if question["kind"] == "link":
            assert question["source"] != question["target"]
            assert Path(question["target"]).stem not in question["query"]


def test_the_note_that_holds_a_question_is_not_its_answer(cli: Cli, grove: Vault) -> None:
    """All of its words are there: it would come first."""
    grove.write("Kiln.md", "The kiln of uncle Radoslav stands behind the [[Smokehouse]] at the brook.\n")
    grove.write(
        "Smokehouse.md", "# Smokehouse\n\nUncle Radoslav built it at the brook, with a kiln behind.\n"
    )
    assert cli("sync").code == 0
    links = [one for one in cli("eval", "--json").data["questions"] if one["kind"] == "link"]
    (asked,) = (one for one in links if one["source"] == "Kiln.md")
    assert cli("search", asked["query"], "--json").data["hits"][0]["path"] == "Kiln.md"
    assert asked["ranks"]["as set"] == 1


def test_the_same_seed_asks_the_same_and_another_one_other_questions(cli: Cli, grove: Vault) -> None:
    asked = cli("eval", "--json", "--questions", "6").data
    assert cli("eval", "--json", "--questions", "6").data == asked
    other = cli("eval", "--json", "--questions", "6", "--seed", "2").data
    assert other["questions"] != asked["questions"]
    assert len(asked["questions"]) == len(other["questions"]) == 6
    assert {one["kind"] for one in asked["questions"]} == set(KINDS)


def test_no_byte_of_the_vault_changes_and_nothing_counts_as_used(cli: Cli, grove: Vault) -> None:
    from contextlib import closing

    from hindbrain.index.store import IndexStore

    index = Path(cli("status", "--json").data["index"]["path"])
    before = contents(grove.root)
    assert cli("eval").code == 0
    assert contents(grove.root) == before
    with closing(IndexStore(index)) as store:
        assert store.usage() == {}
        assert store.select("SELECT count(*) FROM memory_access") == [(0,)]


def test_a_memory_with_a_quotation_is_asked_for_without_its_marks(cli: Cli, grove: Vault) -> None:
    """What is in quotes must be in an answer word for word, and a word of it may be the one left out."""
    assert cli("remember", 'The captain says "splendid weather for haymaking" every morning').code == 0
    data = cli("eval", "--json").data
    assert kinds(data)["memory"]["found"][0]["at_1"] == 3
    assert not any('"' in one["query"] for one in data["questions"])


def test_generic_prompts_of_each_kind_are_tried(cli: Cli, grove: Vault) -> None:
    data = cli("eval", "--json").data
    assert sum(row["prompts"] for row in data["generic"]) == 60
    assert len({row["prompts"] for row in data["generic"]}) == 1
    assert all(row["notes"] <= row["prompts"] >= row["memories"] for row in data["generic"])
    kept = {row["kind"]: row for row in data["kept"]}
    assert set(kept) == set(KINDS)
    assert all(row["passed"] <= row["answered"] for row in data["kept"])
    assert kept["heading"]["answered"] == 8


def test_a_vault_in_another_language_is_asked_generic_prompts_in_it(
    cli: Cli, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(12):
        vault.write(
            f"{number}.md", f"# 第{number}天\n\n今天早上我们坐火车去海边，沙滩上有很多人，第{number}次。\n"
        )
    assert cli("init").code == 0
    assert cli("sync").code == 0
    asked: list[str] = []
    pack = Context.pack

    def spy(self: Context, prompt: str, **rest: Any) -> Pack:
        asked.append(prompt)
        return pack(self, prompt, **rest)

    monkeypatch.setattr(Context, "pack", spy)
    data = cli("eval", "--json").data
    assert sum(row["prompts"] for row in data["generic"]) == 60
    unseen = {prompt.text for prompt in unseen_prompts("zh")}
    assert len(unseen.intersection(asked)) == 24  # six of each kind, but of greetings


def test_another_profile_stands_beside_the_usual_one(cli: Cli, grove: Vault) -> None:
    data = cli("eval", "--json", "--profile", "rrf").data
    assert [row["way"] for row in kinds(data)["link"]["found"]] == ["as set", "profile rrf"]
    usual = cli("eval", "--json").data
    assert [one["ranks"]["as set"] for one in data["questions"]] == [
        one["ranks"]["as set"] for one in usual["questions"]
    ]
    assert "profile rrf" in cli("eval", "--profile", "rrf").out


def test_an_encoder_stands_beside_where_one_is_installed(
    cli: Cli, grove: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from encoder_models import write_model

    write_model(tmp_path / "model")
    monkeypatch.setenv("HINDBRAIN_ENCODER_PATH", str(tmp_path / "model"))
    data = cli("eval", "--json", "--questions", "8").data
    assert [row["way"] for row in kinds(data)["link"]["found"]] == ["as set", "with encoder"]


def test_a_note_that_the_index_has_not_seen_is_asked_about(cli: Cli, grove: Vault) -> None:
    grove.write("Yew.md", "---\naliases: [Taxus]\n---\n# Yew\n\nPoisonous.\n")
    asked = cli("eval", "--json").data["questions"]
    assert [one["ranks"]["as set"] for one in asked if one["query"] == "Taxus"] == [1]


@pytest.mark.promise("P29")
def test_a_search_that_can_do_less_than_it_should_says_so(
    cli: Cli, grove: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("eval", "--json", "--questions", "4").data["notices"] == []
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_MODEL", "nothing-there")
    ran = cli("eval", "--json", "--questions", "4")
    assert ran.code == 0 and ran.data["notices"]


@pytest.mark.parametrize(
    "words", [("--questions", "0"), ("--questions", "99999"), ("--profile", "nothing-like-it")]
)
def test_what_makes_no_sense_is_refused(cli: Cli, grove: Vault, words: tuple[str, ...]) -> None:
    ran = cli("eval", "--json", *words)
    assert (ran.code, ran.error) == (2, "usage")


def test_an_empty_vault_says_that_there_is_nothing_to_ask(cli: Cli, vault: Vault) -> None:
    data = cli("eval", "--json").data
    assert data["questions"] == [] and data["kept"] == []
    assert all(row["too_few"] and not row["questions"] for row in data["kinds"])
    assert not any(row["notes"] or row["memories"] for row in data["generic"])
    assert cli("eval").code == 0


def test_one_note_has_no_other_to_link_to(cli: Cli, vault: Vault) -> None:
    vault.write("Tea.md", "# Tea\n\nGreen tea, see [[Tea]] for how it is brewed at home.\n")
    rows = kinds(cli("eval", "--json").data)
    assert not rows["link"]["questions"] and not rows["heading"]["questions"]


def test_notes_without_links_are_asked_for_by_what_they_have(cli: Cli, vault: Vault) -> None:
    for tree in _TREES:
        vault.write(f"{tree}.md", f"# {tree}\n\n## How to plant the {tree}\n\nIn rows.\n")
    rows = kinds(cli("eval", "--json").data)
    assert rows["heading"]["questions"] == 8 and rows["link"]["too_few"]


def test_a_chinese_vault_is_asked_in_chinese(cli: Cli, vault: Vault) -> None:
    places = (
        "杭州的龙井茶园春天采茶",
        "黄山的日出云海奇松怪石",
        "敦煌的莫高窟壁画与沙漠",
        "苏州的拙政园亭台水榭",
    )
    for at, place in enumerate(places):
        other = places[(at + 1) % len(places)]
        vault.write(
            f"{place[:2]}.md",
            f"# {place[:2]}\n\n## {place}\n\n去年秋天我们住在那里的旅馆, 后来去了[[{other[:2]}]]看风景。\n",
        )
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("remember", "我最喜欢的早餐是豆浆和油条").code == 0
    data = cli("eval", "--json").data
    rows = kinds(data)
    assert rows["link"]["questions"] >= 1  # the same sentence in four notes is one question
    assert rows["heading"]["questions"] == 4 and rows["heading"]["found"][0]["at_1"] == 4
    assert rows["memory"]["questions"] == 1 and rows["memory"]["found"][0]["at_1"] == 1


def test_a_public_vault_keeps_its_bytes_and_answers_alike(cli: Cli, unpacked: Callable[[str], Path]) -> None:
    root = unpacked("vault_obsidian_help")
    before = contents(root)
    data = cli("eval", "--json", "--questions", "24", vault=root).data
    assert contents(root) == before
    rows = kinds(data)
    assert [rows[kind]["questions"] for kind in KINDS] == [8, 8, 8, 0]
    assert rows["alias"]["found"][0]["at_1"] == 8 and rows["heading"]["found"][0]["at_10"] >= 7
    assert cli("eval", "--json", "--questions", "24", vault=root).data == data


# Making questions


def test_what_two_notes_share_is_no_question() -> None:
    notes = [
        NoteNames("a.md", "A", ("ours", "alone"), ("What two notes have", "What the ledger must do")),
        NoteNames("b.md", "B", ("ours", "a"), ("Have two notes what",)),
    ]
    assert [one.query for one in heading_questions(notes)] == ["What the ledger must do"]
    assert [one.query for one in alias_questions(notes)] == ["alone"]


def test_the_rarest_word_of_a_memory_is_not_said() -> None:
    assert without_rarest("The forester drinks Barley coffee", {"forester": 3, "drinks": 2, "coffee": 2}) == (
        "The forester drinks coffee"
    )
    assert without_rarest("Tea", {}) == without_rarest("", {}) == ""
    assert "豆浆" not in without_rarest(
        "早餐是豆浆和油条", {"早餐": 2, "餐是": 2, "是豆": 2, "浆和": 2, "和油": 2, "油条": 2, "条": 2}
    )


def test_a_memory_is_asked_for_by_a_cue_or_by_its_words() -> None:
    item = MemoryItem(
        "m-1", "Invoices of the sawmill go to Ludmila", path="Memory.md", line=4, cues=("billing",)
    )
    asked = {memory_questions([item], random.Random(seed))[0].query for seed in range(20)}
    assert "billing" in asked and len(asked) == 2


def test_kinds_share_what_others_lack() -> None:
    def some(kind: Any, many: int) -> list[Question]:
        return [Question(kind, f"{kind} {at}", f"{at}.md") for at in range(many)]

    chosen = share_out(
        {"link": some("link", 1), "heading": some("heading", 9), "alias": some("alias", 9)}, 10
    )
    assert [sum(one.kind == kind for one in chosen) for kind in KINDS] == [1, 5, 4, 0]
    assert share_out({}, 10) == []
    assert len(one_a_note([*some("heading", 3), *some("heading", 3)], 10, random.Random(1))) == 3
