"""What the owner can be told of: the events, their figures, and the words for them. Pure.

Figures are counts. What a note says, or how it is called, is never among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from hindbrain.base.plural import plural

if TYPE_CHECKING:
    from hindbrain.index.sync import SyncReport
    from hindbrain.learn.consolidation.consolidator import Consolidated

SYNC_COMPLETE = "sync-complete"
CONSOLIDATED = "consolidated"
EVENTS = (SYNC_COMPLETE, CONSOLIDATED)

Figures: TypeAlias = Mapping[str, int]  # by the name under which they are posted

_PROVIDER = "hindbrain"
_LATEST = ("files",)  # how many there are; all others say how many more, or how much longer
_DONE = ("facts", "superseded", "held", "archived", "stale", "compressed", "changes", "problems")
_WORDS = {  # for one of it, and for more
    "facts": ("new fact", "new facts"),
    "superseded": ("replaced", "replaced"),
    "held": ("waits in the inbox", "wait in the inbox"),
    "archived": ("note archived", "notes archived"),
    "stale": ("unused memory archived", "unused memories archived"),
    "compressed": ("journal compressed", "journals compressed"),
    "problems": ("problem (hindbrain consolidate names it)", "problems (hindbrain consolidate names them)"),
}


def is_address(target: str) -> bool:
    """An address that is posted to; else the name of a channel."""
    return "://" in target


def sync_figures(report: SyncReport, *, files: int, seconds: float) -> Figures:
    """`files`: notes in the index now."""
    return {
        "files": files,
        "modified": report.indexed,
        "deleted": report.removed,
        "durationMs": _milliseconds(seconds),
    }


def consolidation_figures(done: Consolidated) -> Figures:
    """{} when there was nothing to do, and nothing went wrong."""
    counts = (
        done.facts, done.superseded, done.held, done.archived, done.stale, done.compressed,
        done.proof.changes, len(done.problems),
    )  # fmt: skip
    if not any(counts):
        return {}
    return {**dict(zip(_DONE, counts, strict=True)), "durationMs": _milliseconds(done.seconds)}


def joined(before: Figures, after: Figures) -> Figures:
    """Of two events that are told as one."""
    names = dict.fromkeys((*before, *after))
    return {
        name: after.get(name, before.get(name, 0))
        if name in _LATEST
        else before.get(name, 0) + after.get(name, 0)
        for name in names
    }


def payload(
    event: str, figures: Figures, vault: Path, *, times: int, at: float, key: str
) -> dict[str, object]:
    """As it is posted. The shape is a promise: docs/agent.md."""
    return {
        "event": event,
        "id": key,
        "at": datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"),
        "provider": _PROVIDER,
        "vaultPath": str(vault),
        **figures,
        "together": times,
    }


def line(event: str, figures: Figures, vault: Path, *, times: int) -> str:
    """As it is sent to a person."""
    together = f" ({times} times)" if times > 1 else ""
    if event == SYNC_COMPLETE:
        removed = f", {figures['deleted']} removed" if figures.get("deleted") else ""
        taken = f"{plural(figures.get('modified', 0), 'note', 'notes')} taken in{removed}"
        return (
            f"The index of {vault.name!r} is up to date{together}: {taken}, {figures.get('files', 0)} in all."
        )
    done = [plural(figures[name], *words) for name, words in _WORDS.items() if figures.get(name)]
    told = ", ".join(done) or plural(figures.get("changes", 0), "change", "changes")
    return f"The memory of {vault.name!r} was consolidated{together}: {told}."


def _milliseconds(seconds: float) -> int:
    return max(0, round(1e3 * seconds))
