"""Open tasks that runs of any host have done; what an agent host did is often recorded hours later."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from recording_runs import do, run

from hindbrain.app import App
from hindbrain.learn.recording.done_tasks import mark_done
from workbench import NOW, Vault


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    app = make_app(vault.root)
    app.memory.tasks.create("Renew the passport")
    return app


def _touch(app: App, at: float) -> None:
    os.utime(app.root / app.memory.tasks.path, (at, at))


def _status(app: App) -> tuple[str, str]:
    (task,) = app.memory.tasks.list(status="all")
    return task.status, task.completed


def test_a_run_of_another_host_marks_a_task_that_was_there_before_it(app: App) -> None:
    _touch(app, NOW - 20_000)
    episode = run(1, "renew my passport", ago=10_000, host="claude-code")
    assert mark_done(app.memory, [episode], now=NOW) == ["Renew the passport"]
    assert _status(app) == ("done", "2026-05-15")


def test_a_task_that_may_be_younger_than_the_run_stays_open(app: App) -> None:
    _touch(app, NOW - 5_000)
    episodes = [run(1, "renew my passport", ago=10_000, host=host) for host in ("claude-code", "own")]
    assert mark_done(app.memory, episodes, now=NOW) == []
    assert _status(app) == ("todo", "")


@pytest.mark.parametrize("outcome", ["failed", "stuck", "cancelled", "unknown"])
def test_only_a_success_marks(app: App, outcome: str) -> None:
    assert mark_done(app.memory, [run(1, "renew my passport", outcome, ago=60)], now=NOW) == []
    low = run(2, "renew my passport", ago=60, score=40)
    own_work = run(3, "renew my passport", ago=60, actions=(do("task_update", "Renew the passport"),))
    assert mark_done(app.memory, [low, own_work], now=NOW) == []


def test_a_blocked_task_stays_and_a_dry_run_changes_nothing(app: App) -> None:
    episode = run(1, "renew my passport", ago=60)
    assert mark_done(app.memory, [episode], now=NOW, dry_run=True) == ["Renew the passport"]
    assert _status(app) == ("todo", "")
    app.memory.tasks.update("Renew the passport", status="blocked")
    assert mark_done(app.memory, [episode], now=NOW) == []
