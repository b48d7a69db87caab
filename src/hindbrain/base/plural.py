"""Counts in words: `1 note`, `2 notes`, `3 memories`."""

from __future__ import annotations


def plural(count: int, one: str, many: str = "") -> str:
    """Return the count and its noun; `many` is for a plural that is no regular form of `one`."""
    return f"{count:,} {one if count == 1 else many or _many(one)}"


def _many(one: str) -> str:
    if one.endswith("y") and one[-2] not in "aeiou":
        return f"{one[:-1]}ies"
    return f"{one}es" if one.endswith(("s", "x", "ch", "sh")) else f"{one}s"
