"""Crashes, full disks, I/O errors and editors, against every way in which a note is written."""

import errno
import itertools
import os
import shutil
from pathlib import Path

import pytest
from tests.anomalies import killer, oracle
from tests.anomalies.oracle import Ack, Outcome
from tests.anomalies.scenarios import SCENARIOS, Sandbox, Scenario, build

from hindbrain.base.errors import HindbrainError
from hindbrain.vault import swap

pytestmark = pytest.mark.skipif(os.name == "nt", reason="faults are injected through POSIX calls")
BY_NAME = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)


def judge(folder: Path, sandbox: Sandbox, scenario: Scenario, before: Path, told: str, pid: int = -1) -> None:
    """Restart, then every invariant. `before` is a copy of the folder from before the act."""
    with sandbox.writer() as writer:
        now = sandbox.read(scenario.path)
        done = now == scenario.after
        oracle.notes_are_whole(sandbox.root, {scenario.path: (scenario.before, scenario.after)})
        if told == "ok":
            oracle.acknowledged_writes_are_there(
                sandbox.root, sandbox.state, [Ack(scenario.path, scenario.after)]
            )
        oracle.everything_was_reported([Outcome(scenario.name, told or "killed", done)])
        oracle.others_are_identical(
            oracle.snapshot(before / "vault"), oracle.snapshot(sandbox.root), touched=[scenario.path]
        )
        oracle.nothing_outside_changed(
            oracle.snapshot(before, without=[before / "vault", before / "state"]),
            oracle.snapshot(folder, without=[sandbox.root, sandbox.state]),
        )
        oracle.nothing_is_left_over(sandbox.root, sandbox.state, pids=[pid] if pid > 0 else [])
        assert not oracle.conflict_copies(sandbox.root)
        if scenario.name != "state file" and done:
            assert writer.history(limit=1)[0].after_hash == ("" if now is None else oracle.sha(now))
            writer.undo()
            assert sandbox.read(scenario.path) == scenario.before


def fresh(template: Path, folder: Path) -> Sandbox:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    return Sandbox(folder / "vault", folder / "state")


def calls_of(template: Path, folder: Path, scenario: Scenario) -> list[str]:
    sandbox = fresh(template, folder)
    faults = killer.Faults(killer.NEVER, killer.kill)
    with sandbox.writer() as writer, faults.active():
        scenario.act(writer)
    return faults.calls


@pytest.mark.promise("P1")
@pytest.mark.promise("P2")
@pytest.mark.parametrize("strike", [killer.kill, killer.kill_in_the_middle], ids=["kill", "half-write"])
@BY_NAME
def test_a_kill_at_any_call_leaves_the_old_or_the_new_note(place, scenario, strike):
    template, folder = place / "template", place / "run"
    build(template, scenario)
    calls = calls_of(template, folder, scenario)
    for number, name in enumerate([*calls, "after the last"], start=1):
        if name not in (killer.CHANGES_FILES if strike is killer.kill else {"write"}) and number <= len(
            calls
        ):
            continue
        sandbox = fresh(template, folder)

        def act(sandbox: Sandbox = sandbox, number: int = number) -> None:
            with sandbox.writer() as writer, killer.Faults(number, strike).active():
                scenario.act(writer)

        pid, acked = killer.run_forked(act)
        judge(folder, sandbox, scenario, template, "ok" if acked else "", pid)


@pytest.mark.promise("P2")
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=["disk full", "I/O error"])
@BY_NAME
def test_an_error_at_any_call_is_reported_and_leaves_the_old_or_the_new_note(place, scenario, number):
    template, folder = place / "template", place / "run"
    build(template, scenario)
    for at in itertools.count(1):
        sandbox = fresh(template, folder)
        faults = killer.error_faults(at, number)
        told = "ok"
        with sandbox.writer() as writer:
            try:
                with faults.active():
                    scenario.act(writer)
            except HindbrainError as error:
                told = error.code
            struck = faults.calls[at - 1] if len(faults.calls) >= at else ""
            if told == "write_failed":
                assert sandbox.read(scenario.path) == scenario.before
                if struck != "unlink":
                    oracle.nothing_is_left_over(sandbox.root, sandbox.state)
        judge(folder, sandbox, scenario, template, told)
        if not struck:
            assert told == "ok"
            break


@pytest.mark.promise("P2")
@BY_NAME
def test_a_disk_that_stays_full_fails_the_write_and_nothing_else(place, scenario, monkeypatch):
    sandbox = build(place / "run", scenario)

    def full(fd: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with sandbox.writer() as writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", full)
            with pytest.raises(HindbrainError) as raised:
                scenario.act(writer)
        assert raised.value.code == "write_failed"
        assert sandbox.read(scenario.path) == scenario.before
        oracle.nothing_is_left_over(sandbox.root, sandbox.state)
        scenario.act(writer)
        assert sandbox.read(scenario.path) == scenario.after


@pytest.mark.parametrize("scenario", SCENARIOS[:4], ids=lambda scenario: scenario.name)
def test_without_exchange_a_kill_at_any_call_leaves_the_old_or_the_new_note(place, scenario, monkeypatch):
    def missing(*args: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(swap, "exchange", missing)
    monkeypatch.setattr(swap, "rename_new", missing)
    test_a_kill_at_any_call_leaves_the_old_or_the_new_note(place, scenario, killer.kill)


@pytest.mark.promise("P1")
def test_a_kill_during_recovery_is_recovered_from(place):
    scenario = next(each for each in SCENARIOS if each.name == "replace")
    template, crashed, folder = place / "template", place / "crashed", place / "run"
    build(template, scenario)
    calls = calls_of(template, folder, scenario)
    after_swap = calls.index("exchange") + 2
    sandbox = fresh(template, crashed)

    def crash() -> None:
        with sandbox.writer() as writer, killer.Faults(after_swap, killer.kill).active():
            scenario.act(writer)

    assert not killer.run_forked(crash)[1]
    for number in itertools.count(1):
        again = fresh(crashed, folder)

        def recover(again: Sandbox = again, number: int = number) -> None:
            with killer.Faults(number, killer.kill).active():
                again.writer().close()

        _, survived = killer.run_forked(recover)
        judge(folder, again, scenario, template, "")
        if survived:
            break
