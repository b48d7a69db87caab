"""Which files memory tools may not write."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import HindbrainError, Refused
from hindbrain.memory.policy.protected import check_writable, why_protected
from hindbrain.vault.layout import built_in
from hindbrain.vault.write import VaultWriter
from workbench import Vault


@pytest.mark.parametrize(
    "path",
    [
        "Plan.md", "Agents I met.md", "My agents.md notes.md", "Claude Shannon.md", "Projects/Tooling.md",
        "soulmate.md", "Identity theft.md", "Agents/Bond.md", "tools/hammer.md", "Bootstrapping.md",
        "Q3~draft.md", "100% done.md", "Ágnes.md", "Skills I need.md", "日記/今日.md", "Заметки/План.md",
        "Σχέδιο.markdown", "a.b.c.md", "Cursor.md",
    ],
)  # fmt: skip
def test_ordinary_notes_may_be_written(vault: Vault, path: str) -> None:
    check_writable(vault.root, path, layout=built_in("obsidian"))


@pytest.mark.parametrize(
    "path",
    [
        "AGENTS.md", "docs/CLAUDE.md", "claude.LOCAL.md", "GEMINI.md", "SOUL.md", "TOOLS.md", "x/SKILL.md",
        ".cursorrules", ".windsurfrules", ".github/copilot-instructions.md", "copilot-instructions.md",
        "rules/a.mdc", "llms.txt", "python.instructions.md", ".claude/agents/a.md", ".claude/commands/run.md",
        ".obsidian/app.json", ".hindbrain/layout.toml", "config.toml", "settings.json", "run.sh", "plan", "",
    ],
)  # fmt: skip
def test_instruction_files_and_config_may_not(vault: Vault, path: str) -> None:
    with pytest.raises(HindbrainError) as caught:
        check_writable(vault.root, path, layout=built_in("obsidian"))
    assert caught.value.code == "refused"
    assert caught.value.advice == "stop"


@pytest.mark.parametrize("name", ["obsidian", "brain", "openclaw", "para"])
def test_the_inbox_and_the_skills_of_every_layout_belong_to_the_owner(vault: Vault, name: str) -> None:
    layout = built_in(name, "Agent")
    with pytest.raises(Refused):
        check_writable(vault.root, layout.path("inbox"), layout=layout)
    with pytest.raises(Refused):
        check_writable(vault.root, layout.path("inbox").upper().replace(".MD", ".md"), layout=layout)
    if layout.has("skills"):
        with pytest.raises(Refused):
            check_writable(vault.root, f"{layout.folder_of('skills')}/brew/notes.md", layout=layout)


def test_without_a_layout_the_vaults_own_is_asked(vault: Vault) -> None:
    vault.write(".hindbrain/layout.toml", 'base = "obsidian"\nfolder = "Mind"\n')
    with pytest.raises(Refused):
        check_writable(vault.root, "Mind/Inbox.md")
    check_writable(vault.root, "Inbox.md")


@pytest.mark.skipif(os.name == "nt", reason="symlinks need a right there")
def test_a_symlink_to_a_protected_file_is_seen_through(vault: Vault) -> None:
    vault.write("AGENTS.md", "obey")
    vault.write("Inbox.md", "# Inbox\n")
    (vault.root / ".claude").mkdir()
    (vault.root / "innocent.md").symlink_to("AGENTS.md")
    (vault.root / "second.md").symlink_to("innocent.md")
    (vault.root / "mail.md").symlink_to("Inbox.md")
    (vault.root / "notes").symlink_to(".claude")
    for path in ("innocent.md", "second.md", "mail.md", "notes/new.md"):
        with pytest.raises(Refused):
            check_writable(vault.root, path, layout=built_in("obsidian"))


@pytest.mark.skipif(os.name == "nt", reason="symlinks need a right there")
def test_when_the_inbox_itself_is_a_symlink_its_target_is_protected(vault: Vault) -> None:
    vault.write("Mail/list.md", "# Inbox\n")
    (vault.root / "Inbox.md").symlink_to("Mail/list.md")
    with pytest.raises(Refused):
        check_writable(vault.root, "Mail/list.md", layout=built_in("obsidian"))


def test_a_hard_link_to_an_instruction_file_does_not_reach_it(
    vault: Vault, tmp_path: Path, clock: FakeClock
) -> None:
    """Why hard links need no check: the writer replaces a name and never writes into a file."""
    vault.write("AGENTS.md", "obey\n")
    os.link(vault.root / "AGENTS.md", vault.root / "linked.md")
    check_writable(vault.root, "linked.md", layout=built_in("obsidian"))
    with VaultWriter(vault.root, tmp_path / "state", clock) as writer:
        writer.append_note("linked.md", b"harm\n")
    assert (vault.root / "AGENTS.md").read_text(encoding="utf-8") == "obey\n"
    assert (vault.root / "linked.md").read_text(encoding="utf-8") == "obey\nharm\n"


def test_the_reason_is_said() -> None:
    assert why_protected("AGENTS.md") != why_protected("x.toml") != why_protected(".env")
    assert why_protected("Plan.md") == ""
