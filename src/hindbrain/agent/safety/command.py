"""A command as it would be run: its words, the file of its program, and the folder. Looks at the disk."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.agent.safety.argv import (
    check_words,
    find_program,
    is_inside,
    may_be_inside,
    search_folders,
    shown_words,
    unusual_letters,
)
from hindbrain.base.errors import NotFound, UnsafePath, UsageError


class Command(NamedTuple):
    argv: tuple[str, ...]
    program: str  # the file that argv[0] means, absolute
    cwd: str  # real path
    folders: tuple[str, ...]  # where programs without a folder are looked for
    workspace: str  # real path

    def shown(self) -> str:
        """For the person who approves it: the words, and whatever they do not tell."""
        lines = [shown_words(self.argv)]
        if self.program != self.argv[0]:
            lines.append(f"program: {shown_words((self.program,))}")
        lines.append(f"folder:  {shown_words((self.cwd,))}")
        if unusual := unusual_letters(self.argv):
            lines.append(f"letters that may look like others: {unusual}")
        return "\n".join(lines)

    def reaches(self, folders: Sequence[str]) -> bool:
        """Does a word lead into one of these folders (real paths), hold one, or name one?"""
        if any(is_inside(self.cwd, folder) for folder in folders):
            return True
        for word in self.argv:
            if any(folder.casefold() in word.casefold() for folder in folders):
                return True
            parts = {word, word.partition("=")[2], word.lstrip("-@"), word[2:]} - {""}
            if any(self._meets(self._place(part), folder) for part in parts for folder in folders):
                return True
        return False

    def _meets(self, place: str, folder: str) -> bool:
        """Does the place lie in the folder, or hold it, as something in the workspace that could be moved?"""
        holds = may_be_inside(folder, place) and not may_be_inside(self.workspace, place)
        return bool(place) and (may_be_inside(place, folder) or holds)

    def _place(self, word: str) -> str:
        try:
            return os.path.realpath(os.path.join(self.cwd, os.path.expanduser(word)))  # noqa: PTH111, PTH118
        except (OSError, ValueError):  # too long for a path
            return ""


class ShellPlace(NamedTuple):
    """Where commands run, and where their programs are looked for."""

    workspace: str  # real path
    folders: tuple[str, ...]

    def command(self, argv: Sequence[str], cwd: str = "") -> Command:
        """What would be run. UsageError, UnsafePath, NotFound tell the model what to mend."""
        words = check_words(argv)
        folder = self._folder(cwd)
        program = find_program(words[0], self.folders, folder)
        if not program:
            raise NotFound(
                f"there is no program {words[0]!r}; shell words such as cd, export or && do not exist here: "
                "give a program that is installed, or its path"
            )
        return Command(words, program, folder, self.folders, self.workspace)

    def _folder(self, cwd: str) -> str:
        if "\0" in cwd:
            raise UsageError("the folder holds a NUL character; send a path")
        found = os.path.realpath(os.path.join(self.workspace, cwd))  # noqa: PTH118
        if not is_inside(found, self.workspace):
            raise UnsafePath(f"the folder {cwd!r} lies outside the workspace {self.workspace!r}; stay in it")
        if not Path(found).is_dir():
            raise NotFound(f"there is no folder {cwd!r} in the workspace {self.workspace!r}")
        return found


def shell_place(workspace: Path, path: str) -> ShellPlace:
    """`path`: the PATH of the program that runs the agent."""
    return ShellPlace(os.path.realpath(workspace), search_folders(path, workspace))
