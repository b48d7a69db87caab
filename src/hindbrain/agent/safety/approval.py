"""A person's word for one call, bound to exactly that call. Values and one Protocol."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

# allow: this once · run: for the rest of this run, see `grant_of` · deny · wait: nobody is there now
Decision: TypeAlias = Literal["allow", "run", "deny", "wait"]

SHELL = "run_shell_command"


class Asked(NamedTuple):
    """What a person is asked."""

    id: str  # a-7f3k2a
    run: str
    tool: str
    arguments: Mapping[str, Any]
    shown: str  # what would be done, for a person
    why: str  # why they are asked
    at: float = 0.0

    @property
    def digest(self) -> str:
        """By which the call is known when it is about to be carried out: nothing else is approved."""
        return call_digest(self.run, self.tool, self.arguments)


class Approver(Protocol):
    """Who decides: a person in the terminal, on a channel, or the owner's rules."""

    def decide(self, asked: Asked) -> Decision: ...


def call_digest(run: str, tool: str, arguments: Mapping[str, Any]) -> str:
    told = json.dumps([run, tool, arguments], sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(told.encode("ascii")).hexdigest()


def grant_of(tool: str, arguments: Mapping[str, Any]) -> str:
    """What is allowed for the rest of a run by "run": the tool; of the shell only the same command again."""
    return f"{tool} {call_digest('', tool, arguments)}" if tool == SHELL else tool
