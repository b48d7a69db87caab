"""The events of a run, and how each is one line of its journal.

    {"v":1,"run":"r-7f3k2a9q","at":1763286000.1,"type":"tool.executed","name":"click",...}

Values and pure functions. A line of a newer version, or of a type that is not known here, is no error: it is
kept where it stands and passed over. Knows nothing of files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

VERSION = 1
End: TypeAlias = Literal["complete", "fail", "stuck", "cancelled", "unknown"]
_ENDS: tuple[End, ...] = ("complete", "fail", "stuck", "cancelled", "unknown")


class RunCreated(NamedTuple):
    """A person, or a program for them, asked for something."""

    run: str
    at: float  # seconds since the epoch
    command: str
    host: str = "own"  # whose loop it was: own, claude-code, openclaw, ...
    session: str = ""  # the conversation it was part of, as the host names it
    source: str = "tool"  # the trust of what its tools said: tool, or import for logs of others
    app: str = ""  # the application or project it is about; "" when it does not say


class ContextInjected(NamedTuple):
    """What memory entered the prompt."""

    run: str
    at: float
    items: tuple[str, ...]  # ids: ^m-... ^l-... template and skill notes by their path
    tokens: int = 0


class IterationStarted(NamedTuple):
    run: str
    at: float
    number: int  # from 1


class ToolExecuted(NamedTuple):
    run: str
    at: float
    name: str
    arguments: Mapping[str, Any]  # as JSON has them; long values are cut, secrets taken out
    ok: bool = True
    digest: str = ""  # of the result: the first 16 digits of its SHA-256
    said: str = ""  # the result's first words where it failed; "" otherwise
    app: str = ""  # the application in front; "" when it is not known
    screenshot: str = ""  # a file's name beside the journal; "" when there is none


class IterationEnded(NamedTuple):
    run: str
    at: float
    number: int
    score: int | None = None  # of the verification, 0..100


class VerificationRejected(NamedTuple):
    """What was done is not what was asked for."""

    run: str
    at: float
    reason: str
    score: int | None = None


class RunEnded(NamedTuple):
    run: str
    at: float
    end: End
    score: int | None = None
    reason: str = ""  # why it failed, was stuck or cancelled


Event: TypeAlias = (
    RunCreated | ContextInjected | IterationStarted | ToolExecuted | IterationEnded | VerificationRejected
    | RunEnded
)  # fmt: skip

_TYPES: Mapping[str, type[Event]] = {
    "run.created": RunCreated,
    "context.injected": ContextInjected,
    "iteration.start": IterationStarted,
    "tool.executed": ToolExecuted,
    "iteration.end": IterationEnded,
    "verification.rejected": VerificationRejected,
}
_NAMES = {kind: name for name, kind in _TYPES.items()}


def to_line(event: Event) -> str:
    """One line without its end; what has its default value is left out."""
    said = event._asdict()
    if isinstance(event, RunEnded):
        name = f"run.{said.pop('end')}"
    else:
        name = _NAMES[type(event)]
    defaults = event._field_defaults
    told = {key: value for key, value in said.items() if key not in defaults or value != defaults[key]}
    line = {"v": VERSION, "type": name, **told}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def parse_line(line: bytes | str) -> Event | None:
    """What a line says; None for what is no event that this version knows."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("run"), str):
        return None
    name = told.get("type")
    at = told.get("at")
    if not isinstance(name, str) or not isinstance(at, int | float) or isinstance(at, bool):
        return None
    kind = _TYPES.get(name)
    if kind is None:
        end = name.removeprefix("run.")
        if end not in _ENDS:
            return None
        told["end"], kind = end, RunEnded
    return _made(kind, told)


def _made(kind: type[Event], told: Mapping[str, Any]) -> Event | None:
    """The event, when every field that it needs is there and of its type; other fields are passed over."""
    values: dict[str, Any] = {}
    for field in kind._fields:
        if field not in told:
            if field not in kind._field_defaults:
                return None
            continue
        value = told[field]
        if not _fits(field, value):
            return None
        values[field] = tuple(value) if field == "items" else value
    return kind(**values)


def _fits(field: str, value: object) -> bool:
    if field in ("number", "tokens"):
        return isinstance(value, int) and not isinstance(value, bool)
    if field == "score":
        return value is None or (isinstance(value, int) and not isinstance(value, bool))
    if field == "at":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if field == "items":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if field == "arguments":
        return isinstance(value, dict)
    if field == "ok":
        return isinstance(value, bool)
    return isinstance(value, str)
