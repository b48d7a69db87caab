"""Calls with their ends left open where the command names them: `cd ~/code/atlas` is `cd {path}`. Pure.

What such a call does is the same for another thing, and only so can it be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hindbrain.learn.alike import masked
from hindbrain.learn.runs.episode import Action

_SHORTEST_TAIL, _LONGEST_SHAPED = 3, 200  # characters
_BOUND = re.compile(r"[\s/:=]+")


def shaped(command: str, actions: Iterable[Action]) -> tuple[Action, ...]:
    """The actions, the ends of whose arguments are open where they are named by the command."""
    folded = command.casefold()
    return tuple([
        action._replace(arguments=tuple([(key, _shape(key, told, folded)) for key, told in action.arguments]))
        if any(told[-_SHORTEST_TAIL:].casefold() in folded for _, told in action.arguments)
        else action
        for action in actions
    ])  # fmt: skip


def _shape(key: str, value: str, command: str) -> str:
    """`cd ~/code/atlas` is `cd {path}` where the command speaks of ~/code/atlas."""
    if len(value) > _LONGEST_SHAPED or value.casefold() in command:
        return value
    for bound in _BOUND.finditer(value):
        tail = value[bound.end() :]
        if len(tail) < _SHORTEST_TAIL:
            break
        if bound.end() and _names(command, tail.casefold()):
            head = value[: bound.end()]
            if head.strip().casefold() in command:
                return f"{{{key}}}"  # two things that the command names
            kind = masked(tail)
            return head + ("{path}" if kind == "<path>" else "{url}" if kind == "<url>" else "{text}")
    return value


def _names(command: str, part: str) -> bool:
    at = command.find(part)
    if at < 0:
        return False
    around = command[at - 1 : at] + command[at + len(part) : at + len(part) + 1]
    return not any(char.isalnum() for char in around)
