"""What each host takes for a valid answer, written down from its own schema or documents."""

from __future__ import annotations

import json
from typing import Any

from hindbrain.edge.hooks.hosts import GUARD, KEEP, Event, Host

_COMMON = {"systemMessage", "hookSpecificOutput"}


def parsed(host: Host, event: Event, output: str) -> dict[str, Any]:
    """The answer, after every rule of the host was checked."""
    assert output.isascii() and output.endswith("\n") and output.count("\n") == 1
    answer = json.loads(output)
    assert isinstance(answer, dict)
    {"claude": _claude, "gemini": _gemini, "cursor": _cursor, "plain": _plain}[host.form](host, event, answer)
    return answer


def _claude(host: Host, event: Event, answer: dict[str, Any]) -> None:
    assert set(answer) <= _COMMON  # Codex rejects unknown fields, and suppressOutput at tool events
    assert isinstance(answer.get("systemMessage", ""), str)
    if "hookSpecificOutput" not in answer:
        return
    assert event.verb != KEEP  # PreCompact, Stop and SessionEnd have no such field in one host or the other
    said = answer["hookSpecificOutput"]
    assert said.pop("hookEventName") == event.there
    if event.verb == GUARD:
        assert set(said) == {"permissionDecision", "permissionDecisionReason"}
        assert said["permissionDecision"] == ("deny" if host.name == "codex" else "ask")
        assert said["permissionDecisionReason"].strip()
    else:
        assert set(said) == {"additionalContext"}
        assert 0 < len(said["additionalContext"]) <= host.longest


def _gemini(host: Host, event: Event, answer: dict[str, Any]) -> None:
    if "decision" in answer:
        assert event.verb == GUARD and answer["decision"] == "deny" and answer["reason"].strip()
        assert set(answer) <= {"decision", "reason", "systemMessage"}
        return
    _claude(host, event, answer)


def _cursor(host: Host, event: Event, answer: dict[str, Any]) -> None:
    if event.there == "beforeSubmitPrompt":
        assert answer == {"continue": True}
    elif event.verb == GUARD and answer:
        assert answer["permission"] in (("ask",) if event.there == "beforeShellExecution" else ("deny",))
        assert set(answer) == {"permission", "user_message", "agent_message"}
    else:
        assert set(answer) <= {"additional_context"}
        assert not answer or event.there in ("sessionStart", "postToolUse")


def _plain(host: Host, event: Event, answer: dict[str, Any]) -> None:
    assert set(answer) <= {"context", "refused", "message"}
    assert all(isinstance(value, str) and value for value in answer.values())
