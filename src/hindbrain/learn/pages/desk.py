"""Where learning reads and writes: notes by their role, our own lines apart from everybody else's.

One way in for recording, lessons, templates and consolidation, so that a dry run is the same work on drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindbrain.learn.pages.sections import with_section

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Change, Page
    from hindbrain.memory.notes.own_lines import OwnLines
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.write import Written


class Notes(Protocol):
    """What a notebook does, and a draft of one."""

    def find(self, path: str) -> Page | None: ...

    def edit(self, path: str, change: Change) -> Written | None: ...

    def delete(self, path: str, *, expected_hash: str) -> Written: ...


class Desk:
    """For one thread."""

    def __init__(
        self, root: Path, notes: Notes, layout: Layout, own: OwnLines, today: Callable[[], str]
    ) -> None:
        self.root = root
        self.notes = notes
        self.layout = layout
        self.own = own
        self.today = today  # YYYY-MM-DD, the owner's day

    def path(self, role: str, **names: str) -> str:
        """The note that plays the role. UnsafePath for a name that some system forbids."""
        return self.layout.path(role, **names)

    def is_single(self, role: str) -> bool:
        """Is the role played by one note, and not by the notes of a folder?"""
        return self.layout.is_single(role)

    def folder(self, role: str) -> str:
        return self.layout.folder_of(role)

    def paths(self, role: str) -> list[str]:
        """The notes that play the role now, sorted."""
        return [str(path) for path in self.layout.notes_of(role, self.root)]

    def find(self, path: str) -> Page | None:
        return self.notes.find(path)

    def put_section(
        self, path: str, heading: str, lines: Sequence[str], *, first_text: str = "", level: int = 2
    ) -> Written | None:
        """Say `lines` under a heading of a note, in place of what we said there before.

        `first_text` begins a note that is not there yet. None: it says so already.
        """
        head = f"{'#' * level} {heading}"
        self.own.note(path, [head, *lines, *first_text.split("\n")])

        def change(page: Page | None) -> bytes | None:
            if page is None and not lines:
                return None
            data = page.data if page is not None else first_text.encode()
            after = with_section(
                data, heading, lines, ours=lambda line: self.own.is_ours(path, line), path=path, level=level
            )
            return None if page is not None and after == page.data else after

        return self.notes.edit(path, change)

    def edit(self, path: str, change: Change, *, ours: Iterable[str] = ()) -> Written | None:
        """Change a note as the caller likes. `ours`: lines that it may write, which are ours from then on."""
        self.own.note(path, ours)
        return self.notes.edit(path, change)
