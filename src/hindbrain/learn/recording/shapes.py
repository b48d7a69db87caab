"""Actions without what one run filled in: `type_text({text})`, so that runs can be compared. Pure."""

from __future__ import annotations

from functools import lru_cache

from hindbrain.learn.alike import masked
from hindbrain.learn.recording.wording import plain
from hindbrain.learn.runs.episode import Action

_MOST_VALUE = 40  # characters of a value that may be the same on purpose
_MOST_SHAPE = 100  # characters
_SHORT = 2  # characters that stand in any command


def shaped(action: Action, command: str) -> Action:
    """The action with `{name}` for values that the command brought, addresses, numbers, ids and long texts.

    `command` is case-folded.
    """
    arguments = tuple(
        (key, "{" + key + "}" if _is_filled_in(value, command) else value) for key, value in action.arguments
    )
    return Action(action.name, arguments)


def shown_shape(action: Action) -> str:
    """As `Action.shown`; of what was filled in only the first is named: `book({user}, cabin: economy, …)`."""
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
