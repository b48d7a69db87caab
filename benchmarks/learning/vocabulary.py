"""What the agent recognises in any text: calls of its tools, commands, and reasons why something failed.

A call may stand as `press_key(l, command: true)`, with other quotes or `key=value`, as `Cmd+L`, as a shell
command in backticks or alone on its line, or in prose ("opened Chrome, then typed github.com"). A command may
have its words, `{slots}` or a cut end. Knows the desktop and nothing of memories or their formats.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from benchmarks.learning.world import LOOK, OUTAGES, World

_PLACE = re.compile(r"\{(\w+)\}")
_OPEN = r"\{[^{}\n]*\}|<\w+>"  # a slot in a text: anything may stand there
_CUT = r"[^\n\"“”]{0,40}?…"
_VERBS = {
    "open_application": r"open(?:ed|ing)?|launch(?:ed|ing)?|start(?:ed|ing)?|switch(?:ed)? to",
    "click": r"click(?:ed|ing)?|tap(?:ped|ping)?|choos(?:e|ing)|chose",
    "type_text": r"typ(?:e|ed|ing)|enter(?:ed|ing)?|wrote|fill(?:ed)? in",
    "scroll": r"scroll(?:ed|ing)?",
}
_RAN = r"ran|run|running|execut(?:e|ed|ing)"
_PRESSED = r"press(?:ed|ing)?|hit(?:ting)?"
_KEYS = {"enter": "return", "esc": "escape", "backspace": "delete"}
_KEY = r"return|enter|tab|space|delete|backspace|escape|esc|[a-z0-9]"
_MODIFIERS = {
    "cmd": "command", "command": "command", "⌘": "command", "ctrl": "control", "control": "control",
    "alt": "option", "opt": "option", "option": "option", "⌥": "option", "shift": "shift", "⇧": "shift",
}  # fmt: skip
_COMBINED = re.compile(
    rf"(?:\b(?:{_PRESSED})\s+)?(?<![\w(])"
    rf"((?:(?:cmd|command|ctrl|control|alt|opt|option|shift)\s?[+-]\s?|[⌘⌥⇧]\s?[+-]?\s?)+)({_KEY})(?!\w)",
    re.IGNORECASE,
)
_ALONE = re.compile(rf"\b(?:{_PRESSED})\s+(?:the\s+)?[\"'`]?({_KEY})\b[\"'`]?(?:\s+key)?", re.IGNORECASE)
_TIMES = re.compile(r"[`\"']*\s*(?:[x×](\d)\b|(twice)\b)")
_LOOKED = re.compile(r"\b(?:took|take) a screenshot|\blook(?:ed)? at the screen", re.IGNORECASE)
_SPLIT = re.compile(r",\s*([a-z_]+)\s*[:=]\s*")
# How the first argument may be called where it has a name.
_FIRST = re.compile(r"(?:name|app|target|element|text|value|keys?|command|argv|cmd|direction)\s*[:=]\s*")


class Seen(NamedTuple):
    """Something recognised in a text."""

    start: int
    end: int
    what: str  # call, command, reason
    text: str  # a call in its usual form, else as it stands
    kind: str = ""  # of the task, for a command
    values: Mapping[str, str] = {}  # what a command fills in; a slot stands for itself
    times: int = 1


class Vocabulary:
    def __init__(self, world: World) -> None:
        tools = sorted({action.split("(")[0] for action in _actions(world)} | {LOOK.split("(")[0]})
        self._call = re.compile(rf"\b({'|'.join(tools)})\(((?:[^()\n]|\([^()\n]*\))*)\)")
        self.tools = frozenset(tools)
        self._prose = [(tool, _in_prose(tool, verbs, world)) for tool, verbs in _VERBS.items()]
        self._shell = _in_shell(world)
        self._commands = [
            (kind.name, _command(command, world))
            for kind in world.kinds.values() for command in kind.commands
        ]  # fmt: skip
        reasons = "|".join(map(re.escape, (*world.reasons, *OUTAGES)))
        self._reason = re.compile(rf"{reasons}|nothing was done to [\w ]+", re.IGNORECASE)

    def find(self, line: str) -> list[Seen]:
        """All that is recognised in a line, in order; nothing overlaps."""
        found: list[Seen] = []
        for finder in (self._calls, self._reasons, self._known_commands, self._calls_in_prose):
            masked = _masked(line, found)
            found += _apart(finder(masked))
        return sorted(_with_times(line, found))

    def _calls(self, line: str) -> Iterator[Seen]:
        for match in self._call.finditer(line):
            yield Seen(*match.span(), "call", usual_form(match[1], match[2]))

    def _reasons(self, line: str) -> Iterator[Seen]:
        for match in self._reason.finditer(line):
            yield Seen(*match.span(), "reason", match[0])

    def _known_commands(self, line: str) -> Iterator[Seen]:
        for kind, pattern in self._commands:
            for match in pattern.finditer(line):
                yield Seen(*match.span(), "command", match[0], kind, match.groupdict())

    def _calls_in_prose(self, line: str) -> Iterator[Seen]:
        for tool, pattern in self._prose:
            for match in pattern.finditer(line):
                yield Seen(*match.span(), "call", f"{tool}({match['object']})")
        for match in self._shell.finditer(line):
            yield Seen(*match.span("object"), "call", f"run_shell_command({match['object']})")
        for match in _COMBINED.finditer(line):
            yield Seen(*match.span(), "call", _pressed(match[2], re.findall(r"\w+|[⌘⌥⇧]", match[1])))
        for match in _ALONE.finditer(line):
            yield Seen(*match.span(), "call", _pressed(match[1], ()))
        for match in _LOOKED.finditer(line):
            yield Seen(*match.span(), "call", LOOK)


@cache
def vocabulary(world: World) -> Vocabulary:
    return Vocabulary(world)


def usual_form(tool: str, rest: str) -> str:
    """A call as the desktop writes it: no quotes, no name for the first argument, keys in one order."""
    first, *more = _SPLIT.split(rest.strip())
    first = _bare(_FIRST.sub("", first, count=1) if _FIRST.match(first) else first)
    named = dict(zip(more[::2], map(_bare, more[1::2]), strict=True))
    if tool == "press_key":
        *held, key = re.split(r"[+-]", first) if len(first) > 1 else [first]
        held += [name for name, value in named.items() if value.casefold() == "true"]
        return _pressed(key, held)
    return f"{tool}({', '.join((first, *(f'{name}: {value}' for name, value in named.items())))})"


def _bare(value: str) -> str:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return " ".join(_bare(part) for part in value[1:-1].split(","))
    return value.strip("\"'“”")


def _pressed(key: str, modifiers: Iterable[str]) -> str:
    held = sorted({_MODIFIERS.get(one.strip().casefold(), one.strip()) for one in modifiers})
    key = key.strip().casefold()
    return f"press_key({', '.join((_KEYS.get(key, key), *(f'{one}: true' for one in held)))})"


def _with_times(line: str, found: Iterable[Seen]) -> Iterator[Seen]:
    """`press_key(return) x2` is two calls."""
    for one in found:
        match = _TIMES.match(line, one.end) if one.what == "call" else None
        yield one._replace(end=match.end(), times=int(match[1] or 2)) if match else one


def _masked(line: str, found: Sequence[Seen]) -> str:
    for one in found:
        line = line[: one.start] + "\ue000" * (one.end - one.start) + line[one.end :]
    return line


def _apart(found: Iterable[Seen]) -> Iterator[Seen]:
    """Of what overlaps, the first and longest."""
    end = 0
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if one.start >= end:
            yield one
            end = one.end


def _actions(world: World) -> Iterator[str]:
    for kind in world.kinds.values():
        for part in kind.parts:
            for way in part.ways:
                yield from way.actions


@cache
def _values(world: World) -> Mapping[str, str]:
    """For each place the pattern of what may stand there."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind in world.kinds.values():
        for name, values in kind.values.items():
            found[name] += values
    for taste in world.tastes.values():
        found[taste.name] += taste.options
    return {name: _any_of(values) for name, values in found.items()}


