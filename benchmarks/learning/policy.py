"""The agent: understands commands, has ways of its own, and follows what its prompt says about the past.

For the first attempt, in this order: the steps of a template in its prompt, whatever they are (a wrong one is
tried, and fails), but for calls that the prompt says to avoid; the actions of a run in its prompt that had
the same kind of command and went well; its own plan. In its own plan it leaves out ways that it is told to
avoid, or whose known failure stands in the prompt, and takes those that are recommended; else it begins with
its first idea, in some runs with a later one, and looks at the screen after each part for which it has
several ideas and no recommendation. When an attempt is rejected, it makes its own plan, and knows the reason
of the rejection as if it stood in its prompt.

It does not know which memory it has. What it uses where two things would do is what the command names, what
the prompt says the user likes, else what it is used to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.learning.reading import Advice, fits, liked
from benchmarks.learning.tasks import Task, understood
from benchmarks.learning.world import LOOK, Kind, Part, Way, World, call_of, filled

_SECOND, _THIRD = 0.55, 0.8  # the dice above which it begins with its second or third idea
_AGAINST = 2  # of misgivings: it is advised against


class Plan(NamedTuple):
    actions: tuple[str, ...]
    origin: str  # template, example, own


class Agent:
    def __init__(self, world: World) -> None:
        self._world = world

    def first_plan(self, task: Task, advice: Advice) -> Plan:
        kind = self._world.kinds[task.kind]
        values = self._values(kind, task, advice)
        if advice.template:
            steps = self._followed(advice.template, kind, values)
            return Plan(tuple(self._as_told(steps, kind, values, advice)), "template")
        for example in advice.examples:
            meant = understood(example.command, self._world)
            if meant is not None and meant[0] is kind and example.actions:
                copied = _with_other_values(example.actions, meant[1], values)
                return Plan(_ended(list(self._as_told(copied, kind, values, advice))), "example")
        return self.own_plan(task, advice)

    def own_plan(self, task: Task, advice: Advice) -> Plan:
        kind = self._world.kinds[task.kind]
        values = self._values(kind, task, advice)
        actions: list[str] = []
        for part in kind.parts:
            way = self._chosen(part, task.run, advice, values)
            actions += [filled(action, values) for action in way.actions]
            if len(part.ways) > 1 and self._misgiving(way, advice, values):
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
                values[taste.name] = liked(advice.text, taste.options) or taste.usual
        return values

    def _as_told(
        self, steps: Iterable[str], kind: Kind, values: Mapping[str, str], advice: Advice
    ) -> Iterator[str]:
        """Steps of another run, with what the user is known to like, and without calls to be avoided where
        the agent has another idea for that part."""
        for step in steps:
            for taste in kind.tastes(self._world.tastes):
                if values[taste.name] != taste.usual or liked(advice.text, taste.options):
                    for option in taste.options:
                        step = step.replace(f"({option}", f"({values[taste.name]}")
            if not any(fits(pattern, step) for pattern in advice.avoid):
                yield step
                continue
            instead = self._instead_of(step, kind, values, advice)
            yield from [step] if instead is None else (filled(action, values) for action in instead.actions)

    def _instead_of(self, step: str, kind: Kind, values: Mapping[str, str], advice: Advice) -> Way | None:
        """The way that the agent has least against, for the part that the step belongs to."""
        for part in kind.parts:
            if any(filled(action, values) == step for way in part.ways for action in way.actions):
                way = min(part.ways, key=lambda way: self._misgiving(way, advice, values))
                return way if self._misgiving(way, advice, values) < _AGAINST else None
        return None

    def _chosen(self, part: Part, run: int, advice: Advice, values: Mapping[str, str]) -> Way:
        """Of the ways that it has least against, the first that comes to its mind."""
        mood = self._world.dice("mood", run, part.name)
        start = (mood >= _SECOND) + (mood >= _THIRD)
        ways = [part.ways[(start + at) % len(part.ways)] for at in range(len(part.ways))]
        return min(ways, key=lambda way: self._misgiving(way, advice, values))

    def _misgiving(self, way: Way, advice: Advice, values: Mapping[str, str]) -> int:
        """0: recommended; 1: nothing is known of it; 2: advised against, or known to fail."""
        actions = [filled(action, values) for action in way.actions]
        if way.reason and way.reason.casefold() in advice.text.casefold():
            return _AGAINST
        if any(fits(pattern, action) for pattern in advice.avoid for action in actions):
            return _AGAINST
        recommended = [any(fits(pattern, action) for pattern in advice.prefer) for action in actions]
        return 0 if actions and any(recommended) else 1

    def _followed(self, steps: Sequence[str], kind: Kind, values: Mapping[str, str]) -> Iterator[str]:
        """The steps as they stand; what is left open in them is filled in as the agent understands it:
        with the first call that it would make in such a task, fits, and was not made yet."""
        known = [filled(call, values) for call in _known_calls(kind)]
        made: set[str] = set()
        for step in steps:
            told = filled(step, values)
            if "{" in told or "<" in told:
                tool = call_of(step)[0]
                fitting = [call for call in known if fits(told, call)]
                fitting = fitting or [call for call in known if call_of(call)[0] == tool] or [told]
                told = next((call for call in fitting if call not in made), fitting[-1])
            made.add(told)
            yield told


def _known_calls(kind: Kind) -> list[str]:
    """What the agent would call for such a task with something filled in, in order."""
    calls = [action for part in kind.parts for way in part.ways for action in way.actions if "{" in action]
    return list(dict.fromkeys(calls))


def _with_other_values(
    actions: Sequence[str], before: Mapping[str, str], values: Mapping[str, str]
) -> list[str]:
    """The actions of another run with what the command says now."""
    changed = []
    for action in actions:
        for name, old in before.items():
            if old in action and name in values:
                action = action.replace(old, values[name])
                break
        changed.append(action)
    return changed


def _ended(actions: Sequence[str]) -> tuple[str, ...]:
    return (*actions, LOOK) if not actions or actions[-1] != LOOK else tuple(actions)
