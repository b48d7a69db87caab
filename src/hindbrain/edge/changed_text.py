"""A few words of what a change did to a note, for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.base.secrets import mask
from hindbrain.index.spoken import spoken
from hindbrain.vault.hashing import ABSENT
from hindbrain.vault.parse import decode_note

if TYPE_CHECKING:
    from hindbrain.vault.revisions import Revision
    from hindbrain.vault.write import VaultWriter

_SHOWN = 60  # characters
_STRUCK = re.compile(r"\s*- ~~.+~~.*\[superseded:: ")
_REPLACED = re.compile(r"\[superseded:: (\^[A-Za-z0-9\-]+)\]")


def first_change(writer: VaultWriter, changes: Sequence[Revision]) -> str:
    """The first line that these changes of one note added ("+ ..."), else removed ("- ..."); "" for neither.

    A memory that they struck through is named with what replaced it. Without our fields and ids, and with
    secrets masked. A line of text goes before a heading or a property.
    """
    before, after = _lines(writer, changes[0].before_hash), _lines(writer, changes[-1].after_hash)
    added, removed = _beyond(after, before), _beyond(before, after)
    struck = [line for line in added if _STRUCK.match(line)]
    new = [line for line in added if line not in struck]
    if struck:
        by = _REPLACED.search(struck[0])
        new = [line for line in new if by and line.rstrip().endswith(by[1])] or new
        gone = f"no longer: {_shown(struck[0].replace('~~', ''))}"
        more = f" (and {len(struck) - 1} more)" if len(struck) > 1 else ""
        return (f"+ {_shown(new[0])}; {gone}" if new else f"- {gone}") + more
    for sign, lines in (("+", new), ("-", removed)):
        if lines:
            return f"{sign} {_shown(lines[0])}"
    return ""


def _shown(line: str) -> str:
    text = mask(spoken(line).strip().removeprefix("- ").removeprefix("[ ] ").strip())
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _beyond(lines: Sequence[str], known: Sequence[str]) -> list[str]:
    """The lines that `known` does not have, what people say first."""
    left = Counter(known)
    found = []
    for line in lines:
        if left[line]:
            left[line] -= 1
        elif line.strip():
            found.append(line)
    return sorted(found, key=_is_frame)


def _is_frame(line: str) -> bool:
    """Return whether this is a heading, a rule or a property rather than text."""
    text = line.strip()
    return text.startswith(("#", "---", "%%", ">")) or text.split(" ")[0].endswith(":")


def _lines(writer: VaultWriter, digest: str) -> list[str]:
    try:
        data = None if digest == ABSENT else writer.kept(digest)
    except HindbrainError:
        data = None
    return [] if data is None else decode_note(data)[0].split("\n")
