"""`hindbrain runs`: the table, the story of one run, and imports from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.base.clock import FakeClock
from hindbrain.edge import commands, main
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
    to_line,
)
from hindbrain.learn.runs.store import RunStore
from hindbrain.vault.write import VaultWriter
from workbench import NOW, Vault

RUN = "r-20260515-120000-7f3k"


@pytest.fixture
def cli(
    vault: Vault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Cli:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "none.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "110")
    if "runs" not in main.NAMES:
        monkeypatch.setattr(commands, "COMMANDS", (*commands.COMMANDS, ("runs", "show what agents did")))
        monkeypatch.setattr(main, "NAMES", (*main.NAMES, "runs"))
    return Cli(vault.root, capsys)


@pytest.fixture
def store(vault: Vault, tmp_path: Path, clock: FakeClock) -> RunStore:
    writer = VaultWriter(vault.root, tmp_path / "writing", clock)
    return RunStore(vault.root, tmp_path / "writing", lambda: writer)


def failed_run(run: str = RUN, at: float = NOW) -> list[Event]:
    return [
        RunCreated(run, at, "Open Chrome and go to github.com"),
        ContextInjected(run, at, ("^m-7f3k2a", "^l-2a9q7f"), 320),
        IterationStarted(run, at, 1),
        ToolExecuted(run, at + 1, "open_application", {"name": "Google Chrome"}),
        ToolExecuted(
            run, at + 2, "click", {"target": "URL bar", "double": True}, ok=False, said="nothing there"
        ),
        VerificationRejected(run, at + 3, "the page did not load", 40),
        IterationStarted(run, at + 3, 2),
        ToolExecuted(run, at + 4, "press_key", {"key": "l", "command": True}),
        RunEnded(run, at + 45, "fail", reason="the page never loaded"),
    ]


def good_run(run: str, at: float) -> list[Event]:
    return [RunCreated(run, at, f"Water the {run}\nplants"), RunEnded(run, at + 2, "complete", 92)]


def add(store: RunStore, *runs: list[Event]) -> None:
    for events in runs:
        for event in events:
            store.journal(events[0].run).add(event)


def test_runs_are_listed_newest_first_with_what_matters(cli: Cli, store: RunStore) -> None:
    add(store, good_run("r-a", NOW - 90), failed_run(), good_run("r-b", NOW + 90))
    ran = cli("runs", "list")
    assert ran.code == 0
    head, *rows = ran.out.splitlines()
    assert head.split() == ["id", "when", "outcome", "score", "iter", "took", "command"]
    assert [row.split()[0] for row in rows] == ["r-b", RUN, "r-a"]
    assert "Water the r-b plants" in rows[0]
    assert rows[1].split()[3:8] == ["failed", "40", "2", "45", "s"]
    assert cli("runs").out == ran.out


def test_the_list_as_json_and_only_failures_or_so_many(cli: Cli, store: RunStore) -> None:
    add(
        store,
        failed_run("r-old", NOW - 500),
        good_run("r-a", NOW - 90),
        failed_run(),
        good_run("r-b", NOW + 90),
    )
    add(store, good_run("r-going", NOW)[:1])
    data = cli("runs", "list", "--json").data
    assert [run["id"] for run in data["runs"]] == ["r-b", RUN, "r-a", "r-old"]
    assert data["unfinished"] == ["r-going"]
    assert (data["passed_over"], data["problems"]) == (0, [])
    assert data["runs"][1] == {
        "id": RUN,
        "command": "Open Chrome and go to github.com",
        "outcome": "failed",
        "score": 40,
        "iterations": 2,
        "actions": 3,
        "started": NOW,
        "ended": NOW + 45,
        "reason": "the page never loaded",
        "app": "Google Chrome",
        "host": "own",
        "session": "",
    }
    failed = cli("runs", "list", "--failed", "--json").data["runs"]
    assert [run["id"] for run in failed] == [RUN, "r-old"]
    one = cli("runs", "list", "--failed", "--limit", "1", "--json").data["runs"]
    assert [run["id"] for run in one] == [RUN]
    assert [run["id"] for run in cli("runs", "--limit", "2", "--json").data["runs"]] == ["r-b", RUN]


def test_a_vault_without_runs_says_so(cli: Cli, vault: Vault) -> None:
    ran = cli("runs")
    assert (ran.code, ran.out) == (0, "")
    assert "no run" in ran.err
    assert cli("runs", "--json").data == {"runs": [], "unfinished": [], "passed_over": 0, "problems": []}
    assert not (vault.root / ".hindbrain").exists()


def test_the_story_of_a_run_has_its_steps_rejections_memory_and_reason(cli: Cli, store: RunStore) -> None:
    add(store, failed_run())
    ran = cli("runs", "show", "r-2026")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0] == "Open Chrome and go to github.com"
    assert lines[1].startswith("failed · score 40 · 2 iterations · 45 s · Google Chrome · ")
    assert lines[1].endswith(f"^{RUN}")
    assert lines[2:] == [
        "memory: ^m-7f3k2a, ^l-2a9q7f (320 tokens)",
        "",
        "1 ✓ open_application(Google Chrome)",
        "2 ✗ click(URL bar, double: true)",
        "    nothing there",
        "  ✗ rejected (score 40): the page did not load",
        "3 ✓ press_key(l, command: true)",
        "",
        "reason: the page never loaded",
    ]


def test_the_story_as_json(cli: Cli, store: RunStore) -> None:
    add(store, failed_run())
    run = cli("runs", "show", RUN, "--json").data["run"]
    assert run["outcome"] == "failed"
    assert run["injected"] == ["^m-7f3k2a", "^l-2a9q7f"]
    assert run["steps"][1] == {
        "name": "click",
        "arguments": {"target": "URL bar", "double": "true"},
        "ok": False,
        "said": "nothing there",
        "app": "Google Chrome",
    }
    assert run["rejections"] == [{"reason": "the page did not load", "score": 40, "after": 2}]


def test_a_run_that_goes_on_is_shown_as_far_as_it_came(cli: Cli, store: RunStore) -> None:
    add(store, failed_run()[:5])
    run = cli("runs", "show", RUN, "--json").data["run"]
    assert (run["outcome"], run["ended"], len(run["steps"])) == ("unfinished", None, 2)
    assert cli("runs", "show", RUN).out.splitlines()[1].startswith("unfinished")
    assert "1 begun and not ended" in cli("runs").err


def test_what_a_tool_said_can_not_move_the_cursor(cli: Cli, store: RunStore) -> None:
    begin, *_, end = failed_run()
    assert isinstance(begin, RunCreated)
    evil = ToolExecuted(RUN, NOW + 1, "\x1b]0;owned\x07", {"x": "\x1b[2J"}, ok=False, said="\x1b[31m")
    add(store, [begin._replace(command="go\x1b[2J"), evil, end])
    assert "\x1b" not in cli("runs", "show", RUN).out + cli("runs", "list").out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["show", "r-9999"], "not_found"),
        (["show"], "usage"),
        (["show", "a", "b"], "usage"),
        (["show", RUN, "--failed"], "usage"),
        (["list", RUN], "usage"),
        (["list", "--format", "codex"], "usage"),
        (["--limit", "0"], "usage"),
        (["import"], "usage"),
        (["import", "x", "--limit", "3"], "usage"),
        (["import", "nowhere.jsonl"], "not_found"),
        (["remove"], "usage"),
    ],
)
def test_mistakes_are_told_by_their_code(cli: Cli, words: list[str], code: str) -> None:
    ran = cli("runs", *words, "--json")
    assert ran.error == code
    assert ran.code == (2 if code == "usage" else 1)


def test_damaged_journals_are_told_and_end_in_exit_code_1(cli: Cli, store: RunStore, vault: Vault) -> None:
    add(store, failed_run())
    cold = vault.root / ".hindbrain" / "runs" / "cold"
    cold.mkdir()
    (cold / "2025.jsonl.gz").write_bytes(b"no archive")
    ran = cli("runs", "--json")
    assert ran.code == 1
    assert [run["id"] for run in ran.data["runs"]] == [RUN]
    assert len(ran.data["problems"]) == 1
    assert "2025.jsonl.gz" in cli("runs").err


def test_runs_are_imported_once_and_a_dry_run_adds_none(cli: Cli, vault: Vault, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(
        "".join(to_line(event) + "\n" for event in [*failed_run("i-1"), *good_run("i-2", NOW)]),
        encoding="utf-8",
    )
    words = ("runs", "import", str(log), "--format", "journal")
    dry = cli(*words, "--dry-run", "--json").data
    assert (dry["runs"], dry["dry_run"], dry["by_outcome"]) == (2, True, {"failed": 1, "success": 1})
    assert not (vault.root / ".hindbrain" / "runs").exists()
    assert cli(*words, "--json").data == dry | {"dry_run": False}
    assert len(cli("runs", "--json").data["runs"]) == 2
    again = cli(*words, "--json").data
    assert (again["runs"], again["known"]) == (0, 2)
    assert "known before" in cli(*words).err


def test_a_mapping_that_is_no_toml_is_a_usage_mistake(cli: Cli, tmp_path: Path) -> None:
    log, mapping = tmp_path / "log.jsonl", tmp_path / "map.toml"
    log.write_text(json.dumps({"id": 1}) + "\n", encoding="utf-8")
    mapping.write_text("[run\n", encoding="utf-8")
    assert cli("runs", "import", str(log), "--mapping", str(mapping), "--json").error == "usage"
    missing = str(tmp_path / "none.toml")
    assert cli("runs", "import", str(log), "--mapping", missing, "--json").error == "not_found"
