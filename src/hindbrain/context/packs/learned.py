"""What was learned that fits a command: for the slots of a context pack. Values only."""

from __future__ import annotations

from typing import NamedTuple


class Match(NamedTuple):
    """A lesson, a template or a skill that fits."""

    id: str  # ^l-..., or the note's path
    path: str
    title: str
    text: str  # whole lines of the note, as they enter a prompt
    first_line: int
    last_line: int
    score: float  # 0..1: how well it fits, comparable between commands
    source: str = "tool"
    date: str = ""  # YYYY-MM-DD
    why: str = ""  # "command 0.82, trigger"
    # What it says about calls, as `Action.shown` or as a person wrote them.
    do: tuple[str, ...] = ()  # to make, in this order
    avoid: tuple[str, ...] = ()  # not to make, each by itself
    failed: tuple[str, ...] = ()  # that failed together, in this order: each by itself may be right
    went_well: tuple[str, ...] = ()  # commands that did
    taken_back: str = ""  # a command that its user replaced with another one
    evidence: int = 0  # runs that bear it out, less those that speak against it
    time: str = ""  # of the newest of them, YYYY-MM-DD or more; "" when it is not known


class Matches(NamedTuple):
    """The best first; empty where nothing fits well enough."""

    lessons: tuple[Match, ...] = ()
    templates: tuple[Match, ...] = ()
    skills: tuple[Match, ...] = ()
    runs: tuple[Match, ...] = ()  # that went well, for a command that has no template yet
    answers: tuple[Match, ...] = ()  # runs whose answer is asked for
    problems: tuple[str, ...] = ()  # notes that could not be read
