"""Reflexion's ALFWorld results: env_results_trial_N.json, lists of {name, memory[], is_success}.

A file has every environment, also those that were not tried again since they had succeeded; `memory` holds
one reflection for each trial that failed. Which task an environment poses is only told by its reflections.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.learn.importing.identity import run_id
from hindbrain.learn.importing.logs import Log, Record
from hindbrain.learn.importing.prompts import LONGEST_COMMAND, cut_at_word
from hindbrain.learn.runs.events import Event, RunCreated, RunEnded

FILE = re.compile(r"env_results_trial_(\d{1,4})\.json(?:\.gz)?")
_APP = "alfworld"
_STEP_S = 0.001  # between environments; a trial is a second after the one before: the log tells no times
_LONGEST_REASON = 1_000
_PLAN = re.compile(r"\bmy plan was to ([^.]{3,200})", re.IGNORECASE)
_TASK = re.compile(r"\bthe task (?:says|said|was|is) to ([^.]{3,200})", re.IGNORECASE)
_THEN = re.compile(r",? (?:and )?then ")
_A = r"(?:an? |the |some |first |second )*"
_NOT_A_THING = frozenset(
    ("it", "in", "on", "one", "action", "different", "item", "loop", "environment", "them")
)
_OBJECT = re.compile(
    rf"\b(?:tak(?:e|en|ing)|find(?:ing)?|found|look(?:ed)? for|put(?:ting)?|heat|cool|clean) {_A}([a-z]+)"
)
_TREATED = re.compile(rf"\b(heat|cool|clean)(?:ed|ing)?\b[^.,]{{0,30}}? with {_A}([a-z]+)")
_TREATED_AT = re.compile(r"\b(fridge|microwave|sinkbasin)\b[^.]{0,20}?\b(?:and|to) (heat|cool|clean)")
_PLACED = re.compile(rf"\bput(?:ting)?\b [^.,]{{0,30}}?\b(?:in/on|into|in|on) {_A}([a-z]+)")


class _Environment(NamedTuple):
    name: str
    memory: tuple[str, ...]
    won: bool


def runs_of_alfworld(log: Log) -> Iterator[list[Event]]:
    """The runs of one trial: of each environment that was really tried in it."""
    trial = _trial(log.path)
    series = log.path.absolute().parent.name.removesuffix("_run_logs")
    host = f"{_APP}-{series}" if log.path.parent.name.endswith("_run_logs") else _APP
    files = _files(log.path)
    before = _beside(files, trial - 1)
    after = _beside(files, max(files))  # has every reflection
    start = min(path.stat().st_mtime for path in files.values())
    for number, record in log.records():
        environment = _environment(record)
        if environment is None:
            log.refuse(number, "no environment: 'name', 'memory' or 'is_success' is missing")
        elif not record.get("skip") and _was_tried(environment, trial, before):
            told = after.get(environment.name, environment).memory
            at = start + trial + number * _STEP_S
            yield _run(environment, task_of(told) or environment.name, host, trial, at)


def task_of(reflections: Sequence[str]) -> str:
    """What the task is, as far as reflections say it; "" when they say nothing of it."""
    for reflection in reflections:
        if plan := _PLAN.search(reflection):
            parts = [part.strip(" ,") for part in _THEN.split(plan[1].strip())]
            task = _TASK.search(reflection)
            if task and task[1].strip() not in plan[1]:
                parts.append(task[1].strip())
            return cut_at_word(", ".join(parts), LONGEST_COMMAND)
    return next((made for made in map(_made_task, reflections) if made), "")


def _made_task(reflection: str) -> str:
    """Made of the things that a reflection names: what is taken, what is done to it, where it goes."""
    text = reflection.lower()
    thing = next((word for word in _OBJECT.findall(text) if word not in _NOT_A_THING), "")
    if not thing:
        return ""
    parts = [f"find {thing}"]
    treated = _TREATED.search(text)
    treated_at = _TREATED_AT.search(text)
    if treated:
        parts.append(f"{treated[1]} it with {treated[2]}")
    elif treated_at:
        parts.append(f"{treated_at[2]} it with {treated_at[1]}")
    places = [place for place in _PLACED.findall(text) if place not in _NOT_A_THING and place != thing]
    if places:
        parts.append(f"put it in {places[-1]}")
    return ", ".join(parts)


def _run(environment: _Environment, command: str, host: str, trial: int, at: float) -> list[Event]:
    run = run_id(host, environment.name, str(trial))
    created = RunCreated(
        run, at, command, host, f"{environment.name}/{trial}", source="import", app=_APP
    )  # fmt: skip
    if environment.won:
        return [created, RunEnded(run, at, "complete", score=100)]
    # Later trials of one series have no reflection of their own.
    written = environment.memory[trial].strip() if len(environment.memory) > trial else ""
    return [created, RunEnded(run, at, "fail", score=0, reason=cut_at_word(written, _LONGEST_REASON))]


def _was_tried(environment: _Environment, trial: int, before: Mapping[str, _Environment]) -> bool:
    if trial == 0 or not environment.won:
        return True
    if environment.name in before:
        return not before[environment.name].won
    # Without the trial before: it failed as often as there are reflections, and succeeded then.
    return len(environment.memory) >= trial


def _environment(record: Record) -> _Environment | None:
    name, memory, won = record.get("name"), record.get("memory"), record.get("is_success")
    if not isinstance(name, str) or not isinstance(memory, list) or not isinstance(won, bool):
        return None
    return _Environment(name, tuple(text for text in memory if isinstance(text, str)), won)


def _files(path: Path) -> Mapping[int, Path]:
    """The trials of the same series, by their numbers."""
    beside = [path, *sorted(path.parent.glob("env_results_trial_*.json*"))]
    return {_trial(file): file for file in reversed(beside) if FILE.fullmatch(file.name)}


def _beside(files: Mapping[int, Path], trial: int) -> Mapping[str, _Environment]:
    if trial not in files:
        return {}
    found = (_environment(record) for _, record in Log(files[trial]).records())
    return {environment.name: environment for environment in found if environment is not None}


def _trial(path: Path) -> int:
    if match := FILE.fullmatch(path.name):
        return int(match[1])
    raise UsageError(
        f"{path.name!r} does not say which trial it is; ALFWorld results are named env_results_trial_N.json"
    )
