"""A whole OpenClaw in one scratch folder: gateway, model, channel, vault, and Hindbrain's own programs.

    with open_rig(folder) as rig:
        rig.write("Broadcom.md", "AVGO ...")
        rig.gateway.start()
        rig.model.script(Say("Hello."))
        rig.gateway.ask("Hi")                       # a turn; rig.model.steps has what the model was asked
        rig.gateway.invoke("memory_search", query="AVGO")
        rig.hindbrain("openclaw", "install")

Nothing outside the folder is read or written but the npm packages (see program.py), and nothing runs on when
it ends. Benchmarks use it as tests do: nothing here needs pytest.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.real_openclaw.completions_stub import CompletionsStub, Embed
from tests.real_openclaw.gateway_process import (
    HOOK_TOKEN,
    TOKEN,
    GatewayProcess,
    Json,
    Ran,
    free_port,
    run,
    wait_until,
)
from tests.real_openclaw.program import Program, find_program
from tests.real_openclaw.telegram_stub import BOT_TOKEN, OWNER, TelegramStub

MODEL = "stub/stub-1"
_SCRIPTS = {"hindbrain": "hindbrain.edge.main", "hindbrain-hook": "hindbrain.edge.hooks.main"}
# As pip writes them, so that a call costs what it costs its user.
_SCRIPT = """#!{python}
import sys
from {module} import main
sys.exit(main())
"""


@dataclass
class Rig:
    """`gateway` is OpenClaw, `model` and `telegram` what it talks to; `hindbrain(...)` our command line."""

    folder: Path
    program: Program
    model: CompletionsStub
    telegram: TelegramStub
    gateway: GatewayProcess
    service_port: int
    left: list[str] = field(default_factory=list)  # processes that still ran when all was to have ended

    @property
    def vault(self) -> Path:
        return self.folder / "vault"

    @property
    def state(self) -> Path:
        """Hindbrain's state folder."""
        return self.folder / "hindbrain"

    @property
    def config(self) -> Path:
        """Hindbrain's settings."""
        return self.folder / "config.toml"

    @property
    def bin(self) -> Path:
        return self.folder / "bin"

    def write(self, note: str, text: str) -> Path:
        file = self.vault / note
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    def vault_text(self) -> str:
        """All notes of the vault, one after the other."""
        notes = sorted(self.vault.rglob("*.md"))
        return "\n".join(file.read_text(encoding="utf-8") for file in notes)

    def hindbrain(self, *words: str, timeout_s: float = 180.0) -> Ran:
        command = [str(self.bin / "hindbrain"), *words]
        return run(command, cwd=self.folder, environ=self.gateway.environ, timeout_s=timeout_s)

    def hindbrain_json(self, *words: str) -> Any:
        ran = self.hindbrain(*words, "--json")
        assert ran.code == 0, ran
        return json.loads(ran.out)

    def openclaw_config(self, **changes: Any) -> Json:
        """The config of a person who has a model and a phone, without any plugin of ours."""
        model = {
            "id": "stub-1", "name": "Stub", "reasoning": False, "input": ["text"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 128_000, "maxTokens": 4_096,
        }  # fmt: skip
        provider = {
            "baseUrl": self.model.url, "apiKey": "stub", "api": "openai-completions", "models": [model]
        }  # fmt: skip
        telegram = {
            "enabled": True, "botToken": BOT_TOKEN, "apiRoot": self.telegram.url,
            "dmPolicy": "allowlist", "allowFrom": [OWNER],
        }  # fmt: skip
        config: Json = {
            "gateway": {
                "mode": "local",
                "bind": "loopback",
                "port": self.gateway.port,
                "auth": {"mode": "token", "token": TOKEN},
                "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
            },
            "logging": {"file": str(self.gateway.log)},
            "models": {"mode": "replace", "providers": {"stub": provider}},
            "hooks": {"enabled": True, "token": HOOK_TOKEN, "path": "/hooks"},
            "channels": {"telegram": telegram},
            "agents": {"defaults": {"model": {"primary": MODEL}, "skipBootstrap": True}},
        }
        return merged(config, changes)

    def end(self) -> list[str]:
        """End everything; what still ran for this rig afterwards, and was killed."""
        self.gateway.stop()
        if self.bin.exists():
            with contextlib.suppress(AssertionError, OSError):
                self.hindbrain("up", "stop", timeout_s=60)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not list(self._running()), what="the end of all processes", timeout_s=15)
        left = list(self._running())
        for pid, _ in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return [words for _, words in left]

    def _running(self) -> Iterator[tuple[int, str]]:
        """Processes that were given this rig's own state folder; only Linux tells."""
        mark = f"HINDBRAIN_STATE_FOLDER={self.state}".encode()
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                    if words:
                        yield int(entry.name), words


@contextlib.contextmanager
def open_rig(
    folder: Path, *, embed: Embed | None = None, changes: Mapping[str, Any] | None = None
) -> Iterator[Rig]:
    """A rig in `folder`, with a config written and nothing started yet; `changes` go into openclaw.json.

    `Unavailable` where OpenClaw can't be had.
    """
    program = find_program()
    folder.mkdir(parents=True, exist_ok=True)
    with CompletionsStub(embed) as model, TelegramStub() as telegram:
        gateway = GatewayProcess(program, folder)
        rig = Rig(folder, program, model, telegram, gateway, free_port())
        _furnish(rig)
        gateway.write_config(rig.openclaw_config(**(changes or {})))
        try:
            yield rig
        finally:
            rig.left = rig.end()


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> Json:
    """Tables into tables; anything else is replaced."""
    found: Json = dict(base)
    for name, value in changes.items():
        inner = found.get(name)
        if isinstance(inner, dict) and isinstance(value, dict):
            found[name] = merged(inner, value)
        else:
            found[name] = value
    return found


def _furnish(rig: Rig) -> None:
    for folder in (rig.bin, rig.vault / ".obsidian", rig.folder / "tmp"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, module in _SCRIPTS.items():
        file = rig.bin / name
        file.write_text(_SCRIPT.format(python=sys.executable, module=module), encoding="utf-8")
        file.chmod(0o755)
    rig.config.write_text(
        f"[vault]\npath = {json.dumps(str(rig.vault))}\n\n[service]\nport = {rig.service_port}\n",
        encoding="utf-8",
    )
    rig.gateway.path = (str(rig.bin),)
    rig.gateway.extra = {
        "TMPDIR": str(rig.folder / "tmp"),
        "HINDBRAIN_CONFIG": str(rig.config),
        "HINDBRAIN_STATE_FOLDER": str(rig.state),
        "HINDBRAIN_EMBEDDING_PROVIDER": "builtin",
    }
