"""Notes that their owner wrote stay where they are, and are used as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import hindbrain.app
from command_runs import Cli
from hindbrain.base.clock import FakeClock
from hindbrain.memory.daily.daily_note import add_items
from workbench import Vault

REFERENCE = Path(__file__).parents[1] / "reference_notes"
DAY_S = 86_400.0
JANUARY_16 = "memory/2025-01-16.md"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeClock:
    clock = FakeClock(1_778_846_400.0)  # 2026-05-15
    monkeypatch.setattr(hindbrain.app, "SystemClock", lambda: clock)
    return clock


@pytest.fixture
def openclaw(vault: Vault, cli: Cli) -> Vault:
    for name in ("MEMORY.md", "SOUL.md", "USER.md"):
        vault.write(name, (REFERENCE / name).read_text(encoding="utf-8"))
    vault.write(JANUARY_16, (REFERENCE / "2025-01-16.md").read_text(encoding="utf-8"))
    vault.write("sessions/2025-01-16-code-review.md", "# Code review\n\nUser: please review core.py\n")
    assert cli("init", "--layout", "openclaw").code == 0
    return vault


def paths_of(vault: Vault) -> set[str]:
    return {
        path.relative_to(vault.root).as_posix()
        for path in vault.root.rglob("*.md")
        if ".hindbrain" not in path.parts
    }


def test_consolidation_moves_no_note_that_its_owner_wrote(openclaw: Vault, cli: Cli) -> None:
    before = {path: (openclaw.root / path).read_bytes() for path in paths_of(openclaw)}
    for _ in range(2):
        done = cli("consolidate", "--json").data
        assert (done["archived"], done["proof"]["holds"]) == (0, True)
    assert {path: (openclaw.root / path).read_bytes() for path in before} == before
    assert "lines of yours" in cli("consolidate").out


def test_a_line_of_the_owner_keeps_a_day_and_a_day_of_ours_alone_is_archived(
    vault: Vault, cli: Cli, clock: FakeClock
) -> None:
    assert cli("init", "--layout", "obsidian").code == 0
    first = cli("daily", "--add", "Rowed to the island", "--json").data
    clock.advance(DAY_S)
    second = cli("daily", "--add", "Painted the hull", "--json").data
    with open(vault.root / second["path"], "a", encoding="utf-8") as note:
        note.write("\nThe paint smells of summer.\n")
    clock.advance(60 * DAY_S)
    done = cli("consolidate", "--json").data
    assert (done["archived"], done["proof"]["holds"]) == (1, True)
    assert not (vault.root / first["path"]).exists()
    assert (vault.root / second["path"]).exists()

    # The archived day still answers when it is named.
    day = cli("daily", first["date"], "--json").data
    assert day["exists"]
    assert "Archive/Daily" in day["path"]
    assert "Rowed to the island" in cli("daily", first["date"]).out
    for question in (f"what did we do on {first['date']}?", f"where did we row on {first['date']}?"):
        assert "Rowed to the island" in cli("context", question).out
    assert day["path"] in [hit["path"] for hit in cli("search", first["date"], "--json").data["hits"]]
    # Another question does not bring it back.
    assert "Rowed to the island" not in cli("context", "where is the island we rowed to?").out


def test_daily_reads_every_note_of_the_day_and_names_it(vault: Vault, cli: Cli) -> None:
    vault.write(".obsidian/daily-notes.json", '{"folder": "Journal", "format": "YYYY/MM/DD"}')
    vault.write("Journal/2025/01/16.md", "Walked the dog.\n")
    vault.write("Other.md", "# Other\n")
    assert cli("init", "--layout", "obsidian").code == 0
    assert "Walked the dog." in cli("daily", "2025-01-16").out
    vault.write("Agent/Daily/2025-01-16.md", "Fixed the build.\n")
    read = cli("daily", "2025-01-16")
    for path, words in (
        ("Journal/2025/01/16.md", "Walked the dog."),
        ("Agent/Daily/2025-01-16.md", "Fixed the build."),
    ):
        assert f"{path}:\n{words}" in read.out
    assert len(cli("daily", "2025-01-16", "--json").data["notes"]) == 2


def test_daily_reads_a_logseq_journal(vault: Vault, cli: Cli) -> None:
    vault.write("logseq/config.edn", "{}\n")
    vault.write("journals/2025_01_16.md", "- Watered the ferns\n")
    vault.write("pages/Ferns.md", "- green\n")
    assert cli("init").code == 0
    assert "Watered the ferns" in cli("daily", "2025-01-16").out


def test_words_are_enough_to_forget_a_memory_typed_by_hand(openclaw: Vault, cli: Cli) -> None:
    note = openclaw.root / "MEMORY.md"
    typed = note.read_bytes() + b"\n## Facts\n\n- Sarah keeps bees\n- Sarah sails on Sundays\n"
    note.write_bytes(typed)
    assert cli("forget", "Sarah", "--yes", "--json").error == "ambiguous"
    assert note.read_bytes() == typed
    gone = cli("forget", "Sarah", "bees", "--yes", "--json").data
    assert (gone["id"], gone["text"], gone["path"]) == ("", "Sarah keeps bees", "MEMORY.md")
    assert note.read_bytes() == typed.replace(b"- Sarah keeps bees\n", b"")
    # An agent does not learn it again, until its owner takes that back.
    assert cli("remember", "Sarah keeps bees", "--source", "agent", "--json").code != 0
    assert cli("undo", gone["revision"]).code == 0
    assert note.read_bytes() == typed
    assert "bees" in cli("recall", "Sarah").out
    assert cli("forget", "Sarah", "bees", "--yes", "--purge", "--json").error == "usage"
    note.write_bytes(typed.replace(b"- Sarah keeps bees\n", b""))
    assert cli("remember", "Sarah keeps bees", "--source", "agent", "--json").code == 0


def test_a_folder_that_is_no_vault_is_told_how_it_becomes_one(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert "hindbrain init" in cli.bare("status").err


def test_skills_in_subfolders_are_found(openclaw: Vault, cli: Cli) -> None:
    skill = "---\nname: {0}\ndescription: How to {0}\n---\n# {0}\n\n1. Begin\n"
    for path, name in (
        ("skills/custom/backup.md", "backup"),
        ("skills/custom/wb/SKILL.md", "weekly"),
        ("skills/top/SKILL.md", "top"),
        ("skills/plain.md", "plain"),
    ):
        openclaw.write(path, skill.format(name))
    openclaw.write("skills/top/references/api.md", skill.format("no skill"))
    openclaw.write("skills/custom/wb/notes.md", skill.format("a part of a skill"))
    openclaw.write("skills/a/b/c/d/e/far.md", skill.format("too deep"))
    names = [skill["name"] for skill in cli("skills", "--json").data["skills"]]
    assert names == ["backup", "plain", "top", "weekly"]


def test_a_note_of_a_layout_without_first_texts_is_followed_when_it_is_moved(vault: Vault, cli: Cli) -> None:
    vault.write("Todo.md", "# Todo\n")
    vault.write(".hindbrain/layout.toml", '[roles]\nprofile = "Profile.md"\ndaily = "Journal/{date}.md"\n')
    first = cli("remember", "Likes tea", "--category", "fact", "--json").data["path"]
    text = (vault.root / first).read_text(encoding="utf-8")
    assert text.startswith("---\ntype: memory\ncategory: fact\ncreated: ")
    (vault.root / first).rename(vault.root / "Facts.md")
    assert cli("remember", "Has a cat named Mia", "--category", "fact", "--json").data["path"] == "Facts.md"
    assert not (vault.root / first).exists()
    day = cli("daily", "--add", "Fed the cat", "--json").data
    assert day["text"].startswith(
        f"---\ntype: daily\ndate: {day['date']}\ntags: [agent]\n---\n# {day['date']}\n"
    )


def test_lint_gives_an_old_note_no_later_day_than_it_says_itself(openclaw: Vault, cli: Cli) -> None:
    openclaw.write("TASKS.md", "---\nupdated: 2025-03-04\n---\n# Tasks\n\n- [ ] Sail\n")
    openclaw.write("INBOX.md", "# Inbox\n", at=1_700_000_000.0)  # 2023-11-14
    assert cli("lint", "TASKS.md", "INBOX.md").code in (0, 1)
    assert "created: 2025-03-04\n" in (openclaw.root / "TASKS.md").read_text(encoding="utf-8")
    assert "created: 2023-11-1" in (openclaw.root / "INBOX.md").read_text(encoding="utf-8")


def test_events_of_a_day_are_in_the_order_of_time() -> None:
    day = b"# Day\n\n## Events\n- [01:17] first\n  - below it\n- [03:00] third\n\n## Mine\ntext\n"
    lines = ["- [01:54] second", "- [02:10] also second", "- [04:00] last"]
    added = add_items(day, "Events", lines, "day.md").decode()
    items = [line[2:] for line in added.splitlines() if line.startswith("- ")]
    assert items == [
        "[01:17] first",
        "[01:54] second",
        "[02:10] also second",
        "[03:00] third",
        "[04:00] last",
    ]
    assert "first\n  - below it\n- [01:54]" in added
    assert added.endswith("- [04:00] last\n\n## Mine\ntext\n")


def test_status_shows_the_layout_and_the_agents_folder(vault: Vault, cli: Cli) -> None:
    vault.write("Mine.md", "# Mine\n")
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("status", "--json").data["layout"] == {"name": "obsidian", "folder": "Agent"}
    assert "obsidian, in Agent/" in cli("status").out
    vault.write(".hindbrain/layout.toml", "[nonsense")
    assert cli("status", "--json").data["layout"] is None


def test_the_hook_program_explains_itself() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain.edge.hooks.main", "--help"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.startswith("usage: ")
