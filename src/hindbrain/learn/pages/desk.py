"""Where learning reads and writes: notes by their role, our own lines apart from everybody else's.

One way in for recording, lessons, templates and consolidation, so that a dry run is the same work on drafts.
A role that the vault's layout does not have gets a place of its own beside the agent's other notes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hindbrain.learn.pages.sections import with_section
from hindbrain.vault.path_rules import check_note_path
from hindbrain.vault.path_template import fill, fixed_folder, places
from hindbrain.vault.template_notes import matching_notes

if TYPE_CHECKING:
    from hindbrain.learn.pages.own_lines import OwnLines
    from hindbrain.memory.notes.notebook import Change, Page
    from hindbrain.vault.layout import Layout
    from hindbrain.vault.write import Written

# Where a role's notes stand in a layout that does not name it.
FALLBACKS: Mapping[str, str] = {
    "task_log": "Learning/Task Log.md",
    "lessons": "Learning/Lessons.md",
    "corrections": "Learning/Corrections.md",
    "patterns": "Learning/Patterns.md",
    "templates": "Learning/Templates/{name}.md",
    "apps": "Apps/{name}.md",
    "recent": "Learning/Recent Actions.md",
    "status": "Current Status.md",
    "summary": "Learning/Daily Summary.md",
    "archive": "Archive/{name}.md",
    "sessions": "Sessions/{name}.md",
    "skills": "Skills/{name}.md",
}


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
        if self.layout.has(role):
            return self.layout.path(role, **names)
        return check_note_path(self._below(fill(FALLBACKS[role], names)))

    def is_single(self, role: str) -> bool:
        """Is the role played by one note, and not by the notes of a folder?"""
        return self.layout.is_single(role) if self.layout.has(role) else not places(FALLBACKS[role])

    def folder(self, role: str) -> str:
        if self.layout.has(role):
            return self.layout.folder_of(role)
        return self._below(fixed_folder(FALLBACKS[role]))

    def paths(self, role: str) -> list[str]:
        """The notes that play the role now, sorted."""
        if self.layout.has(role):
            return [str(path) for path in self.layout.notes_of(role, self.root)]
        return [str(path) for path in matching_notes(self.root, self._below(FALLBACKS[role]))]

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

    def _below(self, path: str) -> str:
        return "/".join(part for part in (self.layout.folder, path) if part)
