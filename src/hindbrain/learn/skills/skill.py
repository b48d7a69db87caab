"""A skill: a way of doing something that a person wrote or approved. Values only."""

from __future__ import annotations

from typing import NamedTuple


class Skill(NamedTuple):
    name: str
    description: str  # when to use it
    trigger: str  # a regular expression for RE2; "" when there is none
    text: str  # the body, without frontmatter
    path: str  # the note in the vault, or the file outside of it
    first_line: int = 1  # of the body in its file
    source: str = "user"  # as its properties say; a person's own word when they say nothing
    updated: str = ""  # YYYY-MM-DD; "" when it does not say
    checks: tuple[str, ...] = ()  # what must hold when it was followed, as the note words it
