"""What the sessions of a server share: one memory, looked after between calls."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_telling import wait_until

from encoder_models import write_model
from hindbrain.app import App
from hindbrain.base.errors import Busy, IndexMissing
from hindbrain.edge.serving.keeping import Keeper
from hindbrain.edge.serving.serving import Serving, report_failure, say
from hindbrain.index.standing import Making
from hindbrain.memory.notes.note_place import existing_note
from hindbrain.memory.service import Memory
from workbench import Vault

MakeApp = Callable[..., App]


def _asked(serving: Serving, *works: Callable[[Any], Any]) -> list[Any]:
    async def ask() -> list[Any]:
        return [await serving.run(work) for work in works]

    return asyncio.run(ask())


def _missing(_: Any) -> None:
    raise IndexMissing("this vault has no index yet")


def test_an_index_that_is_being_made_is_a_reason_to_try_again(notes: Vault, make_app: MakeApp) -> None:
    serving = Serving(lambda: make_app(notes.root))
    with pytest.raises(IndexMissing):
        _asked(serving, _missing)
    serving.expect_index(make_app(notes.root))
    with pytest.raises(Busy) as raised:
        _asked(serving, _missing)
    assert raised.value.advice == "again"
    serving.close()


def test_while_the_first_index_is_made_no_call_waits_for_it(notes: Vault, make_app: MakeApp) -> None:
    serving = Serving(lambda: make_app(notes.root))
    serving.expect_index(make_app(notes.root))
    _, waiting = _asked(
        serving,
        lambda memory: memory.notebook.create("New.md", b"# New\n"),
        lambda memory: set(memory.notebook.touched),
    )
    assert waiting == set()
    serving.close()


def test_what_was_remembered_is_in_a_note_when_it_is_closed(notes: Vault, make_app: MakeApp) -> None:
    serving = Serving(lambda: make_app(notes.root), keep=False)
    _asked(serving, lambda memory: memory.remember("Ada repairs clocks."))
    serving.close()
    serving.close()
    assert "Ada repairs clocks." in "".join(
        path.read_text(encoding="utf-8") for path in notes.root.rglob("*.md")
    )
    with pytest.raises(Busy):
        _asked(serving, lambda memory: memory)


def test_the_keeper_makes_the_first_index_and_then_follows(notes: Vault, make_app: MakeApp) -> None:
    said: list[str] = []
    keeper = Keeper(lambda: make_app(notes.root), said.append)
    keeper.expect_first_index()
    assert keeper.making == Making(0, 0)
    keeper.start()
    assert keeper.wait(30)
    assert keeper.making is None
    app = make_app(notes.root)
    assert app.index_path.exists()
    keeper.stop()
    app.close()
    assert said == ["2 notes indexed"]


def test_a_keeper_that_can_not_work_says_so_and_keeps_nobody_waiting(notes: Vault, make_app: MakeApp) -> None:
    said: list[str] = []

    def opening() -> App:
        app = make_app(notes.root)
        app.state.parent.mkdir(parents=True, exist_ok=True)
        app.state.write_text("a file where a folder should be", encoding="utf-8")
        return app

    keeper = Keeper(opening, said.append)
    keeper.expect_first_index()
    keeper.start()
    assert keeper.wait(30)
    keeper.stop()
    assert len(said) == 1


def test_how_far_the_index_is_can_be_read() -> None:
    assert str(Making(1200, 14_000)) == "the index is being made (1,200 of 14,000 notes)"
    assert "0" not in str(Making(0, 0))


def test_a_caller_with_a_thread_of_its_own_gets_the_app(notes: Vault, make_app: MakeApp) -> None:
    serving = Serving(lambda: make_app(notes.root), keep=False)
    assert serving.submit(lambda app: app.root).result(30) == notes.root
    with pytest.raises(IndexMissing):
        serving.submit(_missing).result(30)
    serving.close()


def test_what_is_done_between_calls_goes_on_while_there_is_more(notes: Vault, make_app: MakeApp) -> None:
    done, enough = [], threading.Event()

    def between(app: App) -> bool:
        done.append(app.root)
        if len(done) == 3:
            enough.set()
        return len(done) < 3

    serving = Serving(lambda: make_app(notes.root), keep=False, between=between)
    serving.submit(lambda app: app).result(30)
    assert enough.wait(30)
    serving.close()
    assert done == [notes.root] * 3  # and nothing new is begun at the end


def test_what_fails_at_each_quiet_moment_is_told_once(
    notes: Vault, make_app: MakeApp, capsys: pytest.CaptureFixture[str]
) -> None:
    serving = Serving(lambda: make_app(notes.root), keep=False)
    for error in (
        OSError("not mounted"),
        OSError("not mounted"),
        OSError("read-only"),
        OSError("not mounted"),
    ):
        serving._failed("looking after it", error)
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("hindbrain:")]
    assert [line.rpartition(" ")[2] for line in told] == ["mounted", "read-only", "mounted"]


def test_a_log_that_can_not_be_written_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def write(self, _: str) -> int:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    say("lost")
    report_failure("doing something", ValueError("lost too"))


def test_a_tool_call_sees_a_note_that_was_just_written(notes: Vault, make_app: MakeApp) -> None:
    make_app(notes.root).sync()
    serving = Serving(lambda: make_app(notes.root, warm=True), keep=False)
    (before,) = _asked(serving, lambda memory: memory.recall("zeppelin").passages)
    notes.write("Air/Ship.md", "---\naliases: [Zeppelin]\n---\n# Ship\n\nThe zeppelin lands.\n")
    found, (path, _) = _asked(
        serving,
        lambda memory: memory.recall("zeppelin").passages,
        lambda memory: existing_note(memory, "zeppelin"),
    )
    serving.close()
    assert "Air/Ship.md" not in [hit.path for hit in before]
    assert found[0].path == path == "Air/Ship.md"


def test_a_server_judges_memories_with_the_encoder_once_it_has_read_them(
    notes: Vault, make_app: MakeApp, tmp_path: Path
) -> None:
    model = str(write_model(tmp_path / "encoder"))
    serving = Serving(lambda: make_app(notes.root, encoder_path=model), keep=False)

    def margins(memory: Memory) -> list[float]:
        return [fit.margin for fit in memory.fits("which cat is at home?")]

    _asked(serving, lambda memory: memory.remember("The cat is called Tom."))
    (by_table,) = _asked(serving, margins)
    wait_until(
        lambda: threading.Event().wait(0.5) or _asked(serving, margins) != [by_table]
    )  # it needs quiet
    serving.close()
