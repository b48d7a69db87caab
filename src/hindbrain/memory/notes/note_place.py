"""Where a note that a caller names is, or will be: beneath the vault, else beneath the agent's folder.

Agents know their notes by the names of the layout ("User Profile.md"), which in a vault with other notes lie
in the agent's own folder; both ways lead there. Also what a folder holds.
"""

from __future__ import annotations

import os
import re
import unicodedata
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import Ambiguous, IndexFault, NoteUnreadable, NotFound, UsageError, VaultError
from hindbrain.vault.path_rules import NotePath, check_existing_path, check_note_path, is_private

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hindbrain.memory.service import Memory

_SHOWN = 5  # of many notes of one name
_NOTE_ENDINGS = (".md", ".markdown")
_OTHER_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")


class Listing(NamedTuple):
    """What a folder holds."""

    path: str  # vault-relative; "" is the vault itself
    folders: tuple[str, ...]  # names, sorted
    notes: tuple[tuple[str, float], ...]  # names and times of the last change, newest first
    others: int  # files that are no notes


def existing_note(memory: Memory, name: str) -> tuple[NotePath, str]:
    """The note that is meant and the part of it that the name gives ("" for all of it).

    Takes citations as they are printed: `[[Memory/fact#^m-7f3k2a]]`. A "#" may belong to the note's own name,
    so the whole is tried first.
    """
    bare = _bare(name)
    note, sign, part = bare.partition("#")
    if not sign or not note:
        return _found(memory, bare), ""
    try:
        return _found(memory, bare), ""
    except (NotFound, IndexFault):
        return _found(memory, note), part.strip()


def place_of(memory: Memory, name: str) -> NotePath:
    """Where to write: the existing note that is meant, else a new one at that path, with ".md" at its end.

    A name without an ending may be a title. Raises Ambiguous, UnsafePath; UsageError for what is no note.
    """
    wanted = _bare(name)
    on_disk = _on_disk(memory, wanted)
    if on_disk is not None:
        return on_disk
    if wanted.lower().endswith(_NOTE_ENDINGS):
        return check_note_path(wanted)
    if other := _OTHER_ENDING.search(wanted):
        raise UsageError(f"{name!r} ends in {other[0]!r}; notes end in '.md': give the whole name with it")
    path = check_note_path(f"{wanted}.md")
    try:
        return _by_name(memory, wanted)
    except IndexFault:
        return _by_file_name(memory.root, path) or path
    except NotFound as error:
        if getattr(error, "candidates", ()):
            raise
        return path


def _by_file_name(root: Path, wanted: NotePath) -> NotePath | None:
    """The note whose path ends so, from a look at the files, for a vault without a usable index.

    Raises Ambiguous. Titles and aliases are not known then.
    """
    end = "/" + unicodedata.normalize("NFC", wanted).casefold()
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".") and not is_private(name)]
        above = Path(folder).relative_to(root).as_posix().removeprefix(".")
        paths = (f"{above}/{name}" if above else name for name in files)
        found += [path for path in paths if f"/{unicodedata.normalize('NFC', path)}".casefold().endswith(end)]
    if len(found) > 1:
        shown = ", ".join(map(repr, sorted(found)[:_SHOWN]))
        raise Ambiguous(
            f"{len(found)} notes are called {wanted!r}: {shown}; give the path of one",
            candidates=tuple(sorted(found)[:_SHOWN]),
        )
    return check_existing_path(found[0]) if found else None


def list_folder(memory: Memory, name: str) -> Listing:
    """Raises NotFound, with the nearest folder; UnsafePath for a way out."""
    path = find_folder(memory, name)
    folders, notes, others = [], [], 0
    for entry in _entries(memory.root, path):
        if entry.is_dir():
            folders.append(entry.name)
        elif entry.name.lower().endswith(_NOTE_ENDINGS):
            notes.append((entry.name, entry.stat().st_mtime))
        else:
            others += 1
    notes.sort(key=lambda note: (-note[1], note[0]))
    return Listing(path, tuple(sorted(folders, key=str.casefold)), tuple(notes), others)


