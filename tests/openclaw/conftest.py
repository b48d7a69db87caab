"""A machine with an OpenClaw and a vault on it, and nothing of ours set up."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from claw_bench import PLAIN, Claw, put_program

from workbench import Vault


@pytest.fixture
def claw(
    tmp_path: Path, vault: Vault, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Claw:
    for name in [name for name in os.environ if name.startswith(("HINDBRAIN_", "OPENCLAW_"))]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(tmp_path / "state"))
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(tmp_path / "settings" / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("PATH", f"{put_program(tmp_path / 'program', '2026.9.6')}{os.pathsep}{os.defpath}")
    monkeypatch.chdir(vault.root)
    claw = Claw(home, capsys)
    claw.write(PLAIN)
    return claw
