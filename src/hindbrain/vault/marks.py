"""What tells a note of ours wherever it stands: its `type`, its tag, and the ids at the ends of its lines.

Pure: bytes or text in, values out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hindbrain.vault.frontmatter import read_frontmatter
from hindbrain.vault.note import Property
from hindbrain.vault.parse import decode_note

OWN_TAG = "agent"  # of the notes that a layout begins
_IDS = re.compile(r"(?:^|[ \t])\^([mt]-[0-9A-Za-z-]+)[ \t]*\r?$", re.MULTILINE)


class Marks(NamedTuple):
    type: str = ""
    category: str = ""
    date: str = ""
    ours: bool = False  # it has our tag, or a line with an id of ours
    ids: frozenset[str] = frozenset()  # of memories (m-) and tasks (t-)

    def plays(self, other: Marks) -> bool:
        """Does the note say that it is what `other` describes?"""
        same = (self.type, self.category) == (other.type, other.category)
        return same and (not other.date or self.date == other.date)


def block_ids(text: str) -> frozenset[str]:
    """The ids of memories and tasks that stand at the end of a line."""
    return frozenset(_IDS.findall(text)) if "^" in text else frozenset()


def read_marks(data: bytes) -> Marks:
    text = decode_note(data)[0]
    properties = read_frontmatter(text.replace("\r\n", "\n").split("\n")).properties
    tags = properties.get("tags") or ()
    ids = block_ids(text)
    return Marks(
        _plain(properties.get("type")),
        _plain(properties.get("category")),
        _plain(properties.get("date")),
        bool(ids) or OWN_TAG in ([tags] if isinstance(tags, str) else tags),
        ids,
    )


def _plain(value: Property | None) -> str:
    return value.strip() if isinstance(value, str) else ""