def find_folder(memory: Memory, name: str) -> str:
    """The folder that is meant, vault-relative: beneath the vault, else beneath the agent's folder."""
    wanted = name.strip().replace("\\", "/").removeprefix("./").strip("/")
    if wanted in ("", "."):
        return ""
    for form in _forms(memory, wanted):
        path = check_existing_path(form)
        if _real_folder(memory.root, path).is_dir():
            return path
    for form in _forms(memory, wanted):
        if spelled := _spelled_as_on_disk(memory.root, form):
            return spelled
    above = wanted.rpartition("/")[0]
    known: list[str] = []
    if not above or _real_folder(memory.root, check_existing_path(above)).is_dir():
        known = [entry.name for entry in _entries(memory.root, above) if entry.is_dir()]
    listed = f"; {repr(above) if above else 'it'} has: {', '.join(sorted(known)[:20])}" if known else ""
    raise NotFound(f"no folder {wanted!r} in this vault{listed}")


def _spelled_as_on_disk(root: Path, wanted: str) -> str:
    """The one folder of this name whatever the case of its letters; "" where there is none, or several."""
    found = [""]
    for part in wanted.split("/"):
        found = [
            f"{above}/{entry.name}" if above else entry.name
            for above in found
            for entry in _entries(root, above)
            if entry.is_dir() and entry.name.casefold() == part.casefold()
        ]
    return found[0] if len(found) == 1 else ""


def _bare(name: str) -> str:
    link = _WIKILINK.fullmatch(name.strip())
    return (link[1] if link else name).strip().removeprefix("./")


def _forms(memory: Memory, wanted: str) -> tuple[str, ...]:
    folder = memory.layout.folder
    return (wanted, f"{folder}/{wanted}") if folder else (wanted,)


def _found(memory: Memory, wanted: str) -> NotePath:
    on_disk = _on_disk(memory, wanted)
    return on_disk if on_disk is not None else _by_name(memory, wanted)


def _on_disk(memory: Memory, wanted: str) -> NotePath | None:
    from hindbrain.search.note_names import find_on_disk

    found = (find_on_disk(memory.root, form) for form in _forms(memory, wanted))
    return next((path for path in found if path is not None), None)


def _by_name(memory: Memory, wanted: str) -> NotePath:
    """By title, alias, file name or the end of its path, which only the index can tell."""
    from hindbrain.index.store import IndexStore
    from hindbrain.search.note_names import find_note

    try:
        memory.freshen()
        with closing(IndexStore(memory.state / "index.db")) as store:
            return find_note(memory.root, lambda: store, wanted)
    except IndexFault:
        if wanted.lower().endswith(_NOTE_ENDINGS):
            raise NotFound(f"no note {wanted!r} in this vault, and no index to look for its like") from None
        raise


def _real_folder(root: Path, path: str) -> Path:
    from hindbrain.vault.paths import resolve_beneath

    return resolve_beneath(root, NotePath(path)) if path else root


def _entries(root: Path, path: str) -> Iterator[os.DirEntry[str]]:
    """What a folder shows: no hidden or private names, nothing that leads out of the vault or to nowhere."""
    try:
        with os.scandir(_real_folder(root, path)) as entries:
            found = [
                entry for entry in entries if not entry.name.startswith(".") and not is_private(entry.name)
            ]
    except OSError as error:
        raise NoteUnreadable(
            f"the folder {path!r} can't be looked into: {error.strerror or error}"
        ) from error
    for entry in found:
        if entry.is_symlink():
            try:
                if not _real_folder(root, check_existing_path(f"{path}/{entry.name}".lstrip("/"))).exists():
                    continue
            except (VaultError, OSError):
                continue
        yield entry
