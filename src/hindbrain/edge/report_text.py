"""A sync report in words and as JSON: what was done, and what could not be, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.output import safe

if TYPE_CHECKING:
    from hindbrain.index.sync import SyncReport

_SHOWN = 8  # of a long list; `hindbrain status` shows all
_SUSPICIONS = {
    "empty": "the folder is empty though the index knows notes of it; is its disk mounted?",
    "not_the_vault": "this is another vault than the one that was indexed here; is its disk mounted?",
    "unreadable": "the folder can't be read",
}


def summary(report: SyncReport, took: str) -> str:
    """One line: what a sync did."""
    parts = [f"{plural(report.files, 'note')}: {report.indexed} indexed, {report.unchanged} unchanged"]
    if report.removed:
        parts[0] += f", {report.removed} removed"
    if report.embedded:
        parts.append(f"{plural(report.embedded, 'passage')} embedded")
    left_out = len(report.skipped) + sum(item.notes for item in report.left_out)
    if left_out:
        parts.append(f"{left_out} left out (hindbrain status)")
    if too_long := sum(item.reason == "too_many_passages" for item in report.noticed):
        parts.append(f"{too_long} too long to be found in detail (hindbrain status)")
    return f"{'; '.join(parts)}; {took}"


def troubles(report: SyncReport) -> list[str]:
    """Why the index does not say all that the vault says, each with what to do."""
    found = [f"{safe(item.path)}: {safe(item.message)}  ({item.code})" for item in report.failed[:_SHOWN]]
    if len(report.failed) > _SHOWN:
        found.append(
            f"and {plural(len(report.failed) - _SHOWN, 'more note')} failed; hindbrain status lists them"
        )
    if report.suspicious:
        why = _SUSPICIONS.get(report.suspicious, report.suspicious)
        found.append(f"nothing was changed: {why}  ({report.suspicious})")
    if report.missing.frozen:
        found.append(
            f"{plural(len(report.missing.deleted), 'note is', 'notes are')} missing "
            f"({_some(report.missing.deleted)}); they stay in the index. "
            "If you deleted them: hindbrain sync --yes  (brake)"
        )
    if report.missing.unseen:
        found.append(
            f"{plural(len(report.missing.unseen), 'note')} could not be looked at "
            f"({_some(report.missing.unseen)}); kept as they were  (unseen)"
        )
    if report.embedder_error:
        found.append(
            f"{plural(report.pending, 'passage waits', 'passages wait')} for vectors: "
            f"{report.embedder_error}; keyword search works  ({report.embedder_code})"
        )
    return found


def report_data(report: SyncReport) -> dict[str, Any]:
    return {
        "clean": report.clean,
        "notes": report.files,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "embedded": report.embedded,
        "pending": report.pending,
        "embedder_error": report.embedder_error,
        "embedder_code": report.embedder_code,
        "suspicious": report.suspicious,
        "failed": [{"path": item.path, "code": item.code, "message": item.message} for item in report.failed],
        "skipped": [
            {"path": item.path, "reason": item.reason, "detail": item.detail} for item in report.skipped
        ],
        "noticed": [
            {"path": item.path, "reason": item.reason, "detail": item.detail} for item in report.noticed
        ],
        "left_out": [{"path": item.path, "rule": item.rule, "notes": item.notes} for item in report.left_out],
        "attachments": dict(report.attachments),
        "missing": {
            "frozen": report.missing.frozen,
            "deleted": list(report.missing.deleted),
            "unseen": list(report.missing.unseen),
        },
    }


def _some(paths: Sequence[str]) -> str:
    return ", ".join(map(safe, paths[:3])) + (", ..." if len(paths) > 3 else "")
