"""`hindbrain read`: a note by any of its names, and parts of it."""

from __future__ import annotations

import json

import pytest

from command_runs import Cli
from hindbrain.vault.hashing import content_hash
from workbench import Vault


@pytest.mark.parametrize(
    "name",
    ["Tea.md", "Tea", "tea", "TEA.MD", "Brew", "brew", "./Tea.md"],
)
def test_a_note_answers_to_its_path_title_alias_and_file_name(cli: Cli, indexed: Vault, name: str) -> None:
    assert cli("read", name, "--json").data["path"] == "Tea.md"


def test_part_of_a_path_is_enough_when_one_note_has_it(cli: Cli, indexed: Vault) -> None:
    assert cli("read", "garden/plan", "--json").data["path"] == "Projects/Garden/plan.md"


def test_the_whole_note_is_printed_as_it_is(cli: Cli, indexed: Vault) -> None:
    text = (indexed.root / "Tea.md").read_text(encoding="utf-8")
    assert cli("read", "Tea").out == text
    assert cli("read", "Tea", "--json").data["hash"] == content_hash(text.encode())


def test_between_two_notes_of_one_name_nothing_is_guessed(cli: Cli, indexed: Vault) -> None:
    ran = cli("read", "plan", "--json")
    assert (ran.code, ran.error) == (1, "ambiguous")
    message = ran.data["error"]["message"]
    assert "'Archive/plan.md'" in message and "'Projects/Garden/plan.md'" in message


def test_a_near_name_is_offered(cli: Cli, indexed: Vault) -> None:
    assert "'Archive/plan.md'" in cli("read", "Old plam").err
    assert "search" in cli("read", "zzzzzz").err


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Projects/Garden/plan.md#Beds", "## Beds\n\nCarrots beside onions.\n"),
        ("Projects/Garden/plan#beds", "## Beds\n\nCarrots beside onions.\n"),
        ("Projects/Garden/plan#Plan#Water", "## Water\n\nEvery evening.\n"),
        ("2026-03-02#^rope", "- bought rope ^rope\n"),
    ],
)
def test_a_section_or_a_block_can_be_read_alone(cli: Cli, indexed: Vault, name: str, text: str) -> None:
    assert cli("read", name).out.rstrip("\n") == text.rstrip("\n")


@pytest.mark.parametrize("name", ["Tea#Sugar", "Tea#^sugar"])
def test_a_part_that_is_not_there_is_not_found(cli: Cli, indexed: Vault, name: str) -> None:
    assert cli("read", name, "--json").error == "not_found"


def test_a_hash_sign_may_be_part_of_the_name(cli: Cli, notes: Vault) -> None:
    notes.write("C# notes.md", "sharp")
    assert cli("read", "C# notes.md").out == "sharp\n"


@pytest.mark.parametrize(("lines", "text"), [("5", "# Tea\n"), ("5-7", None), ("7-", None), ("6-900", None)])
def test_lines_are_counted_as_an_editor_does(cli: Cli, indexed: Vault, lines: str, text: str | None) -> None:
    data = cli("read", "Tea", "--lines", lines, "--json").data
    every = (indexed.root / "Tea.md").read_text(encoding="utf-8").split("\n")
    assert data["text"] == "\n".join(every[data["first_line"] - 1 : data["last_line"]])
    assert text is None or data["text"] + "\n" == text


@pytest.mark.parametrize(
    ("lines", "code"), [("0", "usage"), ("7-5", "usage"), ("x", "usage"), ("99", "not_found")]
)
def test_a_wrong_range_is_an_error(cli: Cli, indexed: Vault, lines: str, code: str) -> None:
    assert cli("read", "Tea", "--lines", lines, "--json").error == code


@pytest.mark.promise("P15")
@pytest.mark.parametrize(
    "name", ["../secret", "../secret.md", "/etc/passwd", "a/../../secret.md", ".obsidian/x.md", "..\\x.md"]
)
def test_no_name_leads_out_of_the_vault(cli: Cli, indexed: Vault, name: str) -> None:
    indexed.root.with_name("secret.md").write_text("secret", encoding="utf-8")
    ran = cli("read", name, "--json")
    assert ran.code == 1
    assert ran.error in ("unsafe_path", "not_found")


def test_a_new_note_is_read_by_its_path_before_any_sync(cli: Cli, notes: Vault) -> None:
    assert "Turnips" in cli("read", "Archive/plan.md").out


def test_reading_is_counted_in_the_vault_only_where_it_has_our_folder(cli: Cli, indexed: Vault) -> None:
    log = indexed.root / ".hindbrain" / "usage.jsonl"
    cli("read", "Tea")
    assert not log.parent.exists()
    cli("init")
    cli("read", "Tea")
    (line,) = log.read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["path"] == "Tea.md"


def test_what_is_not_utf_8_is_read_with_a_word_about_it(cli: Cli, notes: Vault) -> None:
    notes.write("Latin.md", "caf\xe9".encode("latin-1"))
    data = cli("read", "Latin.md", "--json").data
    assert data["text"] == "caf\ufffd"
    assert [problem["code"] for problem in data["problems"]] == ["not_utf8"]


@pytest.mark.promise("P29")
def test_a_reading_that_can_not_be_counted_is_still_a_reading(cli: Cli, indexed: Vault) -> None:
    cli("init")
    (indexed.root / ".hindbrain" / "usage.jsonl").mkdir()  # stands for a vault that can't be written
    ran = cli("read", "Tea")
    assert ran.code == 0 and "brewed" in ran.out
    assert "warning:" in ran.err
