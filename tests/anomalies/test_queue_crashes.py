"""Acknowledged memories survive kills at every call that changes a file, and many processes at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("faults are injected through fork and kill", allow_module_level=True)

from tests.anomalies.killer import CHANGES_FILES, NEVER, Faults, kill, kill_in_the_middle, run_forked

from hindbrain.app import App, build_app
from hindbrain.base.clock import FakeClock
from hindbrain.base.config import load_config
from hindbrain.memory.storage.queue import Waiting, WriteQueue

_NOW = 1_778_846_400.0


def make_app(folder: Path) -> App:
    (folder / "vault" / ".obsidian").mkdir(parents=True, exist_ok=True)
    environ = {"HINDBRAIN_STATE_FOLDER": str(folder / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
    config = load_config(environ, folder / "none.toml")
    return build_app(config, folder / "vault", clock=FakeClock(_NOW))


def texts(folder: Path) -> list[str]:
    """What is remembered in the end, wherever it was when the process died."""
    memory = make_app(folder).memory
    memory.settle(idle=True)
    assert memory.queue.pending() == []
    return sorted(item.text for item in memory.book.items())


def calls_of(action: Callable[[], None]) -> list[int]:
    """The numbers of the calls that change a file, in a run without a fault."""
    reader, writer = os.pipe()

    def counted() -> None:
        faults = Faults(NEVER, kill)
        with faults.active():
            action()
        numbers = [str(n) for n, name in enumerate(faults.calls, start=1) if name in CHANGES_FILES]
        os.write(writer, ",".join(numbers).encode())

    _, done = run_forked(counted)
    os.close(writer)
    with open(reader, "rb") as told:
        data = told.read().decode()
    assert done
    return [int(number) for number in data.split(",")]


@pytest.mark.promise("P1")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle])
def test_a_kill_at_any_call_of_adding_loses_no_acknowledged_memory(
    tmp_path: Path, strike: Callable[..., None]
) -> None:
    def act(folder: Path) -> Callable[[], None]:
        return lambda: WriteQueue(folder).add(Waiting("m-2", "two", _NOW))

    WriteQueue(tmp_path / "dry").add(Waiting("m-1", "one", _NOW))
    for at in calls_of(act(tmp_path / "dry")):
        folder = tmp_path / f"{at}"
        WriteQueue(folder).add(Waiting("m-1", "one", _NOW))

        def dying(at: int = at, folder: Path = folder) -> None:
            with Faults(at, strike).active():
                act(folder)()

        _, acknowledged = run_forked(dying)
        WriteQueue(folder).add(Waiting("m-3", "three", _NOW))
        found = [entry.id for entry in WriteQueue(folder).pending()]
        assert found in ([["m-1", "m-2", "m-3"]] if acknowledged else [["m-1", "m-3"], ["m-1", "m-2", "m-3"]])


@pytest.mark.promise("P1")
def test_a_kill_at_any_call_of_a_flush_neither_loses_nor_doubles_a_memory(tmp_path: Path) -> None:
    facts = ["Ada lives in Lund", "Bob plays the oboe", "The rent is due in May"]

    def prepare(folder: Path) -> None:
        memory = make_app(folder).memory
        memory.remember("Ada's cat is called Pixel", importance=0.9)
        for fact in facts:
            memory.remember(fact, category="contact" if "Bob" in fact else "fact")

    def flush(folder: Path) -> None:
        make_app(folder).memory.settle(idle=True)

    expected = sorted([*facts, "Ada's cat is called Pixel"])
    prepare(tmp_path / "dry")
    numbers = calls_of(lambda: flush(tmp_path / "dry"))
    assert texts(tmp_path / "dry") == expected
    for at in numbers[:: max(1, len(numbers) // 25)]:
        folder = tmp_path / f"{at}"
        prepare(folder)

        def dying(at: int = at, folder: Path = folder) -> None:
            with Faults(at, kill).active():
                flush(folder)

        run_forked(dying)
        assert texts(folder) == expected, f"killed at call {at}"


@pytest.mark.slow
@pytest.mark.promise("P1")
def test_a_kill_at_each_call_of_a_flush_that_supersedes_loses_nothing(tmp_path: Path) -> None:
    def prepare(folder: Path) -> None:
        memory = make_app(folder).memory
        memory.remember("Favourite editor is vim", category="preference", importance=0.9)
        memory.remember("Favourite editor is emacs", category="preference")

    def flush(folder: Path) -> None:
        make_app(folder).memory.settle(idle=True)

    prepare(tmp_path / "dry")
    for at in calls_of(lambda: flush(tmp_path / "dry")):
        folder = tmp_path / f"{at}"
        prepare(folder)

        def dying(at: int = at, folder: Path = folder) -> None:
            with Faults(at, kill).active():
                flush(folder)

        run_forked(dying)
        memory = make_app(folder).memory
        assert len([item for item in [*memory.book.items(), *memory.pending_items()] if not item.superseded])
        memory.settle(idle=True)
        assert [(item.text, bool(item.superseded)) for item in memory.book.items()] == [
            ("Favourite editor is vim", True),
            ("Favourite editor is emacs", False),
        ]


@pytest.mark.promise("P3")
def test_processes_that_add_and_flush_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    """Six writers without a lock against two that take files away under their hands."""
    writers, each = 6, 40
    (tmp_path / "applied").mkdir()

    def write(who: int) -> None:
        queue = WriteQueue(tmp_path / "state")
        for number in range(each):
            queue.add(Waiting(f"m-{who}-{number}", "fact", _NOW))

    def flush(who: int) -> None:
        queue = WriteQueue(tmp_path / "state")
        for turn in range(60):
            with queue.flushing(10) as taken:
                names = [entry.id for entry in taken.waiting]
                (tmp_path / "applied" / f"{who}-{turn}").write_text(" ".join(names), encoding="utf-8")
                taken.done(names[::2])  # the others wait for somebody's next turn

    children = []
    for work, who in [(write, n) for n in range(writers)] + [(flush, n) for n in range(2)]:
        pid = os.fork()
        if pid == 0:
            failed = 1
            try:
                work(who)
                failed = 0
            finally:
                os._exit(failed)
        children.append(pid)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    seen = {
        name for file in (tmp_path / "applied").iterdir() for name in file.read_text(encoding="utf-8").split()
    }
    left = {entry.id for entry in WriteQueue(tmp_path / "state").pending()}
    assert seen | left == {f"m-{who}-{number}" for who in range(writers) for number in range(each)}
