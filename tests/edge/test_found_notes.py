"""What a question finds and how a hit is shown: names, numbers, limits; at the command line and over MCP."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from command_runs import Cli
from hindbrain.app import App
from hindbrain.memory.tools import tool_named
from hindbrain.memory.tools.tool import call
from workbench import Vault


@pytest.fixture
def tea_notes(vault: Vault) -> Vault:
    """Twenty notes on tea, with a first heading that is not the note's name."""
    vault.write("Kettle.md", "# About boiling water\n\nIt is red, and it whistles.\n")
    vault.write(
        "Rust's Borrow Checker.md", "---\ntitle: Ownership\n---\n# Ownership\n\nMoves and lifetimes.\n"
    )
    vault.write("Avenir.md", "Des projets pour la suite.\n")
    vault.write("plan-7.md", "---\ntitle: The summer plan\n---\n# Introduction\n\nSwim in the lake.\n")
    for number in range(20):
        text = f"# Sort {number}\n\nTea number {number} is brewed for {number + 1} minutes.\n"
        vault.write(f"Tea/{number}.md", text)
    return vault


@pytest.fixture
def named_notes(tea_notes: Vault) -> Vault:
    """With notes that speak much of what other notes are called."""
    talk = "What's said of the kettle: it's Bob's kettle, a kettle that we'd like. Kettle, kettle.\n\n"
    talk += "Rust's a language. The borrow checker's part of Rust. L'avenir, c'est l'avenir qu'il veut.\n\n"
    for number in range(4):
        tea_notes.write(f"Talk/{number}.md", f"# Note on kettle {number}\n\n{talk}")
    return tea_notes


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("what is in my Kettle note?", "Kettle.md"),
        ("what's in my Kettle note?", "Kettle.md"),
        ("what’s in my Kettle note?", "Kettle.md"),
        ("What´s in the Kettle note", "Kettle.md"),
        ("who's on the Kettle page", "Kettle.md"),
        ("didn't I have a note called Kettle?", "Kettle.md"),
        ("show me Kettle's page", "Kettle.md"),
        ("I'd read Kettle", "Kettle.md"),
        ("Rust's Borrow Checker", "Rust's Borrow Checker.md"),
        ("what's in my Rust’s Borrow Checker note?", "Rust's Borrow Checker.md"),
        ("l'Avenir", "Avenir.md"),
        ("d’avenir", "Avenir.md"),
    ],
)
def test_an_apostrophe_does_not_hide_the_name_of_a_note(
    cli: Cli, named_notes: Vault, question: str, path: str
) -> None:
    cli("sync")
    assert cli("search", question, "--json").data["hits"][0]["path"] == path


def test_a_lone_s_of_a_question_is_no_word_of_a_memory(cli: Cli, vault: Vault) -> None:
    cli("remember", "Bob's boat lies in Genoa")
    found = cli("recall", "what's the capital of Peru", "--json").data
    assert found["memories"] == []


def test_a_hit_shows_the_name_of_its_note_and_its_headings(cli: Cli, tea_notes: Vault) -> None:
    cli("sync")
    kettle = cli("search", "whistles", "--json").data["hits"][0]
    assert (kettle["title"], kettle["heading"]) == ("Kettle", "About boiling water")
    assert "Kettle > About boiling water" in cli("search", "whistles").out
    copied = cli("search", "lifetimes", "--json").data["hits"][
        0
    ]  # of a title that a linter made of a heading
    assert (copied["title"], copied["heading"]) == ("Rust's Borrow Checker", "Ownership")
    plan = cli("search", "swim in the lake", "--json").data["hits"][0]
    assert plan["title"] == "The summer plan"
    # The heading still finds the note, and is still a name of it.
    assert cli("search", "About boiling water", "--json").data["hits"][0]["path"] == "Kettle.md"
    assert cli("read", "About boiling water", "--json").data["title"] == "Kettle"


@pytest.mark.parametrize("options", [(), ("--diversity", "0.7"), ("--passages",), ("--keyword",)])
def test_the_numbers_of_hits_fall_along_the_list(
    cli: Cli, tea_notes: Vault, options: tuple[str, ...]
) -> None:
    cli("sync")
    hits = cli("search", "tea that is brewed 7 minutes, and water", "--json", *options).data["hits"]
    assert len(hits) == 10
    for number in ("score", "confidence"):
        shown = [hit[number] for hit in hits]
        assert shown == sorted(shown, reverse=True)


@pytest.mark.parametrize("limit", [1, 2, 5, 12])
def test_the_limit_of_recall_holds_at_every_door(
    cli: Cli, tea_notes: Vault, make_app: Callable[..., App], limit: int
) -> None:
    data = cli("recall", "tea brewed minutes", "-k", str(limit), "--json").data
    assert len(data["memories"]) + len(data["passages"]) == limit
    app = make_app(tea_notes.root)
    answer = call(app.memory, tool_named("recall"), {"topic": "tea brewed minutes", "limit": limit}).data
    assert len(answer["memories"]) + len(answer["passages"]) == limit
    found = call(app.memory, tool_named("vault_search"), {"query": "tea brewed minutes", "limit": limit}).data
    assert len(found["hits"]) == limit
    app.close()


def test_memories_and_notes_share_the_limit(cli: Cli, tea_notes: Vault) -> None:
    for number in range(6):
        cli("remember", f"Guest {number} likes tea brewed for {number + 3} minutes, sort {number * 7}")
    data = cli("recall", "tea brewed minutes", "-k", "6", "--json").data
    assert len(data["memories"]) + len(data["passages"]) == 6
    assert data["memories"] and data["passages"]
    one = cli("recall", "tea brewed minutes", "-k", "1", "--json").data
    assert (len(one["memories"]), len(one["passages"])) == (1, 0)
