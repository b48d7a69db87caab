"""A workspace with a gate and a shell, and programs that are there: each only says how it was called."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hindbrain.agent.policy_file import AgentPolicy, parse_policy
from hindbrain.agent.safety.command import shell_place
from hindbrain.agent.safety.gate import Around, Gate, Verdict
from hindbrain.agent.safety.taint import Taint
from hindbrain.agent.tools.shell import Shell
from hindbrain.agent.tools.tool import ActionTool, Toolbox
from hindbrain.base.errors import HindbrainError
from hindbrain.memory.tools.tool import Arguments
from hindbrain.models.chat import ToolCall

SHELL = "run_shell_command"
TAINTED = Taint().heard("web")
_SAYS = '#!/bin/sh\nprintf "%s\\n" "${0##*/}" "$@"\n'

# What an owner might well allow.
ALLOW: list[list[str]] = [
    ["git", "status"],
    ["git", "log", "**"],
    ["git", "diff", "--**"],
    ["git", "show", "*"],
    ["ls", "**"],
    ["cat", "**"],
    ["grep", "--**"],
    ["find", "--**"],
    ["sort", "--**"],
    ["head", "--**"],
    ["wc", "**"],
    ["echo", "**"],
    ["date"],
    ["make", "test"],
    ["python", "manage.py", "test"],
]
DENY: list[list[str]] = [["rm", "**"], ["git", "push", "**"]]


class ShellBench:
    def __init__(self, folder: Path, rules: Mapping[str, Any] | None = None, **around: Any) -> None:
        self.workspace = folder / "work"
        self.bin = folder / "bin"
        for place in (self.workspace / "src", self.bin):
            place.mkdir(parents=True, exist_ok=True)
        (self.workspace / "README.md").write_text("hello\n", encoding="utf-8")
        self.policy: AgentPolicy = parse_policy({"shell": rules or {"allow": ALLOW, "deny": DENY}})
        self.around = around

    def install(self, *names: str) -> None:
        for name in names:
            self.put(self.bin / name)

    def put(self, file: Path) -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_SAYS, encoding="utf-8")
        file.chmod(0o755)
        return file

    @property
    def path(self) -> str:
        return os.pathsep.join((str(self.bin), "/usr/bin", "/bin"))

    @property
    def shell(self) -> Shell:
        return Shell(shell_place(self.workspace, self.path), {"HOME": str(self.workspace)})

    @property
    def tool(self) -> ActionTool:
        return self.shell.tool()

    @property
    def gate(self) -> Gate:
        return Gate(self.policy, Around(shell_place(self.workspace, self.path), **self.around))

    def checked(self, **arguments: Any) -> tuple[ActionTool, Arguments]:
        return Toolbox([self.tool]).checked(ToolCall("c1", SHELL, arguments))

    def judge(self, *, told: str = "look around", **arguments: Any) -> Verdict:
        tool, settled = self.checked(**arguments)
        return self.gate.judge(tool, settled, command=told, taint=TAINTED)

    def outcome(self, attempt: str | Sequence[str], cwd: str = "") -> str:
        """allow, ask, deny; or the code of the error that a call with such arguments is."""
        given: dict[str, Any] = {"command": attempt} if isinstance(attempt, str) else {"argv": list(attempt)}
        if cwd:
            given["cwd"] = cwd
        try:
            return self.judge(**given).decision
        except HindbrainError as error:
            return error.code
