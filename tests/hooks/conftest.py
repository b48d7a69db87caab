"""A vault, and a place of its own for settings and state, as a hook finds them in its environment."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_session import Session

from hindbrain.vault.layout import LAYOUTS
from workbench import Vault


@pytest.fixture
def surroundings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The state folder of a machine on which nothing was set up, and no daemon is wanted."""
    for name in [name for name in os.environ if name.startswith(("HINDBRAIN_", "CLAUDE", "CODEX"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "false")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "state"


@pytest.fixture
def synced(vault: Vault, surroundings: Path) -> Vault:
    """A vault with one note that can be found."""
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config

    vault.write("Kite.md", "# Kite\n\nThe kite server runs on port 7421; kitectl reload restarts it.\n")
    vault.write("Broth.md", "# Broth\n\nChicken broth simmers for three hours.\n")
    app = build_app(load_config(), vault.root, warm=False)
    app.sync()
    app.close()
    return vault


@pytest.fixture
def session(vault: Vault, surroundings: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Session]:
    yield Session(vault)
    capsys.readouterr()


@pytest.fixture(params=LAYOUTS)
def started(request: pytest.FixtureRequest, session: Session) -> Session:
    session.vault.write("Areas/Garden.md", "# Garden\n\nTomatoes get water every second morning.\n")
    session.vault.write("Projects/Boat.md", "# Boat\n\nVarnish the mast.\n")
    session.run("init", "--layout", request.param)
    session.run("sync")
    return session
