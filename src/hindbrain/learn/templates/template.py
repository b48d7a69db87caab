"""A template: steps that worked three times or more for one kind of command. Values only."""

from __future__ import annotations

from typing import NamedTuple


class Slot(NamedTuple):
    """What differs from run to run, under a name."""

    name: str  # recipient, url
    examples: tuple[str, ...] = ()
    in_command: bool = True  # its value stands in the command; else it was found on the way


class Step(NamedTuple):
    """One action of a template; `{slot}` stands for what is filled in."""

    action: str  # the tool's name
    arguments: tuple[tuple[str, str], ...] = ()
    share: float = 1.0  # of the runs that did it

    @property
    def shown(self) -> str:
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

    @property
    def success_rate(self) -> float:
        return self.successes / self.runs if self.runs else 0.0
