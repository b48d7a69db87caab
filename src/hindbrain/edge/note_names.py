"""What a person calls a note on the command line: a name, or a name with a part of the note."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hindbrain.base.errors import NotFound

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.vault.path_rules import NotePath


def find_note(app: App, name: str) -> NotePath:
    """Raises NotFound, Ambiguous, UnsafePath, or IndexMissing where only the index could tell."""
    from hindbrain.search import note_names

    return note_names.find_note(app.root, app.fresh_store, name)


def find_part(app: App, name: str) -> tuple[NotePath, str]:
    """The note and the part of it. A "#" may belong to the note's own name, so the whole is tried first."""
    if "#" not in name:
        return find_note(app, name), ""
    try:
        return find_note(app, name), ""
    except NotFound:
        note, _, part = name.partition("#")
        return find_note(app, note), part.strip()
