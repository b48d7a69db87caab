"""The scribe: notes that read well, have a name that works everywhere, and stand where they belong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.memory.notes.scribe import (
    clean_tag,
    clean_text,
    compose_note,
    file_name,
    folder_for,
    merge_tags,
    para_folders,
)
from hindbrain.vault.layout import built_in
from hindbrain.vault.parse import parse_note
from hindbrain.vault.path_rules import check_note_path


def test_a_note_has_its_properties_a_heading_and_the_body() -> None:
    data = compose_note(
        "Tea: green",
        "Brewed at 70 degrees.\r\n\r\n",
        type="resource",
        tags=["#drink", "hot stuff"],
        created="2026-05-15",
        extra={"importance": 0.8, "aliases": ["Brew"]},
    )
    assert data == (
        b"---\ntype: resource\ncreated: 2026-05-15\nimportance: 0.8\naliases:\n  - Brew\n"
        b"tags:\n  - drink\n  - hot-stuff\n---\n# Tea: green\n\nBrewed at 70 degrees.\n"
    )


def test_a_body_with_its_own_frontmatter_and_heading_keeps_them() -> None:
    body = "---\ntype: mine # why\ntags: [a]\n---\n\n# Own\n\ntext"
    data = compose_note("Title", body, type="other", tags=["A", "b"], created="2026-05-15")
    assert data.decode() == (
        "---\ntype: mine # why\ntags: [a, b]\ncreated: 2026-05-15\n---\n\n# Own\n\ntext\n"
    )


def test_nothing_but_a_title_makes_a_note() -> None:
    assert compose_note("T", "") == b"# T\n"


@pytest.mark.parametrize("body", ["---\na: b\nno end", "---\na: *x\n---\n", "---\na: b: c\n---\nx"])
def test_a_broken_frontmatter_in_the_content_is_the_callers_to_mend(body: str) -> None:
    with pytest.raises(UsageError):
        compose_note("T", body, type="x")


@given(st.text(max_size=40), st.text(max_size=80))
@settings(max_examples=150, deadline=None)
def test_any_title_and_body_make_a_note_that_reads_back(title: str, body: str) -> None:
    try:
        data = compose_note(title, body, type="x", tags=["t"])
    except UsageError:
        assert body.lstrip("\r\n").startswith("---")
        return
    note = parse_note(data.decode(), stem="x")
    assert note.problems == ()
    assert note.frontmatter["type"] == "x" and "t" in note.tags
    assert data.endswith(b"\n") and b"\r" not in data and b"\0" not in data


def test_text_is_changed_as_little_as_possible() -> None:
    assert (
        clean_text("a\r\nb\rc\x00\x07\td\x1b[31m \ud800e\u0301 \u200b")
        == "a\nb\nc\td[31m \ufffde\u0301 \u200b"
    )


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Plan", "Plan"),
        ("Meeting: the plan", "Meeting - the plan"),
        ("a/b\\c", "a - b - c"),
        ("What now?", "What now"),
        ("10:30 call", "10-30 call"),
        ("C# [[x]] | y", "C x - y"),
        ("CON", "CON note"),
        ("lpt1.txt", "lpt1-txt"),
        ("..", "Untitled"),
        (" .git ", "git"),
        ("%2e%2e%2fetc", "2e-2e-2fetc"),
        ("", "Untitled"),
        ("\u202eevil", "evil"),
        ("naïve café", "naïve café"),
        ("读书笔记：一", "读书笔记：一"),
    ],
)
def test_a_title_becomes_a_name_that_works_everywhere(title: str, name: str) -> None:
    assert file_name(title) == name


@given(st.text(max_size=300) | st.from_regex(r"[%.2ef/\\~ cCoOnN:\u200c]{0,12}", fullmatch=True))
@settings(max_examples=400, deadline=None)
def test_every_title_gives_a_name_that_passes_the_rules(title: str) -> None:
    name = file_name(title)
    assert check_note_path(f"{name} 99.md") and check_note_path(f"{name}.md") == f"{name}.md"
    assert len(name.encode()) <= 130 and not set(name) & set("[]#^|")
    assert file_name(name) == name


def test_in_a_para_vault_notes_go_to_the_owners_own_folders(tmp_path: Path) -> None:
    for folder in ("Notes/1. Projects/Web-Site", "Notes/2. Areas", "Notes/3. Resources", "Notes/4. Archive"):
        (tmp_path / folder).mkdir(parents=True)
    layout = built_in("para", "Notes/2. Areas/Agent")
    assert para_folders(tmp_path)["project"] == "Notes/1. Projects"

    kinds = ("project", "resource", "archive", "contact", "note")
    assert [folder_for(layout, tmp_path, kind) for kind in kinds] == [
        "Notes/1. Projects", "Notes/3. Resources", "Notes/4. Archive", "Notes/2. Areas/Agent/Contacts",
        "Notes/2. Areas/Agent",
    ]  # fmt: skip


def test_elsewhere_the_layouts_roles_say_where(tmp_path: Path) -> None:
    layout = built_in("obsidian", "Agent")
    kinds = ("project", "decision", "resource")
    assert [folder_for(layout, tmp_path, kind) for kind in kinds] == [
        "Agent/Projects", "Agent/Decisions", "Agent",
    ]  # fmt: skip


def test_tags_are_ones_that_obsidian_reads_and_come_once() -> None:
    assert merge_tags(["Work", "a b?"], ["#work", "new one", "12", "x/y", "//", "X/Y"]) == [
        "Work",
        "a b?",
        "new-one",
        "x/y",
    ]
    assert [clean_tag(tag) for tag in ("#a", "日本", "a,b", "2026/05", "v2", "")] == [
        "a",
        "日本",
        "ab",
        "",
        "v2",
        "",
    ]
