"""One machine as its owner has it: a vault, a daemon that serves hooks and HTTP, MCP servers, commands.

All of them are real processes. A call answers "ok" or an error's code; "" when its process was killed.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.anomalies.agents import McpDoor, environ

PATIENCE_S = 60.0
_HOOK = [sys.executable, "-m", "hindbrain.edge.hooks.main", "claude-code"]


class Call(NamedTuple):
    door: str  # mcp, http, hook, command
    what: str
    token: str  # a word that nobody else writes; "" when nothing was to be stored
    code: str


def wait_until(met: Callable[[], Any]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < until, "it did not come to that"
        threading.Event().wait(0.02)


class Machine:
    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.root = folder / "vault"
        self.chance = random.Random(seed)
        self.calls: list[Call] = []
        self.pids: list[int] = []
        self._lock = threading.Lock()
        self._number = 0
        self._daemon: subprocess.Popen[bytes] | None = None
        self._port = _free_port()
        (self.root / ".obsidian").mkdir(parents=True, exist_ok=True)
        (self.root / "Log.md").write_text("# Log\n\n", encoding="utf-8")
        (folder / "config.toml").write_text(
            f'[vault]\npath = "{self.root.as_posix()}"\n[service]\nport = {self._port}\n', encoding="utf-8"
        )
        self.environ = {**environ(folder), "HINDBRAIN_HOOKS_DAEMON": "true"}
        self.command("init")
        self.command("sync")

    def token(self) -> str:
        with self._lock:
            self._number += 1
            return f"zq{self._number:06d}x{self.chance.randrange(16**6):06x}"

    # --- the doors

    def start_daemon(self) -> None:
        self._daemon = subprocess.Popen(
            [sys.executable, "-m", "hindbrain", "up", "--foreground"], env=self.environ,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self.pids.append(self._daemon.pid)
        wait_until(lambda: self._answer("status", {}) == "ok")

    def open_mcp(self) -> McpDoor:
        door = McpDoor(self.folder)
        self.pids.append(door.pid)
        return door

    def use_mcp(self, door: McpDoor, tool: str, token: str = "", **args: object) -> str:
        try:
            code = door.use(tool, args).code
        except (OSError, ValueError):  # it was killed
            code = ""
        return self._note("mcp", tool, token, code)

    def ask(self, route: str, body: Mapping[str, object], token: str = "") -> str:
        """A plugin's question over HTTP."""
        return self._note("http", route, token, self._answer(route, body))

    def _answer(self, route: str, body: Mapping[str, object]) -> str:
        code = ""
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            key = (self.folder / "state" / "service-token").read_text(encoding="ascii").strip()
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
            method = "GET" if route == "status" else "POST"
            headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
            connection.request(method, f"/v1/{route}", None if method == "GET" else json.dumps(body), headers)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            code = "ok" if answer.status == 200 else str(told["error"]["code"])
            connection.close()
        return code

    def hook(self, event: str, **payload: object) -> str:
        sent = json.dumps({"session_id": self.token(), "cwd": str(self.root), **payload}).encode()
        ran = subprocess.run([*_HOOK, event], input=sent, env=self.environ, capture_output=True, check=False)
        with contextlib.suppress(ValueError):
            return self._note(
                "hook", event, "", "ok" if isinstance(json.loads(ran.stdout), dict) else "internal"
            )
        return self._note("hook", event, "", "internal")

    def command(self, *words: str, token: str = "") -> str:
        ran = subprocess.run(
            [sys.executable, "-m", "hindbrain", words[0], "--vault", str(self.root), "--json", *words[1:]],
            env=self.environ, capture_output=True, check=False,
        )  # fmt: skip
        code = "ok"
        if ran.returncode:
            data = json.loads(ran.stdout or b"{}")
            code = str(data["error"]["code"]) if "error" in data else f"exit {ran.returncode}"
        return self._note("command", words[0], token, code)

    def _note(self, door: str, what: str, token: str, code: str) -> str:
        with self._lock:
            self.calls.append(Call(door, what, token, code))
        return code

    # --- what happens to a machine

    def kill_daemon(self) -> None:
        if self._daemon is not None:
            self._daemon.kill()
            self._daemon.wait(PATIENCE_S)

    def stop_daemon(self) -> None:
        if self._daemon is not None and self._daemon.poll() is None:
            self._daemon.send_signal(signal.SIGTERM)
            self._daemon.wait(PATIENCE_S)

    @property
    def daemon_pid(self) -> int:
        assert self._daemon is not None
        return self._daemon.pid

    @property
    def state(self) -> Path:
        """The vault's own state folder."""
        (index,) = (self.folder / "state").glob("*/index.db")
        return index.parent

    def acknowledged(self) -> set[str]:
        return {call.token for call in self.calls if call.token and call.code == "ok"}

    def codes(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for call in self.calls:
            found[call.code] = found.get(call.code, 0) + 1
        return found


def use_some_door(machine: Machine, mcp: McpDoor) -> None:
    """One request through a door that the dice choose, as often as agents use it."""
    dice = machine.chance.random()
    token = machine.token()
    line = f"- {token} happened"
    if dice < 0.45:
        tool, args = machine.chance.choice(
            (
                ("vault_append", {"path": "Log.md", "content": line}),
                ("remember", {"fact": f"The word {token} was spoken at tea."}),
                ("recall", {"topic": "tea"}),
                ("vault_search", {"query": "happened"}),
                ("vault_read", {"path": "Log.md"}),
                ("task_list", {}),
            )
        )
        stored = token if tool == "vault_append" else ""
        machine.use_mcp(mcp, tool, stored, **args)
    elif dice < 0.85:
        route, body = machine.chance.choice(
            (
                ("search", {"query": "happened"}),
                ("read", {"path": "Log.md"}),
                ("context", {"session": token, "message": "what happened at tea?"}),
                ("save", {"text": f"Mara said {token} in the evening."}),
                ("status", {}),
            )
        )
        machine.ask(route, body)
    elif dice < 0.95:
        machine.hook("user-prompt-submit", prompt="what happened at tea?")
    elif dice < 0.98:
        machine.command("note", "append", "Log.md", line, token=token)
    else:
        machine.command("search", "happened")


def _free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


def resident_bytes(pid: int) -> int:
    """Memory of a process that is its own; 0 where the system does not tell."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return 0
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return 1_024 * int(fields["RssAnon"].split()[0])


def seconds_from(name: str, default: float) -> float:
    """How long a long test runs: its promised time, or what the environment says."""
    return float(os.environ.get(name, default))
