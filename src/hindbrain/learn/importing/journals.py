"""Journals of runs: lines of events, perhaps of many runs at once.

Two forms: our own, from another vault, and the one that other loops write with the same event names
(`run.created`, `tool.executed`, `iteration.end`, `run.complete`). A run is given when its end has come, so
memory is bounded by the runs that are open. The trust that a line claims does not count: it is an import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hindbrain.context.capture.transcripts.blocks import mapping, seconds, texts
from hindbrain.learn.importing.identity import run_id, safe_id
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.outcomes import call_failed
from hindbrain.learn.importing.steps import arguments_in
from hindbrain.learn.runs.episode import GOOD_SCORE
from hindbrain.learn.runs.events import (
    LATEST,
    End,
    Event,
    IterationEnded,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
    parse_line,
)
from hindbrain.learn.runs.journal import JOURNAL, digest_of, said_by, text_of

_OURS = b'{"v"'  # how each of our own lines begins
_HOST = "journal"
_KINDS = ("type", "event", "eventType", "event_type", "kind")
_INNER = ("data", "payload", "details")
_RUNS = ("runId", "run_id", "run", "runID")
_TIMES = ("timestamp", "at", "ts", "time", "date")
_NUMBERS = ("iteration", "number", "iterationNumber", "index")
_SCORES = ("score", "verificationScore", "verification_score")
_REASONS = ("reason", "feedback", "error", "message")
_VERDICTS = ("passed", "accepted", "verified", "success")
_TOOLS = ("tool", "toolName", "tool_name", "name")
_ARGUMENTS = ("arguments", "args", "input", "parameters", "params", "toolInput")
_RESULTS = ("result", "output", "observation", "said")
_ANSWERS = ("answer", "summary", "result", "output", "message")
_DURATIONS: Mapping[str, float] = {
    "duration": 1.0, "duration_s": 1.0, "durationSeconds": 1.0, "durationMs": 0.001, "duration_ms": 0.001,
}  # fmt: skip
_ENDS: Mapping[str, End] = {
    "run.complete": "complete", "run.completed": "complete", "run.fail": "fail", "run.failed": "fail",
    "run.stuck": "stuck", "run.cancelled": "cancelled", "run.canceled": "cancelled",
    "run.unknown": "unknown",
}  # fmt: skip
_EVENTS = frozenset({"run.created", "iteration.start", "tool.executed", "iteration.end", *_ENDS})
_REJECTIONS = ("verification.rejected", "verification.failed")
# Seconds since 2001, which is how Swift writes a date, lie before 2001 when they are read as since 1970.
_SINCE_2001 = 978_307_200.0
_CALL = re.compile(r"([\w.-]+)\((.*)\)", re.DOTALL)


def runs_of_journal(log: Log) -> Iterator[list[Event]]:
    """The runs whose end is told; of a file that was cut off, also the one that was going on."""
    translator = _Translator(log.path)
    open_runs: dict[str, list[Event]] = {}
    cut = False
    for number, line in log.lines():
        events = _own(line) if line.lstrip().startswith(_OURS) else translator.take(line)
        cut = not events and not line.rstrip().endswith(b"}")
        if not events:
            log.refuse(number, f"no event that this version knows: {line[:60].decode('utf-8', 'replace')!r}")
        for event in events:
            run = event.run
            if isinstance(event, RunCreated):
                open_runs[run] = [event._replace(source="import")]
            elif run not in open_runs:
                log.refuse(number, f"an event of {run!r}, which has not begun or is over")
                break
            else:
                open_runs[run].append(event)
                if isinstance(event, RunEnded):
                    yield open_runs.pop(run)
    for run, events in open_runs.items():
        log.refuse(log.read, f"run {run!r} has no end yet")
        if cut and len(open_runs) == 1:  # the line that is damaged is its end, or came shortly before it
            yield [*events, RunEnded(run, max(event.at for event in events), "unknown")]


def is_event(record: Record) -> bool:
    """Is it a line of a journal?"""
    return _kind(record) in _EVENTS


def _own(line: bytes) -> list[Event]:
    event = parse_line(line)
    if event is None:
        return []
    run = safe_id(event.run)
    return [event if run == event.run else event._replace(run=run)]


class _Translator:
    """Makes our events of the lines of another loop's journal."""

    def __init__(self, path: Path) -> None:
        # runs/<runId>/journal.jsonl: a line need not say whose it is.
        self._file = path.absolute().parent.name if path.name == JOURNAL else path.stem
        self._now = self._start = path.stat().st_mtime
        self._counted: dict[str, int] = {}  # iterations that a run's lines told
        self._judged: dict[
            str, VerificationRejected
        ] = {}  # a low score, until it is known if it was accepted

    def take(self, line: bytes) -> list[Event]:
        try:
            told = json.loads(line.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            return []
        if not isinstance(told, dict):
            return []
        kind = _kind(told)
        record: dict[str, Any] = dict(told)
        for key in _INNER:
            record |= mapping(told.get(key))
        name = _text(record, _RUNS) or texts(record.get("id")) or self._file
        run = safe_id(name) if _text(record, _RUNS) else run_id("journal", name)
        at = self._time(record)
        if kind in _ENDS:
            return self._ended(run, at, _ENDS[kind], record)
        made = self._made(kind, run, at, record)
        if made and run in self._judged and not isinstance(made[0], RunCreated):
            made.insert(0, self._judged.pop(run))  # it went on, so it was not accepted
        verdict = _verdict(record) if kind == "iteration.end" else None
        if verdict is not None:
            self._judged[run] = VerificationRejected(run, at, *verdict)
        return made

    def _made(self, kind: str, run: str, at: float, record: Record) -> list[Event]:
        if kind == "run.created":
            command = _text(record, ("command", "task", "prompt"))
            self._counted.pop(run, None)
            self._judged.pop(run, None)
            created = RunCreated(
                run, at, command, _text(record, ("host", "agent")) or _HOST,
                _text(record, ("session", "sessionId", "session_id")), app=texts(record.get("app")),
            )  # fmt: skip
            return [created] if command else []
        if kind == "iteration.start":
            return [IterationStarted(run, at, self._number(run, record))]
        if kind == "tool.executed":
            return _executed(run, at, record)
        if kind == "iteration.end":
            self._counted[run] = number = self._number(run, record)
            return [IterationEnded(run, at, number, _score(record))]
        if kind in _REJECTIONS:
            return [VerificationRejected(run, at, _text(record, _REASONS), _score(record))]
        return []

    def _ended(self, run: str, at: float, end: End, record: Record) -> list[Event]:
        judged = self._judged.pop(run, None)
        events: list[Event] = [judged] if judged is not None and end != "complete" else []
        told = record.get("iterations")
        if isinstance(told, int) and 0 < told < 10_000 and run not in self._counted:
            events += [IterationEnded(run, at, number) for number in range(1, told + 1)]
        self._counted.pop(run, None)
        reason = "" if end == "complete" else _text(record, _REASONS)
        answer = _text(record, _ANSWERS if end == "complete" else _ANSWERS[:2])
        return [*events, RunEnded(run, at, end, _score(record), reason, answer)]

    def _number(self, run: str, record: Record) -> int:
        told = next((record[key] for key in _NUMBERS if isinstance(record.get(key), int)), None)
        return told if told is not None else self._counted.get(run, 0) + 1

    def _time(self, record: Record) -> float:
        """When it happened; where a line does not say, as the one before, and later by the run's duration."""
        at = next((at for key in _TIMES if (at := seconds(record.get(key)))), 0.0)
        at = at + _SINCE_2001 if 0 < at < _SINCE_2001 else at
        if not 0 < at <= LATEST:
            lasted = (
                float(record[key]) * unit
                for key, unit in _DURATIONS.items()
                if isinstance(record.get(key), int | float) and 0 < record[key] < 1e9
            )
            at = max(self._now, self._start + next(lasted, 0.0))
        if _kind(record) == "run.created":
            self._start = at
        self._now = at
        return at


def _executed(run: str, at: float, record: Record) -> list[Event]:
    """A call as `tool` and `arguments`, or whole as `click(URL bar)`."""
    name = _text(record, _TOOLS)
    value = next((record[key] for key in _ARGUMENTS if record.get(key) is not None), None)
    if (whole := _CALL.fullmatch(name)) and value is None:
        name, value = whole[1], arguments_in(whole[1], whole[2])
    if not name:
        return []
    arguments = value if isinstance(value, dict) else {} if value is None else {"input": value}
    result = next((record[key] for key in _RESULTS if record.get(key) is not None), "")
    error = record.get("error")
    told = error or record.get("isError") or record.get("is_error") or record.get("failed")
    flags = [record[key] for key in ("success", "ok") if isinstance(record.get(key), bool)]
    failed = bool(told) or (not flags[0] if flags else call_failed(name, "", text_of(result), told=False))
    said = text_of(error) if isinstance(error, str) and error else text_of(result)
    return [
        ToolExecuted(
            run, at, name, arguments, not failed, digest_of(result), said_by(said) if failed else "",
            texts(record.get("app")),
        )
    ]  # fmt: skip


def _verdict(record: Record) -> tuple[str, int | None] | None:
    """Why an iteration's verification said no, and its score; None when it did not say no."""
    judged = {**record, **mapping(record.get("verification"))}
    score = _score(record)
    flags = [judged[key] for key in _VERDICTS if isinstance(judged.get(key), bool)]
    if flags[0] if flags else score is None or score >= GOOD_SCORE:
        return None
    return _text(judged, _REASONS), score


def _score(record: Record) -> int | None:
    judged = {**record, **mapping(record.get("verification"))}
    value = next((judged[key] for key in _SCORES if judged.get(key) is not None), None)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        return None
    return round(value)


def _kind(record: Record) -> str:
    return next((kind for key in _KINDS if "." in (kind := texts(record.get(key)))), "")


def _text(record: Record, keys: tuple[str, ...]) -> str:
    return next((text for key in keys if (text := texts(record.get(key)).strip())), "")
