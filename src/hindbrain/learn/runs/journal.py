"""The journal of one run: which words of an event are kept, and the line that is added for it.

What `add` has acknowledged survives a kill and a power cut. Nothing enters a journal with a secret in it that
we can tell, or with the whole of a tool's output: callers give events as they are. Knows nothing of folders.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Mapping
from typing import Any, Protocol

from hindbrain.base.errors import UsageError
from hindbrain.base.secrets import find_secrets, redact
from hindbrain.learn.runs.events import (
    LATEST,
    ContextInjected,
    Event,
    RunCreated,
    RunEnded,
    ToolExecuted,
    VerificationRejected,
    to_line,
)

JOURNAL = "journal.jsonl"
RUNS = "runs"  # in the vault's `.hindbrain` folder
_LONGEST_VALUE = 300  # characters of an argument
_LONGEST_KEY = 60
_LONGEST_NAME = 120  # of a tool, an application, a host, a session
_LONGEST_SAID = 300
_LONGEST_REASON = 1_000
_LONGEST_ANSWER = 2_000
_LONGEST_COMMAND = 4_000
_MOST_ARGUMENTS = 20
_MOST_ITEMS = 200
_LOOKED_AT = 20_000  # characters of a text in which secrets are looked for: more than is ever kept
_STRICT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_LOOSE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str, skipkeys=True)
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"  # without those that are taken for each other


class Append(Protocol):
    """Adds a line to one of our files in the vault: `VaultWriter.append_state_line`."""

    def __call__(self, file: str, line: str, /, *, durable: bool) -> None: ...


class RunJournal:
    """Of a run that is going on."""

    def __init__(self, run: str, append: Append) -> None:
        self.run = run
        self._append = append
        self._file = f"{RUNS}/{run}/{JOURNAL}"

    def add(self, event: Event, *, durable: bool = True) -> None:
        """Durable when this returns. Raises WriteFailed; then it may be added again.

        Not `durable`: for who keeps the event elsewhere until a later one is durable here.
        """
        if event.run != self.run:
            raise UsageError(f"an event of {event.run!r} does not belong into the journal of {self.run!r}")
        self._append(self._file, line_of(event), durable=durable)


def new_run_id(command: str, at: float) -> str:
    """`r-20261116-103000-7f3k`: sorts by time (UTC); fit for a file name and for a block id."""
    digest = int.from_bytes(hashlib.sha256(f"{at!r}\n{command}".encode("utf-8", "replace")).digest()[:8])
    rest = "".join(_LETTERS[(digest >> shift) & 31] for shift in (0, 5, 10, 15))
    return f"r-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(at))}-{rest}"


def executed(
    run: str,
    at: float,
    name: str,
    arguments: Mapping[str, Any],
    result: object = "",
    *,
    ok: bool = True,
    app: str = "",
    screenshot: str = "",
) -> ToolExecuted:
    """The event of a tool's call: of its result the digest is kept, and what it said where it failed."""
    said = "" if ok else said_by(result)
    return ToolExecuted(
        run, at, name, shortened(arguments), ok, digest_of(result), said, app, screenshot
    )  # fmt: skip


def line_of(event: Event) -> str:
    """The journal's line for an event, with what is too long cut and secrets taken out."""
    if not (math.isfinite(event.at) and 0 <= event.at <= LATEST):
        raise UsageError(f"{event.at!r} is no time of an event; give seconds since the epoch")
    line = to_line(kept(event))
    # Half a character, as some hosts log it, can't be written as UTF-8.
    return line if line.isascii() else line.encode("utf-8", "replace").decode()


def kept(event: Event) -> Event:
    """What a journal holds of an event. Changes nothing the second time."""
    if isinstance(event, ToolExecuted):
        return ToolExecuted(
            event.run,
            event.at,
            _cut(event.name, _LONGEST_NAME),
            shortened(event.arguments),
            event.ok,
            event.digest,
            clean(event.said, _LONGEST_SAID),
            _cut(event.app, _LONGEST_NAME),
            _cut(event.screenshot, _LONGEST_NAME),
        )
    if isinstance(event, RunCreated):
        return event._replace(
            command=clean(event.command, _LONGEST_COMMAND),
            host=_cut(event.host, _LONGEST_NAME),
            session=_cut(event.session, _LONGEST_NAME),
            app=_cut(event.app, _LONGEST_NAME),
        )
    if isinstance(event, VerificationRejected):
        return event._replace(reason=clean(event.reason, _LONGEST_REASON))
    if isinstance(event, RunEnded):
        return event._replace(
            reason=clean(event.reason, _LONGEST_REASON), answer=clean(event.answer, _LONGEST_ANSWER)
        )
    if isinstance(event, ContextInjected):
        return event._replace(items=event.items[:_MOST_ITEMS])
    return event


def shortened(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments as they are kept: 20 of them, 300 characters each, without secrets.

    What is nested and too long, or holds a secret, becomes text.
    """
    texts = [(str(key), *_told(value)) for key, value in arguments.items()]
    # With its name before it, since `password: ...` tells what the value alone does not. One look for all
    # of them: most calls hold no secret.
    unsafe = bool(find_secrets("\n".join([f"{key}: {text[:_LOOKED_AT]}" for key, text, _ in texts])))
    short: dict[str, Any] = {}
    for (key, text, is_plain), value in zip(texts, arguments.values(), strict=True):
        if len(short) == _MOST_ARGUMENTS:
            short["…"] = f"{len(texts) - _MOST_ARGUMENTS} more"
            break
        cleaned = _without_secrets(key, text) if unsafe else text
        as_it_is = is_plain and cleaned == text and len(text) <= _LONGEST_VALUE
        short[_cut(key, _LONGEST_KEY)] = value if as_it_is else _cut(cleaned, _LONGEST_VALUE)
    return short


def digest_of(result: object) -> str:
    """By which two results are known to be the same: 16 digits; "" for no result."""
    data = result if isinstance(result, bytes) else text_of(result).encode("utf-8", "replace")
    return hashlib.sha256(data).hexdigest()[:16] if data else ""


def said_by(result: object) -> str:
    """The first words of a result, in one line, cut and without secrets."""
    text = result.decode("utf-8", "replace") if isinstance(result, bytes) else text_of(result)
    return clean(" ".join(text[:_LOOKED_AT].split()), _LONGEST_SAID)


def clean(text: str, longest: int) -> str:
    """The text without secrets, cut. Looked at before it is cut: half a secret would not be known."""
    return _cut(redact(text[:_LOOKED_AT])[0], longest) if text else ""


def text_of(value: object) -> str:
    """A value of JSON as text: a text as it is, all else compact."""
    return value if isinstance(value, str) else _told(value)[0]


def _told(value: object) -> tuple[str, bool]:
    """A value as text, and whether a journal can hold the value itself."""
    if isinstance(value, str):
        return value, True
    try:
        return _STRICT.encode(value), True
    except (TypeError, ValueError, RecursionError):
        pass
    try:
        return _LOOSE.encode(value), False
    except (TypeError, ValueError, RecursionError):  # a ring, or too deep
        return type(value).__name__, False


def _without_secrets(key: str, text: str) -> str:
    lead = f"{key}: "
    cleaned = redact(lead + text[:_LOOKED_AT])[0]
    return cleaned.removeprefix(lead) if cleaned.startswith(lead) else redact(text[:_LOOKED_AT])[0]


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