def _any_of(texts: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(set(texts), key=len, reverse=True)))


def _objects(tool: str, world: World) -> str:
    """What such a call may be about."""
    values = _values(world)
    inner = {action.split("(", 1)[1][:-1] for action in _actions(world) if action.startswith(f"{tool}(")}
    patterns = []
    for one in sorted(inner, key=len, reverse=True):
        parts = _PLACE.split(one)
        patterns.append(
            "".join(
                f"(?:{values[part]}|{_OPEN})" if at % 2 else re.escape(part) for at, part in enumerate(parts)
            )
        )
    return "|".join(patterns)


def _in_prose(tool: str, verbs: str, world: World) -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:{verbs})\s+(?:on\s+|in\s+|into\s+|the\s+)*[\"'“`*]*(?P<object>{_objects(tool, world)})"
        rf"[\"'”`*]*(?!\w)",
        re.IGNORECASE,
    )


def _in_shell(world: World) -> re.Pattern[str]:
    """A known shell command behind a verb, in backticks, alone on its line, or one of a row."""
    return re.compile(
        rf"(?:\b(?:{_RAN})\s+[`\"'“]?|`|^[\s>*•-]*(?:\d+[.)])?\s*\$?\s*"
        rf"|[,;:→]\s*|->\s*|&&\s*|\bthen\s+|\band\s+)"
        rf"(?P<object>{_objects('run_shell_command', world)})"
        rf"(?=[`\"'”]|\s*(?:$|[,;.→)(—]|->|&&|\bthen\b|\band\b))",
        re.IGNORECASE,
    )


def _command(command: str, world: World) -> re.Pattern[str]:
    values = _values(world)
    parts = _PLACE.split(command)
    named = [taste.named.format(_any_of(taste.options)) for taste in world.tastes.values() if taste.named]
    body = "".join(
        f"(?P<{part}>{values[part]}|{_OPEN}|{_CUT})" if at % 2 else re.escape(part)
        for at, part in enumerate(parts)
    )
    more = "|".join(re.sub(r" (\w+) (.*)", r" \1 (?:\2)", one) for one in named)
    return re.compile(rf"(?<![\w]){body}(?:{more})?(?!\w)", re.IGNORECASE)
