"""What a journal acknowledged survives kills and full disks at every call; an import is whole or absent."""

from __future__ import annotations

import errno
import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("faults are injected through fork and kill", allow_module_level=True)

from tests.anomalies import oracle
from tests.anomalies.killer import NEVER, Faults, error_faults, kill, kill_in_the_middle, run_forked

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import HindbrainError
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded, ToolExecuted
from hindbrain.learn.runs.store import RunStore
from hindbrain.vault.write import VaultWriter

NOW = 1_778_846_400.0
RUN: list[Event] = [
    RunCreated("r-1", NOW, "open the window, however long that takes"),
    ToolExecuted("r-1", NOW + 1, "open", {"what": "window", "how": "wide " * 20}),
    ToolExecuted("r-1", NOW + 2, "look", {}),
    RunEnded("r-1", NOW + 3, "complete", 95),
]
IMPORTED: list[list[Event]] = [
    [RunCreated(f"i-{number}", NOW, "go " * 30), RunEnded(f"i-{number}", NOW + 1, "fail")]
    for number in range(20)
]
Act = Callable[[RunStore], object]


class Box:
    """A vault with its state folder, which can be put back to how it was."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.root, self.state = folder / "vault", folder / "state"

    def store(self) -> RunStore:
        self.root.mkdir(parents=True, exist_ok=True)
        writer = VaultWriter(self.root, self.state, FakeClock(NOW))
        return RunStore(self.root, self.state, lambda: writer)

    def copy(self, folder: Path) -> Box:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        return Box(folder)

    def told(self) -> list[Event]:
        store = self.store()
        return list(store.events("r-1")) if store.knows("r-1") else []


def adding(event: Event) -> Act:
    return lambda store: store.journal("r-1").add(event)


def prepared(folder: Path, count: int) -> Box:
    """With the first events of the run."""
    box = Box(folder)
    store = box.store()
    for event in RUN[:count]:
        adding(event)(store)
    return box


def calls_of(box: Box, folder: Path, act: Act) -> int:
    faults = Faults(NEVER, kill)
    store = box.copy(folder).store()
    with faults.active():
        act(store)
    return len(faults.calls)


@pytest.mark.promise("P1")
@pytest.mark.parametrize("before", [0, 1, 3], ids=["first", "second", "end"])
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle], ids=["kill", "half-write"])
def test_a_kill_at_any_call_of_add_loses_no_acknowledged_event_and_makes_none_up(
    place: Path, before: int, strike: Callable[..., None]
) -> None:
    template = prepared(place / "template", before)
    event = RUN[before]
    acknowledged = 0
    calls = calls_of(template, place / "dry", adding(event))
    for at in range(1, calls + 2):
        box = template.copy(place / "box")

        def dying(at: int = at, box: Box = box) -> None:
            store = box.store()
            with Faults(at, strike).active():
                adding(event)(store)

        pid, acked = run_forked(dying)
        acknowledged += acked
        found = box.told()
        assert found in ([RUN[: before + 1]] if acked else [RUN[:before], RUN[: before + 1]]), f"call {at}"
        # The journal goes on: a torn line spoils neither what stands before it nor what comes after.
        store = box.store()
        rest = RUN[len(found) :]
        for later in rest:
            adding(later)(store)
        assert box.told() == RUN
        assert [episode.score for episode in box.store().episodes()] == [95]
        oracle.nothing_is_left_over(box.root, box.state, pids=[pid])
    assert acknowledged == 1  # the one that was not struck


@pytest.mark.promise("P2")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["disk full", "I/O error"])
@pytest.mark.parametrize("before", [0, 2], ids=["first", "third"])
def test_an_error_at_any_call_of_add_is_told_and_the_event_can_be_added_again(
    place: Path, before: int, number: int
) -> None:
    template = prepared(place / "template", before)
    event = RUN[before]
    for at in itertools.count(1):
        box = template.copy(place / "box")
        store = box.store()
        faults = error_faults(at, number)
        told = "ok"
        try:
            with faults.active():
                adding(event)(store)
        except HindbrainError as error:
            told = error.code
        struck = len(faults.calls) >= at
        found = box.told()
        if told == "ok":
            assert found == RUN[: before + 1]
        elif told == "write_failed":
            assert found == RUN[:before]
        else:
            assert told in ("write_unknown", "busy")
            assert found in (RUN[:before], RUN[: before + 1])
        for later in RUN[len(found) :]:
            adding(later)(store)
        assert box.told() == RUN
        assert box.store().passed_over() == 0
        if not struck:
            assert told == "ok"
            break


@pytest.mark.promise("P2")
def test_half_a_line_on_a_full_disk_is_taken_back(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    box = prepared(place / "box", 1)
    store = box.store()
    real = os.write
    room = 40

    def short(fd: int, data: bytes) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real(fd, bytes(data)[:room])
        room -= taken
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", short)
        with pytest.raises(HindbrainError):
            adding(RUN[1])(store)
    assert room <= 0
    for event in RUN[1:]:
        adding(event)(store)
    assert box.told() == RUN
    assert box.store().passed_over() == 0


def importing(store: RunStore) -> object:
    return store.add_imported("others", IMPORTED)


@pytest.mark.promise("P1")
@pytest.mark.promise("P2")
@pytest.mark.parametrize("strike", [kill, kill_in_the_middle], ids=["kill", "half-write"])
@pytest.mark.parametrize("earlier", [0, 5], ids=["new file", "more of it"])
def test_a_kill_at_any_call_of_an_import_leaves_all_of_it_or_nothing(
    place: Path, earlier: int, strike: Callable[..., None]
) -> None:
    template = Box(place / "template")
    template.store().add_imported("others", IMPORTED[:earlier])
    calls = calls_of(template, place / "dry", importing)
    whole = [events[0].run for events in IMPORTED]
    for at in range(1, calls + 2):
        box = template.copy(place / "box")

        def dying(at: int = at, box: Box = box) -> None:
            store = box.store()
            with Faults(at, strike).active():
                importing(store)

        pid, acked = run_forked(dying)
        found = sorted((episode.run for episode in box.store().episodes()), key=whole.index)
        assert found in ([whole] if acked else [whole[:earlier], whole]), f"call {at}"
        assert box.store().passed_over() == 0
        importing(box.store())
        assert len(box.store().episodes()) == len(IMPORTED)
        oracle.nothing_is_left_over(box.root, box.state, pids=[pid])


@pytest.mark.promise("P2")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["disk full", "I/O error"])
def test_an_error_at_any_call_of_an_import_leaves_all_of_it_or_nothing(place: Path, number: int) -> None:
    template = Box(place / "template")
    template.store().add_imported("others", IMPORTED[:5])
    for at in itertools.count(1):
        box = template.copy(place / "box")
        store = box.store()
        faults = error_faults(at, number)
        told = "ok"
        try:
            with faults.active():
                importing(store)
        except HindbrainError as error:
            told = error.code
        found = len(box.store().episodes())
        assert found in {"ok": [20], "write_failed": [5]}.get(told, [5, 20]), f"call {at}: {told}"
        importing(box.store())
        assert len(box.store().episodes()) == len(IMPORTED)
        if len(faults.calls) < at:
            assert told == "ok"
            break
