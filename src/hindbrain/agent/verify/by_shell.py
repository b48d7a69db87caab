"""Commands of checks, run as the shell tool runs its own: the same place, the same clean environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.agent.tools.shell import LONGEST_S
from hindbrain.agent.verify.checks import Senses
from hindbrain.base.errors import Cancelled

if TYPE_CHECKING:
    from hindbrain.agent.tools.shell import Shell

_FAILED = 1


def senses_by(
    shell: Shell,
    workspace: Path,
    allows: Callable[[Sequence[str]], bool],
    read_screen: Callable[[], str | None] | None = None,
    *,
    timeout_s: float = LONGEST_S,
) -> Senses:
    """`allows`: do the owner's rules allow a command that a skill asks for?"""

    def run(argv: Sequence[str]) -> tuple[int, str]:
        finished = shell.run(argv, timeout_s=timeout_s)
        if finished.ended == "cancelled":
            raise Cancelled("the run was cancelled while its result was checked")
        if finished.ended:
            return finished.code or _FAILED, f"{finished.output}\n(ended after {timeout_s:g} s)"
        return finished.code, finished.output

    return Senses(workspace, run, read_screen, allows)
