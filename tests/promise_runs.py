"""Fails a whole default run in which a kept promise had no test that ran: all of them were skipped.

`conftest` takes the two hooks from here. A run of chosen files or marks proves nothing about the rest, so
nothing is asked of it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

_PROMISES = Path(__file__).with_name("promises.toml")
_proved: set[str] = set()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Write a test's promises into its report, so that they reach the process that sums up."""
    for mark in item.iter_markers("promise"):
        item.user_properties += [("promise", str(name)) for name in mark.args]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "call" and report.passed:
        _proved.update(str(value) for name, value in report.user_properties if name == "promise")


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    if (
        hasattr(config, "workerinput")
        or not _is_whole_run(config)
        or session.shouldfail
        or session.shouldstop
    ):
        return
    kept = set(tomllib.loads(_PROMISES.read_text(encoding="utf-8"))["kept"])
    if unproved := sorted(kept - _proved, key=lambda name: int(name[1:])):
        reporter = config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.write_line(f"\nno test ran for these promises: {', '.join(unproved)}", red=True)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED


def _is_whole_run(config: pytest.Config) -> bool:
    option = config.option
    chosen = option.keyword or option.collectonly or option.lf or getattr(option, "ff", False)
    usual = option.markexpr.startswith("not slow")
    return usual and not chosen and config.args_source is config.ArgsSource.TESTPATHS
