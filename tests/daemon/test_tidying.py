"""What the daemon sets going while nobody waits: learning and consolidation, in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from daemon_runs import InProcess, wait_until

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.edge.daemon import tidying as tidying_module
from hindbrain.edge.daemon.tidying import Tidying, what_is_due
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.learn.consolidation.consolidator import LAST
from workbench import NOW, Vault


class Process:
    def __init__(self) -> None:
        self.code: int | None = None

    def poll(self) -> int | None:
        return self.code


class Starts:
    """Stands in for the system: which processes were started, and when each ends."""

    def __init__(self) -> None:
        self.verbs: list[str] = []
        self.processes: list[Process] = []
        self.seconds = 0.0

    def start(self, words: Sequence[str], state: Path) -> Process:
        assert words[4] == "--vault" and state.name
        self.verbs.append(words[3])
        self.processes.append(Process())
        return self.processes[-1]


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    return make_app(vault.root)


@pytest.fixture
def owned(app: App) -> App:
    (app.root / ".hindbrain").mkdir(exist_ok=True)
    app.state.mkdir(parents=True, exist_ok=True)
    return app


def consolidated(app: App, at: float) -> None:
    (app.state / LAST).write_text(f'{{"at": {at}}}', encoding="utf-8")


def test_a_vault_that_was_never_consolidated_is_and_one_process_runs_at_a_time(owned: App) -> None:
    starts = Starts()
    tidying = Tidying(start=starts.start, ticks=lambda: starts.seconds)  # type: ignore[arg-type]
    tidying(owned)
    assert starts.verbs == []  # the first prompts after a start are not disturbed
    starts.seconds = 100
    tidying(owned)
    starts.seconds = 1_000
    tidying(owned)
    assert starts.verbs == ["consolidate"]
    starts.processes[0].code = 0
    consolidated(owned, NOW)
    starts.seconds = 2_000
    tidying(owned)
    assert starts.verbs == ["consolidate"]


def test_it_is_done_again_after_four_hours(owned: App, clock: FakeClock) -> None:
    consolidated(owned, NOW - 4 * 3600 + 60)
    assert what_is_due(owned, starting=False) == ""
    consolidated(owned, NOW - 4 * 3600 - 60)
    assert what_is_due(owned, starting=False) == "consolidate"


def test_without_a_schedule_and_in_a_folder_that_is_not_ours_nothing_runs_by_itself(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert what_is_due(app, starting=True) == ""
    (app.root / ".hindbrain").mkdir()
    assert what_is_due(app, starting=True) == "consolidate"
    app.config = app.config._replace(values={**app.config.values, "consolidation.schedule": ""})
    assert what_is_due(app, starting=True) == ""


def test_runs_are_learned_from_when_their_conversation_has_rested(owned: App) -> None:
    consolidated(owned, NOW - 60)
    cursor = owned.state / "captured" / "x.jsonl"
    cursor.parent.mkdir()
    cursor.write_text("{}", encoding="utf-8")
    os.utime(cursor, (NOW - 60, NOW - 60))
    assert what_is_due(owned, starting=False) == ""
    os.utime(cursor, (NOW - 900, NOW - 900))
    assert what_is_due(owned, starting=False) == "learn"


def test_a_schedule_that_is_none_is_told_once_and_stops_nothing(
    owned: App, capsys: pytest.CaptureFixture[str]
) -> None:
    owned.config = owned.config._replace(values={**owned.config.values, "consolidation.schedule": "nightly"})
    starts = Starts()
    tidying = Tidying(start=starts.start, ticks=lambda: starts.seconds)  # type: ignore[arg-type]
    for starts.seconds in (0, 100, 200):
        tidying(owned)
    assert starts.verbs == []
    assert capsys.readouterr().err.count("nightly") == 1


def test_a_daemon_consolidates_its_vault_at_the_start_without_being_asked(
    notes: Vault, in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes.root / ".hindbrain").mkdir()
    monkeypatch.setattr(tidying_module, "_LOOK_S", 0.0)
    starts = Starts()
    tidying = Tidying(start=starts.start)  # type: ignore[arg-type]
    vaults = Vaults(in_process.folder.parent, lambda _: False, tidying)
    in_process.start(vaults=vaults, first=notes.root)
    wait_until(lambda: starts.verbs == ["consolidate"])
    (served,) = in_process.ask("status")["result"]["vaults"]
    assert served["path"] == str(notes.root)


def test_a_vault_that_is_away_at_the_start_stops_nothing(notes: Vault, in_process: InProcess) -> None:
    in_process.start(first=notes.root / "gone")
    assert in_process.ask("status")["result"]["vaults"] == []
    assert in_process.ask("ping", notes.root)["ok"] is True
