"""Failures and what solved them: a command fails, something is done, the same command works.

Pure: messages in, fixes out; what is still open is a plain value that the caller keeps between two captures.
Precision first. What passes again with nothing done was flaky. What an agent breaks and mends while it writes
code is its daily work and no known issue, unless a command was part of the cure.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hindbrain.context.capture.commands import (
    Command,
    is_part_of,
    is_retry,
    other_way,
    understand_command,
)
from hindbrain.context.capture.error_text import Failure, has_failed, understand_failure
from hindbrain.context.capture.tool_calls import change_made, files_changed, runs_command
from hindbrain.context.messages import Message

_MOST_OPEN = 8
_MOST_CALLS = 20  # that wait for their result
_LONGEST_COMMAND = 4_000
_MOST_STEPS = 8  # more than that is a day's work, not a fix, unless somebody said what it was
_MOST_KEPT_STEPS = 20
_OLDEST = 60  # commands after which a failure that nobody came back to is given up
_MOST_WHY = 220  # characters
# What is said where a file is looked for in the wrong folder. Elsewhere `cd` is no cure.
_WRONG_PLACE = re.compile(
    r"no such file|not a git repository|could not (?:read|find|open)|no (?:rule|targets|configuration|module)"
    r"|not found|can(?:no|')t (?:find|open)|ENOENT|does not (?:exist|contain)|missing script",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"\b(?:because|the (?:issue|problem|cause|reason|fix|error) (?:was|is)|root cause|due to|turns out"
    r"|caused by|was missing|is missing|wasn't installed|not installed|needs to be|needed to|requires"
    r"|has to be|instead of)\b",
    re.IGNORECASE,
)
_NOT_WHY = re.compile(r"\?$|^(?:let me|i'll|i will|now|next|first)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'])|\n+")


class Step(NamedTuple):
    """Something that was done between a failure and the success."""

    kind: str  # ran, edited
    what: str  # the command, or the file
    how: str = ""  # of an edit: the line that changed; "" when it is not known, or is more than one


class Fix(NamedTuple):
    """A failure and what solved it."""

    failure: Failure
    steps: tuple[Step, ...]
    worked: str  # the command that worked, where it is another one than the one that failed; else ""
    why: str = ""  # the agent's own sentence; "" when it gave none
    in_vain: tuple[Step, ...] = ()  # done before, and it failed in the same way again
    times: int = 1  # that it failed


class Attempt(NamedTuple):
    """A failed command that was tried again after something was done."""

    failure: Failure  # before
    steps: tuple[Step, ...]  # done since then, the other command line among them
    worked: bool  # False: it failed in the same way again


class _Open(NamedTuple):
    failure: Failure
    given: str  # the whole command
    steps: tuple[Step, ...] = ()
    in_vain: tuple[Step, ...] = ()
    why: str = ""
    times: int = 1
    age: int = 0  # commands since then
    closed: bool = False  # it went on to fail in another way; steps from then on belong to that
    while_editing: bool = False  # files had been changed in this session before it failed
    claimed: tuple[Step, ...] = ()  # of its steps, those that have solved another failure meanwhile


_DEFAULTS = _Open._field_defaults


class _Call(NamedTuple):
    """A call whose result has not come yet, as far as it matters."""

    command: str  # "" when it runs none
    edits: tuple[Step, ...]  # that it makes


class FailureTracker:
    """Follows one conversation. Feed it messages in order; with a `state` it goes on from there."""

    def __init__(self, state: Mapping[str, object] | None = None) -> None:
        self._open, self._calls, self._edited = _restored(state or {})
        self.attempts: list[Attempt] = []  # seen by `feed`

    def feed(self, messages: Iterable[Message]) -> list[Fix]:
        """Take in what was said and done; returns the failures that were solved by it."""
        fixes: list[Fix] = []
        for message in messages:
            if message.role == "assistant" and message.tool:
                self._called(message)
            elif message.role == "assistant":
                self._hear(message.text)
            elif message.role == "tool":
                fixes += self._result(message)
        return fixes

    def state(self) -> dict[str, object]:
        """What is still open, as plain values."""
        return {
            "open": [one._asdict() for one in self._open],
            "calls": {call: [made.command, list(made.edits)] for call, made in self._calls.items()},
            "edited": self._edited,
        }

    def _called(self, message: Message) -> None:
        command = message.text[:_LONGEST_COMMAND] if runs_command(message.tool) else ""
        edits = tuple(Step("edited", file, change_made(message, file)) for file in files_changed(message))
        made = _Call(command, edits)
        if made.command or made.edits:
            self._calls[message.call or "?"] = made
            for old in list(self._calls)[:-_MOST_CALLS]:
                del self._calls[old]

    def _result(self, message: Message) -> list[Fix]:
        made = self._calls.pop(message.call or "?", None)
        if made is None:
            return []
        if made.edits:
            if not message.failed:
                self._do(made.edits)
                self._edited = True
            return []
        text = made.command
        command = understand_command(text)
        if has_failed(command, message.text, failed=message.failed):
            self._fail(command, text, message.text)
            return []
        return [] if message.failed else self._succeed(command)

    def _fail(self, command: Command, given: str, output: str) -> None:
        failure = understand_failure(given, output)
        before = [one for one in self._open if is_retry(command, understand_command(one.given))]
        others = [one._replace(age=one.age + 1) for one in self._open if one not in before]
        before = [_with(one, command) for one in before]
        same = next((one for one in before if one.failure.signature == failure.signature), None)
        # What was done for an error that has gone is kept for it; with nothing done it was flaky.
        gone = [_passed_on(one) for one in before if one is not same and (one.steps or one.closed)]
        if same is None:
            now = _Open(failure, given[:_LONGEST_COMMAND], while_editing=self._edited)
        else:
            in_vain = _added(same.in_vain, same.steps)
            self._attempted(same, command, worked=False)
            now = same._replace(steps=(), in_vain=in_vain, times=same.times + 1, age=0, why="", closed=False)
        kept = [one for one in (*others, *gone, now) if one.age <= _OLDEST]
        self._open = kept[-_MOST_OPEN:]

    def _succeed(self, command: Command) -> list[Fix]:
        solved = [one for one in self._open if _solves(command, one)]
        self._open = [one._replace(age=one.age + 1) for one in self._open if one not in solved]
        done = [Step("ran", text) for text in command.before]
        if not solved and command.changes_something:
            done.append(Step("ran", command.plain))
        self._do(done)
        if command.moved and not command.program:
            self._open = [_moved(one, command) for one in self._open]
        for one in solved:
            self._attempted(_with(one, command), command, worked=True)
        pairs = [(_fix(_with(one, command), command), one) for one in solved]
        fixes = [fix for fix, one in pairs if fix is not None and _worth_knowing(fix, one)]
        claimed = [step for fix in fixes for step in fix.steps]
        self._open = [one._replace(claimed=_added(one.claimed, claimed)) for one in self._open]
        return fixes

    def _attempted(self, one: _Open, command: Command, *, worked: bool) -> None:
        before = understand_command(one.given)
        other = "" if one.closed else other_way(command, before)
        steps = (*one.steps, *([Step("ran", other)] if other else []))
        if steps:
            self.attempts.append(Attempt(one.failure, steps, worked))

    def _do(self, steps: Sequence[Step]) -> None:
        self._open = [
            one if one.closed else one._replace(steps=_added(one.steps, steps)) for one in self._open
        ]

    def _hear(self, text: str) -> None:
        """Keep the agent's sentence that says why, the last one before the success."""
        if not any(not one.closed for one in self._open):
            return
        why = explanation(text)
        if why:
            self._open = [one if one.closed else one._replace(why=why) for one in self._open]


