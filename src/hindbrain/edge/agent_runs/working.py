"""Commands that came from elsewhere, carried out one by one; whoever gave one is told what became of it.

What needs the owner's word waits, and goes on when it was given. What a process before this one had begun is
taken up, and none is done twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import HindbrainError
from hindbrain.edge.agent_runs.asking import shown_of
from hindbrain.edge.agent_runs.ending import end_line, result_data, waiting_lines
from hindbrain.edge.agent_runs.telling import Telling, one_line
from hindbrain.edge.output import Output, safe
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.agent.agent import Agent
    from hindbrain.agent.gateway import CommandGateway, Ticket
    from hindbrain.agent.run import End, RunRequest, RunResult
    from hindbrain.agent.safety.approval import Asked
    from hindbrain.app import App
    from hindbrain.edge.agent_runs.interrupts import Interrupts
    from hindbrain.edge.agent_runs.listening import Ears
    from hindbrain.learn.runs.episode import Episode, Outcome

_LOOK_EVERY_S = 5.0
_SHOWN = 80  # characters of a command
_LONGEST_SHOWN = 1_500  # characters of what waits, in a message
_ENDS: Mapping[Outcome, End] = {"success": "complete", "stuck": "stuck", "cancelled": "cancelled"}


class Worker:
    """Carries commands out, in the thread that opened the vault."""

    def __init__(
        self,
        app: App,
        request: RunRequest,
        gateway: CommandGateway,
        ears: Ears,
        interrupts: Interrupts,
        out: Output,
    ) -> None:
        self._app, self._request, self._gateway, self._ears = app, request, gateway, ears
        self._interrupts, self._out = interrupts, out
        self._telling = Telling(out, quiet=out.json)
        self._parked: dict[str, Ticket] = {}  # runs that wait for their owner
        self._look_at = 0.0  # when the channels are looked into next, by `time.monotonic`

    def work(self) -> None:
        with self._gateway.turn(until=self._interrupts.asked) as ours:
            for ticket in self._gateway.interrupted() if ours else ():
                self._take_up(ticket)
        self._gateway.work(self._run_one, self._interrupts.asked, pause=self._idle)

    # A command

    def _run_one(self, ticket: Ticket) -> Mapping[str, Any]:
        self._out.say(f"{safe(ticket.via)}: {one_line(ticket.text, _SHOWN)}")
        request = self._request._replace(command=ticket.text, session=ticket.session, via=ticket.via)
        with action("run", new=True, via="agent"):
            return self._done(ticket, lambda *company: self._app.agent.run(request, *company))

    def _take_up(self, ticket: Ticket) -> None:
        """What was cut off: its run goes on; one that had not even begun waits again; none is done twice."""
        end = self._gateway.end_of(ticket.id)
        if end is not None:  # it waits for its owner
            self._parked[str(end.get("run", ""))] = ticket
        elif run := self._open_run(ticket):
            self._gateway.finish(ticket, self._resumed(ticket, run))
        elif over := self._ended_run(ticket):
            self._gateway.finish(ticket, self._told_late(ticket, over))
        else:
            self._gateway.put_back(ticket)

    def _open_run(self, ticket: Ticket) -> str:
        """That has begun for this command and not ended. One run at a time: the first since its turn came."""
        found = self._app.agent.open_runs() if ticket.begun else []
        return next((one.run for one in found if one.command == ticket.text and one.at >= ticket.begun), "")

    def _ended_run(self, ticket: Ticket, run: str = "") -> Episode | None:
        """The same of one that has ended, though nobody was told."""
        for one in self._app.learning.runs.episodes() if ticket.begun or run else ():
            if one.run == run or (not run and one.command == ticket.text and one.started >= ticket.begun):
                return one
        return None

    def _told_late(self, ticket: Ticket, over: Episode) -> Mapping[str, Any]:
        """What its journal knows of the end."""
        from hindbrain.agent.run import RunResult

        end = _ENDS.get(over.outcome, "fail")
        unproven = over.outcome == "unknown" and not over.reason  # else it failed without a fault of its own
        result = RunResult(
            over.run, over.command, "complete" if unproven else end, over.answer, over.score, over.reason,
            not unproven, over.iterations, seconds=over.seconds, recalled=over.injected,
        )  # fmt: skip
        self._out.say(end_line(result, self._out))
        self._reply(ticket, reply_text(result, ()), f"{result.run}-{result.end}-{result.iterations}")
        return result_data(result, ())

    def _resumed(self, ticket: Ticket, run: str) -> Mapping[str, Any]:
        self._out.say(f"going on with {run}: {one_line(ticket.text, _SHOWN)}")
        return self._done(ticket, lambda *company: self._app.agent.resume(run, *company))

    def _done(self, ticket: Ticket, carry_out: Callable[..., RunResult]) -> Mapping[str, Any]:
        """How it ended, as a program is told; whoever gave the command is told, too."""
        agent = self._app.agent
        try:
            result = carry_out(self._telling, agent.unattended(), self._interrupts.asked)
            self._telling.close()
        except HindbrainError as error:
            self._out.warn(safe(str(error)))
            self._reply(ticket, f"That could not be done: {error}", "error")
            return {"error": {"code": error.code, "message": str(error)}}
        self._out.say(end_line(result, self._out))
        waiting: list[Asked] = []
        if result.end == "waiting":
            waiting = [asked for asked in agent.waiting() if asked.run == result.run]
            self._parked[result.run] = ticket
            for line in waiting_lines(waiting, self._out):
                self._out.say(line)
        self._reply(ticket, reply_text(result, waiting), f"{result.run}-{result.end}-{result.iterations}")
        return result_data(result, waiting)

    def _reply(self, ticket: Ticket, text: str, mark: str) -> None:
        send(self._app.agent, f"{ticket.id}-{mark}", ticket.via, ticket.sender, text, self._out)

    # Between two commands

    def _idle(self, seconds: float) -> None:
        """What got its owner's word goes on, channels are looked into, what was not sent is tried again."""
        still = {asked.run for asked in self._app.agent.waiting()} if self._parked else set()
        for run in [run for run in self._parked if run not in still]:
            self._go_on(run)
        if time.monotonic() >= self._look_at:
            self._look_at = time.monotonic() + _LOOK_EVERY_S
            if self._ears.commanders:
                self._ears.look()
            outbox = self._app.agent.outbox()
            if outbox.waiting():
                with suppress(HindbrainError):  # another process is at it; what waits stays in the outbox
                    outbox.flush()
        self._interrupts.wait(seconds)

    def _go_on(self, run: str) -> None:
        ticket = self._parked.pop(run)
        with self._gateway.turn(until=self._interrupts.asked) as ours:
            if not ours:
                return
            if any(one.run == run for one in self._app.agent.open_runs()):
                self._gateway.finish(ticket, self._resumed(ticket, run))
            elif over := self._ended_run(ticket, run):  # its owner went on with it at a terminal
                self._gateway.finish(ticket, self._told_late(ticket, over))
            else:
                gone = {"code": "not_found", "message": f"nothing is left of the run {run!r}"}
                self._gateway.finish(ticket, {"error": gone})


