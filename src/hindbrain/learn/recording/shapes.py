"""Actions without what one run filled in: `type_text({text})`, so that runs can be compared. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from hindbrain.learn.alike import masked
from hindbrain.learn.recording.wording import is_deed, plain
from hindbrain.learn.runs.calls import command_line
from hindbrain.learn.runs.episode import Action

_MOST_VALUE = 40  # characters of a value that may be the same on purpose
_MOST_SHAPE = 100  # characters
_PART = re.compile(r"<(\w+)>")
_MOST_DEEDS = 60  # different ones of a run that are compared
_SHORT = 2  # characters that stand in any command


def deeds_of(actions: Sequence[Action], command: str) -> tuple[str, ...]:
    """What was done, each deed once, without what this run filled in: `press_key(l, command: true)`."""
    folded = command.casefold()
    shown = (shown_shape(shaped(action, folded)).strip("`") for action in actions if is_deed(action))
    return tuple(dict.fromkeys(shown))[:_MOST_DEEDS]


def is_open(deed: str) -> bool:
    """Is everything in it left open? Then it says no more than the name of its tool."""
    inside = deed.partition("(")[2][:-1] if deed.endswith(")") else deed
    return bool(inside) and all(
        part.rpartition(": ")[2].startswith(("{", "…")) for part in inside.split(", ")
    )


def shaped(action: Action, command: str) -> Action:
    """The action with `{name}` for values that the command brought, addresses, numbers, ids and long texts.

    `command` is case-folded. Of a command line only its addresses, paths and numbers: `cd {path}`.
    """
    if line := command_line(action.name, action.arguments):
        return Action(action.name, (("command", _PART.sub(r"{\1}", masked(line))),))
    arguments = tuple(
        (key, "{" + key + "}" if _is_filled_in(value, command) else value) for key, value in action.arguments
    )
    return Action(action.name, arguments)


def shown_shape(action: Action) -> str:
    """As `Action.shown`; of what was filled in only the first is named: `book({user}, cabin: economy, …)`."""
    if line := command_line(action.name, action.arguments):
        return f"`{plain(line, _MOST_SHAPE)}`"
    told: list[str] = []
    for at, (key, value) in enumerate(action.arguments):
        if at == 0:
            told.append(value)
        elif value != "{" + key + "}":
            told.append(f"{key}: {value}")
        elif told[-1] != "…":
            told.append("…")
    return plain(f"{action.name}({', '.join(told)})", _MOST_SHAPE)


def _is_filled_in(value: str, command: str) -> bool:
    return (len(value) > _SHORT and value.casefold() in command) or _varies(value)


@lru_cache(maxsize=16_384)
def _varies(value: str) -> bool:
    return len(value) > _MOST_VALUE or "\n" in value or "<" in masked(value)
