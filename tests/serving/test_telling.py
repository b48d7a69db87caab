"""A process that follows a vault tells what happens to the index, when all of it has, beside its work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.agent.http_listener import Listener, listening

from hindbrain.agent.announcing import APART_S
from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.edge.serving.keeping import Keeper
from hindbrain.edge.serving.telling import Teller
from hindbrain.index.follow import FollowEvent
from hindbrain.index.sync import SyncReport
from workbench import Vault

MakeApp = Callable[..., App]
PATIENCE_S = 60.0  # a limit for tests that would hang otherwise; never what is measured


@pytest.fixture
def listener() -> Iterator[Listener]:
    with listening() as found:
        yield found


@pytest.fixture
def told(tmp_path: Path, listener: Listener) -> Listener:
    """The owner of the settings that `make_app` has wants to be told of syncs."""
    (tmp_path / "agent.toml").write_text(
        f'[events]\n"sync-complete" = ["{listener.url}"]\n', encoding="utf-8"
    )
    return listener


def wait_until(met: Callable[[], Any]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < until, "it did not come to that"
        threading.Event().wait(0.01)


def test_the_first_index_is_told_once_its_vectors_are_there_and_then_each_change(
    notes: Vault, make_app: MakeApp, told: Listener, clock: FakeClock
) -> None:
    said: list[str] = []
    keeper = Keeper(lambda: make_app(notes.root), said.append)
    keeper.start()
    try:
        wait_until(lambda: told.posted)
        first = told.posted[0].body
        assert (first["files"], first["modified"], first["together"]) == (2, 2, 1)
        app = make_app(notes.root)
        assert app.store.vector_count() > 0
        app.close()
        wait_until(lambda: _arrived(notes, make_app))
        clock.advance(APART_S)
        notes.write("Kites.md", "# Kites\n\nA box kite needs wind.\n")
        wait_until(lambda: len(told.posted) == 2)
        second = told.posted[1].body
        assert (second["files"], second["modified"]) == (3, 1)
    finally:
        keeper.stop()
    assert said == ["2 notes indexed"]


def test_without_an_embedder_nobody_waits_for_vectors(
    notes: Vault, make_app: MakeApp, told: Listener
) -> None:
    keeper = Keeper(lambda: make_app(notes.root, embedding_provider="none"), lambda _: None)
    keeper.start()
    try:
        wait_until(lambda: told.posted)
    finally:
        keeper.stop()


@pytest.mark.promise("P29", "P13")
def test_a_receiver_that_is_down_is_said_once_and_the_index_is_kept(
    notes: Vault, make_app: MakeApp, told: Listener, clock: FakeClock
) -> None:
    told.status = 503
    said: list[str] = []
    keeper = Keeper(lambda: make_app(notes.root), said.append)
    keeper.start()
    try:
        wait_until(lambda: len(said) == 2)
        clock.advance(APART_S)
        notes.write("Kites.md", "# Kites\n\nA box kite needs wind.\n")
        wait_until(lambda: _count(notes, make_app) == 3)
        wait_until(lambda: len(told.posted) >= 2)  # tried again, since a minute has passed
    finally:
        keeper.stop()
    assert sum(text.startswith("events:") for text in said) == 1


@pytest.mark.promise("P13")
def test_a_receiver_that_hangs_holds_up_no_sync(
    notes: Vault, make_app: MakeApp, told: Listener, clock: FakeClock
) -> None:
    told.hangs = True
    keeper = Keeper(lambda: make_app(notes.root), lambda _: None)
    keeper.start()
    try:
        wait_until(lambda: told.posted)
        notes.write("Kites.md", "# Kites\n\nA box kite needs wind.\n")
        wait_until(lambda: _count(notes, make_app) == 3)
        assert not told.let_go.is_set()
    finally:
        keeper.stop()


def test_who_asks_to_be_told_later_is_told_from_then_on(
    notes: Vault, make_app: MakeApp, tmp_path: Path, listener: Listener
) -> None:
    app = make_app(notes.root)
    report = app.sync()
    teller = Teller(lambda _: None)
    teller.synced(app, report, 1.0)
    (tmp_path / "agent.toml").write_text(
        f'[events]\n"sync-complete" = ["{listener.url}"]\n', encoding="utf-8"
    )
    teller.synced(app, report, 2.0)
    try:
        wait_until(lambda: listener.posted)
    finally:
        teller.stop()
        app.close()
    assert [posted.body["durationMs"] for posted in listener.posted] == [2000]


def test_what_waits_for_vectors_is_told_when_none_will_come(
    notes: Vault, make_app: MakeApp, told: Listener
) -> None:
    app = make_app(notes.root)
    report = app.sync(vectors=False)
    assert report.pending
    said: list[str] = []
    teller = Teller(said.append)
    try:
        teller.heard(app, FollowEvent("synced", 1.0, report, took_s=0.5))
        announcing = app.announcing()
        assert announcing is not None and announcing.waiting() == 1
        teller.heard(app, FollowEvent("error", 2.0, None, "embedder", "it is down"))
        wait_until(lambda: told.posted)
    finally:
        teller.stop()
        app.close()
    assert told.posted[0].body["durationMs"] == 500 and said == []


@pytest.mark.promise("P29")
def test_a_wrong_file_is_said_once_and_ends_nothing(notes: Vault, make_app: MakeApp, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text("[events\n", encoding="utf-8")
    app = make_app(notes.root)
    said: list[str] = []
    teller = Teller(said.append)
    for _ in range(3):
        teller.synced(app, SyncReport(1, indexed=1), 1.0)
    teller.stop()
    app.close()
    assert len(said) == 1


def _count(notes: Vault, make_app: MakeApp) -> int:
    app = make_app(notes.root)
    try:
        return app.store.note_count()
    finally:
        app.close()


def _arrived(notes: Vault, make_app: MakeApp) -> bool:
    announcing = make_app(notes.root).announcing()
    return announcing is not None and announcing.waiting() == 0
