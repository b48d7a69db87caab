"""`hindbrain history` and `undo`: changes are listed and taken back, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.base.clock import SystemClock
from hindbrain.vault.hashing import content_hash
from hindbrain.vault.write import VaultWriter
from workbench import Vault


@pytest.fixture
def writer(cli: Cli, indexed: Vault) -> Iterator[VaultWriter]:
    """What an agent writes with."""
    state = Path(cli("status", "--json").data["vault"]["state"])
    with VaultWriter(indexed.root, state, SystemClock()) as writer:
        yield writer


@pytest.mark.promise("P9")
def test_the_last_change_is_undone_and_the_index_knows(cli: Cli, indexed: Vault, writer: VaultWriter) -> None:
    before = (indexed.root / "Tea.md").read_bytes()
    writer.replace_note("Tea.md", b"# Tea\n\nCoffee is better.\n", expected_hash=content_hash(before))
    cli("sync")
    assert cli("history", "--json").data["revisions"][0]["op"] == "replace"
    undone = cli("undo", "--json").data
    assert undone["notes"][0]["path"] == "Tea.md" and undone["indexed"]
    assert (indexed.root / "Tea.md").read_bytes() == before
    assert cli("search", "coffee", "--keyword", "--json").data["hits"] == []
    assert cli("undo", undone["notes"][0]["revision"]).code == 0
    assert b"Coffee" in (indexed.root / "Tea.md").read_bytes()


def test_a_note_that_was_made_goes_again(cli: Cli, indexed: Vault, writer: VaultWriter) -> None:
    writer.create_note("New.md", b"kohlrabi")
    cli("sync")
    assert "gone again" in cli("undo").out
    assert not (indexed.root / "New.md").exists()
    assert cli("search", "kohlrabi", "--keyword", "--json").data["hits"] == []


def test_an_edit_made_since_is_not_lost(cli: Cli, indexed: Vault, writer: VaultWriter) -> None:
    writer.append_note("Tea.md", b"More.\n")
    indexed.edit("Tea.md", "More.", "More, by hand.")
    assert cli("undo", "--json").error == "conflict"
    assert "by hand" in (indexed.root / "Tea.md").read_text(encoding="utf-8")
    assert cli("undo", "--force").code == 0
    assert "More" not in (indexed.root / "Tea.md").read_text(encoding="utf-8")


def test_history_is_of_one_note_or_of_all_newest_first(cli: Cli, indexed: Vault, writer: VaultWriter) -> None:
    writer.append_note("Tea.md", b"One.\n")
    writer.append_note("Archive/plan.md", b"Two.\n")
    assert [row["path"] for row in cli("history", "--json").data["revisions"]] == [
        "Archive/plan.md",
        "Tea.md",
    ]
    assert [row["path"] for row in cli("history", "Tea", "--json").data["revisions"]] == ["Tea.md"]
    assert cli("history", "--limit", "1").out.count("\n") == 1
    assert len(cli("history", "--limit", "0", "--json").data["revisions"]) == 2, "0 is all, as for links"
    assert cli("history", "--limit", "-1", "--json").error == "usage"


def test_nothing_to_undo_is_said(cli: Cli, indexed: Vault) -> None:
    assert cli("history").code == 0
    assert cli("undo", "--json").error == "not_found"
    assert cli("undo", "20200101-000000-00000000", "--json").error == "not_found"
