"""Settings of consolidation and of topics, by what they change."""

from __future__ import annotations

from argparse import Namespace
from datetime import date, timedelta
from pathlib import Path

import pytest
from tests.learn.consolidating import mark_ours

from command_runs import Cli
from hindbrain.edge.daemon.verbs import answer
from hindbrain.edge.opening import open_app
from workbench import Vault


@pytest.fixture
def diary(cli: Cli, vault: Vault) -> Path:
    """The folder of an agent's daily notes, one of them 10 days old, in which something was decided."""
    assert cli("init", "--layout", "obsidian").code == 0
    folder = (vault.root / cli("daily", "--json").data["path"]).parent
    day = (date.today() - timedelta(days=10)).isoformat()
    folder.mkdir(parents=True, exist_ok=True)
    text = f"# {day}\n\n## Events\n\n- [10:00] We decided to use SQLite for the boat log.\n"
    note = folder / f"{day}.md"
    note.write_text(text, encoding="utf-8")
    mark_ours(vault.root, note.relative_to(vault.root).as_posix(), text)
    return folder


def would_remember(cli: Cli) -> int:
    return int(cli("consolidate", "--dry-run", "--json").data["facts"])


def test_the_age_of_daily_notes_that_become_facts_can_be_set(
    cli: Cli, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert would_remember(cli) == 1
    monkeypatch.setenv("HINDBRAIN_CONSOLIDATION_AGE_THRESHOLD_DAYS", "12")
    assert would_remember(cli) == 0


def test_the_importance_from_which_an_event_becomes_a_fact_can_be_set(
    cli: Cli, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_CONSOLIDATION_IMPORTANCE_THRESHOLD", "0.95")
    assert would_remember(cli) == 0
    monkeypatch.setenv("HINDBRAIN_CONSOLIDATION_IMPORTANCE_THRESHOLD", "0.5")
    assert would_remember(cli) == 1


def test_the_days_that_daily_notes_stay_can_be_set(
    cli: Cli, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (note,) = diary.glob("*.md")
    before = note.read_bytes()
    assert cli("consolidate").code == 0
    assert note.exists()
    monkeypatch.setenv("HINDBRAIN_CONSOLIDATION_MAX_DAILY_LOGS", "9")
    assert cli("consolidate").code == 0
    assert not note.exists()
    moved = [file for file in cli.root.rglob(note.name) if ".hindbrain" not in file.parts]
    assert [file.read_bytes() for file in moved] == [before]


def test_the_threshold_of_a_topic_shift_can_be_set(
    cli: Cli, indexed: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shift(session: str) -> str:
        app = open_app(Namespace(vault=str(cli.root)), warm=False)
        try:
            told = {"host": "claude-code", "session": session}
            answer(app, "turn", {**told, "prompt": "how is green tea brewed in the evening?"})
            prompt = "how warm is the water for green tea when it is brewed for two?"
            return str(answer(app, "turn", {**told, "prompt": prompt})["shift"])
        finally:
            app.close()

    assert shift("a") == ""
    monkeypatch.setenv("HINDBRAIN_CONTEXT_TOPIC_THRESHOLD", "1")
    assert shift("b")
