"""A conversation cut into runs: a person's prompt, and all that was done until their next one.

Pure: messages in, events out, one run at a time. A prompt that only says "yes" or "go on" belongs to the run
before it; praise with nothing to do is no run. Calls of this memory's own tools are left out: nothing of our
own output is learned again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from hindbrain.context.capture.tool_calls import is_our_tool, runs_command
from hindbrain.context.capture.transcripts.blocks import HASH_ID
from hindbrain.context.messages import Message
from hindbrain.learn.importing import outcomes
from hindbrain.learn.importing.identity import run_id
from hindbrain.learn.importing.prompts import (
    command_of,
    corrects,
    goes_on,
    is_bare,
    only_praises,
)
from hindbrain.learn.runs.events import LATEST, Event, IterationStarted, RunCreated, RunEnded, ToolExecuted
from hindbrain.learn.runs.gist import last_telling
from hindbrain.learn.runs.journal import digest_of, said_by

# How a transcript's reader says that the person stopped the agent; some hosts put it into a tool's result.
INTERRUPTED = "[Request interrupted by user"
_REFUSED = ("The user doesn't want to proceed", "The user doesn't want to take this action")
_UNIQUE_ID = 32  # characters of a message's id from which on it is the same message in whatever session
_LONGEST_CALL = 4_000  # characters of a call that are looked at to judge it


class _Call(NamedTuple):
    tool: str
    text: str
    id: str
    at: float
    iteration: int


class _Turn:
    """A run that is being read."""

    def __init__(self, prompt: Message, command: str, at: float, *, session: str = "", app: str = "") -> None:
        self.prompt, self.command = prompt, command
        self.session, self.app = session, app  # of its beginning: a transcript may go on elsewhere
        self.started = self.ended = at
        self.iterations = 0
        self.done: list[tuple[_Call, ToolExecuted | None]] = []  # in the order of the calls
        self.effort = outcomes.Effort()
        self.last_words = ""
        self.said: list[str] = []
        self.answered = False  # the last thing in it is the agent's word
        self.interrupted = False
        self._calling = False

    def take(self, message: Message, at: float) -> None:
        self.ended = max(self.ended, at)
        if message.role == "assistant":
            self.interrupted = False
            if message.tool:
                self._call(message, at)
            elif message.text:
                self.last_words, self.answered, self._calling = message.text, True, False
                self.said.append(message.text)
        elif message.role == "tool":
            self._calling, self.answered = False, False
            self.interrupted = message.text.startswith((*_REFUSED, INTERRUPTED))
            self._result(message, at)
        elif message.role == "system" and message.text.startswith(INTERRUPTED):
            self.interrupted = True

    def _call(self, message: Message, at: float) -> None:
        if not self._calling:
            self.iterations += 1
        self._calling, self.answered = True, False
        if not is_our_tool(message.tool):
            self.done.append((_Call(message.tool, message.text, message.call, at, self.iterations), None))

    def _result(self, message: Message, at: float) -> None:
        open_calls = [i for i, (call, event) in enumerate(self.done) if event is None]
        named = [i for i in open_calls if message.call and self.done[i][0].id == message.call]
        unnamed = [i for i in open_calls if not (message.call and self.done[i][0].id)]
        if is_our_tool(message.tool) or not (named or unnamed):
            return
        number = (named or unnamed)[0]
        call = self.done[number][0]
        text = call.text[:_LONGEST_CALL]
        failed = outcomes.call_failed(call.tool, text, message.text, told=message.failed)
        self.effort = self.effort.after(call.tool, text, message.text, failed=failed)
        event = _executed(call, message.text, at, ok=not failed)
        self.done[number] = (call._replace(text=""), event)  # a file that was written whole is held once

    def steps(self, run: str) -> list[Event]:
        """What happened between the beginning and the end."""
        found: list[Event] = []
        number = 0
        for call, event in self.done:
            if call.iteration != number:
                number = call.iteration
                found.append(IterationStarted(run, call.at, number))
            told = event or ToolExecuted(run, call.at, call.tool, _arguments(call))
            found.append(told._replace(run=run))
        return found


class Cutter:
    """Takes messages in their order and gives each run when the prompt after it has come."""

    def __init__(self, host: str, session: str = "", *, source: str = "tool", start: float = 0.0) -> None:
        self.session, self.app = session, ""
        self._host, self._source = host, source
        self._now = start  # of the last message that told its time
        self._turn: _Turn | None = None
        self._before = ""  # the command of the run before, which a bare correction is about
        self._ids: dict[str, int] = {}

    def take(self, message: Message) -> list[Event]:
        """The run that ended with this message; [] when none did."""
        self._now = message.at if 0 < message.at <= LATEST else self._now
        if message.role != "user" or not message.text.strip():
            if self._turn is not None:
                self._turn.take(message, self._now)
            return []
        if goes_on(message.text):
            if self._turn is not None:
                self._turn.interrupted = False
            return []
        command = command_of(message.text)
        if not command:
            return []
        ended = self._close(command)
        self._turn = _Turn(message, self._whole(command), self._now, session=self.session, app=self.app)
        return ended

    def rest(self, *, unfinished: bool = True) -> list[Event]:
        """The last run. `unfinished`: also one that the agent has not answered yet."""
        turn = self._turn
        if turn is None or not (unfinished or turn.answered or turn.interrupted):
            return []
        return self._close(None)

    def _whole(self, command: str) -> str:
        """The command; that of the run before, when it only says that something is wrong."""
        if self._before and is_bare(command) and corrects(command):
            return self._before
        self._before = command
        return command

    def _close(self, next_prompt: str | None) -> list[Event]:
        turn, self._turn = self._turn, None
        if turn is None or (not turn.done and only_praises(turn.command)):
            return []
        verdict = outcomes.judge(
            turn.command,
            turn.effort,
            last_words=turn.last_words,
            interrupted=turn.interrupted,
            next_prompt=next_prompt,
            pause_s=self._now - turn.ended if turn.prompt.at and next_prompt is not None else None,
        )
        run = self._run_id(turn)
        created = RunCreated(
            run, turn.started, turn.command, self._host, turn.session, self._source, turn.app
        )  # fmt: skip
        answer = last_telling(turn.said) if turn.answered else ""
        ended = RunEnded(run, turn.ended, verdict.end, reason=verdict.reason, answer=answer)
        return [created, *turn.steps(run), ended]

    def _run_id(self, turn: _Turn) -> str:
        prompt = turn.prompt
        given = prompt.id if prompt.id and not prompt.id.startswith(HASH_ID) else ""
        # A session that was resumed in another file has the same messages under another name.
        session = "" if len(given) >= _UNIQUE_ID else turn.session
        words = hashlib.sha256(prompt.text.encode("utf-8", "replace")).hexdigest()
        key = run_id(self._host, session, given, repr(prompt.at), words)
        self._ids[key] = self._ids.get(key, 0) + 1
        return key if self._ids[key] == 1 else run_id(key, str(self._ids[key]))


def runs_of(messages: Sequence[Message], *, host: str, session: str, app: str = "") -> list[list[Event]]:
    """The runs of a conversation, in their order; the last one is `unknown` unless its own words decide."""
    return list(runs_in(messages, Cutter(host, session), app=app))


def steps_of(messages: Iterable[Message], run: str, at: float) -> list[Event]:
    """The calls of a log that is one run as a whole."""
    turn = _Turn(Message("user", ""), "", at)
    for message in messages:
        turn.take(message, message.at or at)
    return turn.steps(run)


def runs_in(messages: Iterable[Message], cutter: Cutter, *, app: str = "") -> Iterable[list[Event]]:
    """As they are read."""
    cutter.app = app
    for message in messages:
        if run := cutter.take(message):
            yield run
    if run := cutter.rest():
        yield run


def _executed(call: _Call, answer: str, at: float, *, ok: bool) -> ToolExecuted:
    said = "" if ok else said_by(answer)
    return ToolExecuted("", at, call.tool, _arguments(call), ok, digest_of(answer), said)


def _arguments(call: _Call) -> Mapping[str, Any]:
    """A call's arguments, which a message holds as text: JSON, or a command as it was typed."""
    if call.text.startswith("{"):
        try:
            told = json.loads(call.text)
        except (ValueError, RecursionError):
            told = None
        if isinstance(told, dict):
            return told
    if not call.text:
        return {}
    return {"command" if runs_command(call.tool) else "input": call.text}
