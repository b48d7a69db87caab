"""After an undo, decisions of the inbox and the work of learning count as not done."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from command_runs import Cli
from workbench import Vault, person_says

FACT = "The office moved to Kungsgatan 4"


@pytest.fixture
def made(cli: Cli, vault: Vault) -> Vault:
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("remember", "--source", "web", FACT).code == 0
    return vault


def waiting(cli: Cli) -> list[str]:
    return [one["text"] for one in cli("inbox", "--json").data["waiting"]]


def notes_with(root: Path, text: str) -> list[str]:
    return sorted(note.name for note in root.rglob("*.md") if text in note.read_text("utf-8"))


@pytest.mark.promise("P9")
@pytest.mark.parametrize("decision", ["accept", "refuse"])
def test_undo_of_a_decision_lets_the_proposal_wait_again(
    cli: Cli, made: Vault, decision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person_says(monkeypatch, "y", "y")
    assert cli("inbox", decision, "1").code == 0
    decided = notes_with(made.root, FACT)
    assert cli("undo").code == 0
    assert waiting(cli) == [FACT]
    assert waiting(cli) == [FACT], "looking changes nothing"
    assert notes_with(made.root, FACT) == ["Inbox.md"]
    assert cli("redo").code == 0
    assert waiting(cli) == []
    assert notes_with(made.root, FACT) == decided
    assert cli("undo").code == 0 and waiting(cli) == [FACT]
    accepted = cli("inbox", "accept", "1")
    assert accepted.code == 0
    assert len(cli("recall", "office Kungsgatan", "--json").data["memories"]) == 1
    assert waiting(cli) == []


@pytest.mark.promise("P9")
@pytest.mark.parametrize("box", ["x", "-"])
def test_undo_of_a_decision_made_in_the_note_lets_it_wait_again(cli: Cli, made: Vault, box: str) -> None:
    inbox = next(made.root.rglob("Inbox.md"))
    text = inbox.read_text("utf-8")
    inbox.write_text(text.replace("- [ ] remember:", f"- [{box}] remember:"), "utf-8")
    assert waiting(cli) == []
    assert cli("undo").code == 0
    assert waiting(cli) == [FACT]
    assert inbox.read_text("utf-8") == text, "the line waits for its tick"
    assert cli("redo").code == 0
    assert waiting(cli) == []


@pytest.mark.promise("P9")
def test_undo_of_a_proposal_is_no_refusal(cli: Cli, made: Vault) -> None:
    assert cli("undo").code == 0
    assert waiting(cli) == []
    assert notes_with(made.root, FACT) == []
    assert cli("redo").code == 0
    assert waiting(cli) == [FACT]
    assert cli("undo").code == 0
    assert waiting(cli) == []
    assert cli("remember", "--source", "web", FACT).code == 0, "nobody refused it"
    assert waiting(cli) == [FACT]
    assert cli("inbox", "refuse", "1", "--yes").code == 0
    assert cli("remember", "--source", "web", FACT, "--json").error == "refused", "now it is refused"


@pytest.mark.promise("P9")
def test_an_undone_proposal_keeps_its_origin(cli: Cli, made: Vault) -> None:
    assert cli("undo").code == 0
    held = cli("remember", "--source", "agent", FACT, "--json")
    assert held.data["action"] == "held" and waiting(cli) == [FACT]


def write_old_day(cli: Cli, root: Path) -> None:
    """Write a daily note of long ago."""
    today = root / cli("daily", "--json").data["path"]
    day = (date.fromisoformat(today.stem) - timedelta(days=45)).isoformat()
    old = today.with_name(f"{day}.md")
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text(f"# {day}\n\n- [10:15] decided to drop support for Windows 7\n", "utf-8")


@pytest.mark.promise("P9")
def test_facts_of_an_undone_consolidation_come_back_with_the_next(cli: Cli, made: Vault) -> None:
    write_old_day(cli, made.root)
    assert cli("consolidate", "--json").data["facts"] == 1
    learned = {note: note.read_bytes() for note in made.root.rglob("*.md")}
    assert cli("undo").code == 0
    assert cli("recall", "support Windows 7", "--json").data["memories"] == []
    findings = {one["name"]: one for one in cli("doctor", "--json").data["findings"]}
    assert findings["roles"]["state"] == "ok", findings["roles"]
    assert cli("redo").code == 0
    assert {note: note.read_bytes() for note in made.root.rglob("*.md")} == learned
    assert cli("consolidate", "--json").data["facts"] == 0, "a redo counts as done"
    assert cli("undo").code == 0
    assert cli("consolidate", "--json").data["facts"] == 1
    assert len(cli("recall", "support Windows 7", "--json").data["memories"]) == 1
    assert cli("consolidate", "--json").data["facts"] == 0
