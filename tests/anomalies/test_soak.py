"""A day in ten minutes: thousands of requests through every door of one machine, and nothing piles up.

HINDBRAIN_SOAK_S=20 gives a short form; the number of requests shrinks with it.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("the daemon is ended by a signal", allow_module_level=True)

from tests.anomalies import oracle
from tests.anomalies.machine import Machine, resident_bytes, seconds_from, use_some_door

from index_oracle import assert_equals_vault

_LONG_S, _REQUESTS = 600.0, 5_000
_GROWTH, _SLACK_BYTES = 1.2, 16 << 20  # of memory, between a quarter of the time and the end


def soak(folder: Path, seconds: float, requests: int) -> None:
    machine = Machine(folder, seed=4)
    machine.start_daemon()
    mcp = machine.open_mcp()
    outside = oracle.snapshot(folder, without=(machine.root, folder / "state"))
    begun, done = time.monotonic(), 0
    early: dict[int, int] = {}
    while done < requests or time.monotonic() - begun < seconds:
        use_some_door(machine, mcp)
        done += 1
        if not early and done >= requests // 4 and time.monotonic() - begun >= seconds / 4:
            early = {pid: resident_bytes(pid) for pid in (machine.daemon_pid, mcp.pid)}
    late = {pid: resident_bytes(pid) for pid in early}
    mcp.close()
    machine.stop_daemon()
    machine.command("sync")
    print(f"{done:,} requests: {machine.codes()}; memory {early} -> {late}")
    assert set(machine.codes()) == {"ok"}
    log = (machine.root / "Log.md").read_text(encoding="utf-8")
    assert sorted(token for token in machine.acknowledged() if log.count(f"- {token} happened") != 1) == []
    assert all(late[pid] <= _GROWTH * early[pid] + _SLACK_BYTES for pid in early)
    oracle.nothing_is_left_over(machine.root, machine.state, pids=machine.pids)
    oracle.nothing_outside_changed(outside, oracle.snapshot(folder, without=(machine.root, folder / "state")))
    assert_equals_vault(machine.state / "index.db", machine.root)


@pytest.mark.slow
@pytest.mark.promise("P29")
def test_five_thousand_requests_in_ten_minutes_leave_nothing_behind(place: Path) -> None:
    seconds = seconds_from("HINDBRAIN_SOAK_S", _LONG_S)
    soak(place, seconds, round(_REQUESTS * seconds / _LONG_S))
