"""A daemon that serves plugins, with settings and a state folder of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from service_runs import PATIENCE_S, ServiceRun

from hindbrain.edge.service.routes import ROUTES
from workbench import Vault


@pytest.fixture(autouse=True)
def own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HINDBRAIN_") or name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "settings" / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    monkeypatch.setattr("hindbrain.edge.http.json_server._LOOK_S", 0.02)  # a test ends as soon as it can
    for name, route in ROUTES.items():  # nothing here is about how busy the machine is
        monkeypatch.setitem(ROUTES, name, route._replace(patience_s=PATIENCE_S))


@pytest.fixture
def notes(vault: Vault) -> Vault:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    vault.write("Boats.md", "# Boats\n\nThe dinghy has a red sail.\n\n## Engine\n\nIt starts cold.\n")
    return vault


@pytest.fixture
def service(notes: Vault, tmp_path: Path) -> Iterator[ServiceRun]:
    """Set up for the vault `notes`, with no embedder; each test starts it."""
    made = ServiceRun(tmp_path / "settings" / "config.toml")
    made.set(vault_path=str(notes.root), embedding_provider="none")
    yield made
    made.end()


@pytest.fixture
def served(service: ServiceRun) -> ServiceRun:
    """It runs, and the index is made."""
    service.start()
    service.indexed()
    return service
