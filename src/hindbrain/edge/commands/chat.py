"""`hindbrain chat`: a conversation with the agent; each line is a run that knows what was said before.

In a pipe lines come in and answers go out.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import RED, Output, safe
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.agent.run import RunResult, Said
    from hindbrain.app import App

_HELP = """\
/memory  what of your vault was in the last prompt
/quit    the end (also Ctrl-D)
anything else is a command to the agent; Ctrl-C while it works ends that run"""

_SLASH_WORD = re.compile(r"/[a-z]+")  # a slip of the fingers, and no command to pay a model for


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--session", default="", metavar="NAME", help="under which the conversation's runs are recorded"
    )
    parser.add_argument(
        "--preset", default="agent", metavar="NAME",
        help="what of the vault enters each prompt: agent, compact, full, ..., or one of your own (agent)",
    )  # fmt: skip
    parser.add_argument(
        "--unattended", action="store_true", help="ask nobody: what needs your word waits (hindbrain approve)"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args, warm=True)) as app:
        app.agent.check()
        app.context.preset(args.preset)  # before an index is made
        prepare_index(app, out)
        return _Conversation(app, args, out).hold()


class _Conversation:
    def __init__(self, app: App, args: Namespace, out: Output) -> None:
        from hindbrain.agent.gateway import CommandGateway
        from hindbrain.agent.run import COMPLETION_TOKEN, RunRequest
        from hindbrain.edge.agent_runs.carrying_out import is_attended
        from hindbrain.edge.agent_runs.person_words import PersonWords
        from hindbrain.edge.agent_runs.streaming import Stream
        from hindbrain.edge.agent_runs.telling import Telling

        self._app, self._out = app, out
        self._attended = not args.unattended and is_attended()
        session = args.session or f"chat-{int(app.clock.now())}"
        self._request = RunRequest("", limits=app.agent.limits, session=session, preset=args.preset)
        self._hearing = PersonWords(app, session, out)
        self._gateway = CommandGateway(app.state, app.clock)
        self._streams = out.on_terminal and not out.json
        self._stream = Stream(self._write, COMPLETION_TOKEN)
        self._telling = Telling(out, brief=True, quiet=out.json)
        self._last: RunResult | None = None

    def hold(self) -> int:
        """Until the end of the lines. 1 when one of them could not be done."""
        code = 0
        for line in self._lines():
            if line in ("/quit", "/exit"):
                break
            if line in ("/help", "/memory"):
                self._out.say(_HELP if line == "/help" else self._memory())
                continue
            if _SLASH_WORD.fullmatch(line):
                self._out.say(f"there is no {line}; /help tells what there is")
                continue
            self._hearing.hear(line)
            try:
                result = self._answer(line)
            except HindbrainError as error:
                self._tell_error(error)
                code = 1
            else:
                self._hearing.hear_answer(result.answer)
                code = code if result.ok else 1
        return code

    def _lines(self) -> Iterator[str]:
        asks = self._streams and bool(sys.stdin and sys.stdin.isatty())
        if asks:
            with suppress(ImportError):  # where there is one, lines can be edited and called back
                import readline  # noqa: F401
            self._out.say("/help tells what can be typed; /quit ends")
        while True:
            try:
                line = input("> " if asks else "")
            except (EOFError, KeyboardInterrupt):
                if asks:
                    self._out.say("")
                return
            if line.strip():
                yield line.strip()

    def _answer(self, line: str) -> RunResult:
        from hindbrain.edge.agent_runs.carrying_out import approver_for
        from hindbrain.edge.agent_runs.interrupts import Interrupts

        interrupts = Interrupts(lambda: self._out.say("ending this run"))
        approver = approver_for(self._app, self._out, interrupts, attended=self._attended)
        request = self._request._replace(command=line)
        said = partial(self._out.say, "another run goes on in this vault; waiting for its end")
        with interrupts.caught(), self._gateway.turn(told=said, until=interrupts.asked) as ours:
            if not ours:
                raise KeyboardInterrupt
            with action("chat", via="agent"):
                result = self._app.agent.run(request, self._hear, approver, interrupts.asked)
        self._last = result
        self._request = self._request._replace(history=result.messages)
        self._show(result)
        return result

    def _hear(self, said: Said) -> None:
        if said.kind == "text":
            if self._streams:
                self._telling.close()
                self._stream.take(said.text)
            return
        self._stream.end()  # a step is told on a line of its own
        self._telling(said)

    def _show(self, result: RunResult) -> None:
        from hindbrain.edge.agent_runs.carrying_out import waiting_of
        from hindbrain.edge.agent_runs.ending import (
            end_line,
            learned_lines,
            next_line,
            result_data,
            waiting_lines,
        )

        self._stream.end()
        self._telling.close()
        waiting = waiting_of(self._app, result)
        if self._out.json:
            import json

            self._out.line(json.dumps(result_data(result, waiting), default=str))
            self._out.stdout.flush()
            return
        if not self._streams and result.answer:
            self._out.line(safe(result.answer.strip()))
            self._out.stdout.flush()
        if not result.ok:
            self._out.say(end_line(result, self._out))
        for text in waiting_lines(waiting, self._out):
            self._out.say(text)
        if result.learned is not None:
            for text in learned_lines(result.learned, self._app.learning):
                self._out.say(safe(text))
        if hint := next_line(result, waiting):
            self._out.say(hint)

    def _tell_error(self, error: HindbrainError) -> None:
        self._out.say(f"{self._out.paint_err('error:', RED)} {safe(str(error))}  ({error.code})")
        if self._out.json:  # a program waits for one value to each line
            import json

            self._out.line(json.dumps({"error": {"code": error.code, "message": str(error)}}))
            self._out.stdout.flush()

    def _memory(self) -> str:
        if self._last is None:
            return "nothing was asked yet"
        return "\n".join(map(safe, self._last.recalled)) or "nothing of your vault was in the last prompt"

    def _write(self, text: str) -> None:
        self._out.stdout.write(text)
        self._out.stdout.flush()
