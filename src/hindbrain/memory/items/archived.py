"""Where memories and notes go that are no longer used: kept, found by a search, and not shown to agents.

An archived day is shown when a question names that day.

    Archive/Memory/fact.md      lines of memories, as they stood in their notes
    Archive/Daily/2026-02-20.md a daily note, byte for byte

Owns the places. The ledger looks here, too: a memory that was archived has moved, and was not deleted.
"""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.vault.paths import is_note
from hindbrain.vault.template_notes import matching_notes

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.path_rules import NotePath

_MOST = 100  # notes of one name in the archive


def archive_folder(layout: Layout, kind: str) -> str:
    """The folder for archived notes of a kind ("Daily", "Memory", "Sessions"), written as its parent is."""
    parent = layout.archive_folder
    is_lower = parent.rpartition("/")[2].islower()
    return "/".join(part for part in (parent, kind.lower() if is_lower else kind) if part)


def archived_days(layout: Layout, root: Path, day: str) -> list[str]:
    """The archived notes of a day (YYYY-MM-DD), as far as they are there."""
    folder = archive_folder(layout, "Daily")
    stems = dict.fromkeys(path.rpartition("/")[2][:-3] for path in layout.paths("daily", date=day))
    found: list[str] = []
    for stem in stems:
        names = (f"{folder}/{stem}{f' {number}' if number > 1 else ''}.md" for number in range(1, _MOST))
        found += takewhile(lambda path: is_note(root, path), names)
    return found


def is_archived_day(layout: Layout, path: str) -> bool:
    return path.startswith(archive_folder(layout, "Daily") + "/")


def archived_memory_notes(layout: Layout, root: Path) -> list[NotePath]:
    """The notes of memories that were archived, sorted."""
    return sorted(matching_notes(root, archive_folder(layout, "Memory") + "/{category}.md"))
