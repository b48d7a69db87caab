"""`hindbrain task` and `hindbrain daily` as they are typed."""

from __future__ import annotations

import pytest

from command_runs import Cli
from workbench import Vault


def test_a_task_is_added_listed_and_done(cli: Cli, notes: Vault) -> None:
    added = cli(
        "task", "add", "Renew", "the", "passport", "--priority", "high", "--project", "Trip", "--json"
    ).data
    (task,) = added["tasks"]
    assert (task["title"], task["priority"], task["project"]) == ("Renew the passport", "high", "Trip")
    listed = cli("task", "--json").data
    assert listed == {"action": "list", "existed": False, "tasks": [task], "removed": []}
    done = cli("task", "done", "passport", "--note", "at last", "--json").data
    assert done["tasks"][0]["status"] == "done"
    assert "at last" in done["tasks"][0]["details"]
    assert cli("task", "list", "--json").data["tasks"] == []
    assert len(cli("task", "list", "--status", "all", "--project", "trip", "--json").data["tasks"]) == 1


@pytest.mark.parametrize(
    ("action", "status"),
    [
        ("start", "in_progress"),
        ("block", "blocked"),
        ("cancel", "cancelled"),
        ("done", "done"),
        ("reopen", "todo"),
    ],
)
def test_each_word_gives_its_status(cli: Cli, notes: Vault, action: str, status: str) -> None:
    cli("task", "add", "x")
    assert cli("task", action, "x", "--json").data["tasks"][0]["status"] == status


def test_a_blocked_task_looks_in_the_terminal_as_it_does_in_the_note(cli: Cli, notes: Vault) -> None:
    cli("task", "add", "- Fix the oar")
    cli("task", "block", "fix")
    note = (notes.root / "Agent/Active Tasks.md").read_text(encoding="utf-8")
    line = next(line for line in note.splitlines() if "Fix the oar" in line)
    assert line.startswith("- [ ] **Fix the oar** [status:: blocked] ^t-")
    assert cli("task").out.startswith("[ ] Fix the oar (blocked)  ^t-")
    assert "[status:: blocked]" in note.partition("## ")[0]  # the note tells how that is written


def test_what_is_printed_can_be_read(cli: Cli, notes: Vault) -> None:
    assert cli("task", "list").out == ""
    task = cli("task", "add", "Tea", "--project", "home", "--json").data["tasks"][0]
    notes.write("Agent/Active Tasks.md", "- [ ] milk \u202e31m\n- [/] **Tea** #home ^" + task["id"] + "\n")
    assert cli("task").out == f"[ ] milk \ufffd31m  line 1\n[/] Tea  #home ^{task['id']}\n"


@pytest.mark.parametrize(
    "words",
    [
        ["add"],
        ["done"],
        ["list", "tea"],
        ["add", "x", "--status", "done"],
        ["done", "x", "--priority", "high"],
        ["list", "--note", "x"],
        ["finish", "x"],
        ["add", "x", "--priority", "urgent"],
    ],
)
def test_what_makes_no_sense_is_a_usage_error(cli: Cli, notes: Vault, words: list[str]) -> None:
    ran = cli("task", *words, "--json")
    assert (ran.code, ran.error) == (2, "usage")
    assert not (notes.root / "Agent").exists()


def test_a_task_that_is_not_there_and_one_that_is_twice_are_told(cli: Cli, notes: Vault) -> None:
    notes.write("Agent/Active Tasks.md", "- [ ] tea\n- [ ] tea\n")
    assert cli("task", "done", "zeppelin", "--json").error == "not_found"
    assert cli("task", "done", "tea", "--json").error == "ambiguous"


def test_tasks_are_found_by_a_search_at_once(cli: Cli, indexed: Vault) -> None:
    cli("task", "add", "Buy", "rhubarb")
    hits = cli("search", "rhubarb", "--no-sync", "--keyword", "--json").data["hits"]
    assert {hit["path"] for hit in hits} == {"Agent/Active Tasks.md"}


