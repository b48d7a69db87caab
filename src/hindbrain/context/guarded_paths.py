"""Which paths only the owner writes, seen from where a command runs.

Says why a person is asked before such a path is written: our own folder in any vault; in the vault in force
also the inbox, the skills, and what agents read as instructions. Decides by what a path comes to, not by its
bytes (`memory.policy.protected`), and by where it really leads. Knows nothing of tools and commands.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.context.shell_words import UNKNOWN

if TYPE_CHECKING:
    from hindbrain.vault.layout import Layout

OWN_FOLDER = ".hindbrain"
ASK_FOLDER = f"it writes into {OWN_FOLDER}/, which holds what the owner decided for this vault"


class Surroundings:
    """Where a command runs, and which vault's files are the owner's alone."""

    def __init__(self, cwd: str, root: Path | None, layout: Layout | None) -> None:
        self._cwd = cwd
        self._root = os.path.realpath(root) if root is not None else ""
        self._kept = None if layout is None else _kept_by(layout)

    def go_to(self, words: Sequence[str]) -> None:
        folder = next((word for word in words if not word.startswith("-")), "~")
        if UNKNOWN not in folder:
            self._cwd = self._absolute(folder)

    def why_asked(self, path: str) -> str:
        """Why a person is asked before this path is written; "" when they are not."""
        if not path or path.startswith(("/dev/", "&")):
            return ""
        forms = [self._absolute(path)]
        with contextlib.suppress(OSError, ValueError):  # a path that the system can't look up
            forms.append(os.path.realpath(forms[0]))
        return next((reason for form in forms if (reason := self._why_at(form))), "")

    def why_asked_note(self, name: str) -> str:
        """As `why_asked`, for a note that is named as the vault knows it."""
        return self.why_asked(os.path.join(self._root, name)) if self._root else ""  # noqa: PTH118

    def inbox_in(self, text: str) -> str:
        """The vault's inbox note, if code names it; "" when it does not."""
        kept = self._kept_paths() if self._root else ()
        return kept[0] if kept and kept[0].casefold() in text.replace("\\\\", "/").casefold() else ""

    def _why_at(self, path: str) -> str:
        from hindbrain.memory.policy.protected import fold_path

        parts = fold_path(path).split("/")
        if any(part == OWN_FOLDER or (_has_glob(part) and fnmatchcase(OWN_FOLDER, part)) for part in parts):
            return ASK_FOLDER
        inside = self._inside(path)
        return self._why_note(inside) if inside else ""

    def _why_note(self, inside: str) -> str:
        from hindbrain.memory.policy.protected import fold_path, why_protected

        if any(part.startswith(".") for part in fold_path(inside).split("/")):
            return ""  # hidden folders of other programs are theirs
        kept = next((one for one in self._kept_paths() if _has_glob(inside) and fnmatchcase(one, inside)), "")
        # Files that are no notes pass, unless they lie among what is the owner's: asked under a note's name.
        name = inside if inside.lower().endswith((".md", ".markdown")) else f"{inside}.md"
        why = why_protected(kept or name, kept=self._kept_paths()) or self._why_by_marks(inside)
        return f"it writes {inside!r}, which {why}" if why else ""

    def _why_by_marks(self, inside: str) -> str:
        """An inbox that its owner has moved says itself what it is."""
        from hindbrain.base.errors import HindbrainError
        from hindbrain.vault.marks import read_marks
        from hindbrain.vault.path_rules import check_existing_path
        from hindbrain.vault.paths import read_note

        try:
            marks = read_marks(read_note(Path(self._root), check_existing_path(inside)))
        except (HindbrainError, OSError, ValueError):
            return ""
        return "is the inbox, and belongs to the owner alone" if marks.ours and marks.type == "inbox" else ""

    def _kept_paths(self) -> Sequence[str]:
        """The vault's inbox and its skills; nothing when its layout can't be read."""
        if self._kept is None:
            from hindbrain.base.errors import HindbrainError
            from hindbrain.vault.layout import load_layout

            try:
                self._kept = _kept_by(load_layout(Path(self._root)))
            except (HindbrainError, OSError):
                self._kept = ()
        return self._kept

    def _inside(self, path: str) -> str:
        """The path relative to the vault, "" when it lies elsewhere. Compared as systems without case do."""
        if not self._root:
            return ""
        for root in (self._root, os.path.normpath(self._root)):
            if path.casefold().startswith(root.casefold().rstrip("/\\") + os.sep):
                return path[len(root.rstrip("/\\")) + 1 :].replace(os.sep, "/")
        return ""

    def _absolute(self, path: str) -> str:
        known = path.replace(UNKNOWN, "_")
        return os.path.normpath(os.path.join(self._cwd, os.path.expanduser(known)))  # noqa: PTH111, PTH118


def _kept_by(layout: Layout) -> Sequence[str]:
    from hindbrain.memory.policy.protected import owner_places

    return owner_places(layout)


def _has_glob(part: str) -> bool:
    return any(char in part for char in "*?[")
