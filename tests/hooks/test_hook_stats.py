"""What hooks put into prompts is told by `hindbrain stats`."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.main import main
from workbench import Vault


def _event(vault: Vault, host_name: str, name: str, session: str, **payload: object) -> str:
    host = host_named(host_name)
    assert host is not None
    event = host.event(name)
    assert event is not None
    doing = Doing(host, event, time.monotonic())
    sent = {"session_id": session, "hook_event_name": event.there, "cwd": str(vault.root), **payload}
    answer = doing.answer(lambda: json.dumps(sent).encode())
    doing.finish(answer)
    return answer.text


def _stats(vault: Vault, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main(["stats", "--vault", str(vault.root), "--json", *words]) == 0
    return json.loads(capsys.readouterr().out)["hosts"]


def test_stats_tell_what_hooks_have_injected(
    synced: Vault, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = {"sessions": {}, "prompts": 0, "answered": 0, "excerpts": 0, "tokens": 0}
    assert _stats(synced, capsys) == nothing
    assert main(["stats", "--vault", str(synced.root)]) == 0
    assert "no finished runs" in capsys.readouterr().err
    assert _event(synced, "claude-code", "user-prompt-submit", "a", prompt="which port has the kite server?")
    assert not _event(synced, "claude-code", "user-prompt-submit", "a", prompt="thanks, that is all")
    assert _event(synced, "codex", "user-prompt-submit", "b", prompt="how long does chicken broth simmer?")
    hosts = _stats(synced, capsys)
    assert hosts["sessions"] == {"claude-code": 1, "codex": 1}
    assert (hosts["prompts"], hosts["answered"], hosts["excerpts"]) == (3, 2, 2)
    before = hosts["tokens"]
    assert before > 10
    assert main(["stats", "--vault", str(synced.root)]) == 0
    shown = capsys.readouterr().out
    assert "3 prompts in 2 sessions" in shown and "2 of 3 prompts" in shown
    # What every session begins with costs, too.
    assert main(["remember", "Prefers tea", "--category", "preference", "--vault", str(synced.root)]) == 0
    assert _event(synced, "codex", "session-start", "c", source="startup")
    hosts = _stats(synced, capsys)
    assert hosts["tokens"] > before and hosts["prompts"] == 3 and sum(hosts["sessions"].values()) == 3
    later = time.time() + 5 * 86_400
    monkeypatch.setattr(time, "time", lambda: later)
    assert _stats(synced, capsys, "--days", "2") == nothing
    assert _stats(synced, capsys, "--days", "9")["prompts"] == 3
