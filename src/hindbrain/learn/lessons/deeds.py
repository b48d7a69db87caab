"""What runs did, in words that can be compared: arguments that vary from run to run are `{name}`. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from hindbrain.learn.alike import masked
from hindbrain.learn.lessons.calls import Calls, Given, Trace
from hindbrain.learn.runs.episode import Action

_LONGEST = 40  # characters of a value that is worth naming
_SHARE = 3  # a value stands for itself when at least one in so many runs that use the tool give it
_MOST_ARGUMENTS = 4  # shown; a booking has a dozen
_MOST_DEEDS = 60  # different ones of a run that are compared
_CODE = re.compile(r"[A-Z]{5,}")  # MDCLVA: the number of a booking


class Deeds(NamedTuple):
    """One run, or the part of it that counts."""

    done: tuple[str, ...]  # each deed once, in the order of its first time
    failed: frozenset[str] = frozenset()  # those that a tool answered with an error
    looped: frozenset[str] = frozenset()  # those that were done in circles
    said: tuple[tuple[str, str], ...] = ()  # (deed, error), once each
    last: str = ""  # what was done at the end

    def before(self, first: str, then: str) -> bool:
        """Was `first` done, and before `then`?"""
        done = self.done
        return first in done and then in done and done.index(first) < done.index(then)


class _Shown(dict[int, str]):
    """Calls in the words of one group, each worded when it is first asked for."""

    def __init__(self, show: Callable[[int], str]) -> None:
        self._show = show

    def __missing__(self, call: int) -> str:
        shown = self[call] = self._show(call)
        return shown


class Masking:
    """Which values of arguments stand for themselves among these runs, and which vary."""

    def __init__(self, calls: Calls, *sides: Iterable[tuple[str, Sequence[Action]]]) -> None:
        """`sides`: runs that failed and runs that went well; the command of each, and what it did.

        What is usual on one side stands for itself on both.
        """
        self._calls = calls
        self._fixed = {
            triple
            for side in sides
            for triple in _fixed([(command, calls.trace(actions)) for command, actions in side], calls.givens)
        }
        # One group asks again and again about the same runs.
        self._shown = _Shown(self._show)
        self._literals: dict[str, tuple[Given, ...]] = {}
        self._deeds: dict[int, Deeds] = {}

    def _show(self, call: int) -> str:
        """`press_key(l, command: true)`, `type_text({text})`."""
        action = self._calls[call]
        masked = [
            (key, value if (action.name, key, value) in self._fixed else f"{{{key}}}")
            for key, value in action.arguments
        ]
        if len(masked) > _MOST_ARGUMENTS:
            kept = [pair for i, pair in enumerate(masked) if i == 0 or not pair[1].startswith("{")]
            masked = [*kept[:_MOST_ARGUMENTS], ("…", "…")]
        text = Action(action.name, tuple(masked)).shown.replace("…: …", "…")
        deed = " ".join(text.replace("`", "'").split())
        self._literals[deed] = tuple(
            (action.name, *pair) for pair in action.arguments if (action.name, *pair) in self._fixed
        )
        return deed

    def literals(self, deed: str) -> tuple[Given, ...]:
        """What of a deed that was shown stands for itself."""
        return self._literals.get(deed, ())

    def deeds(self, actions: Sequence[Action]) -> Deeds:
        trace = self._calls.trace(actions)
        if (known := self._deeds.get(id(trace))) is None:
            known = self._deeds[id(trace)] = self._told(trace)
        return known

    def _told(self, trace: Trace) -> Deeds:
        shown = self._shown.__getitem__
        done = dict.fromkeys(map(shown, trace.calls))
        said = dict.fromkeys([(shown(call), answer) for call, answer in trace.failed])
        return Deeds(
            tuple(done)[:_MOST_DEEDS],
            frozenset([deed for deed, _ in said]),
            frozenset(map(shown, trace.looped)),
            tuple(said),
            shown(trace.last) if trace.last >= 0 else "",
        )


def tool_of(deed: str) -> str:
    return deed.partition("(")[0]


def is_bare(deed: str) -> bool:
    """Are all its arguments such that vary? Then the deed says no more than its tool."""
    return "{" in deed and all(
        part.rpartition(": ")[2].startswith(("{", "…")) for part in deed.partition("(")[2][:-1].split(", ")
    )


def _fixed(runs: Sequence[tuple[str, Trace]], givens: Sequence[Given]) -> set[Given]:
    """The values that do not vary with the command."""
    users: Counter[str] = Counter()
    givers: Counter[int] = Counter()
    for _, trace in runs:
        users.update(trace.tools)
        givers.update(trace.given)
    enough = {
        number
        for number, count in givers.items()
        # Of one run alone, all but what its command names stands for itself.
        if count >= min(2, len(runs))
        and count * _SHARE >= users[givens[number][0]]
        and _tells(givens[number][2])
    }
    wishes: dict[int, set[str]] = defaultdict(set)  # the commands it was given for
    named: set[int] = set()
    for command, trace in runs:
        folded = command.casefold()
        for number in trace.given & enough:
            value = givens[number][2]
            wishes[number].add(folded)
            if len(value) > 2 and value.casefold() in folded:
                named.add(number)  # what the command names is another thing with the next command
    # What is given for one command only may vary with the command.
    least = min(2, len({command.casefold() for command, _ in runs}))
    return {givens[number] for number in enough - named if len(wishes[number]) >= least}


def _tells(value: str) -> bool:
    """Ids, numbers, sums and data in JSON are of one run, however many share them."""
    short = 0 < len(value) <= _LONGEST and "\n" not in value and value[0] not in "{["
    if not short or _CODE.fullmatch(value) or not any(char.isalpha() for char in value):
        return False
    return not masked(value).startswith(("<id>", "<n>"))
