"""A hook's way to the daemon is short, and no answer is no error."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from daemon_runs import PATIENCE_S

from hindbrain.base.config import load_config
from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.address import likely_folder
from hindbrain.edge.daemon.starting import folder_of

_HEAVY = frozenset(
    ("typing", "pathlib", "dataclasses", "subprocess", "asyncio", "threading", "logging", "secrets", "hmac",
     "socket", "selectors", "tempfile", "apsw", "numpy", "hindbrain.app", "hindbrain.base.config", "argparse")
)  # fmt: skip


def test_to_ask_imports_almost_nothing(folder: Path) -> None:
    program = (
        "import sys\n"
        "from hindbrain.edge.daemon.client import ask\n"
        f"assert ask({str(folder)!r}, 'ping', '', {{}}, timeout_s=1) is None\n"
        "print(*sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    modules = set(ran.stdout.split())
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert not (modules - set(bare.stdout.split())) & _HEAVY


def test_without_a_daemon_there_is_no_answer_and_no_wait(folder: Path) -> None:
    began = time.monotonic()
    assert client.ask(folder, "turn", "/vault", {"prompt": "hello"}, timeout_s=600) is None
    assert client.tell(folder, "settle", "/vault", {}) is False
    assert time.monotonic() - began < PATIENCE_S


def test_the_likely_folder_is_the_one_of_the_settings_or_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_settings() -> str:
        return str(folder_of(load_config()))

    def likely() -> str:
        return likely_folder(os.environ)

    assert likely() == by_settings()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", "relative/./state")
    assert Path(likely()) == Path(by_settings())
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", "~/state")
    assert likely() == by_settings()
    monkeypatch.delenv("HINDBRAIN_STATE_FOLDER")
    assert likely() == ""  # a settings file of one's own may say anything
    monkeypatch.delenv("HINDBRAIN_CONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    for data in ("", str(tmp_path / "data")):
        monkeypatch.setenv("XDG_DATA_HOME", data)
        assert likely() in ("", by_settings())
    if sys.platform == "linux":
        assert likely()
