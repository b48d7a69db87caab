"""What a person or a model calls a note in, the note's path out: by path, title, alias or file name.

Never guesses between two notes. Looks at the disk for paths, and at the index for names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import Ambiguous, HindbrainError, NotFound, UnsafePath

if TYPE_CHECKING:
    from hindbrain.index.store import IndexStore, NoteInfo
    from hindbrain.vault.path_rules import NotePath

_SHOWN = 5
_MAX_COMPARED = 20_000  # names that a did-you-mean looks at


def find_note(root: Path, store: Callable[[], IndexStore], name: str) -> NotePath:
    """Raises NotFound, with the nearest names, Ambiguous with all candidates, UnsafePath for a way out.

    `store` is called only when no path on disk answers; what it raises (IndexMissing) is passed on.
    """
    from hindbrain.vault.path_rules import check_existing_path

    wanted = name.strip().removeprefix("./")
    on_disk = find_on_disk(root, wanted)
    if on_disk is not None:
        return on_disk
    index = store()
    found = _named(index, wanted)
    if len(found) == 1:
        return check_existing_path(found[0])
    if found:
        shown = ", ".join(repr(path) for path in found[:_SHOWN]) + (", ..." if len(found) > _SHOWN else "")
        raise Ambiguous(
            f"{len(found)} notes are called {wanted!r}: {shown}; give the path of one",
            candidates=tuple(found[:_SHOWN]),
        )
    raise NotFound(f"no note named {wanted!r}{_hint(index, wanted)}")


def find_on_disk(root: Path, wanted: str) -> NotePath | None:
    """The note at that path, with or without ".md"; None when there is none. UnsafePath for a way out."""
    from hindbrain.vault.path_rules import check_existing_path
    from hindbrain.vault.paths import stamp_of

    for form in (wanted, f"{wanted}.md"):
        if not form.endswith((".md", ".markdown")):
            continue
        try:
            path = check_existing_path(form)
            stamp_of(root, path)
            return path
        except UnsafePath:
            if "/" in wanted or "\\" in wanted:
                raise
        except (HindbrainError, OSError):
            continue
    return None


def _named(store: IndexStore, wanted: str) -> list[str]:
    """Paths of the notes that answer to the name, by the strictest rule that any of them meets."""
    from hindbrain.index.names import name_key

    folded = wanted.casefold()
    ids = [
        note_id for _, note_id in store.notes_named([name_key(wanted), name_key(folded.removesuffix(".md"))])
    ]
    notes = list(store.notes(ids).values())
    if "/" in wanted:
        ends = ("/" + folded, "/" + folded + ".md")
        at_path = [note for note in store.all_notes() if ("/" + note.path.casefold()).endswith(ends)]
        notes = at_path or [note for note in notes if note.name.casefold() == folded]  # a page of Logseq's
    # A note whose title or file name is exactly this goes before those that only answer to it folded.
    exact = [note for note in notes if wanted in (note.name, note.title, _stem(note))]
    return sorted(note.path for note in exact or notes)


def _stem(note: NoteInfo) -> str:
    return note.path.rpartition("/")[2].removesuffix(".md")


def _hint(store: IndexStore, wanted: str) -> str:
    """Where the name is part of another one, else what is spelt alike."""
    from difflib import get_close_matches

    folded = wanted.casefold().removesuffix(".md")
    notes = store.all_notes()[:_MAX_COMPARED]
    inside = [note.path for note in notes if folded and folded in f"{note.path}\n{note.title}".casefold()]
    if not inside:
        by_name = {_stem(note).casefold(): note.path for note in notes} | {
            note.title.casefold(): note.path for note in notes
        }
        inside = [by_name[name] for name in get_close_matches(folded, by_name, 3, 0.6)]
    near = list(dict.fromkeys(inside))[:3]
    return f"; did you mean {_either(near)}?" if near else "; a search finds notes by what they say"


def _either(paths: Sequence[str]) -> str:
    return " or ".join(repr(path) for path in paths)
