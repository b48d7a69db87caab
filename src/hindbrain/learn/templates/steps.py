"""What runs did, step by step, and which of it is the same from run to run. Pure.

Two runs agree when they called the same tools in the same order, for the same purpose: a key or a button that
is another one is another step, a value that only one run has is not. Knows nothing of slots and notes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from hindbrain.learn.runs.calls import command_line
from hindbrain.learn.runs.episode import Action, Episode
from hindbrain.learn.templates.template import SHELL

MOST_STEPS = 60  # of a run: what is longer has no one way of being done
_THINKING = re.compile(r"^(?:think|reason|reflect)", re.IGNORECASE)
_LOOKING = re.compile(r"screenshot|observe|^look|^view_screen", re.IGNORECASE)
_OPENING = re.compile(r"(?:open|launch|activate|start)_?app", re.IGNORECASE)
_ID = re.compile(r"(?:^|_)(?:id|ids|uuid|guid)$", re.IGNORECASE)  # an argument that names one case
_GESTURE = 3  # arguments, at most, of a call that is told apart by them: a key with its modifiers
_OWN = 0.6  # of the values of an argument that differ: from here on each run has its own
_KEYS = frozenset({"key", "keys", "button", "modifier", "modifiers"})
_PROGRAMS = frozenset({"command", "cmd", "script"})
SAID = "<said>"  # in the place of what the command says
_LONGEST = 80  # characters of a value that is looked at in parts
_PATH_STARTS = ("~/", "/", "./", "../", "@", "#")


class Block(NamedTuple):
    """Calls of one tool in a row, by one run."""

    name: str
    calls: tuple[Action, ...]


class Column(NamedTuple):
    """One step of several runs."""

    name: str
    cells: dict[int, Action]  # by the number of the run
    many: bool = False  # as often as it takes: how often differs from run to run


def doing(episode: Episode) -> tuple[Action, ...]:
    """What a run did and worked: without calls that failed, thoughts, and attempts that were rejected."""
    actions = episode.actions
    tried = max((rejection.after for rejection in episode.rejections), default=0)
    if 0 < tried < len(actions) and actions[tried] == actions[0]:
        actions = actions[tried:]
    kept = [action for action in actions if action.ok and not _THINKING.search(action.name)]
    return tuple(map(as_step, kept[:MOST_STEPS]))


def as_step(action: Action) -> Action:
    """Whatever a host calls its shell, a command line is the same step."""
    line = command_line(action.name, action.arguments)
    return action._replace(name=SHELL, arguments=(("command", line),)) if line else action


def blocks_of(episode: Episode) -> tuple[Block, ...]:
    """The steps; a look at the screen counts only at the end."""
    done = doing(episode)
    kept = [action for action in done[:-1] if not is_look(action.name)]
    blocks = groupby((*kept, *done[-1:]), key=lambda action: action.name)
    return tuple(Block(name, tuple(calls)) for name, calls in blocks)


def agreeing(runs: Sequence[tuple[str, Sequence[Block]]]) -> list[list[int]]:
    """The numbers of runs (command, blocks) that did the same, group by group; each is in one group."""
    by_tools: dict[tuple[str, ...], list[int]] = {}
    for number, (_, blocks) in enumerate(runs):
        by_tools.setdefault(tuple(block.name for block in blocks), []).append(number)
    found: list[list[int]] = []
    for numbers in by_tools.values():
        found += _same_purpose(numbers, runs)
    return sorted(found)


def _same_purpose(numbers: Sequence[int], runs: Sequence[tuple[str, Sequence[Block]]]) -> list[list[int]]:
    """Runs of the same tools, apart where an argument tells steps apart: which key, which button."""
    purposes: dict[int, list[frozenset[str]]] = {number: [] for number in numbers}
    for place in range(len(runs[numbers[0]][1])):
        marked = {
            number: [(action, marks_of(action, command)) for action in blocks[place].calls]
            for number in numbers
            for command, blocks in [runs[number]]
        }
        lengths = {len(calls) for calls in marked.values()}
        # Where some called a tool more often than others, what they called it for is compared as a whole.
        parts = range(lengths.pop()) if len(lengths) == 1 else [slice(None)]
        for part in parts:
            own = {number: calls[part] if isinstance(part, slice) else [calls[part]]
                   for number, calls in marked.items()}  # fmt: skip
            for number, purpose in _purposes(own).items():
                purposes[number].append(purpose)
    found: dict[tuple[frozenset[str], ...], list[int]] = {}
    for number, told in purposes.items():
        found.setdefault(tuple(told), []).append(number)
    return list(found.values())


def _purposes(calls: Mapping[int, Sequence[tuple[Action, frozenset[str]]]]) -> dict[int, frozenset[str]]:
    """What tells the calls of each run apart from those of others: arguments that have few values, and none
    that the commands say.

    What each run has for itself, ids, and the data of a call with many arguments are values of one step.
    """
    every = [call for some in calls.values() for call in some]
    purposes: dict[int, frozenset[str]] = dict.fromkeys(calls, frozenset())
    if any(len(action.arguments) > _GESTURE for action, _ in every):
        return purposes
    for key in dict.fromkeys(key for action, _ in every for key, _ in action.arguments):
        # A word of the command may stand in a value by chance: "add tests", and `git add -A`.
        bare = Counter(map(values := _values(key, marked=False), every))
        said = Counter(map(marks := _values(key, marked=True), every))
        most = bare.most_common(1)[0][1]
        value_of, counts = (values, bare) if most >= said.most_common(1)[0][1] else (marks, said)
        open_ = sum(count for value, count in counts.items() if SAID in value)
        few = len(counts) < _OWN * len(every) or counts.most_common(1)[0][1] * 2 > len(every)
        if key.lower() in _KEYS or (not is_id(key) and open_ * 2 <= len(every) and few):
            for number, some in calls.items():
                purposes[number] |= {f"{key}={value_of(call)}" for call in some}
    return purposes


def _values(key: str, *, marked: bool) -> Callable[[tuple[Action, frozenset[str]]], str]:
    def value(call: tuple[Action, frozenset[str]]) -> str:
        if not marked:
            return dict(call[0].arguments).get(key, "")
        return next((mark.partition("=")[2] for mark in call[1] if mark.startswith(f"{key}=")), "")

    return value


def columns_of(runs: Sequence[Sequence[Block]]) -> list[Column]:
    """The steps of runs that agree; a tool that was called more often by some is one step, done often."""
    return [column for blocks in zip(*runs, strict=True) for column in _columns(blocks)]


def _columns(blocks: Sequence[Block]) -> Iterator[Column]:
    lengths = {len(block.calls) for block in blocks}
    if len(lengths) > 1:
        yield Column(blocks[0].name, {n: block.calls[0] for n, block in enumerate(blocks)}, many=True)
        return
    for at in range(lengths.pop()):
        yield Column(blocks[0].name, {n: block.calls[at] for n, block in enumerate(blocks)})


def is_look(name: str) -> bool:
    return _LOOKING.search(name) is not None


def is_opening(name: str) -> bool:
    return _OPENING.search(name) is not None


def is_id(key: str) -> bool:
    return _ID.search(key) is not None


def without_values(command: str, arguments: Iterable[tuple[str, str]]) -> str:
    """The command without the values that were taken from it: "rename <said> to <said>".

    What it begins with says what to do: "send an email" is not "<said> an email" because of a Send button.
    """
    taken = {part for key, value in set(arguments) for part in said_by(key, value, command)}
    for part in sorted(taken, key=lambda part: (-len(part), part)):
        if (span := place_in(part, command)) and span[0]:
            command = f"{command[: span[0]]} {SAID} {command[span[1] :]}"
    return command


def stands_in(value: str, command: str) -> bool:
    """Does the command say this very value, as words of its own?"""
    return len(value.strip()) > 1 and place_in(value, command) is not None


def place_in(value: str, command: str) -> tuple[int, int] | None:
    plain = value.strip()
    if not plain or len(plain) > len(command):
        return None
    # Far cheaper than to compile a pattern, and most values of a run are not in its command.
    if plain.isascii() and command.isascii() and plain.lower() not in command.lower():
        return None
    found = re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", command, re.IGNORECASE)
    return None if found is None else found.span()


def marks_of(action: Action, command: str) -> frozenset[str]:
    """The arguments; what the command says of a value is the same in all runs: `command=git clone <said>`."""
    if is_opening(action.name):  # some commands name the application, others for the same do not
        return frozenset(f"{key}={value}" for key, value in action.arguments)
    return frozenset(f"{key}={_said(key, value, command)}" for key, value in action.arguments)


def said_by(key: str, value: str, command: str) -> list[str]:
    """What of an argument's value was taken from the command: the whole, or parts of it.

    What names the deed is not: the key that is pressed, the program that a shell command begins with.
    """
    if key.lower() in _KEYS:
        return []
    if stands_in(value, command) and key.lower() not in _PROGRAMS:
        return [value]
    if len(value) > _LONGEST:
        return []
    shape, parts = parts_said(value, command)
    return list(parts[1:] if _begins_with_deed(key, shape) else parts)


def _said(key: str, value: str, command: str) -> str:
    taken = said_by(key, value, command)
    if not taken or taken == [value]:
        return SAID if taken else value
    shape, parts = parts_said(value, command)
    texts = [text or SAID for text in shape]
    if _begins_with_deed(key, shape):
        texts[0] = parts[0]
    return "".join(texts)


def _begins_with_deed(key: str, shape: Sequence[str]) -> bool:
    return key.lower() in _PROGRAMS and shape[:1] == ("",)


@lru_cache(maxsize=50_000)
def parts_said(value: str, command: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The value as texts, "" for each part that the command says; and those parts."""
    tokens = re.findall(r"\w+|\s+|[^\w\s]+", value)
    shape: list[str] = []
    parts: list[str] = []
    at = 0
    while at < len(tokens):
        stop = next((stop for stop in range(len(tokens), at, -1) if _is_said(tokens[at:stop], command)), at)
        if stop > at:
            shape.append("")
            parts.append("".join(tokens[at:stop]))
            at = stop
            continue
        if shape and shape[-1] != "":
            shape[-1] += tokens[at]
        else:
            shape.append(tokens[at])
        at += 1
    return tuple(shape), tuple(parts)


def _is_said(tokens: Sequence[str], command: str) -> bool:
    starts = tokens[0][0].isalnum() or tokens[0] in _PATH_STARTS
    if not starts or not tokens[-1][-1].isalnum() or (len(tokens) == 1 and not _tells(tokens[0])):
        return False
    return stands_in("".join(tokens), command)


def _tells(word: str) -> bool:
    """Is a word that both have more than chance?"""
    from hindbrain.learn.alike import _PLAIN

    return (len(word) > 2 or word.isdigit()) and word.lower() not in _PLAIN
