"""What memory entered a prompt, under the ids that learning counts by: `^m-...`, `^l-...`, or a note's path.

Pure. A pack tells it at once; what a host's conversation was given is told by the session's ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hindbrain.context.packs.pack import Pack
    from hindbrain.vault.items.item import MemoryItem


class Shown(NamedTuple):
    """A run of lines of one note that stood in a prompt."""

    path: str
    first_line: int
    last_line: int
    ids: tuple[str, ...] = ()  # of its passages; of what was learned, the id itself


def shown_in(pack: Pack) -> list[Shown]:
    return [Shown(one.path, one.first_line, one.last_line, one.passages) for one in pack.excerpts if one.path]


def items_of(shown: Iterable[Shown], items: Sequence[MemoryItem]) -> tuple[str, ...]:
    """The ids, each once. `items`: all memories, as their notes say now."""
    by_path: dict[str, list[MemoryItem]] = {}
    for item in items:
        by_path.setdefault(item.path, []).append(item)
    found: dict[str, None] = {}
    for one in shown:
        memories = [
            f"^{item.id}"
            for item in by_path.get(one.path, ())
            if one.first_line <= item.line <= one.last_line
        ]
        learned = [given for given in one.ids if given.startswith("^") or given == one.path]
        found.update(dict.fromkeys(learned or memories or [one.path]))
    return tuple(found)
