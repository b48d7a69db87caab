"""Logs in which a record is a run: found by shape, whoever wrote it.

A record has a list of steps or messages somewhere, and beside it what was asked, how it ended and what was
answered (run_fields.py). A file may also hold the steps of one run as its records, or be text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from hindbrain.context.capture.tool_calls import runs_command
from hindbrain.context.capture.transcripts.blocks import mapping, seconds, texts
from hindbrain.context.capture.transcripts.plain import PlainReader
from hindbrain.context.messages import Message
from hindbrain.learn.importing.identity import run_id
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.requests import wanted
from hindbrain.learn.importing.responses import as_messages
from hindbrain.learn.importing.run_fields import ANSWERS, answer_of, command_in, judged, reason_of, task_in
from hindbrain.learn.importing.spoken_steps import course_of_messages, is_message
from hindbrain.learn.importing.steps import (
    Course,
    Step,
    course_of_columns,
    course_of_steps,
    exit_said,
    failed,
    is_shell,
    is_step,
)
from hindbrain.learn.importing.text_logs import TextReading, course_of_text, tells_actions
from hindbrain.learn.importing.turns import steps_of
from hindbrain.learn.runs.events import (
    LATEST,
    Event,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
)
from hindbrain.learn.runs.journal import digest_of, said_by, text_of

_STEP_S = 0.001  # between the runs of a log that tells no times
_LISTS = (
    "trajectory", "traj", "steps", "turn_history", "intermediate_steps", "events", "actions", "history",
    "messages", "conversation", "conversations", "turns", "trace", "log", "calls", "tool_calls", "commands",
    "transcript",
)  # fmt: skip
# Never runs of this record: answers, labels, examples, and what could have been called.
_NOT_DONE = re.compile(
    r"(?i)gold|truth|expect|reference|oracle|label|annotat|eval|mistake|hidden|solution|demo|few.?shot|example"
    r"|tools$|functions$|^query$|^info$|^tasks?$|config|metadata|instance|system|prompt|rubric|criteria|patch|^choices$"
)
_SINGLE = ("action", "prediction", "cmd", "bash", "predicted_command", "generated_command")
_IDS = ("run_id", "trace_id", "trajectory_id", "instance_id", "question_ID", "task_id", "id", "index", "name")
_TRIALS = ("trial", "attempt", "seed", "run", "rollout")
_GROUPS = ("run_id", "trace_id", "session_id", "episode_id", "conversation_id", "task_id", "episode")
_HOSTS = ("agent", "agent_name", "scaffold", "host", "framework")
_APPS = ("app", "application", "domain", "environment", "env", "repo")
_BEGINS = ("started", "start_time", "timestamp", "created_at", "created", "time", "date")
_FINISHES = ("ended", "end_time", "finished_at", "completed_at")
_SHELLS = re.compile(r"(?i)bash|shell|terminal|swe|docker|ctf|linux")
_SEPARATOR = re.compile(
    r"\s*(?:[#=*_-]{5,}|(?:environment|episode|trial|run|task) #?\d+:?|> entering new.*)\s*", re.IGNORECASE
)


class _Run(NamedTuple):
    """A record of which it is known that it is a run."""

    record: Record
    course: Course
    key: str = ""  # under which it stood, where the records are a table


def runs_of_records(log: Log) -> Iterator[list[Event]]:
    """The runs of a log: one for each record, or one for the records that are steps."""
    start = log.written
    for index, (number, run) in enumerate(_runs_in(log)):
        if command := command_in(run.record) or task_in(run.course.asked):
            yield _events(run, command, start + index * _STEP_S)
        else:
            log.refuse(number, f"steps without a task; it has {_keys(run.record)}")


def runs_of_text(log: Log) -> Iterator[list[Event]]:
    """The runs of a text: a task, or a line of signs, begins a new one."""
    start, index = log.written, 0
    for number, text in _texts(log):
        course = course_of_text(text, shell=_SHELLS.search(log.path.name) is not None)
        if not course.steps and not course.answer:
            continue
        if not course.asked:
            log.refuse(number, "steps without a task before them")
            continue
        fields = {name.replace(" ", "_"): value for name, value in course.fields.items()}
        yield _events(_Run(fields, course), course.asked, start + index * _STEP_S, host="text")
        index += 1


def is_run(record: Record) -> bool:
    """Is the record a run, or does it hold some? A mere conversation may be several."""
    if "role" in record:  # a message, whose calls are no run
        return False
    sequence = next(_sequences(record), None)
    if sequence is not None:
        items = sequence if isinstance(sequence, list) else []
        talks = any(map(is_message, items)) and not any(map(is_step, items))
        talks = talks and not any("from" in mapping(item) for item in items)
        return not talks or bool(command_in(record)) or judged(record)[0] != "unknown"
    return _single_step(record) is not None or any(is_run(inner) for _, inner in _held(record))


def are_steps(found: Sequence[Record]) -> bool:
    """Are the records of a log the steps of a run?"""
    return len(found) > 1 and all(_group(record) for record in found) and any(map(is_step, found))


def is_text_log(head: str) -> bool:
    return tells_actions(head)


def _runs_in(log: Log) -> Iterator[tuple[int, _Run]]:
    """The runs of a log, with the numbers of their records."""
    for steps, group in groupby(log.records(), lambda one: _group(one.record)):
        if not steps:
            for number, record in group:
                runs = list(_runs_of(record))
                if not runs:
                    log.refuse(number, f"no list of steps or messages in it; it has {_keys(record)}")
                yield from ((number, run) for run in runs)
            continue
        numbered = list(group)
        records = [record for _, record in numbered]
        head = next((record for record in records if command_in(record)), {})
        last = records[-1] if judged(records[-1])[0] != "unknown" else {}
        yield numbered[0].number, _Run({**head, **last, "id": steps}, course_of_steps(records))


def _group(record: Record) -> str:
    """The run of which a record is one step; "" when it is more than that."""
    if _own_steps(record) or any(True for _ in _held(record)) or _single_step(record) is not None:
        return ""
    named = next((text_of(record[key]) for key in _GROUPS if record.get(key) is not None), "")
    return (named or "steps") if is_step(record) or (named and command_in(record)) else ""


def _runs_of(record: Record, key: str = "", depth: int = 0) -> Iterator[_Run]:
    course = _course_in(record)
    if course is not None:
        yield _Run(record, course, key=key)
        return
    single = _single_step(record)
    if single is not None:
        yield _Run(record, single, key=key)
        return
    if depth < 2:
        held = list(_held(record))
        # What stands beside one run is about it; beside several it is about none of them alone.
        about = {k: v for k, v in record.items() if not isinstance(v, dict | list)} if len(held) == 1 else {}
        for name, inner in held:
            yield from _runs_of({**about, **inner}, name, depth + 1)


def _held(record: Record) -> Iterator[tuple[str, Record]]:
    """The records that a record is a table or a list of."""
    for key, value in record.items():
        if _NOT_DONE.search(key):
            continue
        if isinstance(value, dict) and (_own_steps(value) or _is_table(value)):
            yield (key, value)
        elif isinstance(value, list):
            for at, item in enumerate(value):
                if isinstance(item, dict) and _own_steps(item):
                    yield (str(at), item)


def _is_table(value: Record) -> bool:
    inner = [one for one in value.values() if isinstance(one, dict)]
    return bool(inner) and len(inner) == len(value) and any(_own_steps(one) for one in inner[:3])


def _own_steps(record: Record) -> bool:
    return next(_sequences(record), None) is not None


def _sequences(record: Record) -> Iterator[object]:
    """What may be the steps of a record, those with the usual names first."""
    names = [*(name for name in _LISTS if name in record), *(name for name in record if name not in _LISTS)]
    for name in names:
        value = _decoded(record[name]) if name in _LISTS else record[name]
        if name not in _LISTS and (_NOT_DONE.search(name) or name in ("input", "output")):
            continue
        if _is_sequence(value, usual=name in _LISTS):
            yield value
    if course_of_columns(record) is not None:
        yield record


def _decoded(value: object) -> object:
    """A list that a table keeps as JSON in a text."""
    if not isinstance(value, str) or not value.lstrip().startswith(("[{", "[[", '["', "{")):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _is_sequence(items: object, *, usual: bool) -> bool:
    if isinstance(items, dict):
        return course_of_columns(items) is not None
    if isinstance(items, str):
        return usual and tells_actions(items)
    if not isinstance(items, list) or not items:
        return False
    if usual and all(isinstance(item, str) for item in items):
        return tells_actions("\n".join(map(str, items)))
    if usual and all(isinstance(item, list) and len(item) == 2 for item in items):
        return True
    if usual:
        return any(map(is_step, items)) or any(map(is_message, items))
    # Under another name it has to be clear from all of them.
    return len(items) > 1 and (all(map(is_step, items)) or all(map(is_message, items)))


def _course_in(record: Record) -> Course | None:
    """The first sequence that has steps; what was asked may stand in another one."""
    shell = any(_SHELLS.search(texts(record.get(key))) is not None for key in (*_APPS, "dataset"))
    courses = [_course(sequence, shell=shell) for sequence in _sequences(record)]
    if not courses:
        return None
    best = next((course for course in courses if course.steps), courses[0])
    asked = next((course.asked for course in courses if course.asked), "")
    return best._replace(asked=best.asked or asked)


def _course(sequence: object, *, shell: bool) -> Course:
    if isinstance(sequence, str):
        return course_of_text(sequence, shell=shell)
    if isinstance(sequence, dict):
        listed = sequence.get("actions") or sequence.get("action") or sequence.get("commands")
        told = [action for action in listed if isinstance(action, str)] if isinstance(listed, list) else []
        return (
            course_of_columns(sequence, shell=shell or "commands" in sequence or is_shell(told)) or Course()
        )
    items = sequence if isinstance(sequence, list) else []
    if items and all(isinstance(item, str) for item in items):
        return course_of_text("\n".join(items), shell=shell)
    dicts = [item for item in items if isinstance(item, dict)]
    if dicts and sum(map(is_message, dicts)) * 2 > len(dicts) and not _acts(dicts):
        return _conversation(as_messages(dicts), shell=shell)
    actions = [
        action for item in dicts if isinstance(action := item.get("action"), str) and "args" not in item
    ]
    return course_of_steps(items, shell=shell or is_shell(actions))


def _acts(items: Sequence[Record]) -> bool:
    """Are these steps that also say who did them?"""
    return sum("observation" in item or "args" in item for item in items) * 2 > len(items)


def _conversation(items: Sequence[Record], *, shell: bool) -> Course:
    if not any(_has_calls(item) for item in items):
        return course_of_messages(items, shell=shell)
    reader = PlainReader()
    messages = _judged_calls(m for item in items if not item.get("is_demo") for m in reader.take(item))
    prompts = [m.text for m in messages if m.role == "user"]
    asked = wanted(messages) if len(prompts) > 1 else "".join(prompts)
    # In a conversation with a person all that the agent says is meant for them; else only its last words.
    first = _place(messages, "user") if len(prompts) > 1 else len(messages) - _place(messages[::-1], "tool")
    said = tuple(m.text for m in messages[first:] if m.role == "assistant" and not m.tool and m.text)
    steps = tuple(
        Step(event.name, event.arguments, event.said, event.ok, event.at)
        for event in steps_of(messages, "", 0.0)
        if isinstance(event, ToolExecuted)
    )
    return Course(asked, steps, said)


def _place(messages: Sequence[Message], role: str) -> int:
    """The place of the first message with a role; the end when there is none."""
    return next((at for at, message in enumerate(messages) if message.role == role), len(messages))


def _judged_calls(messages: Iterable[Message]) -> list[Message]:
    """With the results marked as failed of which only the text says so."""
    found: list[Message] = []
    tool = ""
    for message in messages:
        tool = message.tool or tool
        if message.role == "tool" and runs_command(tool) and not message.failed:
            message = message._replace(failed=failed(Step(tool, {}, message.text, exit_said(message.text))))
        found.append(message)
    return found


def _has_calls(item: Record) -> bool:
    blocks = item.get("content")
    return bool(item.get("tool_calls")) or (
        isinstance(blocks, list)
        and any(mapping(block).get("type") in ("tool_use", "toolCall") for block in blocks)
    )


def _single_step(record: Record) -> Course | None:
    """A record with one command line, or with an answer alone, and how it went."""
    if not command_in(record) or judged(record)[0] == "unknown":
        return None
    for key in _SINGLE:
        value = texts(record.get(key)).strip()
        if value and (key in _SINGLE[2:] or is_shell([value])):
            row = {
                name: told
                for name, told in record.items()
                if name in ("output", "stdout", "stderr", "exit_code")
            }
            return course_of_steps([{**row, "action": value}], shell=True)
    return Course() if any(texts(record.get(key)).strip() for key in ANSWERS) else None


def _events(found: _Run, command: str, start: float, host: str = "log") -> list[Event]:
    record, course = found.record, found.course
    at = _time(record, _BEGINS) or next((step.at for step in course.steps if step.at), 0.0) or start
    name = " ".join(filter(None, (_name(record, _IDS) or found.key, _name(record, _TRIALS))))
    host = _name(record, _HOSTS) or host
    run = run_id("record", host, name, command, _hash(course))
    created = RunCreated(run, at, command, host, name, source="import", app=_name(record, _APPS))
    events: list[Event] = [created]
    for number, step in enumerate(course.steps, start=1):
        broke = failed(step)
        when = step.at if 0 < step.at <= LATEST else at
        events += [
            IterationStarted(run, when, number),
            ToolExecuted(
                run, when, step.tool, step.arguments, not broke, digest_of(step.result),
                said_by(step.result) if broke else "",
            ),
        ]  # fmt: skip
    end, score = judged(record)
    ended = max(_time(record, _FINISHES), *(event.at for event in events))
    reason = reason_of(record, end, course.steps)
    return [*events, RunEnded(run, ended, end, score, reason, answer_of(record, course, end))]


def _texts(log: Log) -> Iterator[tuple[int, str]]:
    """The parts of a text that may be runs, with the number of their first line."""
    part: list[str] = []
    first, reading = 1, TextReading()
    for number, data in log.lines(blank=True):
        line = data.decode("utf-8-sig", "replace").rstrip("\r\n")
        asks = bool(re.match(r"(?i)\**(?:question|task|query|goal|instruction)\**\s*\d*\s*:", line))
        blank = not part or not part[-1].strip()
        if reading.is_begun and (_SEPARATOR.fullmatch(line) or (asks and blank)):
            yield first, "\n".join(part)
            part, first, reading = [], number, TextReading()
        part.append(line)
        reading.take(line)
    if part:
        yield first, "\n".join(part)


def _time(record: Record, keys: Sequence[str]) -> float:
    at = next((at for key in keys if (at := seconds(record.get(key)))), 0.0)
    return at if at <= LATEST else 0.0


def _name(record: Record, keys: Sequence[str]) -> str:
    for key in keys:
        value = record.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return " ".join(str(value).split())[:120]
    return ""


def _hash(course: Course) -> str:
    told: Mapping[str, Any] = {"steps": [step._replace(at=0.0) for step in course.steps], "said": course.said}
    return hashlib.sha256(
        json.dumps(told, sort_keys=True, default=str, ensure_ascii=False).encode("utf-8", "replace")
    ).hexdigest()


def _keys(record: Record) -> str:
    return ", ".join(map(repr, list(record)[:8])) or "nothing"
