"""Prompts that any agent hears and no memory answers: coding instructions, turns of a session, small talk.

Several hundred of them, in many languages, ship as data. Relevance is measured against what such prompts get
from a vault: a memory or a note must fit better than it fits these.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, cast

Kind: TypeAlias = Literal["coding", "agent", "general", "talk"]

_FILE = Path(__file__).with_name("generic_prompts.tsv")


class GenericPrompt(NamedTuple):
    kind: Kind
    text: str


@cache
def generic_prompts() -> tuple[GenericPrompt, ...]:
    lines = _FILE.read_text("utf-8").splitlines()
    rows = (line.split("\t", 1) for line in lines if "\t" in line)
    return tuple(GenericPrompt(cast("Kind", kind), text) for kind, text in rows)
