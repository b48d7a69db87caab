"""Logs of any shape by a mapping: a record is a run with its steps in it, or one step of a run.

Knows nothing of any agent; what a record lacks is said with the mapping's key and what was there instead.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from hindbrain.context.capture.transcripts.blocks import seconds
from hindbrain.learn.importing.identity import run_id
from hindbrain.learn.importing.logs import Log, Numbered, Record
from hindbrain.learn.importing.mapping import Mapped, RunPaths, first_at, found_at
from hindbrain.learn.importing.prompts import LONGEST_COMMAND, cut_at_word
from hindbrain.learn.runs.events import (
    LATEST,
    End,
    Event,
    IterationStarted,
    RunCreated,
    RunEnded,
    ToolExecuted,
)
from hindbrain.learn.runs.journal import digest_of, said_by, text_of

_STEP_S = 0.001  # between the runs of a log that tells no times
_GOOD = 80  # the score, of 100, from which on a run without a word for its end succeeded


def runs_of_mapped(log: Log, mapped: Mapped) -> Iterator[list[Event]]:
    """The runs of a log. Steps that are lines of their own follow each other."""
    start = log.written
    if mapped.events.steps or not mapped.run.id:
        groups = ([numbered] for numbered in log.records())
    else:
        by_run = groupby(log.records(), lambda numbered: text_of(first_at(numbered.record, mapped.run.id)))
        groups = (list(group) for _, group in by_run)
    for index, group in enumerate(groups):
        if run := _Run(log, mapped, group, start + index * _STEP_S).events():
            yield run


class _Run:
    """One run: the records that tell of it."""

    def __init__(self, log: Log, mapped: Mapped, group: list[Numbered], start: float) -> None:
        self._log, self._mapped = log, mapped
        self._number = group[0].number
        self._records = [numbered.record for numbered in group]
        self._at = _time(self._any(mapped.run.at), start)

    def events(self) -> list[Event]:
        """[] when the record lacks what a run needs; the log knows why."""
        paths = self._mapped.run
        command = self._any(paths.command)
        if not isinstance(command, str) or not command.strip():
            what = (
                "found nothing" if command is None else f"found {text_of(command)[:60]!r}, which is no text"
            )
            self._refuse("run", "command", paths.command, what)
            return []
        told = text_of(self._any(paths.id)) if paths.id and self._any(paths.id) is not None else ""
        run = run_id("mapped", self._mapped.host, told or _hash(self._records))
        created = RunCreated(
            run, self._at, cut_at_word(" ".join(command.split()), LONGEST_COMMAND), self._mapped.host,
            _text(self._any(paths.session)), source="import", app=_text(self._any(paths.app)),
        )  # fmt: skip
        steps = [
            event for number, step in enumerate(self._steps(), 1) for event in self._step(run, number, step)
        ]
        score = self._score(paths)
        reason = _text(self._any(paths.reason))
        ended = max(_time(self._any(paths.ended), self._at), *(event.at for event in (created, *steps)))
        answer = _text(self._any(paths.answer))
        return [created, *steps, RunEnded(run, ended, self._end(score), score, reason, answer)]

    def _steps(self) -> Iterator[Record]:
        paths = self._mapped.events
        found: Iterable[object]
        if paths.steps:
            found = (step for record in self._records for step in found_at(record, paths.steps))
        else:
            found = self._records if self._mapped.run.id else ()
        for step in found:
            if isinstance(step, dict):
                yield step
            else:
                self._refuse(
                    "events", "steps", paths.steps, f"found {text_of(step)[:60]!r}, which is no object"
                )

    def _step(self, run: str, number: int, step: Record) -> list[Event]:
        paths = self._mapped.events
        name = first_at(step, paths.name)
        if not isinstance(name, str) or not name:
            if paths.steps:  # a line without a tool's name may be the run's first or last
                self._refuse("events", "name", paths.name, f"found nothing in {_keys(step)}")
            return []
        error, result = first_at(step, paths.error), first_at(step, paths.result)
        ok = not error and (not paths.ok or first_at(step, paths.ok) not in (False, 0, "false"))
        answer = text_of(error if not ok and error not in (True, None) else result) if error or result else ""
        at = _time(first_at(step, paths.at), self._at)
        executed = ToolExecuted(
            run, at, name, _arguments(first_at(step, paths.arguments)), ok, digest_of(result or ""),
            "" if ok else said_by(answer),
        )  # fmt: skip
        return [IterationStarted(run, at, number), executed]

    def _end(self, score: int | None) -> End:
        value = self._any(self._mapped.run.outcome)
        if value is None:
            if score is None or self._mapped.run.outcome:
                return "unknown"
            return "complete" if score >= _GOOD else "fail"
        return self._mapped.words.get(text_of(value).strip().casefold(), "unknown")

    def _score(self, paths: RunPaths) -> int | None:
        value = self._any(paths.score)
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            return None
        return round(max(0.0, min(100.0, 100 * value / self._mapped.best)))

    def _any(self, path: str) -> object:
        """The last that the run's records say: a status line at the end wins."""
        found = (first_at(record, path) for record in reversed(self._records))
        return next((value for value in found if value is not None), None)

    def _refuse(self, table: str, key: str, path: str, what: str) -> None:
        self._log.refuse(
            self._number, f"[{table}] {key} = {path!r} {what}; the record has {_keys(self._records[0])}"
        )


def _arguments(value: object) -> Mapping[str, object]:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"input": value}
    if isinstance(value, dict):
        return value
    return {} if value is None else {"input": value}


def _time(value: object, otherwise: float) -> float:
    at = seconds(value)
    return at if 0 < at <= LATEST else otherwise


def _text(value: object) -> str:
    return "" if value is None else " ".join(text_of(value).split())


def _hash(records: list[Record]) -> str:
    said = json.dumps(records, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()


def _keys(record: Record) -> str:
    return ", ".join(map(repr, list(record)[:8])) or "nothing"
