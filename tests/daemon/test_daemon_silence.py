"""A daemon that says nothing at all is waited for once, and then left alone for a while."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from daemon_runs import PATIENCE_S, Daemons, InProcess, halt, wait_until

from hindbrain import __version__
from hindbrain.app import build_app
from hindbrain.base.config import load_config
from hindbrain.edge.daemon import client, silence, verbs
from hindbrain.edge.daemon.verbs import Verb
from hindbrain.edge.hooks.journal import read_calls
from workbench import Vault

posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


def _ask(folder: Path, timeout_s: float = 0.1) -> Any:
    return client.ask(folder, "ping", "", {}, timeout_s=timeout_s)


def _pass_over(mark: Path) -> None:
    """As if it had been silent for so long that it is asked again."""
    then = mark.stat().st_mtime - silence.LEFT_ALONE_S - 1
    os.utime(mark, (then, then))


@posix
@pytest.mark.promise("P13")
def test_a_stopped_daemon_is_left_alone_and_asked_again_later(
    daemons: Daemons, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = daemons.start()
    mark = folder / silence.FILE
    halt(process)
    assert _ask(folder) is None and mark.exists()

    with monkeypatch.context() as patched:
        patched.setattr(client, "_connect", lambda *_: pytest.fail("it was asked though it is silent"))
        assert _ask(folder) is None
        assert client.tell(folder, "ping", "", {}) is False

    _pass_over(mark)
    before = mark.stat().st_mtime
    assert _ask(folder, PATIENCE_S) is None  # a short wait, whatever the caller would have given it
    assert mark.stat().st_mtime > before

    process.send_signal(signal.SIGCONT)
    _pass_over(mark)
    assert client.request(folder, "ping", "", {}, timeout_s=PATIENCE_S)  # it has come to itself
    assert _ask(folder, PATIENCE_S) == {"pid": process.pid, "version": __version__}
    assert not mark.exists()


def test_a_daemon_that_ends_takes_the_mark_with_it(daemons: Daemons, folder: Path) -> None:
    process = daemons.start()
    (folder / silence.FILE).write_bytes(b"of whatever daemon")
    process.terminate()
    assert process.wait(PATIENCE_S) == 0
    assert not (folder / silence.FILE).exists()


@posix
def test_the_next_daemon_does_not_pay_for_the_silence_of_the_last(daemons: Daemons, folder: Path) -> None:
    process = daemons.start()
    halt(process)
    assert _ask(folder) is None
    process.kill()
    process.wait(PATIENCE_S)
    following = daemons.start()
    assert _ask(folder, PATIENCE_S) == {"pid": following.pid, "version": __version__}
    assert not (folder / silence.FILE).exists()


def test_one_that_is_slow_is_not_silent(
    notes: Vault, in_process: InProcess, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    known = {**verbs.VERBS, "block": Verb({}, {}, lambda *_: {"n": go_on.wait(PATIENCE_S)})}
    monkeypatch.setattr(verbs, "VERBS", known)
    monkeypatch.setattr(silence, "AGAIN_S", PATIENCE_S)
    monkeypatch.setattr(client, "_MARGIN_S", 0.0)  # so that the caller's time is up before the daemon says so
    in_process.start()
    try:
        assert client.ask(folder, "block", notes.root, {}, timeout_s=0.1) is None
        assert not (folder / silence.FILE).exists()
    finally:
        go_on.set()


@pytest.mark.parametrize("content", [b"", b"another one", b"\xff" * 400])
def test_a_mark_that_names_no_daemon_of_now_is_no_mark(
    content: bytes, in_process: InProcess, folder: Path
) -> None:
    in_process.start()
    (folder / silence.FILE).write_bytes(content)
    assert _ask(folder, PATIENCE_S)
    assert not (folder / silence.FILE).exists()


@posix
@pytest.mark.promise("P13")
def test_hooks_wait_once_for_a_stopped_daemon(
    notes: Vault, daemons: Daemons, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    app.close()
    process = daemons.start()
    halt(process)
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "true")  # a second one would find no room

    marks = []
    for prompt in ("at which temperature is green tea brewed?", "which sail has the dinghy?"):
        _prompt(notes, prompt)
        marks.append((folder / silence.FILE).stat().st_mtime_ns)
    assert marks[0] == marks[1]
    assert [(call.by, call.outcome) for call in read_calls(folder.parent)] == [("self", "ok")] * 2


@pytest.mark.promise("P13")
def test_a_prompt_that_finds_no_daemon_starts_one_for_the_next(
    notes: Vault, daemons: Daemons, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = build_app(load_config(), notes.root, warm=False)
    app.sync()
    app.close()
    monkeypatch.setenv("HINDBRAIN_HOOKS_DAEMON", "true")
    _prompt(notes, "at which temperature is green tea brewed?")
    pid = wait_until(lambda: daemons.pid)
    daemons.also(pid)
    assert wait_until(lambda: _ask(folder, PATIENCE_S))["pid"] == pid


def _prompt(notes: Vault, prompt: str) -> None:
    payload = {"session_id": "s", "cwd": str(notes.root), "prompt": prompt}
    done = subprocess.run(
        [sys.executable, "-m", "hindbrain.edge.hooks.main", "claude-code", "user-prompt-submit"],
        input=json.dumps(payload).encode(), capture_output=True, timeout=PATIENCE_S, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]