def reply_text(result: RunResult, waiting: Sequence[Asked]) -> str:
    """What is sent back to whoever gave the command."""
    if result.end == "waiting":
        asked = [f"{_beginning(shown_of(one))}\n{_how_to_answer(one)}" for one in waiting]
        return "\n".join(("I need your word before I go on:", *asked))
    if result.ok:
        return result.answer or "Done."
    words = {"cancelled": "That was cancelled", "stuck": "I got stuck"}.get(result.end, "That did not work")
    told_why = result.reason and result.end != "cancelled"
    reason = f"{words}: {result.reason}" if told_why else f"{words}."
    return "\n".join(filter(None, (result.answer, reason)))


def send(agent: Agent, key: str, channel: str, to: str, text: str, out: Output) -> None:
    """Over the channel, once for a key; nothing where the command came another way."""
    from hindbrain.agent.channels.channel import Outgoing

    outbox = agent.outbox()
    if channel not in outbox.channels:
        return
    try:
        outbox.send(Outgoing(key, channel, text, to, agent.now()))
    except HindbrainError as error:
        out.warn(safe(f"the answer did not go out: {error}"))


def is_shown_whole(asked: Asked) -> bool:
    """Can all of it be seen in a message?"""
    return len(shown_of(asked)) <= _LONGEST_SHOWN


def _how_to_answer(asked: Asked) -> str:
    here = f"answer `approve {asked.id}` or `deny {asked.id}`; " if is_shown_whole(asked) else ""
    return f"({here}in a terminal: hindbrain approve {asked.id})"


def _beginning(shown: str) -> str:
    """For a small screen; whoever approves it sees all of it."""
    cut = f"{shown[:_LONGEST_SHOWN]}\n… (more of it in the terminal)"
    return shown if len(shown) <= _LONGEST_SHOWN else cut
