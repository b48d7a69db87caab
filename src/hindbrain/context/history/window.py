"""A model's window and its parts: who may take how much, and when it is time to condense or to flush.

Decides only. What a summary says is compaction's matter, what a memory says the pack's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.context.history.compaction import Summarise, compact
from hindbrain.context.history.cost import history_tokens, message_tokens
from hindbrain.context.history.trimming import TrimRules, trim
from hindbrain.context.messages import Message
from hindbrain.context.tokens import TokenCounter

COMPACT_FROM = 0.85  # of the window
FLUSH_FROM = 0.90
_SMALLEST = 1_000  # tokens


@dataclass(frozen=True, slots=True)
class WindowBudget:
    """Tokens for each part of a window. What one part leaves goes to the history."""

    system: int = 10_000
    skills: int = 15_000
    memory: int = 50_000
    history: int = 75_000
    request: int = 30_000
    reserve: int = 20_000  # for the answer

    @property
    def total(self) -> int:
        return sum(getattr(self, field.name) for field in fields(self))

    @property
    def input(self) -> int:
        """What may be sent: all but the reserve."""
        return self.total - self.reserve


def budget_of(window: int) -> WindowBudget:
    """Return the same shares of a window of another size."""
    if window < _SMALLEST:
        raise UsageError(f"a window of {window} tokens is too small to divide; give at least {_SMALLEST}")
    usual = WindowBudget()
    parts = {field.name: getattr(usual, field.name) * window // usual.total for field in fields(usual)}
    parts["history"] += window - sum(parts.values())
    return WindowBudget(**parts)


class Action(NamedTuple):
    """Something that was done, or is to be done, so that the parts have room.

    over_budget: system or request is longer than its part, and takes from the others. too_long: both together
    do not fit at all. skills_dropped, memory_left_out, history_trimmed, history_compacted: done.
    history_cleared: done too, and without a summary. compact_due, flush_due: by how full the window would
    have been.
    """

    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Built:
    """A request that is ready to be sent, unless it does not fit."""

    messages: tuple[Message, ...]
    tokens: int
    utilisation: float  # share of the whole window
    wanted: int  # tokens that it would have had uncut
    actions: tuple[Action, ...] = ()
    fits: bool = True  # False: system, request and critical messages are alone too long; none of them was cut

    def did(self, code: str) -> bool:
        return any(action.code == code for action in self.actions)


class ContextWindow:
    """Builds requests within a budget."""

    def __init__(self, budget: WindowBudget, counter: TokenCounter) -> None:
        self.budget = budget
        self.counter = counter

    def tokens(self, text: str) -> int:
        return self.counter.count(text)

    def count(self, messages: Sequence[Message]) -> int:
        """Return what the messages cost in the window."""
        return history_tokens(messages, self.counter)

    def utilisation(self, messages: Sequence[Message]) -> float:
        """Return the share of the window that they take; above 1 when they do not fit."""
        return self.count(messages) / self.budget.total

    def should_compact(self, messages: Sequence[Message]) -> bool:
        return self.utilisation(messages) >= COMPACT_FROM

    def should_flush(self, messages: Sequence[Message]) -> bool:
        """Is it time to store what matters, before it is condensed?"""
        return self.utilisation(messages) >= FLUSH_FROM

    def build(
        self,
        system: str,
        skills: Sequence[str],
        memory: str,
        history: Sequence[Message],
        request: str,
        *,
        summarise: Summarise | None = None,
        relevance: Sequence[float] = (),
        shifts: Collection[int] = (),
    ) -> Built:
        """Put the parts together in at most the window without its reserve.

        System and request are never cut: too long ones take from the other parts, and are told. Skills are
        dropped from the last one on. Memory is left out as a whole where it has no room, for half a fence is
        none. History is trimmed, then compacted.
        """
        actions: list[Action] = []
        fixed = [Message("system", system)] if system else []
        asked = [Message("user", request)]
        room = self.budget.input - self.count([*fixed, *asked])
        actions += self._over("system", fixed, self.budget.system) + self._over(
            "request", asked, self.budget.request
        )
        if room < 0:
            actions.append(
                Action("too_long", f"system and request are {-room} tokens longer than the window allows")
            )
        every_skill = self._skills(skills)
        wanted = self.count([*fixed, *every_skill, *self._memory(memory), *history, *asked])
        told_skills = self._fitting_skills(skills, min(self.budget.skills, room), actions)
        room -= self._cost(told_skills)
        told_memory = self._fitting_memory(memory, history, room, actions)
        room -= self._cost(told_memory)
        told_history = self._fitting_history(history, room, summarise, relevance, shifts, actions)
        messages = (*fixed, *told_skills, *told_memory, *told_history, *asked)
        actions += self._due(wanted)
        tokens = self.count(messages)
        fits = tokens <= self.budget.input
        return Built(messages, tokens, tokens / self.budget.total, wanted, tuple(actions), fits)

    def _cost(self, messages: Sequence[Message]) -> int:
        return sum(message_tokens(message, self.counter) for message in messages)

    def _over(self, part: str, messages: Sequence[Message], budget: int) -> list[Action]:
        cost = self._cost(messages)
        return [Action("over_budget", f"{part}: {cost} of {budget} tokens")] if cost > budget else []

    def _due(self, wanted: int) -> list[Action]:
        share = wanted / self.budget.total
        due = [
            code
            for code, limit in (("compact_due", COMPACT_FROM), ("flush_due", FLUSH_FROM))
            if share >= limit
        ]
        return [Action(code, f"{share:.0%} of the window") for code in due]

    def _skills(self, skills: Sequence[str]) -> list[Message]:
        texts = [skill for skill in skills if skill]
        return [Message("system", "Available skills:\n" + "\n\n".join(texts))] if texts else []

    def _fitting_skills(self, skills: Sequence[str], room: int, actions: list[Action]) -> list[Message]:
        kept = len(skills)
        while kept and self._cost(self._skills(skills[:kept])) > room:
            kept -= 1
        if kept < len(skills):
            actions.append(Action("skills_dropped", f"{len(skills) - kept} of {len(skills)}"))
        return self._skills(skills[:kept])

    def _memory(self, memory: str) -> list[Message]:
        return [Message("system", memory)] if memory else []

    def _fitting_memory(
        self, memory: str, history: Sequence[Message], room: int, actions: list[Action]
    ) -> list[Message]:
        told = self._memory(memory)
        not_needed = room - min(self._cost(history), self.budget.history)
        limit = min(room, max(self.budget.memory, not_needed))
        if self._cost(told) > limit:
            actions.append(Action("memory_left_out", f"{self._cost(told)} tokens, room for {max(0, limit)}"))
            return []
        return told

    def _fitting_history(
        self,
        history: Sequence[Message],
        room: int,
        summarise: Summarise | None,
        relevance: Sequence[float],
        shifts: Collection[int],
        actions: list[Action],
    ) -> tuple[Message, ...]:
        if self._cost(history) <= room:
            return tuple(history)
        # Only as much is trimmed as is needed: all shares are those of the room that there is.
        rules = TrimRules(soft_from=1.0, hard_from=1.0)
        trimmed = trim(history, max(0, room), counter=self.counter, relevance=relevance, rules=rules)
        changed = len({*trimmed.shortened, *trimmed.cleared, *trimmed.screenshots})
        if changed:
            actions.append(
                Action(
                    "history_trimmed",
                    plural(changed, "tool result or screenshot", "tool results or screenshots"),
                )
            )
        result = compact(
            trimmed.messages, max(0, room), counter=self.counter, summarise=summarise, shifts=shifts
        )
        if result.summarised:
            actions.append(
                Action("history_compacted", f"{plural(len(result.summarised), 'message')} summarised")
            )
        if result.cleared:
            actions.append(
                Action("history_cleared", f"{plural(len(result.cleared), 'message')}, no room for a summary")
            )
        return result.messages
