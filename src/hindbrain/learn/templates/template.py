"""A template: steps that worked three times or more for one kind of command. Values only."""

from __future__ import annotations

import re
from typing import NamedTuple

SHELL = "run_shell_command"  # what every tool that runs a command line is called in a step
_TOOL = re.compile(r"[\w.:/-]+")


class Slot(NamedTuple):
    """What differs from run to run, under a name."""

    name: str  # recipient, url
    examples: tuple[str, ...] = ()
    in_command: bool = True  # its value stands in the command; else it was found on the way
    kind: str = ""  # email, url, text (in quotes), path, id or n where its values look so; else ""
    before: tuple[str, ...] = ()  # words that stand right before it in commands, the usual one first
    after: tuple[str, ...] = ()  # and right behind it; "." for the end of the sentence


class Step(NamedTuple):
    """One action of a template; `{slot}` stands for what is filled in."""

    action: str  # the tool's name; or a whole sentence, where a person wrote the step in words
    arguments: tuple[tuple[str, str], ...] = ()  # the first one's name is "" when it was read from a note
    many: bool = False  # as often as it takes: how often differs from run to run

    @property
    def is_call(self) -> bool:
        """Is it the call of a tool, and no sentence?"""
        return bool(self.arguments) or _TOOL.fullmatch(self.action) is not None

    @property
    def is_line(self) -> bool:
        """Is it a command line, as people type it?"""
        return self.action == SHELL and bool(self.arguments)

    @property
    def shown(self) -> str:
        if not self.is_call:
            return self.action
        if self.is_line:
            return self.arguments[0][1]
        told = [value if i == 0 else f"{key}: {value}" for i, (key, value) in enumerate(self.arguments)]
        return f"{self.action}({', '.join(told)})"


class Template(NamedTuple):
    name: str  # the note's name
    title: str  # "Send email to {recipient}"
    trigger: str  # a regular expression for RE2; "" when there is none
    steps: tuple[Step, ...]
    slots: tuple[Slot, ...] = ()
    commands: tuple[str, ...] = ()  # some that it was made from
    app: str = ""
    runs: int = 0  # that followed it, those it was made from among them
    successes: int = 0
    avg_iterations: float = 0.0
    version: int = 1
    source: str = "tool"
    evidence: tuple[str, ...] = ()  # runs it was made from, the newest last
    path: str = ""  # the note; "" while it has none
    updated: str = ""  # YYYY-MM-DD
    recent: float = -1.0  # success rate of the last ten runs that followed it, 0..1; below 0: not known
    failing: int = 0  # runs in a row that did its steps and failed, since the last one that went well

    @property
    def success_rate(self) -> float:
        return self.successes / self.runs if self.runs else 0.0

    @property
    def shape(self) -> tuple[str, ...]:
        """Equal for two templates that say to do the same."""
        return tuple(step.shown for step in self.steps)
