"""What a new owner does on the first day, through the real program."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

_DEADLINE_S = 60.0  # generous: the machine may be busy

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    own = {
        "HINDBRAIN_CONFIG": str(tmp_path / "config.toml"),
        "HINDBRAIN_STATE_FOLDER": str(tmp_path / "state"),
    }
    return kept | own | {"PYTHONIOENCODING": "utf-8", "PYTHONUTF8": "1"}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    root = tmp_path / "my notes"
    (root / "Journal").mkdir(parents=True)
    (root / "Boat.md").write_text("# Boat\n\nThe mast needs varnish before June.\n", encoding="utf-8")
    (root / "Journal" / "2026-03-02.md").write_text("Rowed to the island with Ada.\n", encoding="utf-8")
    return root


@pytest.fixture
def run(environ: dict[str, str], notes: Path) -> Run:
    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hindbrain", *words]
        return subprocess.run(
            command,
            cwd=notes,
            env=environ,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=_DEADLINE_S,
        )

    return call


def test_from_a_folder_of_notes_to_answers(run: Run, notes: Path) -> None:
    assert run("status").returncode == 1  # not a vault yet, and it says how to make it one
    assert run("init").returncode == 0
    first = run("search", "varnish the mast")
    assert first.returncode == 0 and "Boat.md:" in first.stdout
    assert "first time" in first.stderr

    (notes / "Boat.md").write_text("# Boat\n\nThe mast is done; the rudder creaks.\n", encoding="utf-8")
    assert run("sync").returncode == 0
    assert "rudder" in run("search", "rudder", "--keyword").stdout
    assert json.loads(run("search", "varnish", "--keyword", "--json").stdout)["hits"] == []

    assert "creaks" in run("read", "boat").stdout
    assert run("doctor").returncode == 0


def test_a_reader_that_leaves_early_is_no_error(environ: dict[str, str], run: Run, notes: Path) -> None:
    for number in range(300):
        (notes / f"{number}.md").write_text(
            f"# Note {number}\n\nbarnacle {'text ' * 300}\n", encoding="utf-8"
        )
    run("init", "--sync")
    command = [sys.executable, "-m", "hindbrain", "search", "barnacle", "-k", "300"]
    ran = subprocess.Popen(command, cwd=notes, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert ran.stdout is not None and ran.stderr is not None
    ran.stdout.read(10)
    ran.stdout.close()
    errors = ran.stderr.read().decode()
    ran.stderr.close()
    assert ran.wait(_DEADLINE_S) == 0
    assert "Traceback" not in errors and "BrokenPipe" not in errors


def _next_event(watcher: subprocess.Popen[str], wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read the watcher's events until the one that is waited for; the process is ended when none comes."""
    assert watcher.stdout is not None
    timer = threading.Timer(_DEADLINE_S, watcher.kill)
    timer.start()
    try:
        for line in watcher.stdout:
            event: dict[str, Any] = json.loads(line)
            if wanted(event):
                return event
    finally:
        timer.cancel()
    raise AssertionError("the watcher ended or said nothing in time")


def test_watching_takes_in_an_edit_and_ends_when_told(environ: dict[str, str], run: Run, notes: Path) -> None:
    run("init", "--sync")
    command = [sys.executable, "-m", "hindbrain", "watch", "--json"]
    with subprocess.Popen(
        command,
        cwd=notes,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as watcher:
        try:
            _next_event(watcher, lambda event: event["kind"] in ("synced", "checked"))
            (notes / "New.md").write_text("A cormorant on the jetty.\n", encoding="utf-8")
            _next_event(watcher, lambda event: bool(event["report"] and event["report"]["indexed"]))
            assert "New.md" in run("search", "cormorant", "--keyword").stdout
            assert json.loads(run("status", "--json").stdout)["watch"]["alive"] is True
            watcher.send_signal(signal.SIGTERM)
            _, errors = watcher.communicate(timeout=_DEADLINE_S)
        finally:
            watcher.kill()
    assert "Traceback" not in errors
    if os.name != "nt":  # there a process is ended without a word
        assert watcher.returncode == 0
        assert json.loads(run("status", "--json").stdout)["watch"] is None
