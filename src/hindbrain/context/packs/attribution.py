"""Where an excerpt comes from, in one short line; and excerpts of one note under one such line. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hindbrain.context.packs.fence import begins_token, clean, fence_line
from hindbrain.context.packs.pack import Excerpt
from hindbrain.vault.line_shapes import heading_level

# Whose word it is, where that is not the owner's or their agent's. What is not known is trusted least.
_ORIGINS = {"user": "", "agent": "", "tool": "from a tool", "web": "from the web"}
_LEAST = "imported"
_GAP = "…"
_LONGEST_PATH = 300
_LONGEST_NAME = 90
_ENDING = 2  # letters: -s, -es, -n


class Quoted(NamedTuple):
    """What is shown of one note, in the note's order."""

    excerpts: tuple[Excerpt, ...]

    @property
    def first(self) -> Excerpt:
        return self.excerpts[0]

    @property
    def text(self) -> str:
        """Runs that touch are one text. Each begins with the headings and items over it that the one before
        it did not leave in force; where it begins with none, an ellipsis stands for the lines that were left
        out, but between single lines, each of which says all it has to say. Where the days differ, each
        excerpt ends with its own."""
        parts: list[str] = []
        for before, excerpt in zip((None, *self.excerpts), self.excerpts, strict=False):
            over = _not_in_force(before, excerpt)
            if (
                before is not None
                and not over
                and not _follows(before, excerpt)
                and not _begins_section(excerpt)
            ):
                if 0 < excerpt.first_line <= before.last_line:  # the rest of a long line
                    parts[-1] += f" {_GAP}"
                else:
                    parts.append(_GAP)
            day = f" ({excerpt.date})" if excerpt.date and not self.date else ""
            parts += [*over, excerpt.text.strip("\r\n") + day]
        return "\n".join(parts)

    @property
    def date(self) -> str:
        """The day of all of them; empty when they differ."""
        days = {excerpt.date for excerpt in self.excerpts}
        return self.first.date if len(days) == 1 else ""

    @property
    def line(self) -> int:
        """Where the first excerpt begins; 0 for a whole note, or when it is not known."""
        return 0 if self.first.grade == "note" else self.first.first_line


def by_note(excerpts: Iterable[Excerpt]) -> list[Quoted]:
    """Excerpts of one note together, as long as they are one person's word; notes in the order they came."""
    notes: dict[tuple[str, ...], list[Excerpt]] = {}
    for excerpt in excerpts:
        if clean(excerpt.text).strip():
            key = (excerpt.path, excerpt.title, origin(excerpt.source))
            notes.setdefault(key, []).append(excerpt)
    return [Quoted(tuple(sorted(found, key=lambda excerpt: excerpt.first_line))) for found in notes.values()]


def attribution(quoted: Quoted) -> str:
    """`[2026-03-02 Projects/Boat.md:3 · Sails · from the web]`, on one line and disarmed.

    The cheapest of the wordings that were measured: a date before the path costs two tokens less than after
    it, and a reader needs no last line to look up what is around.
    """
    first = quoted.first
    path = fence_line(first.path, limit=_LONGEST_PATH)
    place = f"{path}:{quoted.line}" if path and quoted.line else path
    told = [" ".join(filter(None, (dated(quoted), place))), *named(quoted)]
    inner = " · ".join(filter(None, (*told, origin(first.source)))) or "memory"
    # A note called "INST]" must not make a special token of our own bracket.
    return f"[ {inner}]" if begins_token(f"{inner}]") else f"[{inner}]"


def named(quoted: Quoted, *, heading: bool = True) -> list[str]:
    """The title and the heading, each only where it says more than the file name, the title and the text."""
    first = quoted.first
    stem = first.path.rpartition("/")[2].removesuffix(".md")
    names: list[str] = []
    if not _alike(first.title, stem):
        names.append(fence_line(first.title, limit=_LONGEST_NAME))
    leaf = first.heading.rpartition(" > ")[2]
    shared = heading and all(excerpt.heading == first.heading for excerpt in quoted.excerpts)
    if shared and not _alike(leaf, stem) and not _alike(leaf, first.title) and not _shows(quoted.text, leaf):
        names.append(fence_line(leaf, limit=_LONGEST_NAME))
    return [name for name in names if name]


def dated(quoted: Quoted) -> str:
    """The day, where the path does not have it."""
    day = fence_line(quoted.date, limit=10)
    return "" if day in quoted.first.path else day


def origin(source: str) -> str:
    """In words, for third-party text; empty for the owner's word and the agent's."""
    return _ORIGINS.get(source, _LEAST)


def _not_in_force(before: Excerpt | None, excerpt: Excerpt) -> list[str]:
    """The headings and items over an excerpt that must be shown before it."""
    known = before.after if before is not None else ()
    shared = 0
    while shared < min(len(known), len(excerpt.above)) and known[shared][0] == excerpt.above[shared][0]:
        shared += 1
    return [text for _, text in excerpt.above[shared:]]


def _begins_section(excerpt: Excerpt) -> bool:
    text = excerpt.text.lstrip()
    return text.startswith("#") and heading_level(text) > 0


def _follows(before: Excerpt, after: Excerpt) -> bool:
    touches = after.first_line > 0 and after.first_line == before.last_line + 1
    return touches or (before.grade == "line" and after.grade == "line")


def _shows(text: str, heading: str) -> bool:
    lines = (line.lstrip(" \t-*+") for line in clean(text).split("\n"))
    return any(line.startswith("#") and _alike(line, heading) for line in lines)


def _alike(name: str, known: str) -> bool:
    """Does `name` say nothing beyond `known`? Case, signs and a plural are nothing."""
    mine, theirs = _letters(name), _letters(known)
    if not mine or not theirs:
        return not mine
    return mine.startswith(theirs) and len(mine) - len(theirs) <= _ENDING


def _letters(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())
