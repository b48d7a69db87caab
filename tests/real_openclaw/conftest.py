"""Fixtures for tests with the real OpenClaw; they skip, and say why, where it can't be had."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from tests.real_openclaw.notes_of_noor import furnish
from tests.real_openclaw.program import Program, Unavailable, find_program
from tests.real_openclaw.record import Record
from tests.real_openclaw.rig import Rig, merged, open_rig
from tests.real_openclaw.telegram_stub import GROUP, OTHER, OWNER

MakeRig: TypeAlias = Callable[..., contextlib.AbstractContextManager[Rig]]
_RECORD = Record()
_PLAIN = {"agents": {"defaults": {"heartbeat": {"every": "0m"}}}}  # no turn that no test asked for


@pytest.fixture(scope="session")
def program() -> Program:
    try:
        found = find_program()
    except Unavailable as why:
        pytest.skip(str(why))
    _RECORD.openclaw = found.version
    _RECORD.node = subprocess.run(
        [str(found.node), "--version"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        encoding="utf-8",
    ).stdout.strip()
    return found


@pytest.fixture(scope="session")
def record() -> Record:
    return _RECORD


@pytest.fixture(scope="session")
def make_rig(program: Program, tmp_path_factory: pytest.TempPathFactory) -> MakeRig:
    """A rig with nothing started; changes as keywords go into openclaw.json."""

    @contextlib.contextmanager
    def make(**changes: Any) -> Iterator[Rig]:
        # A short name: Unix sockets have to fit into about a hundred characters.
        with open_rig(tmp_path_factory.mktemp("claw"), changes=merged(_PLAIN, changes)) as rig:
            yield rig
        _RECORD.starts.extend(rig.gateway.start_seconds)
        assert not rig.left, f"still running after the test: {rig.left}"

    return make


@pytest.fixture(scope="session")
def plain(make_rig: MakeRig) -> Iterator[Rig]:
    """OpenClaw as it comes, with a phone and its own memory; its gateway runs."""
    with make_rig() as rig:
        rig.gateway.start()
        yield rig


@pytest.fixture(scope="session")
def ours(make_rig: MakeRig, record: Record) -> Iterator[Rig]:
    """Noor's OpenClaw with her vault as its memory, put there by our own command; its gateway runs."""
    telegram = {
        "groupPolicy": "allowlist",
        "groupAllowFrom": [OWNER, OTHER],
        "groups": {GROUP: {"requireMention": False}},
    }
    agents: dict[str, Any] = {"entries": {"main": {}, "work": {}}}
    bindings = [{"agentId": "main", "match": {"channel": "telegram"}}]
    with make_rig(channels={"telegram": telegram}, agents=agents, bindings=bindings) as rig:
        furnish(rig)
        installed = rig.hindbrain("openclaw", "install")
        assert installed.code == 0, installed
        record.shown("Set-up", f"`hindbrain openclaw install` took {installed.seconds:.1f} s")
        rig.gateway.start()
        yield rig


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the gateway said goes into the report of a test that failed."""
    report = yield
    if report.failed:
        for value in getattr(item, "funcargs", {}).values():
            if isinstance(value, Rig):
                report.sections.append(("the gateway", value.gateway.tail(80)))
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _RECORD:
        return
    terminalreporter.section("what was shown with the real OpenClaw")
    terminalreporter.write(_RECORD.text())
    file = os.environ.get("HINDBRAIN_OPENCLAW_RECORD")
    if file:
        _RECORD.write(Path(file))
