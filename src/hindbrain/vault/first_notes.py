"""The first notes of a layout: made where there are none, never over a note that is there.

Decides which notes a vault still lacks and asks the writer for them. Knows nothing of ids or settings.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import NoteChanged, VaultError
from hindbrain.vault.layout import Layout
from hindbrain.vault.paths import is_note

if TYPE_CHECKING:
    from hindbrain.vault.write import VaultWriter

# What learning writes: an empty note of it would tell its owner nothing.
_LEARNED = ("task_log", "issues", "lessons", "corrections", "patterns", "recent", "summary", "status")
_SYSTEM_FILES = frozenset({"desktop.ini", "thumbs.db"})


class FirstNotes(NamedTuple):
    """What became of the notes of a layout."""

    created: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()  # were there before
    failed: tuple[tuple[str, str], ...] = ()  # (path, why)


def single_notes(layout: Layout) -> list[tuple[str, str]]:
    """(role, path) of the roles that one note plays; the others get their notes when they are needed.

    So do those that learning fills, unless the layout has a first text for them.
    """
    return [
        (role, layout.path(role))
        for role in layout.roles
        if layout.is_single(role) and (role not in _LEARNED or role in layout.start)
    ]


def make_first_notes(layout: Layout, root: Path, writer: VaultWriter, *, today: str) -> FirstNotes:
    """Make the notes that are not there yet. A note that can't be made does not stop the others."""
    created: list[str] = []
    kept: list[str] = []
    failed: list[tuple[str, str]] = []
    for role, path in single_notes(layout):
        if (root / path).exists() or is_note(root, path):
            kept.append(path)
            continue
        try:
            writer.create_note(path, layout.first_text(role, today=today).encode())
            layout.note_place(path)
            created.append(path)
        except NoteChanged:  # somebody made it this very moment
            kept.append(path)
        except VaultError as error:
            failed.append((path, str(error)))
    return FirstNotes(tuple(created), tuple(kept), tuple(failed))


def has_notes_of_its_own(root: Path) -> bool:
    """Is anything in the folder but what systems and tools keep there? VaultError when it can't be seen."""
    try:
        names = [entry.name for entry in root.iterdir()]
    except OSError as error:
        raise VaultError(f"{str(root)!r} can't be looked into: {error.strerror}; nothing was made") from error
    return any(not name.startswith(".") and name.lower() not in _SYSTEM_FILES for name in names)
