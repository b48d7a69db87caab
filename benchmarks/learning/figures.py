"""Runs in, figures out. Here the world's truth is known: which kind each memory came from.

success       share of the runs that succeeded (runs that the user called off are left out, here and below)
repeats       share of all runs that failed for a reason for which this kind of task had failed before
preventable   the same without outages, which no memory can prevent
iterations    actions done in a run whose kind was seen at least three times before
taste         of the choices that runs made after the user had told what they like, and whose command does
              not name it, the share that was as the user likes it
template      of the runs that followed steps that their memory gave, once steps had been followed for this
              kind of task ten times, the share that succeeded
              ("followed often": how many runs that are)
relevance     of the memories that were found by the command, the share that came from the same kind of task,
              says how to do a part that this task has, or what the user likes in such a task; "all": with
              those that enter whatever is asked (profile, what happened last)
tokens        of memory in a prompt, on average

A share of nothing is NONE.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache

from benchmarks.learning.memories import Ran
from benchmarks.learning.reading import fits
from benchmarks.learning.world import LOOK, OUTAGES, Kind, World

_KNOWN = 3  # times that a kind was seen, from which on it is known
_OFTEN = 10  # times that steps were followed for a kind, before their success counts
_CALL = re.compile(r"[a-z]+_?[a-z_]*\((?:[^()\n]|\([^()\n]*\))*\)")
# What all kinds of task do says nothing about one of them.
_PLAIN = frozenset(("press_key(return)", "press_key(tab)", LOOK, "scroll(down)"))
NONE = -1.0
Figures = dict[str, float]


def figures(world: World, ran: Sequence[Ran]) -> Figures:
    real = [one for one in ran if one.outcome != "cancelled"]
    repeated = _repeats(real)
    known = _known(real)
    tastes = [as_liked for one in real for as_liked in tastes_kept(world, one)]
    followed = [one for one in real if one.attempts[0].origin == "followed"]
    often = _used_often(followed)
    relevant = [good for one in real for good in relevance(world, one)]
    always = [good for one in real for good in relevance(world, one, always=True)]
    return {
        "success": 100 * _mean(one.outcome == "success" for one in real),
        "repeats": 100 * _mean(repeated),
        "preventable": 100 * _mean(
            again and one.reason not in OUTAGES for again, one in zip(repeated, real, strict=True)
        ),
        "iterations": _mean(one.iterations for one, is_known in zip(real, known, strict=True) if is_known),
        "taste": _percent(tastes),
        "template": _percent(one.outcome == "success" for one in often),
        "followed often": float(len(often)),
        "followed": 100 * len(followed) / max(1, len(real)),
        "relevance": _percent(relevant),
        "relevance, all": _percent([*relevant, *always]),
        "memories": len([*relevant, *always]) / max(1, len(real)),
        "tokens": _mean(one.recalled.tokens for one in real),
    }  # fmt: skip


def curve(world: World, ran: Sequence[Ran], name: str, bins: int = 10) -> list[float]:
    """A figure over time: of each of so many equal parts of the runs, one after the other."""
    real = [one for one in ran if one.outcome != "cancelled"]
    values: list[list[float]] = [[] for _ in range(bins)]
    repeated, known = _repeats(real), _known(real)
    for at, one in enumerate(real):
        place = values[at * bins // len(real)]
        if name == "success":
            place.append(100.0 * (one.outcome == "success"))
        elif name == "repeats":
            place.append(100.0 * repeated[at])
        elif name == "iterations" and known[at]:
            place.append(float(one.iterations))
        elif name == "taste":
            place += [100.0 * kept for kept in tastes_kept(world, one)]
    return [round(_mean(part), 2) if part else -1.0 for part in values]


def _repeats(ran: Sequence[Ran]) -> list[bool]:
    seen: dict[str, set[str]] = defaultdict(set)
    repeated = []
    for one in ran:
        failed = one.outcome == "failed"
        repeated.append(failed and one.reason in seen[one.task.kind])
        if failed:
            seen[one.task.kind].add(one.reason)
    return repeated


def _known(ran: Sequence[Ran]) -> list[bool]:
    seen: Counter[str] = Counter()
    known = []
    for one in ran:
        known.append(seen[one.task.kind] >= _KNOWN)
        seen[one.task.kind] += 1
    return known


def _used_often(followed: Sequence[Ran]) -> list[Ran]:
    uses: Counter[str] = Counter()
    often = []
    for one in followed:
        if uses[one.task.kind] >= _OFTEN:
            often.append(one)
        uses[one.task.kind] += 1
    return often


def tastes_kept(world: World, ran: Ran) -> list[bool]:
    """For each thing that the user has told and the command leaves open: was it done so in the end?"""
    kept = []
    kind = world.kinds[ran.task.kind]
    done = " ".join(one.action for one in ran.attempts[-1].verdict.done)
    for taste in kind.tastes(world.tastes):
        if taste.name in ran.task.told and taste.name not in ran.task.said:
            wanted, usual = taste.wanted in done, taste.usual in done
            if wanted or usual:
                kept.append(wanted and not usual)
    return kept


def relevance(world: World, ran: Ran, *, always: bool = False) -> list[bool]:
    """Of each memory that was found by the command, or enters always: has it to do with this task?"""
    kind = world.kinds[ran.task.kind]
    pieces = ran.recalled.always if always else ran.recalled.found
    return [is_relevant(world, kind, piece) for piece in pieces]


def is_relevant(world: World, kind: Kind, piece: str) -> bool:
    kinds = kinds_of(world, piece)
    if kinds and kind.name in kinds:
        return True
    if any(option in piece for taste in kind.tastes(world.tastes) for option in taste.options) and not kinds:
        return True
    calls = [call for call in _CALL.findall(piece) if call not in _PLAIN]
    if calls and _shared(world, kind, calls):
        return True
    return any(reason in piece for reason, names in world.reasons.items() if kind.name in names)


def kinds_of(world: World, piece: str) -> set[str]:
    """The kinds of the commands that stand in it."""
    return {name for name in world.kinds if _commands(world, name).search(piece)}


@cache
def _commands(world: World, name: str) -> re.Pattern[str]:
    """Every way in which such a task is asked for."""
    kind = world.kinds[name]
    values = {place: "|".join(map(re.escape, of)) for place, of in kind.values.items()}
    forms = []
    for command in kind.commands:
        parts = re.split(r"\{(\w+)\}", command)
        forms.append(
            "".join(f"(?:{values[part]})" if at % 2 else re.escape(part) for at, part in enumerate(parts))
        )
    return re.compile("|".join(forms))


def _shared(world: World, kind: Kind, calls: Sequence[str]) -> bool:
    """Are at least half of these calls ones that this kind of task may need?"""
    own = _own_calls(world, kind.name)
    held = [any(fits(pattern, call) or fits(call, pattern) for pattern in own) for call in calls]
    return 2 * sum(held) >= len(held)


@cache
def _own_calls(world: World, name: str) -> tuple[str, ...]:
    ways = [way for part in world.kinds[name].parts for way in part.ways]
    forms = [form for way in ways for action in way.actions for form in world.forms(action, {})]
    return tuple(dict.fromkeys(form for form in forms if form not in _PLAIN))


def _percent(values: Iterable[bool]) -> float:
    kept = list(values)
    return 100 * _mean(kept) if kept else NONE


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0
