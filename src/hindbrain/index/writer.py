"""The one writer of an index: note records and vectors in, rows out.

Knows SQL and nothing of files or embedders. The caller holds the writer's lock and decides about transactions
(`with writer.transaction():`); what is inside one is in the index wholly or not at all.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import apsw

from hindbrain.base.segment import searchable
from hindbrain.index.names import link_key
from hindbrain.index.plan import KnownNote
from hindbrain.index.record import NoteRecord
from hindbrain.index.schema import as_fault, open_writer
from hindbrain.index.store import known_notes, unpack_text
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.scan_result import FileStamp

# Free numbers between the passages of two notes. Neighbours are looked for within this reach by number alone,
# so no passage ever takes its neighbour's words from another note.
NOTE_GAP = 3
_MAX_INTEGER = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that has no vector yet."""

    passage_id: int
    note_id: int
    start: int
    stop: int
    heading: str


class IndexWriter:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_writer(path)

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Do everything inside or nothing; a change of what readers see gets a new generation."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._db.execute(
                    "INSERT INTO meta VALUES ('generation', 1) ON CONFLICT DO UPDATE SET value = value + 1"
                )
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except apsw.Error as error:
            raise as_fault(error, self.path) from error

    def set_meta(self, values: Mapping[str, str | int | float]) -> None:
        self._db.executemany(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", values.items()
        )

    def put_note(self, record: NoteRecord, stamp: FileStamp, digest: str, now_ns: int) -> None:
        """Put a note in the place of what was known under its path."""
        self.remove_note(record.path)
        first = self._next_passage()
        self._db.execute(
            "INSERT INTO note (path, filename, name, title, tags, aliases, headers, para_category, para_area,"
            " summary, type, date, importance, mtime_ns, size, inode, dev, ctime_ns, hash, indexed_ns,"
            " problems, first_passage, passages)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.path, record.filename, record.name, record.title, "\n".join(record.tags),
                "\n".join(record.aliases), record.headers, record.para_category, record.para_area,
                record.summary, record.type, record.date, record.importance, _bounded(stamp.mtime_ns),
                stamp.size, _signed(stamp.inode), _signed(stamp.dev), _bounded(stamp.ctime_ns), digest,
                now_ns, record.problems, first, len(record.passages),
            ),
        )  # fmt: skip
        note_id = self._db.last_insert_rowid()
        self._put_parts(note_id, record)
        self._put_passages(note_id, first, record)
        self._put_memories(note_id, first, record)
        self._db.execute(
            "INSERT INTO meta VALUES ('next_passage', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (first + len(record.passages) + NOTE_GAP,),
        )

    def restamp(self, path: str, stamp: FileStamp, now_ns: int) -> None:
        """Note that a file was looked at and still has the bytes we know."""
        self._db.execute(
            "UPDATE note SET mtime_ns = ?, size = ?, inode = ?, dev = ?, ctime_ns = ?, indexed_ns = ?"
            " WHERE path = ?",
            (
                _bounded(stamp.mtime_ns), stamp.size, _signed(stamp.inode), _signed(stamp.dev),
                _bounded(stamp.ctime_ns), now_ns, path,
            ),
        )  # fmt: skip

    def outdate(self, paths: Iterable[str]) -> None:
        """Let the next sync take these notes anew, whatever their stamps say."""
        self._db.executemany(
            "UPDATE note SET hash = '', indexed_ns = 0 WHERE path = ?", ((path,) for path in paths)
        )

    def remove_note(self, path: str) -> bool:
        """Take a note out of the index, with all that was made of it. False when it was not there."""
        rows: list[tuple[int, int, int]] = self._db.execute(
            "SELECT id, first_passage, passages FROM note WHERE path = ?", (path,)
        ).fetchall()  # type: ignore[assignment]  # what STRICT columns hold
        for note_id, first, count in rows:
            span = (first, first + count - 1)
            self._db.execute("DELETE FROM passage_fts WHERE rowid BETWEEN ? AND ?", span)
            self._db.execute("DELETE FROM vector WHERE passage_id BETWEEN ? AND ?", span)
            self._count_vectors(-self._db.changes())
            self._db.execute("DELETE FROM passage WHERE id BETWEEN ? AND ?", span)
            self._db.execute("DELETE FROM note_fts WHERE rowid = ?", (note_id,))
            self._db.execute("DELETE FROM memory_passage WHERE passage_id BETWEEN ? AND ?", span)
            for table in ("note_text", "name", "tag", "link", "origin", "block", "memory", "memory_tag"):
                self._db.execute(f"DELETE FROM {table} WHERE note_id = ?", (note_id,))
            self._db.execute("DELETE FROM note WHERE id = ?", (note_id,))
        return bool(rows)

    def put_vectors(self, rows: Sequence[tuple[int, bytes]]) -> None:
        """Rows of (passage id, codes), in the order in which `pending` gave the passages."""
        before = self._db.total_changes()
        self._db.executemany("INSERT OR IGNORE INTO vector VALUES (?, ?)", rows)
        self._count_vectors(self._db.total_changes() - before)
        if rows:
            self.set_meta({"embedded_up_to": rows[-1][0]})

    def drop_vectors(self) -> None:
        self._db.execute("DELETE FROM vector")
        # What was derived from them elsewhere belongs to another epoch from now on.
        epoch = int.from_bytes(os.urandom(7), "big")
        self.set_meta({"vectors": 0, "embedded_up_to": 0, "vector_epoch": epoch})

    def vectors_after(self, passage_id: int) -> Iterator[tuple[int, bytes]]:
        sql = "SELECT passage_id, codes FROM vector WHERE passage_id > ? ORDER BY passage_id"
        yield from self._db.execute(sql, (passage_id,))

    def pending(self, limit: int) -> Iterator[list[Pending]]:
        """Yield the passages without a vector, by number, at most `limit` at a time."""
        # Vectors are made in the order of the passages, and new passages get higher numbers: what lies below
        # the mark need not be looked through again.
        after = int(self.meta("embedded_up_to") or 0)
        sql = (
            "SELECT p.id, p.note_id, p.start, p.stop, p.heading"
            " FROM passage p LEFT JOIN vector v ON v.passage_id = p.id"
            " WHERE v.passage_id IS NULL AND p.id > ? ORDER BY p.id LIMIT ?"
        )
        while batch := [Pending(*row) for row in self._db.execute(sql, (after, limit))]:
            after = batch[-1].passage_id
            yield batch

    def pending_count(self) -> int:
        total = self._db.execute("SELECT coalesce(sum(passages), 0) FROM note").get
        return int(total) - int(self.meta("vectors") or 0)

    def _count_vectors(self, change: int) -> None:
        """Keep count: counting the rows would read through all of them."""
        self._db.execute(
            "INSERT INTO meta VALUES ('vectors', ?1) ON CONFLICT DO UPDATE SET value = value + ?1", (change,)
        )

    def texts(self, note_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the title and the text of each note."""
        found = {}
        for note_id in note_ids:
            row = self._db.execute(
                "SELECT title, data FROM note JOIN note_text ON note_id = id WHERE id = ?", (note_id,)
            ).fetchone()
            if row:
                found[note_id] = (row[0], unpack_text(row[1]))
        return found

    def put_report(self, rows: Iterable[tuple[str, str, str]]) -> None:
        """Replace the report of the last sync: (path, code, detail)."""
        self._db.execute("DELETE FROM report")
        self._db.executemany("INSERT OR REPLACE INTO report VALUES (?, ?, ?)", rows)

    def log_access(self, rows: Iterable[tuple[str, float, str]]) -> None:
        """Rows of (path, seconds since the epoch, query)."""
        self._db.executemany("INSERT INTO access_log (path, at, query) VALUES (?, ?, ?)", rows)

    def log_memory_access(self, rows: Iterable[tuple[str, float]]) -> None:
        """Rows of (id of a memory, seconds since the epoch)."""
        self._db.executemany("INSERT INTO memory_access VALUES (?, ?)", rows)

    def settle(self) -> None:
        """After much was written: merge the full-text segments and fold the log into the file."""
        self._db.execute("INSERT INTO passage_fts(passage_fts) VALUES ('optimize')")
        self._db.execute("INSERT INTO note_fts(note_fts) VALUES ('optimize')")
        self._db.execute("PRAGMA optimize")
        self.checkpoint()

    def checkpoint(self) -> None:
        with contextlib.suppress(apsw.BusyError, apsw.LockedError):
            self._db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def known_notes(self) -> dict[NotePath, KnownNote]:
        return known_notes(self._db)

    def notes_with_more(self, passages: int) -> list[NotePath]:
        """The notes that have more passages than that."""
        return [path for (path,) in self._db.execute("SELECT path FROM note WHERE passages > ?", (passages,))]

    def known_note(self, path: str) -> KnownNote | None:
        return next(iter(known_notes(self._db, path).values()), None)

    def meta(self, key: str) -> str | int | float | None:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def _next_passage(self) -> int:
        row = self._db.execute("SELECT value FROM meta WHERE key = 'next_passage'").fetchone()
        return int(row[0]) if row else NOTE_GAP + 1

    def _put_parts(self, note_id: int, record: NoteRecord) -> None:
        self._db.execute("INSERT INTO note_text VALUES (?, ?)", (note_id, record.text))
        self._db.execute(
            "INSERT INTO note_fts (rowid, filename, title, aliases, tags, headers, para_area, summary, date)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (note_id, *record.fields),
        )
        if record.origin:
            self._db.execute("INSERT INTO origin VALUES (?, ?)", (note_id, record.origin))
        self._db.executemany("INSERT INTO block VALUES (?, ?)", ((id_, note_id) for id_ in record.blocks))
        self._db.executemany("INSERT INTO name VALUES (?, ?)", ((name, note_id) for name in record.names))
        self._db.executemany(
            "INSERT OR IGNORE INTO tag VALUES (?, ?)", ((tag.casefold(), note_id) for tag in record.tags)
        )
        self._db.executemany(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    note_id,
                    at,
                    ln.target,
                    link_key(ln.target),
                    ln.heading,
                    ln.block,
                    ln.alias,
                    int(ln.embed),
                    ln.line,
                )
                for at, ln in enumerate(record.links)
            ),
        )

    def _put_passages(self, note_id: int, first: int, record: NoteRecord) -> None:
        self._db.executemany(
            "INSERT INTO passage VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    first + at,
                    note_id,
                    p.uid,
                    p.start,
                    p.stop,
                    p.first_line,
                    p.last_line,
                    p.heading,
                    p.text_hash,
                )
                for at, p in enumerate(record.passages)
            ),
        )
        self._db.executemany(
            "INSERT INTO passage_fts (rowid, text) VALUES (?, ?)",
            ((first + at, searchable(p.text)) for at, p in enumerate(record.passages)),
        )

    def _put_memories(self, note_id: int, first: int, record: NoteRecord) -> None:
        self._db.executemany(
            "INSERT INTO memory VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    note_id, m.line, m.id, m.kind, m.created, m.importance, m.source, "\n".join(m.tags),
                    "\n".join(m.cues), m.day, m.state,
                )
                for m in record.memories
            ),
        )  # fmt: skip
        self._db.executemany(
            "INSERT INTO memory_passage VALUES (?, ?, ?)",
            ((first + at, note_id, m.line) for m in record.memories for at in m.passages),
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO memory_tag VALUES (?, ?, ?)",
            (
                (tag.casefold(), note_id, m.line)
                for m in record.memories
                for tag in (*m.tags, *record.own_tags)
            ),
        )


def _signed(number: int) -> int:
    """SQLite's integers are signed; some file systems number inodes beyond that."""
    return number - (1 << 64) if number >= 1 << 63 else number


def _bounded(mtime_ns: int) -> int:
    """A time beyond the year 2262 does not fit; such a file is read again at each sync: no harm."""
    return max(-_MAX_INTEGER - 1, min(_MAX_INTEGER, mtime_ns))
