"""The service as it is really run: a process of its own, that may be killed at any time."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from service_runs import PATIENCE_S, ServiceRun, free_port, wait_until
from test_service_routes import BODIES


class Killable:
    """`hindbrain up` in the foreground; ended by the id that it was started with."""

    def __init__(self, service: ServiceRun) -> None:
        self._service = service
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "hindbrain", "up", "--foreground"]
        self._process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        wait_until(self._answers)

    def _answers(self) -> bool:
        try:
            return self._service.ask("status").status == 200
        except OSError:
            return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(PATIENCE_S)


@pytest.fixture
def process(service: ServiceRun) -> Iterator[Killable]:
    service.port = free_port()
    service.set(service_port=service.port)
    made = Killable(service)
    yield made
    made.kill()


@pytest.mark.promise("P1")
def test_what_was_said_outlives_a_kill_and_the_next_one_serves_at_once(
    service: ServiceRun, process: Killable
) -> None:
    now = round(1e3 * time.time()) - 1_000
    said = {"session": "s1", "messages": [{"id": "m1", "role": "user", "text": "hello", "at": now}]}
    process.start()
    token = service.token
    assert service.ask("said", said).told == {"keptUntil": now}
    process.kill()
    with pytest.raises(OSError):
        service.ask("status")
    process.start()
    assert service.token == token
    event = {"session": "s1", "event": "session-start"}
    wait_until(lambda: service.ask("event", event).told == {"keptUntil": now})
    assert service.ask("said", said).told == {"keptUntil": now}
    service.indexed()
    wait_until(lambda: service.ask("search", BODIES["search"]).status == 200)
