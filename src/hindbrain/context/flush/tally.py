"""What was kept of a session before there was enough of it for a note.

A conversation is flushed again and again, a memory at a time; its note begins with all of them. One file per
session in the state folder, gone once the note is there. Losing it costs lines of a note and no memory, so it
is not made durable.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.files import append_record, make_folder
from hindbrain.context.flush.notes import Kept, mark_of

if TYPE_CHECKING:
    from hindbrain.context.turn import SessionKey

FOLDER = "flushed"
_MOST = 200  # lines that are read


class Tally:
    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def add(self, session: SessionKey, kept: Sequence[Kept]) -> list[Kept]:
        """Note these down; returns all of the session's, each once."""
        before = self._read(session)
        new = [one for one in dict.fromkeys(kept) if one not in before]
        if new:
            lines = "".join(json.dumps([*one]) + "\n" for one in new)
            with contextlib.suppress(OSError):
                make_folder(self._folder)
                append_record(self._path(session), lines.encode("ascii"), durable=False)
        return [*before, *new]

    def clear(self, session: SessionKey) -> None:
        with contextlib.suppress(OSError):
            self._path(session).unlink(missing_ok=True)

    def _read(self, session: SessionKey) -> list[Kept]:
        found: list[Kept] = []
        with contextlib.suppress(OSError):
            for line in self._path(session).read_bytes().split(b"\n")[:_MOST]:
                with contextlib.suppress(ValueError, TypeError):  # torn, or not ours
                    text, category = json.loads(line)
                    found.append(Kept(str(text), str(category)))
        return found

    def _path(self, session: SessionKey) -> Path:
        return self._folder / f"{mark_of(session)}.jsonl"
