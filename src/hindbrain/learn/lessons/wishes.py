"""What a run was asked for, without what it filled in: "search the web for {text}". Pure.

A value that a run gave to a tool and that stands in its command is this run's own; the next run has another
one there, and two commands are not alike because both speak of a piano lesson. Addresses, ids and the names
of applications stay: the first two are masked wherever commands are compared, the last tells tasks apart.
"""

from __future__ import annotations

import re

from hindbrain.learn.alike import masked
from hindbrain.learn.runs.episode import Episode

_SHORTEST, _LONGEST = 3, 120  # characters of a value
_MOST_OF_IT = 0.7  # a value that is nearly the whole command is the wish itself


def wish_of(episode: Episode) -> str:
    command = episode.command
    folded = command.casefold()
    apps = {action.app.casefold() for action in episode.actions} | {episode.app.casefold()}
    values = {
        value.casefold(): key
        for action in episode.actions
        for key, value in action.arguments
        if _SHORTEST <= len(value) <= _LONGEST and value.casefold() in folded
    }
    for value in sorted(values, key=lambda value: (-len(value), value)):
        if value in apps or len(value) > _MOST_OF_IT * len(command) or masked(value).startswith("<"):
            continue
        # Not at its beginning: "delete the old file" is not "{key} the old file" because of a delete key.
        whole = re.compile(rf"(?<!^)(?<![\w{{]){re.escape(value)}(?![\w}}])", re.IGNORECASE)
        command = whole.sub(f"{{{values[value]}}}", command)
    return command
