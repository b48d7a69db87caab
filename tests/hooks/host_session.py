"""An agent host that calls our hooks in a vault, in this process."""

from __future__ import annotations

import json
import time

from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from hindbrain.vault.layout import load_layout
from workbench import Vault


class Session:
    """An agent host that calls our hooks in a vault."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self._sessions = iter(range(1_000))

    def run(self, *words: str) -> None:
        assert main([words[0], "--vault", str(self.vault.root), *words[1:]]) == 0

    def path(self, role: str) -> str:
        return load_layout(self.vault.root).path(role)

    def hook(self, event: str, **payload: str) -> str:
        host = host_named("claude-code")
        assert host is not None
        called = host.event(event)
        assert called is not None
        given = {"session_id": f"s{next(self._sessions)}", "cwd": str(self.vault.root), **payload}
        doing = Doing(host, called, time.monotonic())
        answer = doing.answer(lambda: json.dumps(given).encode())
        assert not doing.note, doing.note
        return answer.text

    def start(self) -> str:
        return self.hook("session-start", source="startup")

    def ask(self, prompt: str) -> str:
        return self.hook("user-prompt-submit", prompt=prompt)
