"""Events of hosts that nobody has dealt with yet: one small file each, durable before `append_event` returns.

A file is written under another name and then given its own, so that it is whole or not there, on every
system, without a lock and whoever else writes; who has dealt with an event takes its file away. Imported by
the hook client: standard library only, and little of it. Knows nothing of what events mean.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.files import make_folder, replace_file

FOLDER = "spool"
PROMPT = "prompt"  # the kind of an event at which a person said something
_SUFFIX = ".json"
_TEMP = ".tmp"
_BAD = ".bad"
_LONGEST = 8_000_000  # bytes of one event; a prompt of 5 MB passes
_STALE_S = 86_400.0  # a half written file of that age has no writer any more
_LATEST = 1e11  # seconds since the epoch; no calendar reaches further
_WITH_SECRETS = ("prompt", "command", "output")
_NO_TEXTS = ("id", "at", "messages")


class Event(NamedTuple):
    """Something that happened in a host. What a host does not tell is ""."""

    id: str  # of the spool's own making; sorts by time
    event: str  # stop, pre-compact, session-end, session-start, prompt, tool-failed, tool-ok, message, said
    host: str
    session: str
    transcript: str = ""  # path of the host's record of the conversation
    cwd: str = ""
    at: float = 0.0  # seconds since the epoch
    prompt: str = ""  # what the person said; of hosts without a transcript told again at a stop
    answer: str = ""  # what they were answered last, where the host gives it
    tool: str = ""  # of tool-failed and tool-ok
    command: str = ""
    output: str = ""
    messages: tuple[Mapping[str, object], ...] = ()  # of said: what a host hands over, with ids of its own


class Spooled(NamedTuple):
    """What waits, the oldest first."""

    events: tuple[Event, ...]
    unreadable: int = 0  # files that hold no event; they are kept beside as *.bad


def keep_event(state: Path, event: Mapping[str, object]) -> None:
    """Keep one event as `append_event` does, without the secrets in what was said, run and printed."""
    said = {name: text for name in _WITH_SECRETS if isinstance(text := event.get(name), str) and text}
    if said:
        from hindbrain.base.secrets import redact  # here: its rules cost time to compile

        event = {**event, **{name: redact(text)[0] for name, text in said.items()}}
    append_event(state, event)


def append_event(state: Path, event: Mapping[str, object], *, mark: str = "") -> None:
    """Keep one event; durable when this returns. Fields as in `Event`, others are dropped.

    `mark`: letters and digits by which `read_events` finds it among others without opening them. Raises
    OSError when the disk takes nothing more; then nothing of it is left.
    """
    folder = state / FOLDER
    fields = {name: event[name] for name in Event._fields if event.get(name)}
    fields["last_assistant_message"] = event.get("last_assistant_message") or ""
    fields.setdefault("at", time.time())
    data = json.dumps(_cut(fields), ensure_ascii=True, default=str).encode("ascii")
    # Names sort by time; the random part keeps those of one instant apart.
    name = f"{time.time_ns():020d}-{os.urandom(4).hex()}{f'-{mark}' if mark else ''}"
    make_folder(folder)
    replace_file(folder / f"{name}{_SUFFIX}", data)


def read_events(state: Path, *, mark: str = "") -> Spooled:
    """What waits, or what waits of one mark. It goes on waiting until it is dropped."""
    folder = state / FOLDER
    events: list[Event] = []
    unreadable = 0
    names = _names(folder)
    for name in names if not mark else [name for name in names if name.endswith(f"-{mark}{_SUFFIX}")]:
        if name.endswith(_TEMP):
            _drop_stale(folder / name)
        elif name.endswith(_SUFFIX):
            try:
                events.append(_parsed(name, (folder / name).read_bytes()))
            except FileNotFoundError:
                continue  # another process has dealt with it
            except (OSError, ValueError, TypeError, OverflowError, RecursionError):
                unreadable += 1
                _set_aside(folder / name)
    return Spooled(tuple(events), unreadable)


def count_waiting(state: Path) -> int:
    """How many events wait; cheap."""
    return sum(name.endswith(_SUFFIX) for name in _names(state / FOLDER))


def oldest_waiting(state: Path) -> float:
    """When the oldest event that waits was written, in seconds since the epoch; 0 when none does."""
    names = [name for name in _names(state / FOLDER) if name.endswith(_SUFFIX)]
    digits = names[0].partition("-")[0] if names else ""
    return int(digits) / 1e9 if digits.isdecimal() else 0.0


def count_unreadable(state: Path) -> int:
    """How many events could not be read and were kept beside."""
    return sum(name.endswith(_BAD) for name in _names(state / FOLDER))


def drop_events(state: Path, events: Iterable[Event]) -> None:
    """Take away what was dealt with."""
    for event in events:
        (state / FOLDER / f"{event.id}{_SUFFIX}").unlink(missing_ok=True)


def _cut(fields: dict[str, object]) -> dict[str, object]:
    """Texts that no host sends are cut at their end, so that one event can't fill the disk."""
    return {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in fields.items()}


def _parsed(name: str, data: bytes) -> Event:
    found = json.loads(data)
    if not isinstance(found, dict):
        raise TypeError("an event is an object")
    texts = {field: str(found.get(field) or "") for field in Event._fields if field not in _NO_TEXTS}
    texts["answer"] = texts["answer"] or str(found.get("last_assistant_message") or "")
    texts["session"] = texts["session"] or texts["transcript"]
    if not texts["event"] or not texts["session"]:
        raise ValueError("an event needs a kind, and a session to belong to")
    messages = tuple(one for one in found.get("messages") or () if isinstance(one, dict))
    at = float(found.get("at") or 0.0)
    at = at if 0 <= at <= _LATEST else 0.0  # NaN is neither
    return Event(id=name.removesuffix(_SUFFIX), at=at, messages=messages, **texts)


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208  fast
    except (FileNotFoundError, NotADirectoryError):
        return []


def _drop_stale(path: Path) -> None:
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _STALE_S:
            path.unlink()


def _set_aside(path: Path) -> None:
    """Keep what can't be read for a person to look at, and do not count it again."""
    with contextlib.suppress(OSError):
        path.rename(path.with_suffix(_BAD))
