"""A new memory in the place of an old one: what it takes over, how it is named, what is said of its cues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.context.flush.notes import TAGS
from hindbrain.learn.consolidation.remembering import CONSOLIDATED_TAG
from hindbrain.memory.service import Memory
from hindbrain.vault.items.item import ORIGIN_TAGS, MemoryItem
from workbench import Vault


@pytest.fixture
def memory(cli: Cli, vault: Vault) -> Memory:
    return build_app(load_config(), vault.root, warm=False).memory


def remember(cli: Cli, text: str, *options: str) -> Any:
    return cli("remember", text, "--json", *options).data


def living(memory: Memory) -> dict[str, MemoryItem]:
    return {item.text: item for item in memory.book.items() if not item.superseded}


# What the new line takes over


POSTGRES = "We decided to use PostgreSQL for the bridge-inspection app"
MYSQL = "We decided to use MySQL instead of PostgreSQL for the bridge-inspection app"


def test_what_replaces_a_memory_gets_its_cues_tags_and_importance(cli: Cli, memory: Memory) -> None:
    old = remember(
        cli,
        POSTGRES,
        "--category",
        "decision",
        "--importance",
        "0.8",
        "--cue",
        "database",
        "--tag",
        "storage",
    )
    new = remember(cli, MYSQL, "--category", "decision", "--cue", "sql", "--tag", "bridges")
    assert (new["action"], new["other"]["id"]) == ("supersede", old["id"])
    assert (new["cues"], new["tags"], new["importance"]) == (["sql", "database"], ["bridges", "storage"], 0.8)
    item = living(memory)[MYSQL]
    assert (item.cues, item.tags, item.importance) == (("sql", "database"), ("bridges", "storage"), 0.8)
    assert MYSQL in cli("recall", "which database do we use?").out


def test_a_chosen_importance_and_five_own_cues_stay(cli: Cli, memory: Memory) -> None:
    remember(cli, "Favourite editor is vim", "--importance", "0.8", "--cue", "coding")
    remember(
        cli, "Favourite editor is emacs", "--importance", "0.2", "--cue", "org, lisp, Coding, magit, tramp"
    )
    item = living(memory)["Favourite editor is emacs"]
    assert (item.importance, item.cues) == (0.2, ("org", "lisp", "Coding", "magit", "tramp"))


def test_it_is_the_same_for_what_waits_in_the_queue(memory: Memory) -> None:
    memory.remember("Favourite editor is vim", cues=["coding"], tags=["tools"], importance=0.7)
    assert memory.remember("Favourite editor is emacs").action == "queued"
    memory.settle(idle=True)
    item = living(memory)["Favourite editor is emacs"]
    assert (item.cues, item.tags, item.importance) == (("coding",), ("tools",), 0.7)


def test_what_merges_adds_its_tags(cli: Cli, memory: Memory) -> None:
    remember(cli, "Ada prefers green tea", "--tag", "drinks")
    done = remember(cli, "Ada prefers green tea", "--tag", "ada", "--cue", "breakfast")
    assert (done["action"], done["tags"], done["cues"]) == ("merge", ["drinks", "ada"], ["breakfast"])
    (item,) = memory.book.items()
    assert (item.text, item.tags) == ("Ada prefers green tea", ("drinks", "ada"))


def test_tags_that_say_how_a_memory_came_to_be_stay_with_it(memory: Memory) -> None:
    assert {*TAGS, CONSOLIDATED_TAG} <= ORIGIN_TAGS
    memory.remember(
        "Favourite editor is vim", tags=["editors", *TAGS, CONSOLIDATED_TAG], strategy="immediate"
    )
    memory.remember("Favourite editor is emacs", strategy="immediate")
    assert living(memory)["Favourite editor is emacs"].tags == ("editors",)


def test_a_strangers_line_gives_nothing(memory: Memory) -> None:
    memory.remember("The bridge opens at 8", source="tool", importance=0.9, tags=["x"], strategy="immediate")
    memory.remember("The bridge opens at 9", source="user", strategy="immediate")
    item = living(memory)["The bridge opens at 9"]
    assert (item.tags, item.importance) == ((), 0.5)


def test_what_consolidation_replaces_hands_over_too(memory: Memory) -> None:
    old = memory.remember("The bike is in the shed", cues=["bicycle"], importance=0.7, strategy="immediate")
    new = memory.remember("Sold everything on wheels", tags=["sale"], strategy="immediate")
    assert memory.supersede(old.id, new.id)
    item = living(memory)["Sold everything on wheels"]
    assert (item.cues, item.tags, item.importance) == (("bicycle",), ("sale",), 0.7)


# Named by its id


OLD_ROOM = "The choir meets in the old school on Fridays"
NEW_ROOM = "Choir practice: parish hall, Thursdays"


def test_a_memory_is_replaced_by_its_id(cli: Cli, memory: Memory) -> None:
    old = remember(cli, OLD_ROOM, "--cue", "singing")
    new = remember(cli, NEW_ROOM, "--replaces", old["id"])
    assert (new["action"], new["other"]["id"], new["cues"]) == ("supersede", old["id"], ["singing"])
    assert {item.text: item.superseded for item in memory.book.items()} == {OLD_ROOM: new["id"], NEW_ROOM: ""}
    cli("undo")
    assert set(living(memory)) == {OLD_ROOM}


def test_the_answer_to_a_related_memory_says_how_to_replace_and_that_works(cli: Cli, memory: Memory) -> None:
    old = remember(cli, "The choir meets in the old school on Fridays", "--cue", "singing")
    newer = "The choir meets in the old school or in the parish hall"
    ran = cli("remember", newer, "--category", "project")
    assert f"({old['id']})" in ran.out and f"--replaces {old['id']}" in ran.err
    again = remember(cli, newer, "--category", "project", "--replaces", old["id"])
    assert (again["action"], again["other"]["id"]) == ("supersede", old["id"])
    (item,) = living(memory).values()
    assert (item.text, item.id, item.cues, item.category) == (newer, again["id"], ("singing",), "project")


def test_fewer_words_replace_more_when_they_are_said_to(cli: Cli, memory: Memory) -> None:
    old = remember(cli, "Ada is allergic to nuts and milk")
    remember(cli, "Ada is allergic to nuts", "--replaces", old["id"])
    assert set(living(memory)) == {"Ada is allergic to nuts"}


def test_the_same_words_replace_nothing(cli: Cli, memory: Memory) -> None:
    old = remember(cli, OLD_ROOM)
    assert remember(cli, OLD_ROOM, "--replaces", old["id"])["action"] == "merge"
    assert set(living(memory)) == {OLD_ROOM}


def test_an_id_that_nobody_has_or_that_was_replaced_is_an_error(cli: Cli, memory: Memory) -> None:
    old = remember(cli, OLD_ROOM)
    assert cli("remember", NEW_ROOM, "--replaces", "m-nothere", "--json").error == "not_found"
    remember(cli, NEW_ROOM, "--replaces", old["id"])
    ran = cli("remember", "The choir is gone", "--replaces", old["id"], "--json")
    assert ran.error == "usage"
    assert set(living(memory)) == {NEW_ROOM}


def test_an_agent_replaces_its_own_words_and_not_the_owners(cli: Cli, memory: Memory) -> None:
    owners = remember(cli, OLD_ROOM)
    done = memory.remember(NEW_ROOM, replaces=owners["id"])
    assert done.action == "related" and done.reasons and done.other and done.other.id == owners["id"]
    assert set(living(memory)) == {OLD_ROOM, NEW_ROOM}
    assert memory.remember("The choir sings no more", replaces=done.id).action == "supersede"
    assert set(living(memory)) == {OLD_ROOM, "The choir sings no more"}


def test_what_is_held_replaces_once_it_is_accepted(memory: Memory) -> None:
    first = memory.remember("The boat is for sale", source="web", cues=["ship"])
    memory.inbox.accept(first.id)
    (old,) = memory.book.items()
    held = memory.remember("The boat went to Lund", source="web", replaces=old.id)
    assert held.action == "held" and set(living(memory)) == {"The boat is for sale"}
    memory.inbox.accept(held.id)
    assert {text: item.cues for text, item in living(memory).items()} == {"The boat went to Lund": ("ship",)}


def test_what_is_held_does_not_replace_the_owners_words(cli: Cli, memory: Memory) -> None:
    old = remember(cli, OLD_ROOM)
    held = memory.remember("The boat went to Lund", source="web", replaces=old["id"])
    memory.inbox.accept(held.id)
    assert set(living(memory)) == {OLD_ROOM, "The boat went to Lund"}


# What became of the cues


def test_cues_that_are_not_stored_are_named_with_the_reason(cli: Cli, vault: Vault) -> None:
    given = ("a1", "b2", "the", "c3", "A1", "d4", "e5", "f6", "my key is AKIAIOSFODNN7EXAMPLE")
    options = [word for cue in given for word in ("--cue", cue)]
    done = remember(cli, "Trains legs on Tuesdays", "--tag", "sport", *options)
    assert (done["tags"], done["cues"]) == (["sport"], ["a1", "b2", "c3", "d4", "e5"])
    assert [(one["cue"], one["why"]) for one in done["cues_left_out"]][1:] == [
        ("the", "says nothing"), ("A1", "given twice"), ("f6", "at most 5"),
    ]  # fmt: skip
    assert "AKIA" not in str(done["cues_left_out"])
    ran = cli("remember", "Swims on Fridays", "--tag", "sport", *options)
    (line,) = [line for line in ran.out.splitlines() if "f6" in line]
    assert all(word in line for word in ("sport", "a1, b2, c3, d4, e5", "at most 5"))
    assert "AKIA" not in ran.out + "".join(file.read_text("utf-8") for file in Path(vault.root).rglob("*.md"))


def test_cues_that_a_full_line_did_not_take_are_named(cli: Cli) -> None:
    remember(cli, "Trains legs on Tuesdays", "--cue", "a1, b2, c3, d4")
    done = remember(cli, "Trains legs on Tuesdays", "--cue", "e5, f6")
    assert done["cues"] == ["a1", "b2", "c3", "d4", "e5"]
    assert [one["cue"] for one in done["cues_left_out"]] == ["f6"]


def test_where_all_cues_are_stored_nothing_is_said_of_others(cli: Cli) -> None:
    done = remember(cli, "Trains legs on Tuesdays", "--cue", "gym")
    assert (done["cues"], done["cues_left_out"]) == (["gym"], [])
    assert "left out" not in cli("remember", "Swims on Fridays", "--cue", "pool").out
