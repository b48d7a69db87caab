"""What the daemon does while nobody waits: each chore gets its turn, whatever another one does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hindbrain.app import App
from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import WriteFailed
from hindbrain.context.packs.gate import LEAST_PASSAGES
from hindbrain.edge.canary import last_result
from hindbrain.edge.daemon.chores import InTurn, MeasureNull, TryCanary
from hindbrain.edge.daemon.tidying import _changed_at
from workbench import Vault


@pytest.mark.promise("P29")
def test_a_chore_that_fails_is_told_and_the_others_get_their_turn(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[Any] = []

    def failing(app: Any) -> bool:
        raise ValueError("surprise")

    def counting(app: Any) -> bool:
        done.append(app)
        return True

    app: Any = SimpleNamespace(root=Path("/vault"))
    assert InTurn(failing, counting, failing)(app)
    assert done == [app]
    assert "surprise" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_to_nothing_does_not_hide_what_has_changed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    os.utime(tmp_path / "a", (1_000, 1_000))
    (tmp_path / "b").symlink_to(tmp_path / "nowhere")
    assert _changed_at(tmp_path) == 1_000
    assert _changed_at(tmp_path / "a") == 1_000
    assert _changed_at(tmp_path / "c") == 0.0


def test_the_gate_is_measured_piece_by_piece_once_there_is_an_index(
    vault: Vault, make_app: Callable[..., App]
) -> None:
    for number in range(LEAST_PASSAGES):
        vault.write(f"{number}.md", f"# Day {number}\n\nThe harbour was quiet, number {number}.\n")
    app = make_app(vault.root, warm=True)
    assert not MeasureNull()(app)  # no index yet
    app.sync()
    while MeasureNull()(app):
        assert app.null_state() == "unmeasured"
    assert app.null_state() == "measured"


def test_the_canary_is_tried_once_a_day_once_there_is_an_index(
    vault: Vault, make_app: Callable[..., App], clock: FakeClock
) -> None:
    tried: list[float] = []

    def start(act: Callable[[], None]) -> None:
        tried.append(clock.now())
        act()

    vault.write("Tea.md", "# Tea\n\nGreen tea.\n")
    app = make_app(vault.root, warm=True)
    chore = TryCanary(start)
    assert not chore(app) and not tried  # no index yet
    app.sync()
    chore(app)
    chore(app)
    result = last_result(app.state)
    assert result is not None and result.ok and tried == [result.at]
    clock.advance(86_300)
    TryCanary(start)(app)  # a daemon that has just started knows when it was tried last
    assert len(tried) == 1
    clock.advance(200)
    chore(app)
    assert len(tried) == 2


@pytest.mark.promise("P29")
def test_a_canary_that_fails_is_told_in_the_log(
    vault: Vault,
    make_app: Callable[..., App],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    vault.write("Tea.md", "# Tea\n\nGreen tea.\n")
    app = make_app(vault.root, warm=True)
    app.sync()

    def fails(*_: object, **__: object) -> None:
        raise WriteFailed("no room")

    monkeypatch.setattr("hindbrain.memory.service.Memory.remember", fails)
    TryCanary(lambda act: act())(app)
    assert "write_failed" in capsys.readouterr().err
    result = last_result(app.state)
    assert result is not None and result.step == "write"
