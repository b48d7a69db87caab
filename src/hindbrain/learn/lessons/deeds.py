"""What runs did, in words that can be compared: arguments that vary from run to run are `{name}`. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hindbrain.learn.alike import masked
from hindbrain.learn.recording.wording import is_deed
from hindbrain.learn.runs.episode import Action

_LONGEST = 40  # characters of a value that is worth naming
_SHARE = 3  # a value stands for itself when at least one in so many runs that use the tool give it
_MOST_ARGUMENTS = 4  # shown; a booking has a dozen
_MOST_DEEDS = 60  # different ones of a run that are compared
LOOP = 3  # times the same call with the same answer: a run that goes in circles


class Deeds(NamedTuple):
    """One run, or the part of it that counts."""

    done: tuple[str, ...]  # each deed once, in the order of its first time
    failed: frozenset[str] = frozenset()  # those that a tool answered with an error
    looped: frozenset[str] = frozenset()  # those that were done in circles
    said: tuple[tuple[str, str], ...] = ()  # (deed, error), once each

    def before(self, first: str, then: str) -> bool:
        """Was `first` done, and before `then`?"""
        done = self.done
        return first in done and then in done and done.index(first) < done.index(then)


class Masking:
    """Which values of arguments stand for themselves among these runs, and which vary."""

    def __init__(self, *sides: Iterable[tuple[str, Sequence[Action]]]) -> None:
        """`sides`: runs that failed and runs that went well; the command of each, and what it did.

        What is usual on one side stands for itself on both.
        """
        self._fixed = {triple for side in sides for triple in _fixed(list(side))}
        # One group asks again and again about the same runs.
        self._shown: dict[tuple[str, tuple[tuple[str, str], ...]], str] = {}
        self._deeds: dict[tuple[Action, ...], Deeds] = {}

    def shown(self, action: Action) -> str:
        """`press_key(l, command: true)`, `type_text({text})`."""
        key = (action.name, action.arguments)
        if (known := self._shown.get(key)) is None:
            known = self._shown[key] = self._show(action)
        return known

    def _show(self, action: Action) -> str:
        masked = [
            (key, value if (action.name, key, value) in self._fixed else f"{{{key}}}")
            for key, value in action.arguments
        ]
        if len(masked) > _MOST_ARGUMENTS:
            kept = [pair for i, pair in enumerate(masked) if i == 0 or not pair[1].startswith("{")]
            masked = [*kept[:_MOST_ARGUMENTS], ("…", "…")]
        text = Action(action.name, tuple(masked)).shown.replace("…: …", "…")
        return " ".join(text.replace("`", "'").split())

    def deeds(self, actions: Sequence[Action]) -> Deeds:
        key = tuple(actions)
        if (known := self._deeds.get(key)) is None:
            known = self._deeds[key] = self._done_in(key)
        return known

    def _done_in(self, actions: Sequence[Action]) -> Deeds:
        done: dict[str, None] = {}
        failed: set[str] = set()
        said: dict[tuple[str, str], None] = {}
        calls: Counter[Action] = Counter()
        looped: set[str] = set()
        for action in actions:
            if not is_deed(action):
                continue
            deed = self.shown(action)
            if len(done) < _MOST_DEEDS:
                done.setdefault(deed)
            calls[action] += 1
            if calls[action] >= LOOP:
                looped.add(deed)
            if not action.ok:
                failed.add(deed)
                said.setdefault((deed, action.said))
        return Deeds(tuple(done), frozenset(failed), frozenset(looped), tuple(said))


def tool_of(deed: str) -> str:
    return deed.partition("(")[0]


def is_bare(deed: str) -> bool:
    """Are all its arguments such that vary? Then the deed says no more than its tool."""
    return "{" in deed and all(
        part.rpartition(": ")[2].startswith(("{", "…")) for part in deed.partition("(")[2][:-1].split(", ")
    )


def _fixed(runs: Sequence[tuple[str, Sequence[Action]]]) -> set[tuple[str, str, str]]:
    """(tool, argument, value) of the values that do not vary with the command."""
    users: Counter[str] = Counter()
    givers: Counter[tuple[str, str, str]] = Counter()
    wishes: dict[tuple[str, str, str], set[str]] = defaultdict(set)  # the commands it was given for
    named: set[tuple[str, str, str]] = set()
    for command, actions in runs:
        users.update({action.name for action in actions})
        folded = command.casefold()
        given = {(action.name, key, value) for action in actions for key, value in action.arguments}
        for triple in given:
            givers[triple] += 1
            wishes[triple].add(folded)
            if len(triple[2]) > 2 and triple[2].casefold() in folded:
                named.add(triple)  # what the command names is another thing with the next command
    # What is given for one command only may vary with the command.
    least = min(2, len({command.casefold() for command, _ in runs}))
    return {
        triple
        for triple, count in givers.items()
        if count >= 2
        and count * _SHARE >= users[triple[0]]
        and len(wishes[triple]) >= least
        and triple not in named
        and _tells(triple[2])
    }


def _tells(value: str) -> bool:
    """Ids, numbers and data in JSON are of one run, however many share them."""
    short = 0 < len(value) <= _LONGEST and "\n" not in value and value[0] not in "{["
    return short and not masked(value).startswith(("<id>", "<n>"))
