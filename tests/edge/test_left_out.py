"""`status` says what of a vault is not in the index, by kind, and names apart what is in it and looks odd."""

from __future__ import annotations

import os

import pytest

from command_runs import Cli
from workbench import Vault


@pytest.fixture
def mixed(vault: Vault) -> Vault:
    """A vault as people have it: templates, exclusions, copies, attachments."""
    for number in range(3):
        vault.write(f"Extras/Templates/{number}.md", "# {{title}}\n\nmarmalade\n")
    vault.write("Extras/Templates/Daily/day.md", "marmalade\n")
    vault.write("Private/diary.md", "marmalade\n")
    vault.write("build/out.md", "marmalade\n")
    vault.write("draft.md", "marmalade\n")
    vault.write(".gitignore", "build/\ndraft.md\n*.log\n")
    vault.write("Plan.md", "Sail north.\n")
    vault.write("Plan 2.md", "Sail south.\n")
    vault.write("Plan (conflicted copy 2024-01-02).md", "marmalade\n")
    vault.write("blob.md", b"\0\1\2" * 500)
    for name in ("a.pdf", "b.PDF", "c.png", "d.jpeg", "e.mp3", "f.mp4", "g.zip", "h.log", ".hidden"):
        vault.write(f"files/{name}", b"x")
    vault.write("node_modules/x/readme.md", "marmalade\n")
    return vault


def test_status_says_what_is_left_out_and_why(
    cli: Cli, mixed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_VAULT_EXCLUDE", "Private")
    assert "left out" in cli("sync").out
    index = cli("status", "--json").data["index"]
    assert index["left_out_by_code"] == {
        "templates_folder": 4,
        "ignore_rule": 2,
        "excluded": 1,
        "conflict_copy": 1,
        "unreadable": 1,
    }
    places = {row["path"]: row["notes"] for row in index["left_out"]}
    assert places["Extras/Templates"] == 4 and places["draft.md"] == places["Private"] == 1
    assert index["attachments"] == {"pdf": 2, "image": 2, "audio": 1, "video": 1, "other": 1}
    assert cli("search", "marmalade", "--keyword", "--json").data["hits"] == []
    shown = cli("status").out
    assert "4 notes in templates folders" in shown and "2 PDFs" in shown
    assert "Extras/Templates" not in shown, "told once"
    assert "Extras/Templates" in cli("status", "--all").out


def test_a_note_that_is_indexed_is_not_called_left_out(cli: Cli, mixed: Vault) -> None:
    cli("sync")
    index = cli("status", "--json").data["index"]
    assert [(row["path"], row["code"]) for row in index["noticed"]] == [("Plan 2.md", "possible_copy")]
    assert "Plan 2.md" not in [row["path"] for row in index["left_out"]]
    assert cli("search", "south", "--keyword", "--json").data["hits"][0]["path"] == "Plan 2.md"
    left_out, _, indexed = cli("status").out.partition("indexed, and perhaps")
    assert "Plan 2.md" in indexed and "Plan 2.md" not in left_out


def test_templates_that_are_indexed_are_not_left_out(
    cli: Cli, mixed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_VAULT_TEMPLATES", "true")
    cli("sync")
    assert "templates_folder" not in cli("status", "--json").data["index"]["left_out_by_code"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a folder that can't be read")
def test_a_folder_that_can_not_be_read_is_named(cli: Cli, mixed: Vault) -> None:
    (mixed.root / "locked").mkdir(mode=0o000)
    cli("sync")
    assert "locked" in [row["path"] for row in cli("status", "--json").data["index"]["left_out"]]


def test_a_vault_without_anything_to_say_says_nothing(cli: Cli, vault: Vault) -> None:
    vault.write("Plan.md", "Sail north.\n")
    cli("sync")
    index = cli("status", "--json").data["index"]
    assert (index["left_out"], index["left_out_by_code"], index["noticed"], index["attachments"]) == (
        [],
        {},
        [],
        {},
    )
    assert "left out" not in cli("status").out


def test_a_folder_of_templates_is_no_finding_of_doctor(cli: Cli, vault: Vault) -> None:
    vault.write("Tea.md", "# Tea\n\nGreen tea.\n")
    vault.write("Templates/Meeting.md", "# {{title}}\n\n## Who\n")
    assert cli("sync").code == 0
    found = {row["name"]: row["state"] for row in cli("doctor", "--json").data["findings"]}
    assert found["notes"] == "ok"