def explanation(text: str) -> str:
    """The sentence that gives a reason; "" when none does."""
    for sentence in _SENTENCE.split(text[:4_000]):
        cleaned = " ".join(sentence.split()).strip("*-# ")
        if 20 <= len(cleaned) <= _MOST_WHY and _WHY.search(cleaned) and not _NOT_WHY.search(cleaned):
            return cleaned
    return ""


def _solves(command: Command, one: _Open) -> bool:
    earlier = understand_command(one.given)
    return is_retry(command, earlier) or is_part_of(command, earlier, one.failure.test)


def _with(one: _Open, command: Command) -> _Open:
    """With what was done in the line of the next attempt itself: `pip install x && pytest`."""
    known = understand_command(one.given).before
    done = [Step("ran", text) for text in command.before if text not in known]
    return one if one.closed else _moved(one._replace(steps=_added(one.steps, done)), command)


def _moved(one: _Open, command: Command) -> _Open:
    """With the change of the folder, where the error may come from being in the wrong one."""
    before = understand_command(one.given).moved
    if one.closed or not command.moved or command.moved == before:
        return one
    if not _WRONG_PLACE.search(f"{one.failure.error} {one.failure.detail}"):
        return one
    return one._replace(steps=_added(one.steps, [Step("ran", command.moved)]))


