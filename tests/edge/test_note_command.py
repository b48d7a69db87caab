"""`hindbrain note`: notes read with their hash, written against it, and added to from a pipe."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.vault.hashing import content_hash
from workbench import Vault


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Any:
    def give(data: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))

    return give


def text_of(vault: Vault, path: str) -> bytes:
    return (vault.root / path).read_bytes()


def test_a_note_is_read_and_its_hash_is_said_beside_it(cli: Cli, indexed: Vault) -> None:
    ran = cli("note", "read", "Tea")
    assert ran.out.encode() == text_of(indexed, "Tea.md")
    assert content_hash(text_of(indexed, "Tea.md"))[:16] in ran.err


def test_reading_as_json_is_what_read_prints(cli: Cli, indexed: Vault) -> None:
    assert cli("note", "read", "Tea", "--json").data == cli("read", "Tea", "--json").data


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["Projects/Garden/plan.md", "--heading", "Beds"], "## Beds\n\nCarrots beside onions.\n\n"),
        (["Projects/Garden/plan#Water"], "## Water\n\nEvery evening.\n"),
        (["2026-03-02", "--block", "rope"], "- bought rope ^rope\n"),
        (["Tea", "--lines", "5-5"], "# Tea\n"),
        (["Old", "plan", "--lines", "4-4"], "# Old plan\n"),
    ],
)
def test_parts_are_read_by_heading_block_and_lines(
    cli: Cli, indexed: Vault, words: list[str], text: str
) -> None:
    assert cli("note", "read", *words).out.rstrip("\n") == text.rstrip("\n")


def test_a_new_note_is_written_from_a_pipe_as_its_owner_typed_it(cli: Cli, notes: Vault, pipe: Any) -> None:
    pipe(b"# New\n\nby hand\n")
    ran = cli("note", "write", "Ideas/New.md", "--json")
    assert (ran.data["did"], ran.data["path"]) == ("created", "Ideas/New.md")
    assert text_of(notes, "Ideas/New.md") == b"# New\n\nby hand\n"
    assert ran.data["hash"] == content_hash(b"# New\n\nby hand\n")


def test_a_note_that_is_there_needs_its_hash(cli: Cli, indexed: Vault) -> None:
    before = text_of(indexed, "Tea.md")
    ran = cli("note", "write", "Tea.md", "--text", "gone", "--json")
    assert (ran.code, ran.error) == (1, "conflict")
    assert text_of(indexed, "Tea.md") == before
    digest = content_hash(before)[:16]
    assert cli("note", "write", "Tea.md", "--text", "new", "--hash", digest).code == 0
    assert text_of(indexed, "Tea.md") == b"new\n"
    assert cli("note", "write", "Tea.md", "--text", "newer", "--hash", digest, "--json").error == "conflict"
    assert cli("undo").code == 0
    assert text_of(indexed, "Tea.md") == before


def test_words_and_pipes_are_appended(cli: Cli, indexed: Vault, pipe: Any) -> None:
    assert cli("note", "append", "Tea.md", "- from", "words").code == 0
    pipe("- from a pipe é\n".encode())
    assert cli("note", "append", "Tea.md").code == 0
    pipe(b"- dash\n")
    assert cli("note", "append", "Tea.md", "-").code == 0
    assert text_of(indexed, "Tea.md").decode().endswith("\n\n- from words\n- from a pipe é\n- dash\n")
    assert cli("search", "pipe", "--keyword", "--json").data["hits"][0]["path"] == "Tea.md"


def test_a_section_is_appended_to(cli: Cli, indexed: Vault) -> None:
    ran = cli("note", "append", "Projects/Garden/plan.md", "Leeks.", "--heading", "beds", "--json")
    assert ran.data["did"] == "appended"
    assert b"onions.\n\nLeeks.\n\n## Water" in text_of(indexed, "Projects/Garden/plan.md")
    assert cli("note", "append", "Tea.md", "x", "--heading", "Nope", "--json").error == "not_found"


@pytest.mark.parametrize("data", [b"", b"  \n", b"caf\xe9"])
def test_what_is_empty_or_no_text_is_refused(cli: Cli, notes: Vault, pipe: Any, data: bytes) -> None:
    for action in ("write", "append"):
        pipe(data)
        ran = cli("note", action, "X.md", "--json")
        assert (ran.code, ran.error) == (2, "usage")
    assert not (notes.root / "X.md").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["read", "Tea", "--text", "x"],
        ["write", "Tea", "--heading", "x", "--text", "y"],
        ["append", "Tea", "x", "--hash", "0" * 16],
        ["write", "My", "note", "--text", "x"],
        ["append", "Tea", "x", "--text", "y"],
        ["eat", "Tea"],
        ["read"],
    ],
)
def test_an_option_of_another_action_is_refused(cli: Cli, notes: Vault, words: list[str]) -> None:
    assert cli("note", *words, "--json").error == "usage"


def test_a_secret_stays_as_it_was_typed_and_is_pointed_out(cli: Cli, notes: Vault) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0xL3rU6"
    ran = cli("note", "append", "Archive/Keys.md", token)
    assert token not in ran.err and "github token" in ran.err
    assert token.encode() in text_of(notes, "Archive/Keys.md")


def test_instruction_files_are_not_written(cli: Cli, notes: Vault) -> None:
    assert cli("note", "append", "AGENTS.md", "x", "--json").error == "refused"


def test_a_new_note_goes_where_a_tool_would_put_it(cli: Cli, vault: Vault) -> None:
    for folder in ("1-Projects", "2-Areas", "3-Resources", "4-Archive"):
        vault.write(f"{folder}/Old.md", "# Old\n")
    assert cli("init", "--layout", "para").code == 0

    def made(*words: str) -> str:
        return str(cli("note", *words, "--json").data["path"])

    assert made("write", "Projects/Boat.md", "--text", "# Boat") == "1-Projects/Boat.md"
    assert made("append", "Projects/Sail.md", "mend it") == "1-Projects/Sail.md"
    assert made("write", "Lonely", "--text", "hi") == "2-Areas/Agent/Lonely.md"
    assert made("write", "3-Resources/Knots.md", "--text", "bowline") == "3-Resources/Knots.md"
    assert made("append", "Projects/Boat", "more") == "1-Projects/Boat.md"
    assert text_of(vault, "1-Projects/Sail.md") == b"mend it\n", "not signed as an agent's"
    assert not (vault.root / "Projects").exists() and not (vault.root / "Lonely.md").exists()
    vault.write(".obsidian/app.json", '{"newFileLocation": "folder", "newFileFolderPath": "Drafts"}')
    assert made("write", "Idea", "--text", "hi") == "Drafts/Idea.md"


@pytest.mark.parametrize("name", ["Tea", "tea", "Garden/plan"])
def test_without_an_index_a_note_is_found_by_its_file_name(cli: Cli, notes: Vault, name: str) -> None:
    notes.rename("Tea.md", "Drinks/Tea.md")
    before = set(notes.root.rglob("*.md"))
    assert cli("note", "append", name, "One more line.").code == 0
    assert set(notes.root.rglob("*.md")) == before


def test_without_an_index_a_name_of_two_notes_is_ambiguous(cli: Cli, notes: Vault) -> None:
    assert cli("note", "append", "plan", "One more line.", "--json").error == "ambiguous"
