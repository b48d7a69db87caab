"""Fixtures for tests with real agent hosts; they skip, and say why, where the hosts can't be had."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from desk import PLUGIN, Desk, session_start_millis
from host_programs import Programs, Unavailable, find_programs
from stub_model import StubModel

_MILLIS: dict[tuple[str, str], list[float]] = {}  # (with or without daemon, event) to what the host measured


@pytest.fixture(scope="session")
def programs() -> Programs:
    try:
        return find_programs()
    except Unavailable as why:
        pytest.skip(str(why))


@pytest.fixture
def model() -> Iterator[StubModel]:
    with StubModel() as model:
        yield model


@pytest.fixture
def make_desk(tmp_path: Path, programs: Programs, model: StubModel) -> Iterator[Callable[..., Desk]]:
    assert PLUGIN.is_dir(), f"no plugin at {PLUGIN}"
    made: list[Desk] = []

    def make(*, daemon: bool = False) -> Desk:
        folder = tmp_path / f"desk{len(made)}"
        folder.mkdir()
        made.append(Desk(folder, programs, model, daemon))
        return made[-1]

    yield make
    for desk in made:
        _keep_times(desk)
    left = [words for desk in made for words in desk.clear_away()]
    assert not left, f"still running after the test: {left}"


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    """Without a background process: each hook does its job itself."""
    return make_desk()


def _keep_times(desk: Desk) -> None:
    kind = "daemon" if desk.daemon else "alone"
    for event, millis in [*desk.place.hook_millis, *session_start_millis(desk.claude.transcripts())]:
        _MILLIS.setdefault((kind, event), []).append(millis)


def _bare_python_millis() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "pass"], check=True, timeout=60)
    return 1_000 * (time.monotonic() - began)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _MILLIS:
        return
    terminalreporter.section("wall time of hooks, as Claude Code saw it")
    bare = [_bare_python_millis() for _ in range(7)]
    terminalreporter.write_line(f"a bare `python -c pass` beside it: p50={statistics.median(bare):.0f} ms")
    for (kind, event), millis in sorted(_MILLIS.items()):
        middle = statistics.median(millis)
        terminalreporter.write_line(
            f"{kind:7} {event:20} n={len(millis):3} p50={middle:5.0f} ms max={max(millis):5.0f} ms"
        )
