"""The events of a run, and how each is one line of its journal.

    {"v":1,"run":"r-7f3k2a9q","at":1763286000.1,"type":"tool.executed","name":"click",...}

Values and pure functions. A line of a newer version, or of a type that is not known here, is no error: it is
kept where it stands and passed over. Knows nothing of files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from operator import contains
from typing import Any, Literal, NamedTuple, TypeAlias

VERSION = 1
LATEST = 100_000_000_000.0  # seconds since the epoch: beyond the year 5000, it is no time of an event
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
    answer: str = ""  # the agent's last words: what it found, or how it says that it went


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
_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def to_line(event: Event) -> str:
    """One line without its end; what has its default value is left out."""
    name = f"run.{event.end}" if isinstance(event, RunEnded) else _NAMES[type(event)]
    line: dict[str, Any] = {"v": VERSION, "type": name}
    for (field, default), value in zip(_PLANS[type(event)].fields, event, strict=True):
        if value != default:
            line[field] = value
    line.pop("end", None)  # the type says it
    return _ENCODER.encode(line)


def parse_line(line: bytes | str) -> Event | None:
    """What a line says; None for what is no event that this version knows."""
    try:
        told = _loaded(line if isinstance(line, bytes) else line.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(told.get("run"), str):
        return None
    name = told.get("type")
    if not isinstance(name, str) or not _is_known(told.get("v", VERSION)):
        return None
    kind = _TYPES.get(name)
    if kind is None:
        end = name.removeprefix("run.")
        if end == name or end not in _ENDS:
            return None
        told["end"], kind = end, RunEnded
    elif kind is ContextInjected:
        items = told.get("items")
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return None
        told["items"] = tuple(items)
    return _made(kind, told)


def _loaded(line: bytes) -> Any:
    # To guess the encoding, and to look twice for blanks, would cost as much again.
    text = line.decode().removeprefix("\ufeff").strip(" \t\r\n")
    told, end = _DECODER.raw_decode(text)
    if end != len(text):
        raise ValueError("more than one value")
    if b"\\ud" in line or b"\\uD" in line:  # perhaps half a character, which no note can hold
        told = json.loads(json.dumps(told, ensure_ascii=False).encode("utf-8", "replace"))
    return told


def _is_known(version: object) -> bool:
    return isinstance(version, int) and version <= VERSION


def _made(kind: type[Event], told: Mapping[str, Any]) -> Event | None:
    """The event, when every field that it needs is there and of its type; other fields are passed over."""
    fields, types = _PLANS[kind]
    values = [told.get(field, default) for field, default in fields]
    # One step for all of them: a journal has a hundred thousand lines.
    if not all(map(contains, types, map(type, values))) or not 0 <= values[_AT] <= LATEST:
        return None
    return tuple.__new__(kind, values)


_AT = 1  # the place of the time in every event
_TEXT = frozenset({str})
# What JSON gives for the fields that hold no text.
_TYPES_OF: Mapping[str, frozenset[type]] = {
    "at": frozenset({int, float}),
    "number": frozenset({int}),
    "tokens": frozenset({int}),
    "score": frozenset({int, type(None)}),
    "items": frozenset({tuple}),
    "arguments": frozenset({dict}),
    "ok": frozenset({bool}),
}
_NEEDED = object()  # stands for a field that is not there; of a type that none has


class _Plan(NamedTuple):
    """How the values of an event are taken from what a line says."""

    fields: Sequence[tuple[str, Any]]  # with their defaults
    types: Sequence[frozenset[type]]


def _plan(kind: type[Event]) -> _Plan:
    return _Plan(
        [(field, kind._field_defaults.get(field, _NEEDED)) for field in kind._fields],
        [_TYPES_OF.get(field, _TEXT) for field in kind._fields],
    )


_PLANS: Mapping[type[Event], _Plan] = {kind: _plan(kind) for kind in (*_TYPES.values(), RunEnded)}
