"""The owner's name, as the profile note tells it. Pure."""

from __future__ import annotations

import re

from hindbrain.vault.parse import parse_note

_KEYS = ("preferred name", "preferred_name", "name", "user", "user_name")
_LINE = re.compile(
    r"^\s*(?:[-*+]\s+)?[*_]{0,2}(preferred name|(?:my |full |user )?name)[*_]{0,2}\s*::?\s*[*_]{0,2}\s*(.*)$",
    re.IGNORECASE,
)
_LONGEST = 60
_UNFILLED = re.compile(r"[\[<({].*|[-–—?.…_]+|tbd|todo|unknown|none|n/a", re.IGNORECASE)


def name_in(profile_text: str) -> str:
    """The name in the frontmatter, else in a line `Name: X` of the profile; "" when there is none."""
    note = parse_note(profile_text, stem="")
    said = {key.lower(): value for key, value in note.frontmatter.items()}
    for key in _KEYS:
        value = said.get(key)
        if isinstance(value, str) and (name := _name(value)):
            return name
    found: dict[str, str] = {}
    for block in note.blocks:
        if block.kind not in ("paragraph", "item"):
            continue
        for line in note.lines[block.first_line - 1 : block.last_line]:
            if (match := _LINE.match(line)) and (name := _name(match[2])):
                found.setdefault(match[1].lower(), name)
    return found.get("preferred name") or next(iter(found.values()), "")


def _name(text: str) -> str:
    """`text` when it can be a name: short, on one line, with a letter, and no place for one."""
    name = re.sub(r"\s*(?:\[[\w-]+:: .*|\^[\w-]+$|%%.*)", "", text).strip(" \t*_`\"'.,")
    usable = 0 < len(name) <= _LONGEST and name.isprintable() and any(map(str.isalpha, name))
    return name if usable and not _UNFILLED.fullmatch(name) else ""
