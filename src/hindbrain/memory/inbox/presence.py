"""Who is there to approve: a person at a terminal, or a program that an agent started. Pure.

Approval needs a person. This raises the bar and is no wall: an agent that starts a process outside its own
family, gives it a terminal and types into it looks like a person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hindbrain.base.errors import NeedsPerson

# Set by agent hosts for the programs that they run. Only variables that a person's own terminal lacks:
# CODEX_HOME may stand in a profile, and CURSOR_TRACE_ID is in every terminal of that editor.
MARKERS: Mapping[str, str] = {
    "CLAUDECODE": "Claude Code",
    "CLAUDE_CODE_ENTRYPOINT": "Claude Code",
    "CODEX_SANDBOX": "Codex",
    "CODEX_SANDBOX_NETWORK_DISABLED": "Codex",
    "CODEX_CI": "Codex",
    "CODEX_THREAD_ID": "Codex",
    "GEMINI_CLI": "Gemini CLI",
    "QWEN_CODE": "Qwen Code",
    "CURSOR_AGENT": "Cursor",
    "OPENCODE": "OpenCode",
    "OPENCODE_CLIENT": "OpenCode",
    "OPENCLAW_SHELL": "OpenClaw",
    "COPILOT_CLI": "Copilot",
    "CLINE_ACTIVE": "Cline",
    "GOOSE_TERMINAL": "Goose",
    "AMP_CURRENT_THREAD_ID": "Amp",
    "AUGMENT_AGENT": "Augment",
    "ANTIGRAVITY_AGENT": "Antigravity",
    "AI_AGENT": "an agent",
    "HINDBRAIN_AGENT_RUN": "Hindbrain's own agent",
}
_OFF = ("", "0", "false", "no", "off")


class Presence(NamedTuple):
    """What is known of whoever started this process."""

    terminal: bool  # a terminal in front, and nothing piped in
    agent: str = ""  # the agent host that it runs in; "" for none that is known


def agent_among(environments: Iterable[Mapping[str, str]]) -> str:
    """The agent host that marked one of these environments; "" when none did."""
    for environment in environments:
        for name, host in MARKERS.items():
            if environment.get(name, "").lower() not in _OFF:
                return host
    return ""


def check_person(presence: Presence, *, command: str) -> None:
    """Raise NeedsPerson unless a person can answer. `command`: what they type in a terminal of theirs."""
    if presence.agent:
        raise NeedsPerson(
            f"this runs inside {presence.agent}, and an agent can't approve; the owner types `{command}` in "
            "a terminal of their own"
        )
    if not presence.terminal:
        raise NeedsPerson(
            f"approving needs a person at a terminal, with nothing piped in; the owner types `{command}` "
            "there and answers the question"
        )
