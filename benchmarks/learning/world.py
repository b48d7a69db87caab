"""A small desktop on which things go wrong: what works is fixed, and when a fault strikes is decided by dice.

The dice are hashes of the seed and of what they are thrown for, so that every memory meets the same faults at
the same run, however many calls were made before. Knows nothing of memory and nothing of who plays.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

NOISE = 0.05  # of the runs fail whatever is done
OUTAGES = ("the application did not respond", "the screen was locked", "a system dialog took the focus")
LOOK = "take_screenshot()"  # ends each attempt
_PLACE = re.compile(r"\{(\w+)\}")


class Way(NamedTuple):
    """One way of doing a part of a task."""

    actions: tuple[str, ...]  # "press_key(l, command: true)"; `{site}` stands for a word of the command
    works: float = 1.0  # how often it does what it should; 0: never
    reason: str = ""  # what is said when it did not
    visible: bool = False  # the tool itself answers so, at once; else the verification finds out


class Part(NamedTuple):
    name: str
    ways: tuple[Way, ...]  # in the order in which an agent thinks of them

    @property
    def best(self) -> Way:
        """The surest; of those, the shortest."""
        return max(self.ways, key=lambda way: (way.works, -len(way.actions)))


class Taste(NamedTuple):
    """What the user likes where two things would do."""

    name: str
    wanted: str
    usual: str  # what an agent takes that was not told
    chat: str  # how the user says it in passing; "" when they correct a run instead
    named: str = ""  # how a command says it: " in {}"

    @property
    def options(self) -> tuple[str, str]:
        return self.wanted, self.usual


class Kind(NamedTuple):
    """A kind of task."""

    name: str
    app: str
    commands: tuple[str, ...]  # paraphrases
    values: Mapping[str, tuple[str, ...]]  # what the user fills in
    parts: tuple[Part, ...]

    @property
    def places(self) -> frozenset[str]:
        return frozenset(
            name
            for part in self.parts
            for way in part.ways
            for action in way.actions
            for name in _PLACE.findall(action)
        )

    def tastes(self, tastes: Mapping[str, Taste]) -> tuple[Taste, ...]:
        return tuple(tastes[name] for name in sorted(self.places) if name in tastes)


class Done(NamedTuple):
    """One action, and what came of it."""

    action: str
    ok: bool = True
    said: str = ""


class Verdict(NamedTuple):
    """What came of one attempt."""

    done: tuple[Done, ...]  # up to the first call that answered with an error
    score: int  # 0..100
    reason: str = ""  # "" when all is well
    part: str = ""  # where it went wrong

    @property
    def good(self) -> bool:
        return not self.reason


class World:
    def __init__(self, kinds: Sequence[Kind], tastes: Sequence[Taste], seed: int) -> None:
        self.kinds = {kind.name: kind for kind in kinds}
        self.tastes = {taste.name: taste for taste in tastes}
        self.seed = seed

    def dice(self, *what: object) -> float:
        """From 0 up to 1, always the same for the same things."""
        told = "|".join(map(str, (self.seed, *what))).encode()
        return int.from_bytes(hashlib.sha256(told).digest()[:6], "big") / 2**48

    def attempt(
        self, kind: Kind, said: Mapping[str, str], actions: Sequence[str], *, run: int, attempt: int
    ) -> Verdict:
        """Do the actions and look at the result. `said`: what the command filled in."""
        done = [Done(action) for action in actions]
        met, pointer = 0, 0
        for part in kind.parts:
            found = self._tried(part, said, actions, pointer, (run, attempt))
            if not isinstance(found, int):
                way, end = found
                if way.visible and end:
                    done[end - 1] = Done(actions[end - 1], ok=False, said=way.reason)
                    del done[end:]
                return Verdict(tuple(done), self._low(met, kind), way.reason, part.name)
            met, pointer = met + 1, found
        if self.dice("noise", run) < NOISE:
            outage = OUTAGES[int(len(OUTAGES) * self.dice("outage", run))]
            return Verdict(tuple(done), self._low(met - 1, kind), outage, "noise")
        return Verdict(tuple(done), 88 + int(10 * self.dice("score", run, attempt)))

    def _tried(
        self,
        part: Part,
        said: Mapping[str, str],
        actions: Sequence[str],
        pointer: int,
        when: tuple[int, int],
    ) -> int | tuple[Way, int]:
        """Behind which action the part is done; else the way that was tried in vain, and where it ended."""
        ends: list[int] = []
        vain: list[tuple[Way, int]] = []
        for at, way in enumerate(part.ways):
            end = self._end_of(way, said, actions, pointer)
            if end is None:
                continue
            if self.dice("fault", *when, part.name, at) < way.works:
                ends.append(end)
            else:
                vain.append((way, end if way.actions else 0))
        if ends:
            return min(ends)
        if vain:  # what was done explains it better than what was left undone
            return max(vain, key=lambda tried: (bool(tried[0].actions), len(tried[0].actions)))
        return Way((), 0.0, f"nothing was done to {part.name}"), 0

    def _end_of(self, way: Way, said: Mapping[str, str], actions: Sequence[str], start: int) -> int | None:
        """The place behind the way's last action, when all were done in this order from `start` on."""
        at = start
        for wanted in way.actions:
            forms = {_folded(form) for form in self.forms(wanted, said)}
            while at < len(actions) and _folded(actions[at]) not in forms:
                at += 1
            if at == len(actions):
                return None
            at += 1
        return at

    def forms(self, action: str, said: Mapping[str, str]) -> Iterator[str]:
        """The action as it may be called: with each thing that the user may or may not like."""
        names = [name for name in _PLACE.findall(action) if name in self.tastes and name not in said]
        if not names:
            yield filled(action, said)
            return
        for option in self.tastes[names[0]].options:
            yield from self.forms(action.replace(f"{{{names[0]}}}", option), said)

    def _low(self, met: int, kind: Kind) -> int:
        return 25 + int(45 * max(0, met) / len(kind.parts))

    @cached_property
    def reasons(self) -> dict[str, frozenset[str]]:
        """Every reason that can be given, with the kinds of task that can fail for it."""
        found: dict[str, set[str]] = {}
        for kind in self.kinds.values():
            for part in kind.parts:
                for way in part.ways:
                    if way.reason:
                        found.setdefault(way.reason, set()).add(kind.name)
        return {reason: frozenset(names) for reason, names in found.items()}


def filled(action: str, values: Mapping[str, str]) -> str:
    """The action with values at their places; a place without one stays."""
    return _PLACE.sub(lambda place: values.get(place[1], place[0]), action)


def _folded(action: str) -> str:
    return " ".join(action.split()).casefold()


_CALL = re.compile(r"(?P<name>[a-z_]+)\((?P<rest>.*)\)", re.DOTALL)
_NAMED = re.compile(r", ([a-z_]+): ")
# The name of what stands first in the brackets.
_FIRST = {
    "open_application": "name",
    "click": "target",
    "type_text": "text",
    "press_key": "key",
    "run_shell_command": "command",
    "scroll": "direction",
}


def call_of(action: str) -> tuple[str, dict[str, str]]:
    """An action as a call: its tool, and its arguments by their names."""
    found = _CALL.fullmatch(action.strip())
    if found is None:
        return action, {}
    name, rest = found["name"], found["rest"]
    if not rest:
        return name, {}
    first, *more = _NAMED.split(rest)
    named = zip(more[::2], more[1::2], strict=True)
    return name, {_FIRST.get(name, "value"): first, **dict(named)}
