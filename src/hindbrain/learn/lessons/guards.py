"""The guards in force, where a hook finds them at once; and how often each was heeded.

`guards.json` in the state folder is made from lessons and notes whenever something is learned: a hook before
each tool call has no time to read a vault. What a guard stopped is a line in `guarded.jsonl`; whether the
agent went ahead all the same is told by the run's journal. Both may be deleted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.files import append_record, replace_file
from hindbrain.learn.lessons.guarding import Guard, Unusable, check, parse_guard

if TYPE_CHECKING:
    from hindbrain.learn.lessons.lesson import Lesson
    from hindbrain.learn.runs.episode import Episode

GUARDS, STOPPED = "guards.json", "guarded.jsonl"
_SOON_S = 3_600.0  # after which the same call is another matter


class Stopped(NamedTuple):
    """A call that a guard put before a person."""

    at: float
    guard: str  # its id
    call: str  # what was called, as a digest


class KnownGuards(NamedTuple):
    """The guards that lessons and notes name now."""

    usable: tuple[Guard, ...] = ()
    unusable: tuple[Unusable, ...] = ()
    in_force: frozenset[Guard] = frozenset()  # those that hooks and runs know of already


class Heeded(NamedTuple):
    """What became of the calls that one guard has stopped."""

    asked: int = 0
    went_ahead: int = 0  # the same call was made all the same, within the hour

    @property
    def heeded(self) -> int:
        return self.asked - self.went_ahead


def guards_of(
    lessons: Iterable[Lesson], notes: Iterable[tuple[str, str, str]]
) -> tuple[list[Guard], list[Unusable]]:
    """Those that can be checked and those that can't. `notes`: path, title and guard of each that has one."""
    told = [(f"^{lesson.id}", lesson.text, lesson.guard, "") for lesson in lessons if lesson.guard]
    told += [(path, title, guard, path) for path, title, guard in notes]
    parsed = [parse_guard(text, id=id_, reason=reason, path=path) for id_, reason, text, path in told]
    return (
        [one for one in parsed if isinstance(one, Guard)],
        [one for one in parsed if isinstance(one, Unusable)],
    )


def write_guards(state: Path, guards: Sequence[Guard]) -> None:
    """Put them where hooks look. Raises OSError."""
    data = json.dumps([guard._asdict() for guard in guards], ensure_ascii=False).encode()
    file = state / GUARDS
    try:
        if file.read_bytes() == data:
            return
    except OSError:
        if not guards:
            return
    replace_file(file, data, durable=False)


def read_guards(state: Path) -> list[Guard]:
    """[] when there are none, or when they can't be read: a guard must not stop what it does not know."""
    try:
        told = json.loads((state / GUARDS).read_bytes())
        return [Guard(*(str(one.get(name, "")) for name in Guard._fields)) for one in told]
    except (OSError, ValueError, TypeError, AttributeError):
        return []


def stop(state: Path, tool: str, arguments: Mapping[str, Any], *, at: float) -> Guard | None:
    """The guard that the call runs into, which is counted; None when it may go on."""
    guards = read_guards(state)
    found = check(guards, tool, arguments) if guards else None
    if found is not None:
        stopped = Stopped(at, found.id, call_digest(tool, arguments))
        line = json.dumps(stopped._asdict()) + "\n"
        with suppress(OSError):  # it is not counted; it is asked about all the same
            append_record(state / STOPPED, line.encode(), durable=False)
    return found


def heeded(state: Path, episodes: Iterable[Episode]) -> dict[str, Heeded]:
    """By a guard's id: how often it asked, and how often the agent did it all the same."""
    stopped = _stopped(state)
    if not stopped:
        return {}
    done: dict[str, list[float]] = {}
    for episode in episodes:
        for action in episode.actions:
            done.setdefault(call_digest(action.name, dict(action.arguments)), []).append(episode.ended)
    found: dict[str, Heeded] = {}
    for one in stopped:
        ahead = any(one.at <= ended <= one.at + _SOON_S for ended in done.get(one.call, ()))
        known = found.get(one.guard, Heeded())
        found[one.guard] = Heeded(known.asked + 1, known.went_ahead + ahead)
    return found


def call_digest(tool: str, arguments: Mapping[str, Any]) -> str:
    """The same for a call before it is made and for its line in a journal, where long values are cut."""
    from hindbrain.learn.runs.journal import shortened, text_of

    told = [f"{key}={text_of(value)}" for key, value in shortened(arguments).items()]
    return hashlib.sha256("\n".join((tool.casefold(), *told)).encode("utf-8", "replace")).hexdigest()[:16]


def _stopped(state: Path) -> list[Stopped]:
    found: list[Stopped] = []
    try:
        lines = (state / STOPPED).read_bytes().splitlines()
    except OSError:
        return []
    for line in lines:
        try:
            told = json.loads(line)
            found.append(Stopped(float(told["at"]), str(told["guard"]), str(told["call"])))
        except (ValueError, TypeError, KeyError):
            continue
    return found
