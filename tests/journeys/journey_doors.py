"""The doors as a journey uses them: the command line and the hooks, in this process."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from command_runs import Ran
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main


class CommandLine:
    """Runs commands on a vault. A command that fails, or says `internal`, fails the test."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def __call__(self, *words: str) -> Ran:
        ran = self.any(*words)
        assert ran.code == 0, f"{words}: {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def any(self, *words: str) -> Ran:
        """Run a command that may fail."""
        self._capsys.readouterr()
        ended = main([*words[:1], "--vault", str(self.root), *words[1:]])
        ran = Ran(ended, *self._capsys.readouterr())
        assert "internal" not in ran.err and "Traceback" not in ran.err, f"{words}\n{ran.err}"
        return ran

    def data(self, *words: str) -> Any:
        return self(*words, "--json").data


def hook(root: Path, event: str, *, host: str = "claude-code", **payload: object) -> str:
    """What a host gets back at an event that happens in the vault. A failure fails the test."""
    known = host_named(host)
    assert known is not None
    happening = known.event(event)
    assert happening is not None
    call = Doing(known, happening, time.monotonic())
    sent = {"session_id": "s-1", "cwd": str(root), "hook_event_name": event, **payload}
    answer = call.answer(lambda: json.dumps(sent).encode())
    call.finish(answer)
    assert not call.note, call.note
    return answer.text
