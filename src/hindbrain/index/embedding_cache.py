"""Vectors by the text that they were made of, for embedders that cost money or time.

A file of its own beside the index, so that an index that is made again costs no request. Bounded: the vectors
that were not asked for the longest go first. Derived data: what goes wrong here costs vectors, never a sync.
For one process at a time, which holds the index's lock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import apsw

from hindbrain.base.files import create_empty
from hindbrain.index.schema import remove_index

CACHE_FILE = "embeddings.db"  # of passages, in the state folder
MEMORY_FILE = "memory-vectors.db"  # of memories, by the encoder
MOST_BYTES = 1_000_000_000
_KEPT_SHARE = 0.9  # of the bound, after something was evicted
_EVICTED_PART = 16  # of the rows, at a time


class EmbeddingCache:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = _opened(path)

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    def get(self, model: str, hashes: Sequence[bytes], now_ns: int) -> dict[bytes, bytes]:
        """Return the codes that are known, by the hash of their text. They count as used now."""
        if self._db is None:
            return {}
        found: dict[bytes, bytes] = {}
        try:
            with self._db:
                for digest in dict.fromkeys(hashes):
                    sql = "UPDATE vector SET used_ns = ? WHERE model = ? AND text_hash = ? RETURNING codes"
                    for (codes,) in self._db.execute(sql, (now_ns, model, digest)).fetchall():
                        assert isinstance(codes, bytes)
                        found[digest] = codes
        except apsw.Error:
            self._give_up()
        return found

    def put(self, model: str, rows: Iterable[tuple[bytes, bytes]], now_ns: int) -> None:
        """Keep codes by the hash of their text, and let the least recently used go beyond the bound."""
        if self._db is None:
            return
        try:
            with self._db:
                self._db.executemany(
                    "INSERT OR REPLACE INTO vector (model, text_hash, codes, used_ns) VALUES (?, ?, ?, ?)",
                    ((model, digest, codes, now_ns) for digest, codes in rows),
                )
            if self._used_bytes() > MOST_BYTES:
                self._evict(int(_KEPT_SHARE * MOST_BYTES))
        except apsw.Error:
            self._give_up()

    def _evict(self, bytes_kept: int) -> None:
        assert self._db is not None
        sql = "DELETE FROM vector WHERE id IN (SELECT id FROM vector ORDER BY used_ns, id LIMIT ?)"
        rows = int(self._db.execute("SELECT count(*) FROM vector").get)
        while rows > 0 and self._used_bytes() > bytes_kept:
            evicted = max(1, rows // _EVICTED_PART)
            with self._db:
                self._db.execute(sql, (evicted,))
            rows -= evicted

    def _used_bytes(self) -> int:
        assert self._db is not None
        pages, free, size = (
            int(self._db.pragma(name)) for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size

    def _give_up(self) -> None:
        """Go on without: a full disk, or a file that was damaged."""
        if self._db is not None:
            self._db.close()
        self._db = None


def count_kept(path: Path, model: str, hashes: Sequence[bytes]) -> int:
    """Return of how many texts the file has the vectors. Changes nothing; what can't be read counts none."""
    if not path.exists():
        return 0
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            kept = {row[0] for row in db.execute("SELECT text_hash FROM vector WHERE model = ?", (model,))}
        finally:
            db.close()
    except apsw.Error:
        return 0
    return sum(digest in kept for digest in hashes)


def _opened(path: Path) -> apsw.Connection | None:
    for _ in range(2):
        try:
            create_empty(path)  # SQLite would make it readable by others
            db = apsw.Connection(str(path))
            db.set_busy_timeout(1_000)
            db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            db.execute(
                """
                CREATE TABLE IF NOT EXISTS vector (
                    id INTEGER PRIMARY KEY, model TEXT NOT NULL, text_hash BLOB NOT NULL,
                    codes BLOB NOT NULL, used_ns INTEGER NOT NULL, UNIQUE (model, text_hash)
                ) STRICT;
                CREATE INDEX IF NOT EXISTS vector_used ON vector (used_ns)
                """
            )
            return db
        except (apsw.NotADBError, apsw.CorruptError):
            remove_index(path)
        except (apsw.Error, OSError):
            return None
    return None
