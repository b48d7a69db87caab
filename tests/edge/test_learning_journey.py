"""From a log of runs to lessons, templates, figures and summaries, with the commands that a person types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_runs import Cli
from hindbrain.app import App
from hindbrain.learn.runs.events import (
    ContextInjected,
    Event,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
)
from workbench import NOW, Vault

SITES = ("github.com", "example.org", "python.org", "gitlab.com", "debian.org")
_DAY_S = 86_400.0


def _run(number: int, site: str, *, well: bool) -> list[Event]:
    """A run that clicks where it should press a key fails."""
    run, at = f"r-{number:04}", NOW - 20 * _DAY_S + number * _DAY_S
    steps: list[tuple[str, dict[str, Any]]] = [("open_application", {"name": "Chrome"})]
    steps += [("press_key", {"key": "l", "command": True})] if well else [("click", {"target": "URL bar"})]
    steps += [("type_text", {"text": site}), ("press_key", {"key": "return"})]
    events: list[Event] = [RunCreated(run, at, f"open {site} in Chrome", app="Chrome")]
    if well:
        events.append(ContextInjected(run, at, ("^m-7f3k2a9q",), 40))
    for step, (name, arguments) in enumerate(steps, start=1):
        ok = name != "click"
        events.append(IterationStarted(run, at + step, step))
        said = "" if ok else "the URL bar was not found"
        events.append(ToolExecuted(run, at + step + 0.5, name, arguments, ok, said=said))
    reason = "" if well else "the URL bar was not found"
    events.append(RunEnded(run, at + 9, "complete" if well else "fail", 95 if well else 10, reason))
    return events


@pytest.fixture
def with_runs(vault: Vault, cli: Cli, make_app: Callable[..., App]) -> Vault:
    """Five runs failed, then five went well."""
    app = make_app(vault.root)
    runs = [_run(at, SITES[at % 5], well=at >= 5) for at in range(10)]
    assert app.learning.runs.add_imported("test", runs).runs == 10
    app.close()
    return vault


def test_what_runs_teach_is_found_shown_and_fits_the_next_command(cli: Cli, with_runs: Vault) -> None:
    dry = cli("learn", "--dry-run")
    assert dry.code == 0 and "+++ b/" in dry.out
    assert not list(with_runs.root.rglob("*Task Log.md"))
    assert cli("learn").out.startswith("recorded: 10 runs")
    lessons = cli("lessons", "--json").data["lessons"]
    assert lessons, "five failures alike make a lesson"
    assert lessons[0]["id"] in cli("lessons").out
    assert cli("lessons", "show", lessons[0]["id"]).code == 0
    fitting = cli("lessons", "open", "kernel.org", "in", "Chrome", "--json").data["fitting"]
    assert [one["id"].lstrip("^") for one in fitting] == [lessons[0]["id"]]
    assert cli("lessons", "bake a cake", "--json").data["fitting"] == []
    templates = cli("templates", "--json").data["templates"]
    assert templates, "five successes alike make a template"
    shown = cli("templates", "show", templates[0]["name"], "--for", "open kernel.org in Chrome")
    assert "type_text(kernel.org)" in shown.out
    assert cli("templates", "open kernel.org in Chrome", "--json").data["fitting"]
    assert "when it was last done by hindbrain learn" in cli("learn").err
    for budget in ("4000", "2500", "1200", "600"):
        packed = cli(
            "context", "open kernel.org in Chrome", "--preset", "agent", "--budget", budget, "--json"
        ).data
        filled = {slot["name"] for slot in packed["pack"]["slots"] if slot["excerpts"]}
        assert filled >= {"template", "lessons"}, f"{budget} tokens have room for what was learned"
        assert packed["tokens"] <= int(budget)


def test_figures_tell_how_runs_go_and_what_memory_is_worth(
    cli: Cli, with_runs: Vault, tmp_path: Path
) -> None:
    cli("learn")
    data = cli("stats", "--json").data
    assert (data["runs"]["well"], data["runs"]["ill"], data["runs"]["repeats"]) == (5, 5, 4)
    assert data["kinds"] == 1
    assert data["lessons"]["active"] + data["lessons"]["escalated"] >= 1
    assert data["memory"]["tokens"] == 200
    assert data["memory"]["best"][0]["id"] == "m-7f3k2a9q"
    assert data["memory"]["lift"] > 0.3
    assert cli("stats", "--plot", str(tmp_path / "runs.svg")).code == 0


def test_a_consolidation_proves_itself_and_a_second_one_changes_nothing(cli: Cli, with_runs: Vault) -> None:
    dry = cli("consolidate", "--dry-run")
    assert dry.code == 0 and "nothing was written" in dry.err
    assert not list(with_runs.root.rglob("Daily Summary.md"))
    ran = cli("consolidate")
    assert ran.code == 0
    assert "no line of yours was lost" in ran.err
    again = cli("consolidate", "--json")
    assert again.code == 0 and again.data["proof"]["changes"] == 0
    assert cli("skills").code == 0


@pytest.mark.promise("P9")
def test_one_undo_takes_back_all_that_learning_wrote(cli: Cli, with_runs: Vault) -> None:
    def notes() -> dict[str, bytes]:
        return {str(file): file.read_bytes() for file in with_runs.root.rglob("*.md")}

    before = notes()
    assert cli("learn").code == 0
    learned = notes()
    assert len(learned) > len(before) + 2
    undone = cli("undo", "--json").data
    assert undone["by"] == "learn" and len(undone["notes"]) == len(learned) - len(before)
    assert notes() == before
    assert cli("redo").code == 0
    assert notes() == learned
    assert "nothing new" in cli("learn").err, "a redo counts as learned"
    assert cli("undo").code == 0
    assert cli("learn").code == 0
    assert notes().keys() == learned.keys(), "what was undone counts as never learned"
    assert cli("lessons", "--json").data["lessons"]
