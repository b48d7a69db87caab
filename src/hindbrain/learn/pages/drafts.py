"""A notebook whose changes are only thought of: for a dry run, which shows them as a diff."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.learn.pages.desk import Desk
from hindbrain.memory.notes.notebook import Page
from hindbrain.memory.notes.own_lines import OwnLines
from hindbrain.vault.hashing import ABSENT, content_hash
from hindbrain.vault.parse import decode_note
from hindbrain.vault.path_rules import check_existing_path
from hindbrain.vault.write import Written

if TYPE_CHECKING:
    from hindbrain.memory.notes.notebook import Change


class DraftNotes:
    """Reads what is there, and what was drafted over it; writes nothing."""

    def __init__(self, find: Callable[[str], Page | None]) -> None:
        self._find = find
        self._before: dict[str, bytes | None] = {}
        self._after: dict[str, bytes | None] = {}
        self.said: list[str] = []  # what would happen besides changes of notes, a line each

    def find(self, path: str) -> Page | None:
        if path not in self._after:
            return self._find(path)
        data = self._after[path]
        return None if data is None else Page(check_existing_path(path), data, content_hash(data))

    def edit(self, path: str, change: Change) -> Written | None:
        data = change(self.find(path))
        return None if data is None else self._put(path, data)

    def delete(self, path: str, *, expected_hash: str) -> Written:  # noqa: ARG002
        return self._put(path, None)

    def say(self, line: str) -> None:
        """Let the diff tell of something that is no change of a note: "+ remember: ..."."""
        if line not in self.said:
            self.said.append(line)

    def diff(self) -> str:
        """What would change, as `diff -u` shows it, a note that moves in one line; "" when nothing would."""
        moved = self._moves()
        parts = [*self.said, *(f"rename {old} -> {new}" for old, new in sorted(moved.items()))]
        quiet = {*moved, *moved.values()}
        for path, after in sorted(self._after.items()):
            before = self._before[path]
            if before != after and path not in quiet:
                parts += difflib.unified_diff(
                    _lines(before), _lines(after), f"a/{path}" if before is not None else "/dev/null",
                    f"b/{path}" if after is not None else "/dev/null", lineterm="",
                )  # fmt: skip
        return "\n".join(parts)

    def changed(self) -> list[str]:
        """The notes that would change, sorted."""
        return sorted(path for path, after in self._after.items() if after != self._before[path])

    def _moves(self) -> dict[str, str]:
        """Old path -> new path, of the notes that would only get another place."""
        new = {
            after: path for path, after in sorted(self._after.items()) if after and self._before[path] is None
        }
        found: dict[str, str] = {}
        for path, after in sorted(self._after.items()):
            before = self._before[path]
            if after is None and before and (to := new.pop(before, "")):
                found[path] = to
        return found

    def _put(self, path: str, data: bytes | None) -> Written:
        if path not in self._before:
            page = self._find(path)
            self._before[path] = None if page is None else page.data
        self._after[path] = data
        return Written(check_existing_path(path), ABSENT if data is None else content_hash(data), "", False)


def draft_of(desk: Desk) -> Desk:
    """The same desk for a dry run: its notes are drafts, and nothing is written down as ours."""
    own = OwnLines(desk.root, lambda _name, _line: None)
    return Desk(desk.root, DraftNotes(desk.notes.find), desk.layout, own, desk.today)


def drafts_on(desk: Desk) -> DraftNotes | None:
    """The drafts beneath a desk; None when it is no dry run."""
    return desk.notes if isinstance(desk.notes, DraftNotes) else None


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else decode_note(data)[0].splitlines()
