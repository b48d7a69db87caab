"""What a process has queued is in its note when the process has ended, or waits safely in the queue."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from hindbrain.app import App
from hindbrain.memory import service
from hindbrain.memory.storage.queue import Waiting, WriteQueue
from hindbrain.vault.lock import FileLock
from workbench import NOW, Vault

FACT = "The boat is moored in Lund"
NOTE = "Agent/Memory/fact.md"

_PROGRAM = """
import sys
from pathlib import Path
from hindbrain.app import build_app
from hindbrain.base.config import load_config

root, state, end = sys.argv[1:]
environ = {"HINDBRAIN_STATE_FOLDER": state, "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
app = build_app(load_config(environ, Path(state) / "none.toml"), Path(root))
assert app.memory.remember("The boat is moored in Lund").action == "queued"
if end == "raise":
    raise RuntimeError("a mistake of the program")
if end == "forget":
    del app
if end == "exit":
    sys.exit(3)
if end == "close":
    app.close()
    assert app.memory.remember("The mast is new").action == "queued"
"""


def run_program(vault: Vault, state: Path, end: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _PROGRAM, str(vault.root), str(state), end]
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, timeout=60)


def in_note(vault: Vault) -> str:
    file = vault.root / NOTE
    return file.read_text(encoding="utf-8") if file.exists() else ""


@pytest.fixture
def app(vault: Vault, make_app: Callable[..., App]) -> App:
    return make_app(vault.root, embedding_provider="none")


@pytest.mark.promise("P29")
@pytest.mark.parametrize("end", ["", "exit", "raise", "forget", "close"])
def test_what_a_program_queued_is_in_its_note_when_the_program_has_ended(
    vault: Vault, tmp_path: Path, end: str
) -> None:
    ran = run_program(vault, tmp_path / "state", end)
    assert ran.returncode == {"exit": 3, "raise": 1}.get(end, 0), ran.stderr
    assert FACT in in_note(vault)
    assert end != "close" or "The mast is new" in in_note(vault)


@pytest.mark.parametrize("lock", ["queue.lock", "write.lock"])
def test_a_program_that_ends_waits_for_nobody_and_leaves_its_memory_in_the_queue(
    vault: Vault, tmp_path: Path, app: App, lock: str
) -> None:
    app.close()
    with FileLock(app.state / lock).held(0):
        ran = run_program(vault, tmp_path / "state", "")
        assert (ran.returncode, ran.stderr) == (0, "")
        assert (in_note(vault), [entry.text for entry in app.memory.queue.pending()]) == ("", [FACT])
    app.memory.settle(idle=True)
    assert FACT in in_note(vault)


def test_closing_brings_what_was_queued_into_its_note(vault: Vault, app: App) -> None:
    with closing(app):
        assert app.memory.remember(FACT, strategy="deferred").action == "queued"
        assert in_note(vault) == ""
    assert FACT in in_note(vault)
    assert WriteQueue(app.state).pending() == []


@pytest.mark.parametrize("lock", ["queue.lock", "write.lock"])
def test_closing_while_another_process_is_stuck_leaves_the_memory_in_the_queue(
    vault: Vault, app: App, monkeypatch: pytest.MonkeyPatch, lock: str
) -> None:
    monkeypatch.setattr(service, "_LEAVING_WAIT_S", 0.0)
    app.memory.remember(FACT)
    with FileLock(app.state / lock).held(0):
        app.close()
    assert (in_note(vault), len(WriteQueue(app.state).pending())) == ("", 1)


def test_closing_a_vault_that_is_gone_makes_nothing_anew(vault: Vault, app: App, tmp_path: Path) -> None:
    app.memory.remember(FACT)
    vault.root.rename(tmp_path / "unmounted")
    app.close()
    assert not vault.root.exists()
    assert len(WriteQueue(app.state).pending()) == 1


def test_who_queued_nothing_leaves_what_others_queued_alone(vault: Vault, app: App) -> None:
    WriteQueue(app.state).add(Waiting("m-00000001", FACT, NOW))
    with closing(app):
        assert app.memory.status().pending == 1
    assert (in_note(vault), len(WriteQueue(app.state).pending())) == ("", 1)


def test_a_long_queue_is_left_to_a_process_that_has_the_time(
    vault: Vault, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "_MOST_AT_LEAVING", 2)
    WriteQueue(app.state).add(*(Waiting(f"m-0000000{n}", f"Fact {n}", NOW) for n in range(3)))
    with closing(app):
        app.memory.remember(FACT, strategy="deferred")
    assert (in_note(vault), len(WriteQueue(app.state).pending())) == ("", 4)


class Service:
    """An embedder that answers over a network: slow, and perhaps never."""

    name = "remote/slow"
    dim = 2

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.calls += 1
        return np.ones((len(texts), self.dim), np.float32)


def test_closing_asks_no_service(vault: Vault, app: App) -> None:
    app.__dict__["embedder"] = asked = Service()
    app.memory.remember("Ada's boat is moored in Lund", strategy="immediate")
    app.memory.remember("Ada's boat is moored in Malmö, not in Lund", strategy="deferred")
    before = asked.calls
    app.close()
    assert "Malmö" in in_note(vault)
    assert asked.calls == before
