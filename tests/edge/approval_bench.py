"""A vault in which proposals wait, an agent that is live in it, and the owner at a real terminal."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.inbox.inbox import Proposal

FACTS = ("The Lisbon office opens in May", "The ferry to Texel leaves at 9:40", "Noor is the harbour master")
SESSION = "s-live"
_BIN = Path(sys.executable).parent
# Starts a program as a terminal does: in a session of its own, and nobody's child.
_AT_TERMINAL = """\
import fcntl, os, sys, termios
if os.fork():
    os._exit(0)
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True)
class Desk:
    """One machine: a vault, settings, a state folder and a home."""

    place: Path

    @property
    def vault(self) -> Path:
        return self.place / "vault"

    @property
    def state(self) -> Path:
        return self.place / "state"

    @property
    def config(self) -> Path:
        return self.place / "home" / "config.toml"

    @property
    def note(self) -> Path:
        return self.vault / "Agent" / "Inbox.md"

    @property
    def environ(self) -> dict[str, str]:
        """Of the owner's programs."""
        return {
            "PATH": f"{_BIN}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "HOME": str(self.place / "home"),
            "LANG": "C.UTF-8",
            "HINDBRAIN_CONFIG": str(self.config),
            "HINDBRAIN_STATE_FOLDER": str(self.state),
            "HINDBRAIN_HOOKS_DAEMON": "false",
            "HINDBRAIN_EMBEDDING_PROVIDER": "none",
            "OPENBLAS_NUM_THREADS": "1",
        }

    def app(self) -> App:
        environ = {**self.environ, "HINDBRAIN_CONFIG": str(self.config)}
        return build_app(load_config(environ, self.config), self.vault, warm=False)

    def run(self, *words: str, environ: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command of ours without a terminal."""
        return subprocess.run(
            [str(_BIN / "hindbrain"), words[0], "--vault", str(self.vault), *words[1:]],
            env=dict(environ or self.environ), cwd=self.place, stdin=subprocess.DEVNULL,
            capture_output=True, encoding="utf-8", check=False, start_new_session=True,
        )  # fmt: skip

    def data(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)

    def hook(self, event: str, **payload: str) -> None:
        given = {"session_id": SESSION, "cwd": str(self.vault), **payload}
        subprocess.run(
            [str(_BIN / "hindbrain-hook"), "claude-code", event], input=json.dumps(given).encode(),
            env=self.environ, cwd=self.vault, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip

    def attempt(self, command: str, environ: Mapping[str, str] | None = None) -> None:
        """What an agent's shell tool runs: marked as the host marks it, without a terminal."""
        marked = {**self.environ, "CLAUDECODE": "1", **(environ or {})}
        subprocess.run(
            ["bash", "-c", command], env=marked, cwd=self.vault, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30, check=False,
            start_new_session=True,
        )  # fmt: skip

    def tick(self, text: str = "") -> None:
        """As an editor does it."""
        told = self.note.read_text(encoding="utf-8")
        self.note.write_text(told.replace(f"- [ ] remember: {text}", f"- [x] remember: {text}"), "utf-8")

    def let_pass(self, seconds: float) -> None:
        """Move all that is known of agents' sessions so far into the past."""
        for log in self.place.rglob("agent-sessions.jsonl"):
            events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
            moved = [{**event, "at": event["at"] - seconds} for event in events]
            log.write_text("".join(json.dumps(event) + "\n" for event in moved), "utf-8")

    def settle(self) -> None:
        """Look at the note as an honest program does: the next command, the daemon."""
        with closing(self.app()) as app, suppress(HindbrainError):  # a layout that was damaged
            app.memory.settle()

    def approved(self) -> list[str]:
        with closing(self.app()) as app, suppress(HindbrainError):
            return sorted({item.text for item in app.memory.book.items()})
        return []

    def person(self, *words: str, types: str, meanwhile: Callable[[], object] = lambda: None) -> str:
        """The owner runs a command at a terminal of their own and answers its question; what they see.

        `meanwhile` happens while they read the question.
        """
        import pty

        master, slave = pty.openpty()
        command = [str(_BIN / "hindbrain"), words[0], "--vault", str(self.vault), *words[1:]]
        try:
            subprocess.run(
                [sys.executable, "-c", _AT_TERMINAL, *command], stdin=slave, stdout=slave, stderr=slave,
                env=self.environ, cwd=self.place, check=True,
            )  # fmt: skip
            os.close(slave)
            return _answered(master, types, meanwhile)
        finally:
            os.close(master)


def make_desk(place: Path) -> Desk:
    desk = Desk(place)
    desk.vault.mkdir(parents=True)
    (place / "home").mkdir()
    assert desk.run("init", "--layout", "obsidian", "--folder", "Agent").returncode == 0
    with closing(desk.app()) as app:
        for fact in FACTS:
            app.memory.inbox.hold(Proposal("", fact, source="web", reason="third-party text"))
    assert desk.note.exists()
    return desk


def put_away(desk: Desk) -> Desk:
    """Keep a machine to be copied. A vault whose original stands where it was would be known as a copy."""
    return Desk(desk.place.rename(desk.place.with_name("kept")))


def copy_desk(kept: Desk, place: Path) -> Desk:
    shutil.copytree(kept.place, place, symlinks=True)
    return Desk(place)


def _answered(master: int, types: str, meanwhile: Callable[[], object]) -> str:
    """Type the answer once a question stands there, and read until the program ends."""
    seen, deadline = b"", time.monotonic() + 30
    while time.monotonic() < deadline and select.select([master], [], [], 30)[0]:
        try:
            found = os.read(master, 65_536)
        except OSError:  # the program has closed the terminal
            break
        if not found:
            break
        seen += found
        if types and b"[y/N]" in seen:
            meanwhile()
            os.write(master, f"{types}\n".encode())
            types = ""
    return seen.decode("utf-8", "replace")
