"""What the user asks for, run after run: the same sequence for every memory, made from the seed alone.

Most commands leave open what the user likes; one in ten names it. Each taste is told once: in a line of chat
before a run, or by calling a run off and asking again with the thing named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from benchmarks.learning.world import Kind, Taste, World

RUNS_A_DAY = 8
STARTS = 1_767_600_000.0  # Monday, 5 January 2026, 08:00 UTC
_FIRST_TOLD, _TOLD_EVERY = 24, 11  # runs: by then each is told, one after the other
_NAMES_IT = 0.1
_HOUR, _DAY = 3_600.0, 86_400.0
_RETRY_S = 40.0  # between a run that is called off and the command that replaces it
_WORD = re.compile(r"\{(\w+)\}")


class Task(NamedTuple):
    run: int
    at: float  # seconds since the epoch
    kind: str
    command: str
    said: Mapping[str, str]  # what the command fills in, tastes that it names among it
    chat: str = ""  # what the user says in passing before it
    called_off: bool = False  # the user stops it after its first action
    told: tuple[str, ...] = ()  # tastes that the user has told by now


def make_tasks(world: World, runs: int) -> list[Task]:
    """So many tasks, oldest first."""
    tasks: list[Task] = []
    told: list[str] = []
    waiting = list(world.tastes.values())
    for run in range(runs):
        if tasks and tasks[-1].called_off:
            tasks.append(_asked_again(tasks[-1], world, tuple(told)))
            continue
        chat, corrected = "", None
        due = waiting and run >= _FIRST_TOLD + _TOLD_EVERY * len(told)
        if due:
            taste = waiting.pop(0)
            told.append(taste.name)
            chat, corrected = taste.chat, None if taste.chat else taste
        tasks.append(_task(world, run, chat, corrected, tuple(told)))
    return tasks


def _task(world: World, run: int, chat: str, corrected: Taste | None, told: tuple[str, ...]) -> Task:
    kind = _drawn(world, run, corrected)
    said = {name: _pick(values, world.dice("value", run, name)) for name, values in kind.values.items()}
    command = _pick(kind.commands, world.dice("words", run))
    command = _WORD.sub(lambda word: said[word[1]], command)
    named = [taste for taste in kind.tastes(world.tastes) if taste.named]
    if named and corrected is None and world.dice("names", run) < _NAMES_IT:
        command += named[0].named.format(named[0].wanted)
        said[named[0].name] = named[0].wanted
    at = STARTS + (run // RUNS_A_DAY) * _DAY + (run % RUNS_A_DAY) * 1.5 * _HOUR
    at += 0.5 * _HOUR * world.dice("minutes", run)
    return Task(run, at, kind.name, command, said, chat, corrected is not None, told)


def _asked_again(before: Task, world: World, told: tuple[str, ...]) -> Task:
    """The same, with what the user likes named."""
    taste = world.tastes[told[-1]]
    command = before.command + taste.named.format(taste.wanted)
    said = {**before.said, taste.name: taste.wanted}
    return Task(before.run + 1, before.at + _RETRY_S, before.kind, command, said, told=told)


def _drawn(world: World, run: int, corrected: Taste | None) -> Kind:
    """Some kinds are asked for far more often than others, and which these are depends on the seed."""
    kinds = sorted(world.kinds.values(), key=lambda kind: world.dice("rank", kind.name))
    if corrected is not None:
        kinds = [kind for kind in kinds if corrected in kind.tastes(world.tastes)]
    weights = [1 / (place + 3) for place in range(len(kinds))]
    left = world.dice("kind", run) * sum(weights)
    for kind, weight in zip(kinds, weights, strict=True):
        left -= weight
        if left < 0:
            return kind
    return kinds[-1]


def _pick(values: Sequence[str], dice: float) -> str:
    return values[int(dice * len(values))]


def understood(command: str, world: World) -> tuple[Kind, dict[str, str]] | None:
    """What a command means to somebody who speaks the language; None for what was never asked here."""
    bare, named = command, {}
    for taste in world.tastes.values():
        if taste.named and bare.endswith(taste.named.format(taste.wanted)):
            bare = bare.removesuffix(taste.named.format(taste.wanted))
            named = {taste.name: taste.wanted}
            break
    for kind in world.kinds.values():
        for pattern in _patterns(kind.commands):
            found = pattern.fullmatch(bare)
            if found and all(found[name] in kind.values[name] for name in found.groupdict()):
                return kind, {**found.groupdict(), **named}
    return None


@cache
def _patterns(commands: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    return tuple(_compiled(commands))


def _compiled(commands: tuple[str, ...]) -> Iterator[re.Pattern[str]]:
    for command in commands:
        parts = _WORD.split(command)
        yield re.compile(
            "".join(f"(?P<{part}>.+?)" if at % 2 else re.escape(part) for at, part in enumerate(parts))
        )
