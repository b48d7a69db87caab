"""Daemons for tests: processes that are ended by the id they were started with, or one in this process."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_runs import PATIENCE_S, Daemons, InProcess

from hindbrain.edge.daemon import client
from workbench import Vault


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "settings" / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    # Whoever tells and does not wait gives up soon; a busy machine may take longer for a small thing.
    monkeypatch.setattr(client, "_SEND_S", PATIENCE_S)


@pytest.fixture
def notes(vault: Vault) -> Vault:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    vault.write("Boats.md", "# Boats\n\nThe dinghy has a red sail.\n")
    return vault


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The daemon's folder of the state folder that the settings name."""
    return tmp_path / "state" / "daemon"


@pytest.fixture
def daemons(folder: Path) -> Iterator[Daemons]:
    """Processes; whatever a test leaves running is ended here, by its own id."""
    made = Daemons(folder)
    yield made
    made.end_all()


@pytest.fixture
def in_process(folder: Path) -> Iterator[InProcess]:
    made = InProcess(folder)
    yield made
    made.end()
