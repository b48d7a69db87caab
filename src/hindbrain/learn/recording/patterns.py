"""Patterns: what came back again and again among runs that have left the task log, one line for each kind.
Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.learn.recording.kinds import Kind, kinds_of
from hindbrain.learn.recording.shapes import shaped, shown_shape
from hindbrain.learn.recording.wording import item_id, key_actions, what_worked
from hindbrain.memory.policy.provenance import lowest

if TYPE_CHECKING:
    from hindbrain.learn.runs.episode import Episode

LEAST_RUNS = 3
MOST_PATTERNS = 100
_NEWEST = 5_000  # runs that are looked at
_MOST_STEPS = 5


class Pattern(NamedTuple):
    """A kind of command, how it went, and the way that works best."""

    id: str
    command: str  # the most frequent form, with `<url>` and its like
    runs: int
    successes: int
    iterations: float  # on average
    best: str  # the actions that went well most often, of the shortest run in doubt; "" when none did
    source: str


def find_patterns(episodes: Sequence[Episode]) -> list[Pattern]:
    """The kinds with at least three runs, the most frequent first."""
    known = [episode for episode in episodes[-_NEWEST:] if episode.outcome != "unknown"]
    found = [_pattern(kind) for kind in kinds_of(known) if len(kind.runs) >= LEAST_RUNS]
    return sorted(found, key=lambda one: (-one.runs, one.id))[:MOST_PATTERNS]


def _way(run: Episode) -> str:
    said = run.command.casefold()
    return ", ".join(
        key_actions([shaped(action, said) for action in what_worked(run)], _MOST_STEPS, shown_shape)
    )


def _pattern(kind: Kind) -> Pattern:
    runs = kind.runs
    good = [run for run in runs if run.outcome == "success"]
    ways: dict[str, list[int]] = {}  # the iterations of runs that went that way
    for run in good:
        if way := _way(run):
            ways.setdefault(way, []).append(run.iterations)
    best = min(ways, key=lambda way: (-len(ways[way]), min(ways[way]), way), default="")
    return Pattern(
        item_id("m", "pattern", kind.typical),
        kind.typical,
        len(runs),
        len(good),
        sum(run.iterations for run in runs) / len(runs),
        best,
        lowest({run.source for run in runs} | {"tool"}),
    )