def test_a_day_is_shown_and_added_to(cli: Cli, notes: Vault) -> None:
    empty = cli("daily", "--json").data
    assert (empty["exists"], empty["text"], empty["added"]) == (False, "", "")
    assert cli("daily").code == 0 and not (notes.root / "Agent").exists()
    added = cli("daily", "--add", "met Ada", "--json").data
    assert added["added"].endswith("] met Ada") and added["added"] in added["text"]
    assert cli("daily").out == added["text"]
    assert cli("daily", "yesterday", "--json").data["exists"] is False


@pytest.mark.parametrize("words", [["someday"], ["2026-02-30"], ["2020-01-01", "--add", "x"], ["--add", " "]])
def test_days_that_are_none_are_usage_errors(cli: Cli, notes: Vault, words: list[str]) -> None:
    assert cli("daily", *words, "--json").error == "usage"
    assert not (notes.root / "Agent").exists()


def test_a_day_without_a_note_is_named_and_another_day_is_not_called_today(cli: Cli, notes: Vault) -> None:
    other = cli("daily", "2020-01-01")
    assert (other.code, other.out) == (0, "")
    assert "2020-01-01" in other.err and "--add" not in other.err
    assert "--add" in cli("daily").err


def test_a_task_that_is_open_already_is_not_added_again(cli: Cli, notes: Vault) -> None:
    first = cli("task", "add", "Renew the passport", "--priority", "high", "--json").data
    again = cli("task", "add", "renew  the passport!", "--json").data
    assert (first["existed"], again["existed"]) == (False, True)
    assert again["tasks"] == first["tasks"]
    said = cli("task", "add", "Renew the passport")
    assert said.code == 0 and first["tasks"][0]["id"] in said.out and "already" in said.err
    other = cli("task", "add", "Renew the passport", "--project", "Ada", "--json").data
    assert not other["existed"], "the same words of another project are another task"
    assert cli("task", "done", first["tasks"][0]["id"]).code == 0
    assert not cli("task", "add", "Renew the passport", "--json").data["existed"], "the old one is done"


def test_twins_that_are_there_are_told_apart_by_what_differs(cli: Cli, notes: Vault) -> None:
    path = cli("task", "add", "Call Ada", "--json").data["tasks"][0]["path"]
    text = (notes.root / path).read_text(encoding="utf-8").rstrip("\n")
    text += (
        "\n- [/] **Call Ada** [priority:: high] ^t-second\n  about the boat\n- [ ] Call Ada 📅 2026-06-01\n"
    )
    notes.write(path, text)
    refused = cli("task", "done", "Call Ada", "--json")
    assert refused.code == 1 and refused.error == "ambiguous"
    message = refused.data["error"]["message"]
    assert "^t-second (" in message and "high" in message and "in_progress" in message
    assert "'about the boat'" in message and "due 2026-06-01" in message and "no project" not in message
    assert cli("task", "done", "^t-second").code == 0


def test_days_of_the_tasks_plugin_are_shown_and_tasks_stand_by_priority_then_day(
    cli: Cli, vault: Vault
) -> None:
    assert cli("init", "--layout", "obsidian").code == 0
    path = (
        vault.root
        / cli("task", "add", "Paint the hull", "--priority", "low", "--json").data["tasks"][0]["path"]
    )
    lines = (
        "- [ ] sail away\n- [ ] call the plumber 📅 2999-11-01\n- [ ] fix the door [due:: 2020-01-02]\n"
        "- [ ] mend the roof ⏫ 🛫 2020-01-01 ⏳ 2020-02-01 📅 2999-01-01\n"
    )
    path.write_text(path.read_text("utf-8") + lines, "utf-8")
    listed = cli("task", "list").out.splitlines()
    titles = ("mend the roof", "fix the door", "call the plumber", "sail away", "Paint the hull")
    assert all(title in line for title, line in zip(titles, listed, strict=True))
    assert "due 2999-01-01" in listed[0] and "overdue" not in listed[0]
    assert "(overdue)" in listed[1] and "due 2020-01-02" in listed[1]
    assert "due 2999-11-01" in listed[2] and "📅" not in listed[2]
