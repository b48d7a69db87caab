"""Ids that were given out and became part of another memory: whoever asks for them gets that one.

A file in the state folder. Losing it costs only this courtesy, so it is not made durable.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

_NAME = "merged-ids.jsonl"
_MOST_BYTES = 1_000_000  # older ones are forgotten beyond


class MergedIds:
    def __init__(self, state: Path) -> None:
        self._path = state / _NAME

    def add(self, merged: Mapping[str, str]) -> None:
        """`merged`: id that was given out -> id of the memory it is part of."""
        if not merged:
            return
        lines = "".join(json.dumps([gone, kept]) + "\n" for gone, kept in merged.items() if kept)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        try:
            fd = os.open(self._path, flags, 0o600)
            try:
                os.write(fd, lines.encode("ascii"))
            finally:
                os.close(fd)
        except OSError:
            return  # the memory itself is in its note

    def get(self, memory_id: str) -> str:
        """The id of the memory that it is part of now; "" when nothing is known of it."""
        known: dict[str, str] = {}
        try:
            with self._path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - _MOST_BYTES))
                for line in file.read().split(b"\n"):
                    try:
                        gone, kept = json.loads(line)
                        known[str(gone)] = str(kept)
                    except (ValueError, TypeError):
                        continue  # torn, or cut where reading began
        except OSError:
            return ""
        found = ""
        while (memory_id := known.pop(memory_id, "")) != "":
            found = memory_id
        return found
