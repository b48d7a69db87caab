"""Where memories and notes go that nobody uses any more: kept, found by a search, and shown to no agent.

    Archive/Memory/fact.md      lines of memories, as they stood in their notes
    Archive/Daily/2026-02-20.md a daily note, byte for byte

Owns the places. The ledger looks here, too: a memory that was archived has moved, and was not deleted.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.vault.path_template import fixed_folder
from hindbrain.vault.template_notes import matching_notes

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.path_rules import NotePath

_FALLBACK = "Archive/{name}.md"  # below the agent's folder, in a layout without a place for it


def archive_folder(layout: Layout, kind: str) -> str:
    """The folder for archived notes of a kind ("Daily", "Memory", "Sessions"), written as its parent is."""
    parent = _root_of(layout)
    is_lower = parent.rpartition("/")[2].islower()
    return "/".join(part for part in (parent, kind.lower() if is_lower else kind) if part)


def is_archived(layout: Layout, path: str) -> bool:
    """Does the note lie in the archive? That is for who looks for it, not for a prompt."""
    root = _root_of(layout)
    return bool(root) and path.startswith(f"{root}/")


def archived_memory_notes(layout: Layout, root: Path) -> list[NotePath]:
    """The notes of memories that were archived, sorted."""
    return sorted(matching_notes(root, archive_folder(layout, "Memory") + "/{category}.md"))


def _root_of(layout: Layout) -> str:
    if layout.has("archive"):
        return layout.folder_of("archive")
    return "/".join(part for part in (layout.folder, fixed_folder(_FALLBACK)) if part)
