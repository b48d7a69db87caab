"""A vault to serve, and what starts servers of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_clients import HttpServer, Lines, Servers

from workbench import Vault


@pytest.fixture
def notes(vault: Vault) -> Vault:
    fill(vault)
    return vault


def fill(vault: Vault) -> None:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n\n## Shop\n\nOpen on Mondays.\n")
    vault.write("Projects/Garden.md", "---\ntags: [garden]\n---\n# Garden\n\nCarrots beside onions.\n")


@pytest.fixture
def servers(notes: Vault, tmp_path: Path) -> Servers:
    return Servers(notes.root, tmp_path / "state")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Servers:
    """A vault that the tests of a module share, for those that look and do not change."""
    folder = tmp_path_factory.mktemp("shared")
    vault = Vault(folder / "vault")
    (vault.root / ".obsidian").mkdir(parents=True)
    fill(vault)
    return Servers(vault.root, folder / "state")


@pytest.fixture(scope="module")
def lines(shared: Servers) -> Iterator[Lines]:
    """One long session over stdio, greeted."""
    client = Lines(shared.start("--tools", "all"))
    client.greet()
    yield client
    client.hang_up()


@pytest.fixture(scope="module")
def http_server(shared: Servers) -> Iterator[HttpServer]:
    server = HttpServer(shared)
    yield server
    server.end()
