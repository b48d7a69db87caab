"""Which notes were opened: rows in the index for ranking, and a log in the vault that outlives the index.

The index may be deleted at any moment; the log (`.hindbrain/usage.jsonl`, written through the vault's writer)
is what a new one is told.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from hindbrain.base.secrets import redact
from hindbrain.index.schema import remove_index
from hindbrain.index.sign_file import SIGN_FILE
from hindbrain.index.writer import IndexWriter
from hindbrain.vault.lock import FileLock

USAGE_LOG = "usage.jsonl"  # in the vault's `.hindbrain` folder
Access = tuple[str, float, str]  # path, seconds since the epoch, the query that led there or ""

_MAX_LOG_BYTES = 16_000_000  # of the end: what was opened long ago weighs next to nothing
_REBUILD_WAIT_S = 10.0


def usage_line(access: Access) -> str:
    path, at, query = access
    query = redact(query)[0]
    return json.dumps({"at": round(at, 3), "path": path, "query": query}, ensure_ascii=True)


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
                writer.log_access([(path, at, redact(query)[0]) for path, at, query in rows])
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
        return str(found["path"]), float(found["at"]), str(found.get("query", ""))
    except (ValueError, TypeError, LookupError):
        return None
