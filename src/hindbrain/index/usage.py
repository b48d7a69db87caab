"""Which notes were opened and which memories shown: rows in the index for ranking, and a log in the vault.

The index may be deleted at any moment; the log (`.hindbrain/usage.jsonl`, written through the vault's writer)
is what a new one is told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.secrets import redact
from hindbrain.index.schema import remove_index
from hindbrain.index.sign_file import SIGN_FILE
from hindbrain.index.writer import IndexWriter
from hindbrain.vault.lock import FileLock

USAGE_LOG = "usage.jsonl"  # in the vault's `.hindbrain` folder

_MAX_LOG_BYTES = 16_000_000  # of the end: what was opened long ago weighs next to nothing
_REBUILD_WAIT_S = 10.0


class Access(NamedTuple):
    """A note that was opened."""

    path: str
    at: float  # seconds since the epoch
    query: str = ""  # that led there
    memories: tuple[str, ...] = ()  # ids of those in it that were shown


def usage_line(access: Access) -> str:
    told = {"at": round(access.at, 3), "path": access.path, "query": redact(access.query)[0]}
    shown = {"memories": list(access.memories)} if access.memories else {}
    return json.dumps({**told, **shown}, ensure_ascii=True)


def read_usage(root: Path) -> list[Access]:
    """What the vault's log tells; lines that make no sense are passed over."""
    try:
        with (root / ".hindbrain" / USAGE_LOG).open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(0, size - _MAX_LOG_BYTES))
            lines = log.read().split(b"\n")
    except OSError:
        return []
    return [access for line in lines if (access := _parsed(line)) is not None]


def log_access(state: Path, rows: Sequence[Access], *, timeout_s: float) -> None:
    """Add rows to the index. Raises Busy when a sync holds it for longer than `timeout_s`."""
    if not rows:
        return
    with _lock(state).held(timeout_s):
        writer = IndexWriter(state / "index.db")
        try:
            with writer.transaction():
                writer.log_access([(row.path, row.at, redact(row.query)[0]) for row in rows])
                writer.log_memory_access([(id_, row.at) for row in rows for id_ in row.memories])
        finally:
            writer.close()


def discard_index(state: Path, *, timeout_s: float = _REBUILD_WAIT_S) -> None:
    """Delete the index, so that the next sync makes it again. No note is touched."""
    with _lock(state).held(timeout_s):
        remove_index(state / "index.db")
        (state / SIGN_FILE).unlink(missing_ok=True)


def _lock(state: Path) -> FileLock:
    return FileLock(state / "index.lock")  # the one that every sync holds


def _parsed(line: bytes) -> Access | None:
    try:
        found = json.loads(line)
        shown = found.get("memories", ())
        ids = tuple(id_ for id_ in shown if isinstance(id_, str)) if isinstance(shown, list) else ()
        return Access(str(found["path"]), float(found["at"]), str(found.get("query", "")), ids)
    except (ValueError, TypeError, LookupError):
        return None
