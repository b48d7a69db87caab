"""A notebook whose changes are only thought of: for a dry run, which shows them as a diff."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.memory.notes.notebook import Page
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

    def diff(self) -> str:
        """What would change, as `diff -u` shows it; "" when nothing would."""
        parts: list[str] = []
        for path, after in sorted(self._after.items()):
            before = self._before[path]
            if before != after:
                parts += difflib.unified_diff(
                    _lines(before), _lines(after), f"a/{path}" if before is not None else "/dev/null",
                    f"b/{path}" if after is not None else "/dev/null", lineterm="",
                )  # fmt: skip
        return "\n".join(parts)

    def changed(self) -> list[str]:
        """The notes that would change, sorted."""
        return sorted(path for path, after in self._after.items() if after != self._before[path])

    def _put(self, path: str, data: bytes | None) -> Written:
        if path not in self._before:
            page = self._find(path)
            self._before[path] = None if page is None else page.data
        self._after[path] = data
        return Written(check_existing_path(path), ABSENT if data is None else content_hash(data), "", False)


def _lines(data: bytes | None) -> list[str]:
    return [] if data is None else decode_note(data)[0].splitlines()
