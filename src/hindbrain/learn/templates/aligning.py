"""What several runs did, one below the other: the same step of each in one column. Pure.

Progressive alignment: the run that is most like all others is the first row, and the others are laid along
it, the most alike first, each by the best-scoring common subsequence. Knows nothing of slots and notes.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.runs.episode import Action, Episode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_STEPS = 60  # of a run: what is longer has no one way of being done
_BUCKETS = 512
_CALL, _ARGUMENT, _PAIR = 1.0, 1.0, 0.7  # weights of a name, of a name with a value, of two names in a row
_THINKING = re.compile(r"^(?:think|reason|reflect)", re.IGNORECASE)
_LOOKING = re.compile(r"screenshot|observe|^look|^view_screen", re.IGNORECASE)
_OPENING = re.compile(r"(?:open|launch|activate|start)_?app", re.IGNORECASE)
_ID = re.compile(r"(?:^|_)(?:id|ids|uuid|guid)$", re.IGNORECASE)  # an argument that names one case
_MUCH_BETTER = 0.2  # by which a rarer way must go well more often to be preferred to the usual one
_GESTURE = 3  # arguments, at most, of a call that is told apart by them: a key with its modifiers
_SHORT = 40  # characters of such an argument, with its name
_LEAST_WAY = 2  # runs that did it so, for a way of doing something
_OWN = 0.6  # of the values of an argument that differ: from here on each run has its own
_KEYS = frozenset({"key", "keys", "button", "modifier", "modifiers"})
_PROGRAMS = frozenset({"command", "cmd", "script"})
SAID = "<said>"  # in the place of what the command says
_LONGEST = 80  # characters of a value that is looked at in parts
_PATH_STARTS = ("~/", "/", "./", "../", "@", "#")
_SAME_NAME = 0.5  # of a step's score; the rest is the share of its arguments that are the same


class Call(NamedTuple):
    """One step of a run; several calls where it was repeated with other values."""

    name: str
    calls: tuple[Action, ...]
    marks: frozenset[str]  # its arguments as they are compared


class Column(NamedTuple):
    name: str
    cells: dict[int, Call]  # by the number of the run
    instead: int = 0  # runs that did something else in its place


def doing(episode: Episode) -> tuple[Action, ...]:
    """What a run did and worked: without calls that failed, and attempts that were rejected."""
    actions = episode.actions
    tried = max((rejection.after for rejection in episode.rejections), default=0)
    if 0 < tried < len(actions) and actions[tried] == actions[0]:
        actions = actions[tried:]
    return tuple(action for action in actions if action.ok and not _THINKING.search(action.name))[:MOST_STEPS]


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


def sequence_vectors(episodes: Sequence[Episode], *, gestures: bool = False) -> NDArray[np.float32]:
    """One row of length 1 for each run; the dot product of two is how alike what they did is, 0..1.

    Only arguments that two runs share count: what a run has alone tells it from all others alike. With
    `gestures` a key, a button or a shell command counts even so: there the tools' names tell little.
    """
    import numpy as np

    told = [[(action.name, marks_of(action, e.command)) for action in doing(e)] for e in episodes]
    runs_with = Counter(
        mark for calls in told for mark in {(name, one) for name, marks in calls for one in marks}
    )
    rows = np.zeros((len(episodes), _BUCKETS), dtype=np.float32)
    for row, calls in zip(rows, told, strict=True):
        before = ""
        for name, marks in calls:
            if name != before:  # how often a step is repeated says little
                _count(row, f"{before}>{name}", _PAIR)
                _count(row, name, _CALL)
            shared = [
                mark for mark in marks if runs_with[name, mark] > 1 or (gestures and _is_gesture(mark, marks))
            ]
            for mark in shared:
                _count(row, f"{name}({mark})", _ARGUMENT / len(shared))
            before = name
    rows = np.sqrt(rows)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    normalised: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return normalised


def align(episodes: Sequence[Episode], vectors: NDArray[np.float32]) -> list[Column]:
    """The columns, in an order that fits all runs; `vectors` are those of `sequence_vectors`."""
    runs = _folded(episodes)
    centre = vectors.sum(axis=0)
    nearness = vectors @ centre
    first = int(nearness.argmax())
    likeness = vectors @ vectors[first]
    order = sorted(range(len(runs)), key=lambda i: (i != first, -round(float(likeness[i]), 4), i))
    columns: list[Column] = []
    for number in order:
        columns = _laid_along(columns, number, runs[number])
    return columns


def common(
    columns: Sequence[Column], runs: int, least: float, worth: Callable[[Column], float]
) -> list[Column]:
    """The steps that more than `least` of the runs did, in order; a look at the screen only at the end.

    Where most runs did something, and not the same (another key, a click instead), the way that is worth most
    is kept. `worth`: how often an attempt with that step went well, 0..1.
    """
    out: list[Column] = []
    gap: list[Column] = []
    parts = _with_one_end([part for whole in columns for part in _one_meaning(whole)], least * runs)
    is_common = [len(part.cells) > least * runs for part in parts]
    for at, column in enumerate(parts):
        if is_common[at] and not _is_outdone(at, parts, is_common, worth):
            out += [*_best_way(gap, runs, least, worth), column]
            gap = []
        else:
            gap.append(column)
    out += _best_way(gap, runs, least, worth)
    return [column for at, column in enumerate(out) if at == len(out) - 1 or not is_look(column.name)]


def _with_one_end(parts: list[Column], least: float) -> list[Column]:
    """The columns, with the call that most runs end with in one of them, the last.

    What runs do before it may put it into several columns, none of them common: "pytest -q" as the third call
    of some and the fourth of others.
    """
    ends: dict[int, tuple[int, Call]] = {}  # by run: its last call that is no look, and the column of it
    for at, part in enumerate(parts):
        ends |= {run: (at, call) for run, call in part.cells.items() if not is_look(call.name)}
    counts = Counter((call.name, call.marks) for _, call in ends.values())
    usual, count = max(counts.items(), key=lambda pair: (pair[1], sorted(pair[0][1])), default=((), 0))
    own = {run: at for run, (at, call) in ends.items() if (call.name, call.marks) == usual}
    if count <= least or any(len(parts[at].cells) > least for at in own.values()):
        return parts
    left = [
        part._replace(cells={run: cell for run, cell in part.cells.items() if own.get(run) != at})
        for at, part in enumerate(parts)
    ]
    end = Column(ends[next(iter(own))][1].name, {run: ends[run][1] for run in own})
    there = [part for part in left if part.cells]
    last = next((i for i in range(len(there), 0, -1) if not is_look(there[i - 1].name)), 0)
    return [*there[:last], end, *there[last:]]  # a last look stays the last


def _is_outdone(
    at: int, parts: Sequence[Column], is_common: Sequence[bool], worth: Callable[[Column], float]
) -> bool:
    """Did other runs do something else in its place, beside it, that goes well much more often?"""
    before = itertools.takewhile(lambda i: not is_common[i], range(at - 1, -1, -1))
    behind = itertools.takewhile(lambda i: not is_common[i], range(at + 1, len(parts)))
    return any(
        len(parts[i].cells) >= _LEAST_WAY
        and not parts[i].cells.keys() & parts[at].cells.keys()
        and worth(parts[i]) >= worth(parts[at]) + _MUCH_BETTER
        for i in (*before, *behind)
    )


def _best_way(
    gap: Sequence[Column], runs: int, least: float, worth: Callable[[Column], float]
) -> list[Column]:
    """Of what runs did between two common steps, the best way, where most of them did something."""
    ways: dict[tuple[int, ...], list[int]] = {}
    for run in range(runs):
        way = tuple(i for i, column in enumerate(gap) if run in column.cells and not is_look(column.name))
        if way:
            ways.setdefault(way, []).append(run)
    busy = sum(map(len, ways.values()))
    tried = {way: who for way, who in ways.items() if len(who) >= max(_LEAST_WAY, busy / 3)}
    if busy <= least * runs or not tried:
        return []
    way, who = max(tried.items(), key=lambda way: (min(worth(gap[i]) for i in way[0]), len(way[1]), way[0]))
    return [Column(gap[i].name, {run: gap[i].cells[run] for run in who}, busy - len(who)) for i in way]


def _is_gesture(mark: str, marks: frozenset[str]) -> bool:
    return len(marks) <= _GESTURE and len(mark) <= _SHORT and SAID not in mark


def is_look(name: str) -> bool:
    return _LOOKING.search(name) is not None


def is_opening(name: str) -> bool:
    return _OPENING.search(name) is not None


def is_id(key: str) -> bool:
    return _ID.search(key) is not None


def _one_meaning(column: Column) -> list[Column]:
    """The column, cut where an argument tells steps apart: which key, which button.

    Such an argument takes a few values, and the command says none of them. What each run has for itself, and
    ids, are values of one step.
    """
    cells = column.cells
    telling: list[str] = []
    firsts = [cell.calls[0].arguments for cell in cells.values() if cell.calls[0].arguments]
    # A call with many arguments is data, not a gesture: any of them may differ.
    plain = all(len(arguments) <= _GESTURE for arguments in firsts)
    for key in dict.fromkeys(key for arguments in firsts for key, _ in arguments) if plain else ():
        counts = Counter(_mark_of(cell, key) for cell in cells.values())
        said = sum(count for mark, count in counts.items() if SAID in mark)
        few = len(counts) < _OWN * len(cells) or counts.most_common(1)[0][1] * 2 > len(cells)
        if not is_id(key) and said * 2 <= len(cells) and few:
            telling.append(key)
    parts: dict[tuple[str, ...], dict[int, Call]] = {}
    for run, cell in cells.items():
        parts.setdefault(tuple(_mark_of(cell, key) for key in telling), {})[run] = cell
    return [Column(column.name, part) for part in parts.values()]


def _mark_of(cell: Call, key: str) -> str:
    return next((mark for mark in cell.marks if mark.startswith(f"{key}=")), "")


def _folded(episodes: Sequence[Episode]) -> list[list[Call]]:
    """Calls of one tool in a row, with values that are no run's but its own, become one repeated step.

    Only where their number differs between runs: two fields that every run fills are two steps.
    """
    marked = [
        [Call(action.name, (action,), marks_of(action, episode.command)) for action in doing(episode)]
        for episode in episodes
    ]
    used: dict[tuple[str, frozenset[str]], set[int]] = {}
    for number, run in enumerate(marked):
        for call in run:
            used.setdefault((call.name, call.marks), set()).add(number)

    def own(call: Call) -> bool:
        return len(used[call.name, call.marks]) * 2 <= len(episodes) and bool(call.marks)

    lengths: dict[str, set[int]] = {}
    merged = []
    for run in marked:
        out: list[Call] = []
        for call in run:
            if out and out[-1].name == call.name and own(call) and own(out[-1]):
                out[-1] = out[-1]._replace(calls=(*out[-1].calls, *call.calls))
            else:
                out.append(call)
        for call in out:
            if own(call):
                lengths.setdefault(call.name, set()).add(len(call.calls))
        merged.append(out)
    varying = {name for name, sizes in lengths.items() if len(sizes) > 1}
    return [_unfolded(run, varying, episode.command) for run, episode in zip(merged, episodes, strict=True)]


def _unfolded(run: list[Call], varying: set[str], command: str) -> list[Call]:
    out: list[Call] = []
    for call in run:
        if len(call.calls) > 1 and call.name not in varying:
            out += [Call(call.name, (action,), marks_of(action, command)) for action in call.calls]
        else:
            out.append(call)
    return out


def _laid_along(columns: list[Column], number: int, run: Sequence[Call]) -> list[Column]:
    """The columns with one more run in them; its steps that fit none get columns of their own."""
    if not columns:
        return [Column(call.name, {number: call}) for call in run]
    seen = [frozenset().union(*(cell.marks for cell in column.cells.values())) for column in columns]
    wide, long = len(columns), len(run)
    best = [[0.0] * (long + 1) for _ in range(wide + 1)]
    for i in range(wide - 1, -1, -1):
        name, row, below = columns[i].name, best[i], best[i + 1]
        for j in range(long - 1, -1, -1):
            skip = max(below[j], row[j + 1])
            call = run[j]
            row[j] = max(skip, below[j + 1] + _fit(call, seen[i])) if call.name == name else skip
    out: list[Column] = []
    i = j = 0
    while i < wide or j < long:
        same = i < wide and j < long and columns[i].name == run[j].name
        if same and best[i][j] == best[i + 1][j + 1] + _fit(run[j], seen[i]):
            out.append(Column(columns[i].name, {**columns[i].cells, number: run[j]}))
            i, j = i + 1, j + 1
        elif j >= long or (i < wide and best[i][j] == best[i + 1][j]):
            out.append(columns[i])
            i += 1
        else:
            out.append(Column(run[j].name, {number: run[j]}))
            j += 1
    return out


def _fit(call: Call, seen: frozenset[str]) -> float:
    if not call.marks:
        return 1.0
    return _SAME_NAME + (1 - _SAME_NAME) * len(call.marks & seen) / len(call.marks)


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


def _count(row: NDArray[np.float32], word: str, weight: float) -> None:
    row[zlib.crc32(word.encode("utf-8", "surrogatepass")) % _BUCKETS] += weight