def _fix(one: _Open, command: Command) -> Fix | None:
    """None when nothing was done: it was flaky."""
    worked = "" if one.closed else other_way(command, understand_command(one.given))
    if not one.steps and not worked:
        return None
    # What has solved another failure may have solved this one, too, but is the less likely cure.
    claimed = {(step.kind, step.what) for step in one.claimed}
    own = tuple(step for step in one.steps if (step.kind, step.what) not in claimed)
    return Fix(one.failure, own or one.steps, worked, one.why, one.in_vain, one.times)


def _worth_knowing(fix: Fix, one: _Open) -> bool:
    ran = bool(fix.worked) or any(step.kind == "ran" for step in fix.steps)
    if not ran and one.while_editing:
        return False
    return len(fix.steps) <= _MOST_STEPS or bool(fix.why)


def _passed_on(one: _Open) -> _Open:
    """An error that another one took the place of: a command has solved it, an edit may go on."""
    return one._replace(closed=one.closed or any(step.kind == "ran" for step in one.steps), age=one.age + 1)


def _added(steps: tuple[Step, ...], new: Sequence[Step]) -> tuple[Step, ...]:
    """Each once, in the order of the last time; of several edits of a file the last."""
    again = {(step.kind, step.what) for step in new}
    kept = [step for step in steps if (step.kind, step.what) not in again]
    return (*kept, *{(step.kind, step.what): step for step in new}.values())[-_MOST_KEPT_STEPS:]


def _restored(state: Mapping[str, object]) -> tuple[list[_Open], dict[str, _Call], bool]:
    """What `state` told; what can't be read of it is forgotten, which costs one fix at most."""
    found: list[_Open] = []
    calls: dict[str, _Call] = {}
    with contextlib.suppress(TypeError, ValueError, LookupError, AttributeError, OverflowError):
        found += [_restored_one(told) for told in cast("list[dict[str, Any]]", state.get("open", []))]
        for call, (command, edits) in cast("dict[str, Any]", state.get("calls", {})).items():
            calls[str(call)] = _Call(str(command), tuple(Step(*map(str, edit)) for edit in edits))
    return found, calls, bool(state.get("edited"))


def _restored_one(told: Mapping[str, Any]) -> _Open:
    """From what JSON has made of it: lists for tuples."""
    steps: dict[str, Any] = {
        name: tuple(Step(*map(str, step)) for step in told[name]) for name in ("steps", "in_vain", "claimed")
    }
    plain = {name: type(default)(told[name]) for name, default in _DEFAULTS.items() if name not in steps}
    failure = Failure(*(str(part) for part in told["failure"]))
    return _Open(failure, str(told["given"]), **steps, **plain)
