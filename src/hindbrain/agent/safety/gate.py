"""Whether a call is carried out, refused, or put before a person. Decides; asks nobody and does nothing.

The command is the owner's word. What was recalled, returned by tools or read from the screen is not: once it
is in the conversation, whoever wrote it may be the one who wants the call. Then what acts needs the owner: by
the rules, by the command itself, by an allowance for this run, or by an approval of exactly this call. What
is the agent's own needs nobody.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from hindbrain.agent.policy_file import AgentPolicy
from hindbrain.agent.safety.approval import SHELL, grant_of
from hindbrain.agent.safety.command import ShellPlace
from hindbrain.agent.safety.file_orders import orders_file
from hindbrain.agent.safety.literal import orders_command
from hindbrain.agent.safety.own_commands import why_never
from hindbrain.agent.safety.shell_policy import rule_on
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.tools.tool import ActionTool, plain
from hindbrain.base.errors import HindbrainError
from hindbrain.context.guard import guard_call
from hindbrain.memory.tools.tool import Arguments

_WHOSE = {
    "agent": "notes, or what a model said before",
    "tool": "results of tools",
    "web": "text from the web",
    "import": "messages or texts of other people",
}
_WRITERS = frozenset(("write_file", "vault_write", "vault_append"))
_CLOSED = "it reaches Hindbrain's own settings or state, which only the owner changes"


class Verdict(NamedTuple):
    decision: Literal["allow", "ask", "deny"]
    why: str = ""  # for the person who is asked, or for the model that is refused


class Around(NamedTuple):
    """What the gate has to know of its surroundings."""

    shell: ShellPlace
    vault: Path | None = None
    closed: tuple[Path, ...] = ()  # folders that decide: settings, state
    # Why a lesson, or a note with a guard, has a person asked about a call; "" when none does.
    lesson: Callable[[str, Mapping[str, Any]], str] = lambda _tool, _arguments: ""
    # Why a call needs no question, with whose words the conversation holds; "" when it does (own_things.py).
    own: Callable[[str, Mapping[str, Any], str], str] = lambda _tool, _arguments, _level: ""


class Gate:
    def __init__(self, policy: AgentPolicy, around: Around) -> None:
        self._rules = policy.shell
        self._tools = frozenset(policy.tools)
        self._around = around
        self._closed = tuple(os.path.realpath(folder) for folder in around.closed)

    def judge(
        self,
        tool: ActionTool,
        arguments: Arguments,
        *,
        command: str,
        taint: Taint,
        allowed: Collection[str] = (),
        at_terminal: bool = True,
    ) -> Verdict:
        """Never raises. `command`: the owner's own words; no program is ordered by those that came from
        elsewhere than a terminal. `allowed`: what a person allowed for the rest of the run, as names of tools
        and as what `grant_of` made of approved calls."""
        given = plain(arguments)
        verdict = (
            self._of_command(given, command if at_terminal else "")
            if tool.name == SHELL
            else self._of_call(tool, given, command, taint)
        )
        if verdict.decision == "ask" and (tool.name in allowed or grant_of(tool.name, given) in allowed):
            verdict = Verdict("allow", "the owner allowed it for this run")
        elif verdict.decision == "ask" and tool.name in self._tools - {SHELL}:
            verdict = Verdict("allow", "the owner's agent.toml allows this tool")
        if verdict.decision != "deny" and (lesson := self._lesson(tool.name, given)):
            return Verdict("ask", lesson)
        return verdict

    def allows(self, argv: Sequence[str]) -> bool:
        """Do the owner's rules alone allow the command? For checks that nobody is asked about."""
        verdict = self._of_command({"argv": tuple(argv)}, "")
        return verdict.decision == "allow" and not self._lesson(SHELL, {"argv": tuple(argv)})

    def _of_command(self, given: Mapping[str, Any], command: str) -> Verdict:
        try:
            meant = self._around.shell.command(given.get("argv", ()), str(given.get("cwd", "")))
        except HindbrainError as error:
            return Verdict("deny", str(error))
        if meant.program != given.get("program", meant.program):
            return Verdict("deny", f"{meant.argv[0]!r} is another program by now: {meant.program!r}")
        if reason := why_never(meant, self._around.vault):
            return Verdict("deny", reason)
        if meant.reaches(self._closed):
            return Verdict("deny", _CLOSED)
        ruling = rule_on(meant, self._rules)
        # What a program does depends on its folder: the owner who names none means the workspace itself.
        if ruling.decision == "ask" and meant.cwd == meant.workspace and orders_command(command, meant.argv):
            return Verdict("allow", "the owner's command says to run exactly this")
        return Verdict(*ruling)

    def _of_call(self, tool: ActionTool, given: Mapping[str, Any], command: str, taint: Taint) -> Verdict:
        if tool.effect != "act":
            return Verdict("allow")
        workspace = self._around.shell.workspace
        guarded = guard_call(self._around.vault, None, tool=tool.name, arguments=given, cwd=workspace)
        if guarded.decision:
            return Verdict("deny", guarded.reason)
        if not taint.tainted:
            return Verdict("allow", "only the owner has spoken so far")
        path = given.get("path")
        if tool.name in _WRITERS and isinstance(path, str) and orders_file(command, path):
            return Verdict("allow", "the owner's command names this file to be written")
        if why := self._around.own(tool.name, given, taint.level):
            return Verdict("allow", why)
        return Verdict("ask", f"the conversation holds {_WHOSE[taint.level]}, which may be what wants this")

    def _lesson(self, tool: str, given: Mapping[str, Any]) -> str:
        reason = self._around.lesson(tool, given)
        if reason or tool != SHELL:
            return reason
        # Owners write guards for commands as one line, and under the name that most hosts have for a shell.
        line = {"command": " ".join(given.get("argv", ()))}
        return self._around.lesson(tool, line) or self._around.lesson("Bash", line)
