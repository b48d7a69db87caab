"""`hindbrain lint`: looks at the whole vault, mends the agent's notes, and every mending can be undone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_runs import Cli
from workbench import Vault

FACT = "Agent/Memory/fact.md"
BARE = "# Memory: fact\r\n\r\n- Tea is at 70 degrees\r\n- Odd [importance:: 7] ^m-odd\r\n"


@pytest.fixture
def untidy(vault: Vault) -> Vault:
    vault.write(FACT, BARE)
    vault.write("Mine.md", "---\ntags: ['#tea']\n---\n# Mine\n\n- no id here\n")
    vault.write("Broken.md", "---\na: b: c\n---\n# B\n")
    return vault


def _bytes(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def _codes(problems: list[dict[str, object]]) -> set[tuple[object, object]]:
    return {(problem["path"], problem["code"]) for problem in problems}


def test_a_clean_vault_is_said_to_be_so(cli: Cli, notes: Vault) -> None:
    ran = cli("lint", "--check", "--json")
    assert ran.code == 0 and ran.data["problems"] == [] and ran.data["notes"] == 4
    assert cli("lint").code == 0


@pytest.mark.promise("P5")
def test_check_lists_everything_and_writes_nothing(cli: Cli, untidy: Vault) -> None:
    before = _bytes(untidy.root)
    ran = cli("lint", "--check", "--json")
    assert ran.code == 1
    assert _codes(ran.data["problems"]) == {
        (FACT, "missing_block_id"),
        (FACT, "missing_type"),
        (FACT, "missing_created"),
        (FACT, "bad_importance"),
        ("Mine.md", "tag_with_hash"),
        ("Broken.md", "frontmatter_malformed"),
    }
    assert ran.data["mended"] == []
    assert _bytes(untidy.root) == before


def test_lint_mends_the_agents_notes_and_leaves_the_owners(cli: Cli, untidy: Vault) -> None:
    before = _bytes(untidy.root)
    ran = cli("lint", "--json")
    assert ran.code == 1
    assert _codes(ran.data["problems"]) == {
        (FACT, "bad_importance"),
        ("Mine.md", "tag_with_hash"),
        ("Broken.md", "frontmatter_malformed"),
    }
    [mended] = ran.data["mended"]
    assert mended["path"] == FACT
    text = (untidy.root / FACT).read_bytes().decode()
    assert text.startswith("---\r\ntype: memory\r\ncreated: 2026-05-15\r\n---\r\n# Memory: fact\r\n\r\n- Tea")
    assert text.endswith("- Odd [importance:: 7] ^m-odd\r\n")
    after = _bytes(untidy.root)
    assert {path for path in after if after[path] != before.get(path)} == {FACT}
    assert cli("lint", "--json").data["mended"] == []
    assert cli("undo", mended["revision"]).code == 0
    assert (untidy.root / FACT).read_bytes() == before[FACT]


def test_a_note_that_is_named_is_mended_wherever_it_lies(cli: Cli, untidy: Vault) -> None:
    ran = cli("lint", "Mine.md", "--json")
    assert ran.code == 0 and ran.data["notes"] == 1
    assert (untidy.root / "Mine.md").read_bytes() == b"---\ntags: ['tea']\n---\n# Mine\n\n- no id here\n"
    assert (untidy.root / FACT).read_bytes() == BARE.encode()


def test_a_folder_may_be_named(cli: Cli, untidy: Vault) -> None:
    assert _codes(cli("lint", "Agent", "--check", "--json").data["problems"]) == {
        (FACT, code) for code in ("missing_block_id", "missing_type", "missing_created", "bad_importance")
    }
    (untidy.root / "Empty").mkdir()
    assert cli("lint", "Empty", "--json").error == "not_found"
    assert cli("lint", "../elsewhere", "--json").error == "unsafe_path"


def test_a_name_that_no_note_has_is_an_error(cli: Cli, untidy: Vault) -> None:
    assert cli("sync").code == 0
    assert cli("lint", "Nowhere", "--json").error == "not_found"


def test_the_index_hears_of_what_was_mended(cli: Cli, untidy: Vault) -> None:
    assert cli("sync").code in (0, 1)
    cli("lint")
    assert cli("search", "degrees", "--keyword", "--json").data["hits"][0]["text"].count("^m-") == 1


def test_people_read_a_line_per_problem_and_a_summary(cli: Cli, untidy: Vault) -> None:
    ran = cli("lint")
    assert "Broken.md:2: frontmatter_malformed: " in ran.out
    assert f"{FACT}: mended: " in ran.out and "undo 2" in ran.out
    assert "1 note mended" in ran.err


@pytest.mark.skipif(os.name == "nt", reason="needs a symlink")
def test_a_note_that_cannot_be_read_is_a_problem_and_not_silence(cli: Cli, untidy: Vault) -> None:
    (untidy.root / "Gone.md").symlink_to("nowhere.md")
    assert ("Gone.md", "broken_symlink") in _codes(cli("lint", "--check", "--json").data["problems"])


def test_links_that_lead_nowhere_or_to_two_notes_are_named(cli: Cli, untidy: Vault) -> None:
    untidy.write("a/Twin.md", "# T\n")
    untidy.write("b/Twin.md", "# T\n")
    untidy.write(".hidden/Kept.md", "# K\n")
    untidy.write(
        "c/Links.md", "# L\n\n[[Mine]] [[Nowhere]] [[Twin]] [[a/Twin]] ![[pic.png]] [k](../.hidden/Kept.md)\n"
    )
    ran = cli("lint", "c/Links.md", "--check", "--json")
    assert ran.data["links_checked"]
    assert sorted(problem["code"] for problem in ran.data["problems"]) == ["ambiguous_link", "broken_link"]
    there = "[[Mine#Mine]] [[#L]] [k](../Mine.md#mine)"
    untidy.write("c/Heads.md", f"# L\n\n{there} [[Mine#Nope]] [[#Lost]] [[Twin#Nope]] [[Mine#^no]]\n")
    found = cli("lint", "c/Heads.md", "--check", "--json").data["problems"]
    assert sorted(problem["code"] for problem in found) == [
        "ambiguous_link", "broken_block", "broken_heading", "broken_heading", "broken_heading",
    ]  # fmt: skip
    untidy.write("Nowhere.md", "# N\n")
    assert len(cli("lint", "c/Links.md", "--check", "--json").data["problems"]) == 1


def test_without_an_index_the_rest_is_still_looked_at(
    cli: Cli, untidy: Vault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "no-folder").write_text("a file stands where the state should be", encoding="utf-8")
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "no-folder"))
    ran = cli("lint", "--check", "--json")
    assert not ran.data["links_checked"]
    assert ("Broken.md", "frontmatter_malformed") in _codes(ran.data["problems"])


def test_unknown_options_are_refused(cli: Cli, untidy: Vault) -> None:
    ran = cli("lint", "--chek", "--json")
    assert ran.code == 2 and ran.error == "usage"
