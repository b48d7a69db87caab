"""One run in front of a person, or without one: its turn, its telling, who approves, its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.edge.agent_runs.ending import (
    EXIT_CODES,
    end_line,
    learned_lines,
    next_line,
    result_data,
    waiting_lines,
)
from hindbrain.edge.agent_runs.interrupts import Interrupts
from hindbrain.edge.agent_runs.telling import Telling
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.agent.run import Listener, RunResult
    from hindbrain.agent.safety.approval import Approver, Asked
    from hindbrain.app import App

    # Whoever carries it out: the agent's `run` with a request, or its `resume` with a run.
    Work = Callable[[Listener, Approver, Callable[[], bool]], RunResult]


def carry_out(app: App, work: Work, out: Output, *, unattended: bool, wait: bool = True) -> int:
    """Returns the exit code. Busy without `wait` when another run goes on."""
    from hindbrain.agent.gateway import CommandGateway

    interrupts = Interrupts(lambda: out.say("ending the run; once more ends at once"))
    attended = not unattended and is_attended()
    approver = approver_for(app, out, interrupts, attended=attended)
    listener = Telling(out, quiet=out.json)
    gateway = CommandGateway(app.state, app.clock)
    turn = gateway.turn(wait=wait, told=lambda: _say_waiting(out), until=interrupts.asked)
    with interrupts.caught(), turn as ours:
        if not ours:
            out.say("nothing was begun")
            if out.json:
                out.data({"error": {"code": "cancelled", "message": "nothing was begun"}})
            return EXIT_CODES["cancelled"]
        result = work(listener, approver, interrupts.asked)
        listener.close()
    show_end(app, result, out)
    return EXIT_CODES[result.end]


def show_end(app: App, result: RunResult, out: Output) -> None:
    waiting = waiting_of(app, result)
    if out.json:
        out.data(result_data(result, waiting))
        return
    if result.answer:
        out.line(safe(result.answer.strip()))
        out.stdout.flush()
    out.say(end_line(result, out))
    for line in waiting_lines(waiting, out):
        out.say(line)
    if result.learned is not None:
        for line in learned_lines(result.learned, app.learning):
            out.say(safe(line))
    if hint := next_line(result, waiting):
        out.say(hint)


def waiting_of(app: App, result: RunResult) -> list[Asked]:
    """What a run that waits is waiting for."""
    if result.end != "waiting":
        return []
    return [asked for asked in app.agent.waiting() if asked.run == result.run]


def approver_for(app: App, out: Output, interrupts: Interrupts, *, attended: bool) -> Approver:
    if not attended:
        return app.agent.unattended()
    from hindbrain.edge.agent_runs.asking import TerminalApprover

    return TerminalApprover(out, interrupts, app.agent.unattended())


def is_attended() -> bool:
    """Return whether a person is there who can be asked."""
    import sys

    from hindbrain.edge.person import started_by

    terminal = sys.stdin and sys.stdin.isatty() and sys.stderr and sys.stderr.isatty()
    return bool(terminal) and not started_by()


def _say_waiting(out: Output) -> None:
    out.say("another run goes on in this vault; this one begins when it is over (Ctrl-C gives up)")
