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


class Matches(NamedTuple):
    """The best first; empty where nothing fits well enough."""

    lessons: tuple[Match, ...] = ()
    templates: tuple[Match, ...] = ()
    skills: tuple[Match, ...] = ()
    runs: tuple[Match, ...] = ()  # that went well, for a command that has no template yet
    problems: tuple[str, ...] = ()  # notes that could not be read
