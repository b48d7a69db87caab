"""Ids that were given out and became part of another memory: whoever asks for them gets that one.

A file in the state folder. Losing it costs only this courtesy, so it is not made durable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from hindbrain.base.files import append_record

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
        try:
            append_record(self._path, lines.encode("ascii"), durable=False)
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
