"""Which notes on disk fit a path with places to fill.

Reads folders and opens nothing. Never looks outside the vault, whatever symlinks say.
"""

from __future__ import annotations

import os
import re
import unicodedata
from pathlib import Path

from hindbrain.base.errors import NoteUnreadable, NotFound, UnsafePath
from hindbrain.vault import path_template
from hindbrain.vault.path_rules import NotePath, check_existing_path
from hindbrain.vault.paths import is_note, resolve_beneath


def matching_notes(root: Path, template: str) -> list[NotePath]:
    """The notes that are there and fit the template, which is below the vault's root."""
    if not path_template.places(template):
        return [check_existing_path(template)] if is_note(root, template) else []
    *folders, last = path_template.component_patterns(template)
    found = [""]
    for pattern in folders:
        found = [_join(folder, name) for folder in found for name in _fitting(root, folder, pattern)]
    paths = [_join(folder, name) for folder in found for name in _fitting(root, folder, last, notes=True)]
    return [check_existing_path(path) for path in paths]


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _fitting(root: Path, folder: str, pattern: re.Pattern[str], *, notes: bool = False) -> list[str]:
    try:
        place = resolve_beneath(root, check_existing_path(folder)) if folder else root
        with os.scandir(place) as entries:
            names = [entry.name for entry in entries if entry.is_file() or not notes]
    except (NotFound, UnsafePath, FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise NoteUnreadable(f"the folder {folder!r} can't be looked into: {error.strerror}") from error
    plain = (unicodedata.normalize("NFC", name) for name in names if name[0] != ".")
    return [name for name in plain if pattern.fullmatch(name)]
