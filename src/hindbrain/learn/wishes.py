"""What a run was asked for, without what it filled in: "search the web for {text}". Pure.

A value that a run gave to a tool and that stands in its command is this run's own; the next run has another
one there, and two commands are not alike because both speak of a piano lesson. So is the name of a file that
it worked on: "the page about the harbour", and `site/harbour.html`. Addresses, ids and the names of
applications stay: the first two are masked wherever commands are compared, the last tells tasks apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hindbrain.learn.alike import masked
from hindbrain.learn.runs.episode import Episode

_SHORTEST, _LONGEST = 3, 120  # characters of a value
_FILE = re.compile(r"[^\s:]*[/\\]([\w -]+)\.\w{1,5}")
_MOST_OF_IT = 0.7  # a value that is nearly the whole command is the wish itself


def wish_of(episode: Episode) -> str:
    command = episode.command
    folded = command.casefold()
    apps = {action.app.casefold() for action in episode.actions} | {episode.app.casefold()}
    values = {
        part: key
        for action in episode.actions
        for key, value in action.arguments
        for part in _parts(value.casefold())
        if _SHORTEST <= len(part) <= _LONGEST and part in folded
    }
    for value in sorted(values, key=lambda value: (-len(value), value)):
        if value in apps or len(value) > _MOST_OF_IT * len(command) or masked(value).startswith("<"):
            continue
        # Not at its beginning: "delete the old file" is not "{key} the old file" because of a delete key.
        whole = re.compile(rf"(?<!^)(?<![\w{{/\\~.-]){re.escape(value)}(?![\w}}/\\-]|\.\w)", re.IGNORECASE)
        command = whole.sub(f"{{{values[value]}}}", command)
    return command


def _parts(value: str) -> Iterator[str]:
    """A value, and the name of the file that it is the path of."""
    if file := _FILE.fullmatch(value):
        yield file[1]
    yield value
