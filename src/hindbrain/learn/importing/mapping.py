"""A mapping says where a log of any shape has what a run needs: dotted paths, `[]` for the items of a list.

    [run]
    command = "input.task"
    [events]
    steps = "turns[].calls[]"

Pure: a table in, checked values out; a record in, what a path finds in it out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.learn.runs.events import End

_PART = re.compile(r"[^.\[\]]+(?:\[\])?")
_ENDS: tuple[End, ...] = ("complete", "fail", "stuck", "cancelled")
# What the words for an end usually are; a mapping's own words come before them.
_WORDS: Mapping[End, tuple[str, ...]] = {
    "complete": ("complete", "completed", "success", "succeeded", "successful", "passed", "pass", "ok",
                 "done", "solved", "resolved", "true", "1", "1.0"),
    "fail": ("fail", "failed", "failure", "error", "errored", "incorrect", "unresolved", "false", "0", "0.0"),
    "stuck": ("stuck", "timeout", "timed_out", "max_steps", "max_iterations", "limit"),
    "cancelled": ("cancelled", "canceled", "aborted", "interrupted", "stopped"),
}  # fmt: skip


class RunPaths(NamedTuple):
    """Where a record has what is said of the whole run. "" where it does not say."""

    command: str
    id: str = ""
    at: str = ""
    ended: str = ""
    session: str = ""
    outcome: str = ""
    score: str = ""
    reason: str = ""
    answer: str = ""
    app: str = ""


class EventPaths(NamedTuple):
    """Where the steps are, and within a step what it was. Without `steps` each line is one step."""

    steps: str = ""
    name: str = "name"
    arguments: str = "arguments"
    result: str = ""
    error: str = ""  # anything but nothing, false and 0 there: the step failed
    ok: str = ""  # false or 0 there: the step failed
    at: str = ""


class Mapped(NamedTuple):
    run: RunPaths
    events: EventPaths
    words: Mapping[str, End]  # in small letters
    host: str = "mapped"
    best: float = 100.0  # the score that means 100


def parse_mapping(table: Mapping[str, object]) -> Mapped:
    """Check a table as TOML gives it. Raises UsageError that names the key."""
    known = ("run", "events", "outcome", "host", "best_score")
    for key in table:
        _must_be_known(key, known, "")
    run = _paths(table, "run", RunPaths._fields)
    if "command" not in run:
        raise UsageError(
            'the mapping does not say where the command is; add command = "path.to.it" under [run]'
        )
    host = table.get("host", "mapped")
    best = table.get("best_score", 100)
    if not isinstance(host, str) or not host:
        raise UsageError(f"host = {host!r} in the mapping; give the name of the agent as text")
    if isinstance(best, bool) or not isinstance(best, int | float) or best <= 0:
        raise UsageError(f"best_score = {best!r} in the mapping; give the number that means 100 %")
    events = EventPaths(**_paths(table, "events", EventPaths._fields))
    if not events.steps and "events" in table and "id" not in run:
        raise UsageError(
            "without steps under [events] each line is a step; add id under [run] to tell runs apart"
        )
    return Mapped(RunPaths(**run), events, _words(table.get("outcome", {})), host, float(best))


def found_at(record: object, path: str) -> Iterator[object]:
    """What lies at a path; several values where it goes through a list, none where it leads nowhere."""
    values: list[object] = [record]
    for part in _PART.findall(path):
        key = part.removesuffix("[]")
        values = [value[key] for value in values if isinstance(value, dict) and key in value]
        if part.endswith("[]"):
            values = [item for value in values if isinstance(value, list) for item in value]
    yield from values


def first_at(record: object, path: str) -> object:
    """The first value at a path that is not null; None when there is none."""
    return next((value for value in found_at(record, path) if value is not None), None) if path else None


def _paths(table: Mapping[str, object], name: str, fields: tuple[str, ...]) -> dict[str, str]:
    section = table.get(name, {})
    if not isinstance(section, Mapping):
        raise UsageError(f"[{name}] in the mapping is {section!r}; give a table of paths")
    paths: dict[str, str] = {}
    for key, value in section.items():
        _must_be_known(key, fields, f"[{name}] ")
        if not isinstance(value, str) or ".".join(_PART.findall(value)) != value or not value:
            raise UsageError(
                f'[{name}] {key} = {value!r} in the mapping is no path; write it as "a.b" or "a[].b"'
            )
        paths[key] = value
    return paths


def _words(section: object) -> Mapping[str, End]:
    words: dict[str, End] = {word: end for end, usual in _WORDS.items() for word in usual}
    if not isinstance(section, Mapping):
        raise UsageError(f"[outcome] in the mapping is {section!r}; give a table of words")
    for key, values in section.items():
        _must_be_known(key, (*_ENDS, "unknown"), "[outcome] ")
        if not isinstance(values, list):
            raise UsageError(f"[outcome] {key} = {values!r} in the mapping; give a list of words")
        words.update({str(value).strip().casefold(): key for value in values})
    return words


def _must_be_known(key: str, known: tuple[str, ...], where: str) -> None:
    if key not in known:
        import difflib

        near = difflib.get_close_matches(key, known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"it knows {', '.join(known)}"
        raise UsageError(f"{where}{key!r} in the mapping means nothing; {hint}")
