"""Runs and facts of a time as lines of a pack: what fits, the newest first, shown in the order of time.

Where not all fits, answers give way to more runs: what was done is told before what came of it. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hindbrain.context.packs.attribution import Quoted, attribution
from hindbrain.context.packs.note_lines import line_key
from hindbrain.context.packs.pack import Excerpt
from hindbrain.memory.timeline import entry_text, nothing_text

if TYPE_CHECKING:
    from hindbrain.context.packs.note_lines import Room
    from hindbrain.memory.answers import Happening, Timeline


def time_lines(entries: Sequence[Happening], room: Room, why: str, *, recent: bool = False) -> list[Excerpt]:
    """Those that there is room for, the last ones before the others, in their order. Not what stands
    elsewhere."""
    kept: list[Excerpt] = []
    full: list[Excerpt] = []
    heads: set[tuple[str, str]] = set()
    for at in range(len(entries) - 1, -1, -1):
        entry = entries[at]
        whole = _excerpt(entry, why, recent)._replace(score=(at + 1) / len(entries))
        if not room.held.isdisjoint(whole.keys):
            continue
        short = whole._replace(text=_text(entry._replace(answer=""), recent))
        head = (entry.path, entry.source)
        new = [] if head in heads else [attribution(Quoted((whole,)))]
        if not room.pay((*new, short.text)):
            break
        heads.add(head)
        kept.append(short)
        full.append(whole)
    for at, (short, whole) in enumerate(zip(kept, full, strict=True)):
        if short.text != whole.text and room.pay_more(short.text, whole.text):
            kept[at] = whole
    return kept[::-1]


def recent_lines(runs: Sequence[Happening], room: Room, path: str) -> list[Excerpt]:
    """Runs of the last days as lines of one note, each with its day: `- Thu 12 Nov 16:30 deploy (done)`."""
    moved = [run._replace(path=path) for run in runs]
    lines = time_lines(moved, room, "latest", recent=True)
    return [one._replace(first_line=0, last_line=0) for one in lines]


def nothing(timeline: Timeline) -> Excerpt:
    """Says plainly that nothing is known, so that nobody guesses."""
    return Excerpt("", "", nothing_text(timeline), source="agent", confidence=1.0, why=timeline.label)


def _excerpt(entry: Happening, why: str, recent: bool) -> Excerpt:
    if entry.kind in ("decision", "memory"):
        key = line_key(entry.path, entry.text)
    else:
        key = line_key("", f"{entry.day} {entry.time} {entry.text}")
    return Excerpt(
        entry.path, "", _text(entry, recent), first_line=entry.line, last_line=entry.line,
        source=entry.source, grade="line", confidence=1.0, why=why, keys=(key,),
    )  # fmt: skip


def _text(entry: Happening, recent: bool) -> str:
    return f"- {entry_text(entry, in_note=True, recent=recent)}"
