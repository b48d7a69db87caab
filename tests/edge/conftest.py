"""The command line as a test calls it: in this process, with settings and state of its own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.base.clock import SystemClock
from hindbrain.vault.write import VaultWriter
from workbench import Vault


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "settings" / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def cli(vault: Vault, capsys: pytest.CaptureFixture[str]) -> Cli:
    return Cli(vault.root, capsys)


@pytest.fixture
def notes(vault: Vault) -> Vault:
    """A vault with a handful of notes."""
    vault.write(
        "Tea.md", "---\ntags: [drink]\naliases: [Brew]\n---\n# Tea\n\nGreen tea is brewed at 70 degrees.\n"
    )
    vault.write(
        "Projects/Garden/plan.md",
        "# Plan\n\n## Beds\n\nCarrots beside onions.\n\n## Water\n\nEvery evening.\n",
    )
    vault.write("Archive/plan.md", "---\ndate: 2024-05-01\n---\n# Old plan\n\nTurnips everywhere.\n")
    vault.write("Daily/2026-03-02.md", "# 2026-03-02\n\nMet Ada about the boat.\n\n- bought rope ^rope\n")
    return vault


@pytest.fixture
def indexed(cli: Cli, notes: Vault) -> Vault:
    assert cli("sync").code == 0
    return notes


@pytest.fixture
def made(cli: Cli, vault: Vault) -> Vault:
    """A vault with a layout and one note, indexed."""
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("sync").code == 0
    return vault


@pytest.fixture
def writer(cli: Cli, made: Vault) -> VaultWriter:
    """Writes to that vault as another process would."""
    state = Path(cli("status", "--json").data["vault"]["state"])
    return VaultWriter(made.root, state, SystemClock())
