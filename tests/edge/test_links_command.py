"""`hindbrain links`, as it is typed."""

from __future__ import annotations

from command_runs import Cli
from workbench import Vault


def write_vault(vault: Vault) -> None:
    vault.write("Tea.md", "---\naliases: [Brew]\n---\n# Tea\n\nSee [[Cup]] and [[Cop]].\n")
    vault.write("Cup.md", "# Cup\n")
    vault.write("day.md", "one\n\nDrank [[tea]] from a [[Tea#Pot|pot]], a good [[brew]].\n")
    vault.write("one/Plan.md", "x")
    vault.write("two/Plan.md", "x")
    vault.write("list.md", "[[Plan]]\n[[Daily]]\n")
    vault.write("alone.md", "Cups and tea.\n")


def test_a_note_shows_who_links_to_it_where_it_links_to_and_what_is_related(cli: Cli, vault: Vault) -> None:
    write_vault(vault)

    ran = cli("links", "Brew", "--json")

    assert ran.code == 0
    assert ran.data["path"] == "Tea.md"
    assert [(link["path"], link["line"], link["how"]) for link in ran.data["backlinks"]] == [
        ("day.md", 3, "path"), ("day.md", 3, "path"), ("day.md", 3, "alias"),
    ]  # fmt: skip
    assert ran.data["backlinks"][0]["text"] == "Drank [[tea]] from a [[Tea#Pot|pot]], a good [[brew]]."
    assert [(link["target"], link["to"]) for link in ran.data["outgoing"]] == [("Cup", "Cup.md"), ("Cop", "")]
    assert all(not note["is_linked"] and note["reasons"] for note in ran.data["related"])
    assert {"day.md", "Cup.md"}.isdisjoint(note["path"] for note in ran.data["related"])


def test_the_same_in_words_names_places_that_an_editor_opens(cli: Cli, vault: Vault) -> None:
    write_vault(vault)

    ran = cli("links", "Tea")

    assert ran.code == 0
    assert ran.out.count("day.md:3") == 1
    assert "Cup.md" in ran.out


def test_broken_links_come_with_reason_place_and_the_nearest_name(cli: Cli, vault: Vault) -> None:
    write_vault(vault)
    vault.write("typo.md", "[[alnoe]]\n")

    data = cli("links", "--broken", "--json").data

    rows = {
        (row["path"], row["line"], row["target"], row["reason"], row["nearest"]) for row in data["broken"]
    }
    assert {("day.md", 3, "Tea#Pot", "no_heading", ""), ("Tea.md", 6, "Cop", "no_note", "")} <= rows
    assert data["total"] == len(data["broken"])
    assert cli("links", "--broken", "--limit", "1", "--json").data["total"] == data["total"]
    assert len(cli("links", "--broken", "--limit", "1").out.splitlines()) == 1


def test_orphans_and_ambiguous_links_are_reported(cli: Cli, vault: Vault) -> None:
    write_vault(vault)

    orphans = cli("links", "--orphans", "--json").data["orphans"]
    ambiguous = cli("links", "--ambiguous", "--json").data["ambiguous"]

    assert orphans == ["alone.md", "two/Plan.md"]
    assert [(row["path"], row["to"], row["candidates"]) for row in ambiguous] == [
        ("list.md", "one/Plan.md", ["one/Plan.md", "two/Plan.md"])
    ]


def test_the_agent_s_own_notes_are_neither_orphans_nor_related_unless_they_are_linked(
    cli: Cli, vault: Vault
) -> None:
    write_vault(vault)
    cli("init", "--layout", "obsidian")
    cli("remember", "Tea is brewed in a cup")
    cli("task", "add", "Buy tea and a cup")
    vault.write("Agent/Projects/Tea trade.md", "# Tea trade\n\nTea and cups by ship.\n")

    found = cli("links", "Tea", "--json").data["related"]
    assert "Agent/Projects/Tea trade.md" in [note["path"] for note in found]
    own = [note["path"] for note in found if note["path"].startswith("Agent/")]
    assert own == ["Agent/Projects/Tea trade.md"]
    assert all(note["score"] == round(note["score"], 4) for note in found)
    assert any("both speak of" in reason for note in found for reason in note["reasons"])
    assert cli("links", "--orphans", "--json").data["orphans"] == [
        "Agent/Projects/Tea trade.md", "alone.md", "two/Plan.md",
    ]  # fmt: skip


def test_reports_show_the_lines_that_links_stand_in(cli: Cli, vault: Vault) -> None:
    write_vault(vault)
    broken = cli("links", "--broken", "--json").data["broken"]
    assert {row["text"] for row in broken if row["path"] == "Tea.md"} == {"See [[Cup]] and [[Cop]]."}
    (ambiguous,) = cli("links", "--ambiguous", "--json").data["ambiguous"]
    assert ambiguous["text"] == "[[Plan]]"
    assert "no such heading" in cli("links", "day").out


def test_a_note_written_since_the_last_sync_is_seen_unless_the_index_is_taken_as_it_is(
    cli: Cli, vault: Vault
) -> None:
    write_vault(vault)
    before = cli("links", "--orphans", "--json").data["orphans"]
    vault.write("new.md", "x")

    assert cli("links", "--orphans", "--no-sync", "--json").data["orphans"] == before
    assert "new.md" in cli("links", "--orphans", "--json").data["orphans"]


def test_a_note_that_the_index_leaves_out_is_no_broken_link(cli: Cli, vault: Vault) -> None:
    write_vault(vault)
    vault.write(".gitignore", "drafts/\n")
    vault.write("drafts/Daily.md", "x")

    assert "Daily" not in [row["target"] for row in cli("links", "--broken", "--json").data["broken"]]


def test_what_can_not_be_asked_is_a_usage_error(cli: Cli, vault: Vault) -> None:
    write_vault(vault)

    assert (cli("links", "--json").code, cli("links", "--json").error) == (2, "usage")
    assert cli("links", "Tea", "--broken", "--json").error == "usage"
    assert cli("links", "--broken", "--limit", "-1", "--json").error == "usage"


def test_an_unknown_or_ambiguous_note_is_told(cli: Cli, vault: Vault) -> None:
    write_vault(vault)

    assert cli("links", "Nothing of the kind", "--json").error == "not_found"
    assert cli("links", "Plan", "--json").error == "ambiguous"


def test_control_characters_of_a_note_do_not_reach_the_terminal(cli: Cli, vault: Vault) -> None:
    write_vault(vault)
    vault.write("evil.md", "\x1b]0;owned\x07 [[Tea]]\n")

    assert "\x1b" not in cli("links", "Tea").out
