"""tau-bench: lists of {task_id, trial, reward, info, traj}, and its few-shot lines of displayed messages.

A run is the whole conversation with a customer. What `info` holds is the hidden instruction and the right
actions: never looked at, since it would teach the answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from hindbrain.context.capture.transcripts.plain import PlainReader
from hindbrain.context.messages import Message
from hindbrain.learn.importing.identity import run_id
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.outcomes import call_failed, first_line
from hindbrain.learn.importing.requests import wanted
from hindbrain.learn.importing.turns import steps_of
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded
from hindbrain.learn.runs.gist import last_telling

_HOST = "tau-bench"
_STEP_S = 0.001  # between runs: the log tells no times, but has an order
_DOMAIN = re.compile(r"\b(airline|retail|telecom)\b", re.IGNORECASE)
_TURN = re.compile(r"^(user|assistant|tool): ", re.MULTILINE)


def runs_of_tau(log: Log) -> Iterator[list[Event]]:
    start = log.written
    for number, record in log.records():
        at = start + number * _STEP_S
        shown = record.get("messages_display")
        if isinstance(shown, str):
            yield _shown_run(shown, _domain(log.path.name) or "tau", at)
        elif isinstance(record.get("traj"), list) and isinstance(record.get("reward"), int | float):
            yield _run(record, _domain(log.path.name), at)
        else:
            log.refuse(number, "no run: 'traj' with 'reward', or 'messages_display', is missing")


def _run(record: Record, domain: str, at: float) -> list[Event]:
    reader = PlainReader()
    messages = reader.take({"traj": record["traj"]})
    system = next((message.text for message in messages if message.role == "system"), "")
    domain = _domain(system[:200]) or domain or "tau"
    task, trial = str(record.get("task_id", "")), str(record.get("trial", 0))
    run = run_id(_HOST, domain, task, trial, _hash(messages))
    won = record["reward"] == 1
    created = RunCreated(
        run, at, wanted(messages), _HOST, f"{domain}-{task}/{trial}", source="import", app=domain
    )
    reason = "" if won else _last_error(messages)
    said = [message.text for message in messages if message.role == "assistant" and not message.tool]
    ended = RunEnded(
        run, at, "complete" if won else "fail", 100 if won else 0, reason, answer=last_telling(said)
    )
    return [created, *steps_of(messages, run, at), ended]


def _shown_run(shown: str, domain: str, at: float) -> list[Event]:
    """A run of which the names and arguments of the calls are not told, nor how it ended."""
    pieces = _TURN.split(shown)
    messages: list[Message] = []
    for role, text in zip(pieces[1::2], pieces[2::2], strict=True):
        said = text.strip()
        if role == "user":
            messages.append(Message("user", said))
        elif role == "tool":
            messages.append(Message("tool", said, "unknown"))
        elif said == "None":
            messages.append(Message("assistant", "", "unknown"))
        else:
            messages.append(Message("assistant", said))
    name = _hash(messages)
    run = run_id(_HOST, domain, "few-shot", name)
    created = RunCreated(
        run, at, wanted(messages), _HOST, f"{domain}-few-shot/{name[:8]}", source="import", app=domain
    )
    return [created, *steps_of(messages, run, at), RunEnded(run, at, "unknown")]


def _last_error(messages: Sequence[Message]) -> str:
    errors = [
        message.text
        for message in messages
        if message.role == "tool" and call_failed(message.tool, "", message.text, told=message.failed)
    ]
    return first_line(errors[-1]) if errors else ""


def _domain(text: str) -> str:
    found = _DOMAIN.search(re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", text))
    return found[1].lower() if found else ""


def _hash(messages: Sequence[Message]) -> str:
    said = "\0".join(f"{message.role}\0{message.tool}\0{message.text}" for message in messages)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
