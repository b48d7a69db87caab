"""The agent: understands commands, has ways of its own, and follows what its prompt says about the past.

For the first attempt it follows the steps of the passage about the most alike command that went well, or of
which nothing is said: a wrong one is tried, and fails. Fewer steps than its task has parts are advice and no
plan, and so are those with an ellipsis. Where such a step is known to fail and it knows another way, it takes
that. Else it makes its own plan.

In its own plan it takes, for each part of the task, the way that it has least against: one that stands in
what went well before one of which nothing is known, that before one that failed together with others, and
last one that it is told to avoid or whose reason of failure it knows. Where it has several ideas and no
recommendation it begins with its first idea, in some runs with a later one, and looks at the screen
afterwards. What is told about another kind of task counts for the parts that both have. When an attempt is
rejected, it makes its own plan, and knows the reason as if it stood in its prompt.

It does not know which memory it has. What it uses where two things would do is what the command names, what
the prompt says the user likes, else what it is used to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.learning.reading import Advice, Passage, Segment, fits, liked
from benchmarks.learning.tasks import Task
from benchmarks.learning.world import LOOK, Kind, Part, Way, World, call_of, filled

_SECOND, _THIRD = 0.55, 0.8  # the dice above which it begins with its second or third idea
_RECOMMENDED, _UNKNOWN, _SUSPECT, _AGAINST = range(4)
_LEAST_STEPS = 2
_ALIKE = 0.5  # of the command's words, in a passage that names no known command
_WORD = re.compile(r"[^\W\d_]{3,}")


class Plan(NamedTuple):
    actions: tuple[str, ...]
    origin: str  # followed, own


class _Known(NamedTuple):
    """What the prompt says, for one task."""

    segments: tuple[tuple[Segment, str], ...]  # with values of this task, and the kind that it is about
    avoid: tuple[tuple[str, str], ...]
    reasons: frozenset[str]


class Agent:
    def __init__(self, world: World) -> None:
        self._world = world

    def first_plan(self, task: Task, advice: Advice) -> Plan:
        kind = self._world.kinds[task.kind]
        values = self._values(kind, task, advice)
        passage = self._most_alike(task, advice)
        if passage is None:
            return self.own_plan(task, advice)
        steps = [*self._followed(_steps(passage), kind, passage, values)]
        steps = self._as_liked(steps, kind, values, advice)
        known = self._known(values, advice)
        return Plan(_ended(self._without_failing(steps, kind, values, known)), "followed")

    def own_plan(self, task: Task, advice: Advice) -> Plan:
        kind = self._world.kinds[task.kind]
        values = self._values(kind, task, advice)
        known = self._known(values, advice)
        actions: list[str] = []
        for part in kind.parts:
            way = self._chosen(part, task.run, known, values)
            actions += [filled(action, values) for action in way.actions]
            if len(part.ways) > 1 and self._misgiving(way, part, known, values):
                actions.append(LOOK)
        return Plan(_ended(actions), "own")

    def best_plan(self, task: Task) -> Plan:
        """What somebody does who knows this world."""
        kind = self._world.kinds[task.kind]
        wanted = {taste.name: taste.wanted for taste in kind.tastes(self._world.tastes)}
        values = {**wanted, **task.said}
        actions = [filled(action, values) for part in kind.parts for action in part.best.actions]
        return Plan(_ended(actions), "best")

    def _values(self, kind: Kind, task: Task, advice: Advice) -> dict[str, str]:
        values = dict(task.said)
        for taste in kind.tastes(self._world.tastes):
            if taste.name not in values:
                values[taste.name] = liked(advice.said, taste.options) or taste.usual
        return values

    def _most_alike(self, task: Task, advice: Advice) -> Passage | None:
        """The passage with steps that is about the most alike command; the first of those."""
        words = set(_WORD.findall(task.command.casefold()))
        able = [one for one in advice.passages if len(_steps(one)) >= _LEAST_STEPS]
        parts = len(self._world.kinds[task.kind].parts)
        same = [one for one in able if one.kind == task.kind and len(_steps(one)) >= parts]
        if same:
            return max(same, key=lambda one: _share(set(_WORD.findall(one.command.casefold())), words))
        unnamed = [one for one in able if not one.kind]
        alike = [one for one in unnamed if not one.words or _share(words, one.words) >= _ALIKE]
        return max(alike, key=lambda one: _share(words, one.words)) if alike else None

    def _known(self, values: Mapping[str, str], advice: Advice) -> _Known:
        segments: list[tuple[Segment, str]] = []
        avoid: list[tuple[str, str]] = []
        for passage in advice.passages:
            for segment in passage.segments:
                now = tuple(_with_other_values(segment.calls, passage.values, values))
                segments.append((segment._replace(calls=now), passage.kind))
            now_avoided = _with_other_values(passage.avoid, passage.values, values)
            avoid += [(call, passage.kind) for call in now_avoided]
        return _Known(tuple(segments), tuple(avoid), advice.reasons)

    def _as_liked(
        self, steps: Sequence[str], kind: Kind, values: Mapping[str, str], advice: Advice
    ) -> list[str]:
        """Steps of another run with what the user is known to like."""
        changed = list(steps)
        for taste in kind.tastes(self._world.tastes):
            if values[taste.name] != taste.usual or liked(advice.said, taste.options):
                for option in taste.options:
                    changed = [step.replace(f"({option}", f"({values[taste.name]}") for step in changed]
        return changed

    def _without_failing(
        self, steps: Sequence[str], kind: Kind, values: Mapping[str, str], known: _Known
    ) -> list[str]:
        """The steps with another way for each part whose way is known to fail."""
        changed = list(steps)
        for part in kind.parts:
            done = [way for way in part.ways if way.actions and _within(_filled(way, values), changed)]
            if not done:
                continue
            way = max(done, key=lambda way: len(way.actions))
            other = min(part.ways, key=lambda way: self._misgiving(way, part, known, values))
            if self._misgiving(way, part, known, values) < _AGAINST or not other.actions:
                continue
            if self._misgiving(other, part, known, values) < _AGAINST:
                changed = _replaced(changed, _filled(way, values), _filled(other, values))
        return changed

    def _chosen(self, part: Part, run: int, known: _Known, values: Mapping[str, str]) -> Way:
        """Of the ways that it has least against, the first that comes to its mind."""
        mood = self._world.dice("mood", run, part.name)
        start = (mood >= _SECOND) + (mood >= _THIRD)
        ways = [part.ways[(start + at) % len(part.ways)] for at in range(len(part.ways))]
        return min(ways, key=lambda way: self._misgiving(way, part, known, values))

    def _misgiving(self, way: Way, part: Part, known: _Known, values: Mapping[str, str]) -> int:
        actions = _filled(way, values)
        if way.reason and way.reason.casefold() in known.reasons:
            return _AGAINST
        if any(
            self._is_about(kind, part) and fits(pattern, action) and not _is_shared(action, way, part, values)
            for pattern, kind in known.avoid for action in actions
        ):  # fmt: skip
            return _AGAINST
        if not actions:
            return _UNKNOWN
        told = [segment for segment, kind in known.segments if self._is_about(kind, part)]
        if any(one.verdict != "bad" and _shows(one.calls, way, part, values) for one in told):
            return _RECOMMENDED
        failed = any(one.verdict == "bad" and _shows(one.calls, way, part, values) for one in told)
        return _SUSPECT if failed else _UNKNOWN

    def _is_about(self, kind: str, part: Part) -> bool:
        """Does what is told of such a task count for this part?"""
        return not kind or part in self._world.kinds[kind].parts

    def _followed(
        self, steps: Sequence[str], kind: Kind, passage: Passage, values: Mapping[str, str]
    ) -> Iterator[str]:
        """The steps with the values of this command; what is left open in them is filled in as the agent
        understands it: with the first call that it would make in such a task, fits, and was not made yet."""
        known = [filled(call, values) for call in _open_calls(kind)]
        made: set[str] = set()
        for step in _with_other_values(steps, passage.values, values):
            told = filled(step, values)
            if "{" in told or "<" in told:
                tool = call_of(step)[0]
                fitting = [call for call in known if fits(told, call)]
                fitting = fitting or [call for call in known if call_of(call)[0] == tool] or [told]
                told = next((call for call in fitting if call not in made), fitting[-1])
            made.add(told)
            yield told


def _steps(passage: Passage) -> tuple[str, ...]:
    """The last that went well, else the last of which nothing is said; looks at the screen are no steps."""
    for verdict in ("good", ""):
        found = [one.calls for one in passage.segments if one.verdict == verdict and not one.is_cut]
        long = [calls for calls in found if len(calls) >= _LEAST_STEPS]
        if long:
            return tuple(call for call in long[-1] if call != LOOK and call not in passage.avoid)
    return ()


def _share(of: set[str], within: set[str] | frozenset[str]) -> float:
    return len(of & within) / max(1, len(of))


def _filled(way: Way, values: Mapping[str, str]) -> list[str]:
    return [filled(action, values) for action in way.actions]


def _within(wanted: Sequence[str], calls: Sequence[str]) -> bool:
    """Do the calls hold these, in this order?"""
    left = iter(calls)
    return all(any(fits(call, one) for call in left) for one in wanted)


def _is_shared(action: str, way: Way, part: Part, values: Mapping[str, str]) -> bool:
    """Does another way of this part have it too? Then it says nothing about this one."""
    return any(action in _filled(other, values) for other in part.ways if other is not way)


def _shows(calls: Sequence[str], way: Way, part: Part, values: Mapping[str, str]) -> bool:
    """Was the part done in this way here? A longer way that was done explains its calls better."""
    actions = _filled(way, values)
    if _within(actions, calls):
        longer = [other for other in part.ways if len(other.actions) > len(way.actions)]
        return not any(_within(_filled(other, values), calls) for other in longer)
    own = [action for action in actions if not _is_shared(action, way, part, values)]
    return any(fits(call, action) for call in calls for action in own)


def _replaced(steps: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The steps with these in the place of those, of which the first marks the place."""
    left, changed = list(old), list[str]()
    for step in steps:
        if left and fits(step, left[0]):
            changed += new if len(left) == len(old) else ()
            left.pop(0)
        else:
            changed.append(step)
    return changed


def _open_calls(kind: Kind) -> list[str]:
    """What the agent would call for such a task with something filled in, in order."""
    calls = [action for part in kind.parts for way in part.ways for action in way.actions if "{" in action]
    return list(dict.fromkeys(calls))


def _with_other_values(
    actions: Sequence[str], before: Mapping[str, str], values: Mapping[str, str]
) -> list[str]:
    """The actions of another run with what the command says now; a slot of two meanings stays open."""
    new = {old: values[name] for name, old in before.items() if name in values}
    meanings = Counter(old for name, old in before.items() if name in values)
    new = {old: value for old, value in new.items() if meanings[old] == 1 or "{" not in old}
    if not new:
        return list(actions)
    olds = re.compile("|".join(map(re.escape, sorted(new, key=len, reverse=True))))
    return [olds.sub(lambda old: new[old[0]], action) for action in actions]


def _ended(actions: Sequence[str]) -> tuple[str, ...]:
    return (*actions, LOOK) if not actions or actions[-1] != LOOK else tuple(actions)
