"""A machine of its own for a journey: settings, state, home; and the doors through which it goes in."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from journey_doors import CommandLine


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder below which everything lies; nothing of the real machine's settings is seen."""
    for name in list(os.environ):
        if name.startswith(("HINDBRAIN_", "CLAUDE", "CODEX", "OPENCLAW")) or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "settings" / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    return tmp_path


@pytest.fixture
def hb(machine: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """The command line, on the vault `machine/vault`."""
    return CommandLine(machine / "vault", capsys)
