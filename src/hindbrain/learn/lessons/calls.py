"""The calls of runs by number: a run is looked through once, in however many groups it is compared.

Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from hindbrain.learn.recording.wording import is_deed
from hindbrain.learn.runs.episode import Action

Given: TypeAlias = tuple[str, str, str]  # a tool, an argument, a value
LOOP = 3  # times the same call with the same answer: a run that goes in circles


class Trace(NamedTuple):
    """The calls of one run by their numbers, each once, whatever words they are told in."""

    calls: tuple[int, ...]
    failed: tuple[tuple[int, str], ...]  # (call, what it answered)
    looped: tuple[int, ...]
    last: int  # -1 when nothing was done
    tools: frozenset[str]
    given: frozenset[int]  # numbers of what was given


class Calls:
    """Numbers for calls. Runs are compared in many groups, and each is looked through once."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
        self._known: list[Action] = []
        self._givens: dict[Given, int] = {}
        self.givens: list[Given] = []
        self._traces: dict[int, tuple[Sequence[Action], Trace]] = {}  # by identity, which a hash would cost

    def __getitem__(self, number: int) -> Action:
        return self._known[number]

    def trace(self, actions: Sequence[Action]) -> Trace:
        known = self._traces.get(id(actions))
        if known is None or known[0] is not actions:
            known = self._traces[id(actions)] = (actions, self._traced(actions))
        return known[1]

    def _traced(self, actions: Sequence[Action]) -> Trace:
        done: dict[int, None] = {}
        failed: dict[tuple[int, str], None] = {}
        times: Counter[tuple[int, bool, str]] = Counter()
        last = -1
        for action in actions:
            if not is_deed(action):
                continue
            last = self._number(action)
            done.setdefault(last)
            times[last, action.ok, action.said] += 1
            if not action.ok:
                failed.setdefault((last, action.said))
        looped = dict.fromkeys(call for (call, _, _), count in times.items() if count >= LOOP)
        given = {
            self._given((action.name, key, value)) for action in actions for key, value in action.arguments
        }
        tools = frozenset(action.name for action in actions)
        return Trace(tuple(done), tuple(failed), tuple(looped), last, tools, frozenset(given))

    def _given(self, given: Given) -> int:
        number = self._givens.setdefault(given, len(self.givens))
        if number == len(self.givens):
            self.givens.append(given)
        return number

    def _number(self, action: Action) -> int:
        number = self._numbers.setdefault(action[:2], len(self._known))
        if number == len(self._known):
            self._known.append(action)
        return number
