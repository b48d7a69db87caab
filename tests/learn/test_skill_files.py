"""Skill files are read from the vault and from folders that are named; commands find those that fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.learn.skills.loading import Loaded, load_skills
from hindbrain.learn.skills.matching import match_skills
from hindbrain.learn.skills.skill import Skill
from hindbrain.models.static import load_static
from hindbrain.vault.layout import built_in
from workbench import Vault

PDF = """---
name: pdf-forms
description: Fill in, merge and split PDF files and forms.
---

# PDF forms

1. Open the file.
"""
EMBEDDER = load_static()


def loaded(vault: Vault, *extra: Path, layout: str = "obsidian") -> Loaded:
    return load_skills(vault.root, built_in(layout), extra)


def names(found: Loaded) -> list[str]:
    return [skill.name for skill in found.skills]


def test_notes_and_folders_of_the_vaults_skills_are_read(vault: Vault) -> None:
    vault.write("Skills/Water plants.md", "# Water the plants\n\nOnce a week, with rain water.\n")
    vault.write("Skills/pdf/SKILL.md", PDF)
    vault.write("Skills/README.md", "# Skills\n\nWhat these are.\n")
    vault.write("Other/pdf.md", PDF)
    found = loaded(vault)
    assert found.problems == ()
    assert [(skill.name, skill.description) for skill in found.skills] == [
        ("pdf-forms", "Fill in, merge and split PDF files and forms."),
        ("Water the plants", "Once a week, with rain water."),
    ]
    pdf = found.skills[0]
    assert pdf.text.startswith("# PDF forms\n")
    assert PDF.split("\n")[pdf.first_line - 1] == "# PDF forms"


def test_both_forms_are_read_whatever_the_layout_writes(vault: Vault) -> None:
    vault.write("skills/pdf/SKILL.md", PDF)
    vault.write("skills/other.md", "---\ndescription: Other things.\n---\n# Other\n")
    assert names(loaded(vault, layout="openclaw")) == ["Other", "pdf-forms"]


def test_a_folder_outside_is_read_only_when_it_is_named(vault: Vault, tmp_path: Path) -> None:
    folder = tmp_path / "skills"
    (folder / "pdf").mkdir(parents=True)
    (folder / "pdf" / "SKILL.md").write_text(PDF, encoding="utf-8")
    assert names(loaded(vault)) == []
    found = loaded(vault, folder)
    assert [skill.path for skill in found.skills] == [str(folder / "pdf" / "SKILL.md")]


def test_what_cannot_be_used_is_named_and_keeps_nothing_else_back(vault: Vault, tmp_path: Path) -> None:
    vault.write("Skills/empty.md", "")
    vault.write("Skills/pdf.md", PDF.replace("name:", "trigger: (a\nname:"))
    vault.write("Skills/twin.md", PDF)
    found = loaded(vault, tmp_path / "missing")
    assert names(found) == ["pdf-forms"]
    assert found.skills[0].trigger == ""
    told = " ".join(found.problems)
    assert all(part in told for part in ("empty.md", "pdf.md", "twin.md", "missing"))


def test_a_link_that_leads_out_of_the_vault_is_not_followed(vault: Vault, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text(PDF, encoding="utf-8")
    (vault.root / "Skills").mkdir()
    try:
        (vault.root / "Skills" / "out.md").symlink_to(secret)
    except OSError:
        pytest.skip("no symlinks here")
    assert names(loaded(vault)) == []


def test_a_skill_says_whose_word_it_is(vault: Vault) -> None:
    vault.write("Skills/a.md", PDF)
    vault.write(
        "Skills/b.md", PDF.replace("pdf-forms", "clipped").replace("---\n\n", "source: web\n---\n\n", 1)
    )
    assert {skill.name: skill.source for skill in loaded(vault).skills} == {
        "pdf-forms": "user",
        "clipped": "web",
    }


def skill(name: str, description: str, trigger: str = "") -> Skill:
    return Skill(name, description, trigger, "", f"Skills/{name}.md")


# Names and descriptions as public collections of skills have them.
SKILLS = [
    skill(
        "pdf", "Toolkit to extract text and tables from PDF files, merge and split documents, and fill forms."
    ),
    skill("xlsx", "Create, edit and analyse spreadsheets with formulas, formatting and charts."),
    skill("docx", "Create and edit Word documents with tracked changes and comments."),
    skill("pptx", "Create and edit presentations: slides, layouts, speaker notes."),
    skill(
        "webapp-testing",
        "Test local web applications in a browser with Playwright, take screenshots, read logs.",
    ),
    skill(
        "mcp-builder", "Guide for building MCP servers that let models use external services through tools."
    ),
    skill("brand-guidelines", "Apply the company's official brand colours and typography to any artifact."),
    skill("internal-comms", "Write internal communications: status reports, newsletters, incident reports."),
    skill("send-email", "Send an email in Mail.", "send.*email|compose.*email"),
]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("extract the tables from invoice.pdf and merge both documents", "pdf"),
        ("make a spreadsheet with formulas for my budget", "xlsx"),
        ("write a status report about the incident for the company newsletter", "internal-comms"),
        ("test the local web app in the browser and take screenshots", "webapp-testing"),
        ("use the mcp builder to make a server", "mcp-builder"),
        ("please compose an email to Bob", "send-email"),
        ("edit the slides of my presentation", "pptx"),
    ],
)
def test_a_command_finds_the_skill_that_is_meant_for_it(command: str, name: str) -> None:
    assert match_skills(command, SKILLS, EMBEDDER)[0][0].name == name


@pytest.mark.parametrize(
    "command",
    ["", "what time is it", "play some music", "open the calendar", "fix the failing test in parser.py",
     "who wrote this letter", "go to github.com", "remind me to call Anna tomorrow"],
)  # fmt: skip
def test_a_command_that_no_skill_is_meant_for_finds_none(command: str) -> None:
    assert match_skills(command, SKILLS, EMBEDDER) == []
