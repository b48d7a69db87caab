"""`run_shell_command`: one program with its words, in the workspace. There is no shell.

Whether it may be run is decided before (safety.gate). What is run is what was judged and approved: the words,
the file of the program and the folder are settled first, and are part of what an approval is bound to.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hindbrain.agent.safety.approval import SHELL
from hindbrain.agent.safety.argv import split_command
from hindbrain.agent.safety.command import Command, ShellPlace
from hindbrain.agent.tools.process import Finished, clean_environment, run_process
from hindbrain.agent.tools.tool import ActionTool, Result
from hindbrain.base.errors import Refused, UsageError
from hindbrain.memory.tools.tool import Arguments, Param

USUAL_S, LONGEST_S = 60, 600
_DOC = (
    "Run one program with its words, without a shell: no pipes, redirections, variables or patterns. Give "
    'argv, e.g. ["git", "status"]. It gets no input, and what it leaves running is ended. The owner may have '
    "to approve it."
)
_PARAMS = (
    Param("argv", "array", "the program and its words, one by one", exact=True),
    Param("command", "string", "the same as one line; only for plain words", also=("cmd",)),
    Param("cwd", "string", "folder in the workspace to run it in", also=("workdir", "path")),
    Param(
        "timeout_s", "integer", f"seconds until it is ended; {USUAL_S}", minimum=1, maximum=LONGEST_S,
        also=("timeout",),
    ),
)  # fmt: skip


class Shell:
    """Programs, run in one workspace."""

    def __init__(
        self,
        place: ShellPlace,
        environ: Mapping[str, str],
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._place = place
        self._environment = clean_environment(environ, place.folders)
        self._cancelled = cancelled

    def tool(self) -> ActionTool:
        return ActionTool(
            SHELL, _DOC, _PARAMS, "act", self._carry_out, shown=self._shown, settled=self._settled
        )

    def run(self, argv: Sequence[str], *, cwd: str = "", timeout_s: float = USUAL_S) -> Finished:
        """For callers that have decided already: a check of a run's result, say."""
        return self._run(self._place.command(argv, cwd), timeout_s)

    def _settled(self, given: Arguments) -> Arguments:
        argv, text = given.get("argv", ()), given.get("command", "")
        if bool(argv) == bool(text):
            raise UsageError(f'{SHELL} takes either "argv" or "command"; give "argv"')
        meant = self._place.command(argv or split_command(text), given.get("cwd", ""))
        return {
            "argv": meant.argv,
            "cwd": meant.cwd,
            "program": meant.program,
            "timeout_s": given.get("timeout_s", USUAL_S),
        }

    def _meant(self, settled: Arguments) -> Command:
        meant = self._place.command(settled["argv"], settled["cwd"])
        if (meant.program, meant.cwd) != (settled["program"], settled["cwd"]):
            raise Refused(
                f"{meant.argv[0]!r} is no longer what was approved: {meant.program!r} in {meant.cwd!r}"
            )
        return meant

    def _shown(self, settled: Arguments) -> str:
        """For a person; the time is part of what they approve."""
        folders, workspace = self._place.folders, self._place.workspace
        meant = Command(tuple(settled["argv"]), settled["program"], settled["cwd"], folders, workspace)
        return f"{meant.shown()}\nfor at most {settled['timeout_s']} seconds"

    def _carry_out(self, settled: Arguments) -> Result:
        finished = self._run(self._meant(settled), settled["timeout_s"])
        return Result(
            _told(finished, settled["timeout_s"]), failed=finished.code != 0 or bool(finished.ended)
        )

    def _run(self, meant: Command, timeout_s: float) -> Finished:
        try:
            return run_process(
                meant.argv,
                program=meant.program,
                cwd=meant.cwd,
                environment=self._environment,
                timeout_s=timeout_s,
                cancelled=self._cancelled,
            )
        except OSError as error:
            name = Path(meant.program).name
            raise UsageError(f"{name!r} could not be started: {error.strerror or error}") from error


def _told(finished: Finished, timeout_s: float) -> str:
    how = {
        "": f"exit code {finished.code}",
        "time": f"ended after {timeout_s:g} seconds, before it was done",
        "cancelled": "ended before it was done: the run was cancelled",
    }[finished.ended]
    output = finished.output.rstrip()
    return f"{how}\n{output}" if output else f"{how}, no output"
