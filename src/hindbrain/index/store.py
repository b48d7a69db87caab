"""What can be asked of an index: plain SQL in, values out. Reads only.

Knows nothing of ranking. One connection for one thread; a warm process keeps one per thread.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import apsw

from hindbrain.index.schema import as_fault, damaged, open_reader

if TYPE_CHECKING:
    from hindbrain.index.plan import KnownNote
    from hindbrain.vault.path_rules import NotePath

Value = str | int | float


# Rows are named tuples: a search reads hundreds, and a frozen dataclass takes six times as long to make.


class PassageInfo(NamedTuple):
    """Where a passage stands."""

    id: int
    note_id: int
    uid: int
    start: int
    stop: int
    first_line: int
    last_line: int
    heading: str
    text_hash: bytes


class NoteInfo(NamedTuple):
    """What ranking and filters know of a note."""

    id: int
    path: str
    name: str  # as its owner calls it
    title: str
    tags: str  # one per line
    para_category: str
    para_area: str
    type: str
    date: str  # YYYY-MM-DD, or ""
    importance: float | None
    mtime_ns: int
    first_passage: int
    passages: int


class MemoryInfo(NamedTuple):
    """A line with the id of a memory."""

    note_id: int
    line: int
    id: str
    kind: str
    created: str  # its own day, YYYY-MM-DD, or ""
    importance: float
    source: str
    tags: str  # its own, one per line
    cues: str  # one per line
    day: str  # the daily note that tells it, as it is linked; or ""
    state: str  # live, superseded or archived


_NOTE_COLUMNS = (
    "id, path, name, title, tags, para_category, para_area, type, date, importance, mtime_ns,"
    " first_passage, passages"
)
_PASSAGE_COLUMNS = "id, note_id, uid, start, stop, first_line, last_line, heading, text_hash"
_NOTE_TYPES = frozenset(
    (int, str, str, str, str, str, str, str, str, importance, int, int, int)
    for importance in (float, type(None))
)
_MEMORY_TYPES = frozenset([(int, int, int, str, str, str, float, str, str, str, str, str)])
_PASSAGE_TYPES = frozenset([(int, int, int, int, int, int, int, str, bytes)])


class IndexStore:
    def __init__(self, path: Path, vault_ids: Collection[str] = ()) -> None:
        """`vault_ids`: the ids that the vault has; () does not look.

        SQLite takes the log of another index, put beside this one by a backup or a sync tool, without a word:
        then another vault would answer.
        """
        self.path = path
        self._opened = _identity(path)
        self._db = open_reader(path)
        self._log = _identity(_log_of(path))
        if vault_ids and self.meta("vault_id") not in (*vault_ids, None):
            self._db.close()
            raise damaged(ValueError("it holds another vault"), path)

    def close(self) -> None:
        self._db.close()

    def was_replaced(self) -> bool:
        """Is the file at our path another one by now, or gone? Then this store answers from the past."""
        return _identity(self.path) != self._opened

    def lost_log(self) -> bool:
        """Was the write-ahead log taken away under us? SQLite never does so while we have the index open.

        What was committed and not yet folded into the file is gone, and this process would mix logs.
        """
        now = _identity(_log_of(self.path))
        if self._log == (0, 0):
            self._log = now
        return now != self._log

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment, whatever a sync writes meanwhile."""
        self._all("BEGIN")
        try:
            yield
        finally:
            self._all("COMMIT")

    def meta(self, key: str) -> Value | None:
        row = self._one("SELECT value FROM meta WHERE key = ?", (key,))
        return row[0] if row else None

    def all_meta(self) -> dict[str, Value]:
        return dict(self._all("SELECT key, value FROM meta"))

    def generation(self) -> int:
        """A number that changes whenever the index does."""
        return int(self.meta("generation") or 0)

    def passage_count(self) -> int:
        return int(self._one("SELECT coalesce(sum(passages), 0) FROM note")[0])

    def sizes(self) -> tuple[int, int]:
        """Return how many passages and notes there are."""
        row = self._one("SELECT coalesce(sum(passages), 0), count(*) FROM note")
        return int(row[0]), int(row[1])

    def note_count(self) -> int:
        return int(self._one("SELECT count(*) FROM note")[0])

    def vector_count(self) -> int:
        return int(self.meta("vectors") or 0)

    def known_notes(self) -> dict[NotePath, KnownNote]:
        return known_notes(self._db)

    def known_note(self, path: str) -> KnownNote | None:
        return next(iter(known_notes(self._db, path).values()), None)

    def postings(self, expression: str) -> str:
        """Return the ids of the passages that match, ascending, comma-separated; "" when none does.

        One string from SQLite is several times as fast as a row per passage.
        """
        row = self._one(
            "SELECT group_concat(rowid) FROM passage_fts WHERE passage_fts MATCH ?",
            (expression,),
        )
        return row[0] or ""

    def ranked_passages(self, expression: str, limit: int) -> list[tuple[int, float]]:
        """Return the passages that plain BM25 puts first: (id, score), higher is better."""
        return self._all(
            "SELECT rowid, -rank FROM passage_fts WHERE passage_fts MATCH ? ORDER BY rank LIMIT ?",
            (expression, limit),
        )

    def ranked_notes(self, expression: str, weights: Sequence[float], limit: int) -> list[tuple[int, float]]:
        """Return the notes whose fields match best: (id, score), by BM25 with a weight per field."""
        marks = ", ".join(map(str, weights))
        return self._all(
            f"SELECT rowid, -bm25(note_fts, {marks}) FROM note_fts"
            " WHERE note_fts MATCH ? ORDER BY 2 DESC LIMIT ?",
            (expression, limit),
        )

    def notes_named(self, names: Sequence[str]) -> list[tuple[str, int]]:
        """Return (name, note id) for each of the folded names that a note has."""
        marks = ", ".join("?" * len(names))
        sql = f"SELECT name, note_id FROM name WHERE name IN ({marks})"
        return self._typed(frozenset([(str, int)]), sql, names)

    def names_of(self, note_ids: Iterable[int]) -> list[tuple[str, int]]:
        """Return (folded name, note id) for each name that these notes have."""
        sql = "SELECT name, note_id FROM name WHERE note_id IN (SELECT value FROM json_each(?))"
        return self._typed(frozenset([(str, int)]), sql, (_json_ids(note_ids),))

    def links_from(self, note_ids: Iterable[int]) -> list[tuple[int, int, str, str]]:
        """Return (note id, line, target, folded name of the target) of the links of these notes.

        Embedding is no link.
        """
        sql = (
            "SELECT note_id, line, target, target_key FROM link"
            " WHERE note_id IN (SELECT value FROM json_each(?)) AND NOT embed"
        )
        return self._typed(frozenset([(int, int, str, str)]), sql, (_json_ids(note_ids),))

    def linking_counts(self, keys: Iterable[str]) -> dict[str, int]:
        """Return how many notes link to each of these folded names; those that none links to are left out."""
        wanted = list(keys)
        marks = ", ".join("?" * len(wanted))
        sql = (
            f"SELECT target_key, count(DISTINCT note_id) FROM link WHERE target_key IN ({marks})"
            " GROUP BY target_key"
        )
        return dict(self._typed(frozenset([(str, int)]), sql, wanted))

    def note_headings(self) -> list[tuple[str, str, str, str]]:
        """Return (path, title, aliases, headings) of every note, by path; the last two one per line."""
        sql = "SELECT path, title, aliases, headers FROM note ORDER BY path"
        return self._typed(frozenset([(str, str, str, str)]), sql, ())

    def linking_notes(self) -> list[str]:
        """Return the paths of the notes that link to something, by path; embedding is no link."""
        sql = "SELECT DISTINCT path FROM link JOIN note ON note.id = note_id WHERE NOT embed ORDER BY path"
        return [path for (path,) in self._typed(frozenset([(str,)]), sql, ())]

    def passages(self, ids: Iterable[int]) -> list[PassageInfo]:
        """Return the passages that are there, in the order of their numbers."""
        sql = (
            f"SELECT {_PASSAGE_COLUMNS} FROM passage WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
        )
        return [PassageInfo._make(row) for row in self._typed(_PASSAGE_TYPES, sql, (_json_ids(ids),))]

    def existing(self, ids: Iterable[int]) -> set[int]:
        """Return those of the numbers that are passages."""
        sql = "SELECT id FROM passage WHERE id IN (SELECT value FROM json_each(?))"
        return {row[0] for row in self._all(sql, (_json_ids(ids),))}

    def notes(self, ids: Iterable[int]) -> dict[int, NoteInfo]:
        sql = f"SELECT {_NOTE_COLUMNS} FROM note WHERE id IN (SELECT value FROM json_each(?))"
        return {row[0]: NoteInfo._make(row) for row in self._typed(_NOTE_TYPES, sql, (_json_ids(ids),))}

    def all_notes(self) -> list[NoteInfo]:
        sql = f"SELECT {_NOTE_COLUMNS} FROM note ORDER BY path"
        return [NoteInfo._make(row) for row in self._typed(_NOTE_TYPES, sql, ())]

    def note_at(self, path: str) -> NoteInfo | None:
        rows = self._typed(_NOTE_TYPES, f"SELECT {_NOTE_COLUMNS} FROM note WHERE path = ?", (path,))
        return NoteInfo(*rows[0]) if rows else None

    def note_ids(self, paths: Iterable[str]) -> list[int]:
        """Return the ids of the notes at these paths; those that are not known are left out."""
        wanted = list(paths)
        marks = ", ".join("?" * len(wanted))
        return [row[0] for row in self._all(f"SELECT id FROM note WHERE path IN ({marks})", wanted)]

    def origins(self, note_ids: Iterable[int]) -> dict[int, str]:
        """Return whose word these notes are, where that is trusted less than an agent's."""
        sql = "SELECT note_id, source FROM origin WHERE note_id IN (SELECT value FROM json_each(?))"
        return dict(self._typed(frozenset([(int, str)]), sql, (_json_ids(note_ids),)))

    def note_spans_where(self, condition: str, values: Sequence[Value]) -> list[tuple[int, int]]:
        """Return (first passage, passages) of the notes for which a condition (ours, no user's) holds."""
        return self._all(f"SELECT first_passage, passages FROM note WHERE {condition}", values)

    def text_of(self, note_id: int) -> str:
        """Return the text that the passages of a note count their offsets in."""
        sql = "SELECT data FROM note_text WHERE note_id = ?"
        rows = self._typed(frozenset([(bytes,)]), sql, (note_id,))
        try:
            return unpack_text(rows[0][0]) if rows else ""
        except (zlib.error, UnicodeDecodeError) as error:
            raise damaged(error, self.path) from error

    def memories_in(self, passage_ids: Iterable[int]) -> dict[int, MemoryInfo]:
        """Return the memory of each passage that holds one; of several, the first."""
        sql = (
            "SELECT passage_id, m.* FROM memory_passage p JOIN memory m"
            " ON m.note_id = p.note_id AND m.line = p.line"
            " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id, p.line DESC"
        )
        rows = self._typed(_MEMORY_TYPES, sql, (_json_ids(passage_ids),))
        return {row[0]: MemoryInfo._make(row[1:]) for row in rows}

    def memory_passages(self) -> list[int]:
        """Return the passages that hold memories, ascending."""
        return [row[0] for row in self._all("SELECT DISTINCT passage_id FROM memory_passage ORDER BY 1")]

    def memory_passages_where(self, condition: str, values: Sequence[Value]) -> list[int]:
        """Return the passages of the memories for which a condition (ours, no user's) holds.

        It may name the columns of `note` and, with `m.`, those of `memory`.
        """
        sql = (
            "SELECT DISTINCT passage_id FROM memory m JOIN note ON note.id = m.note_id"
            " JOIN memory_passage p ON p.note_id = m.note_id AND p.line = m.line"
            f" WHERE {condition}"
        )
        return [row[0] for row in self._all(sql, values)]

    def all_memories(self) -> list[tuple[str, MemoryInfo]]:
        """Return every memory with the path of its note, in order."""
        sql = "SELECT path, memory.* FROM memory JOIN note ON note.id = note_id ORDER BY path, line"
        return [(row[0], MemoryInfo._make(row[1:])) for row in self._all(sql)]

    def vectors_after(self, passage_id: int) -> list[tuple[int, bytes]]:
        sql = "SELECT passage_id, codes FROM vector WHERE passage_id > ? ORDER BY passage_id"
        return self._blobs(sql, (passage_id,))

    def vectors_beyond(self, passage_id: int, count: int) -> bool:
        """Are there more than `count` vectors of passages after this one?"""
        sql = "SELECT 1 FROM vector WHERE passage_id > ? ORDER BY passage_id LIMIT 1 OFFSET ?"
        return bool(self._all(sql, (passage_id, count)))

    def vectors_of(self, ids: Iterable[int]) -> list[tuple[int, bytes]]:
        sql = (
            "SELECT passage_id, codes FROM vector"
            " WHERE passage_id IN (SELECT value FROM json_each(?)) ORDER BY passage_id"
        )
        return self._blobs(sql, (_json_ids(ids),))

    def usage(self) -> dict[str, tuple[int, float]]:
        """Return how often and when last each note was opened: path to (count, seconds since the epoch)."""
        sql = "SELECT path, count(*), max(at) FROM access_log GROUP BY path"
        return {path: (count, last) for path, count, last in self._all(sql)}

    def memory_usage(self, ids: Iterable[str]) -> dict[str, tuple[int, float]]:
        """Return how often and when last memories were shown: id to (count, seconds since the epoch)."""
        import json

        sql = (
            "SELECT memory_id, count(*), max(at) FROM memory_access"
            " WHERE memory_id IN (SELECT value FROM json_each(?)) GROUP BY memory_id"
        )
        return {id_: (count, last) for id_, count, last in self._all(sql, (json.dumps(list(ids)),))}

    def report(self) -> list[tuple[str, str, str]]:
        """Return what the last sync could not take: (path, code, detail)."""
        return self._all("SELECT path, code, detail FROM report ORDER BY path")

    def problems(self) -> list[tuple[str, str]]:
        """Return the notes with something to mend: (path, one problem per line)."""
        return self._all("SELECT path, problems FROM note WHERE problems <> '' ORDER BY path")

    def check(self) -> list[str]:
        """Return what is wrong inside the file, as SQLite and FTS5 see it, and which note's text can't be
        read; [] when nothing is."""
        wrong = [row[0] for row in self._all("PRAGMA integrity_check(20)") if row[0] != "ok"]
        return wrong or self._unreadable_texts()

    def _unreadable_texts(self) -> list[str]:
        """The first note whose text is lost or is not what was written: each has a checksum."""
        sql = "SELECT path, data FROM note LEFT JOIN note_text ON note_id = id"
        try:
            for path, data in self._db.execute(sql):
                if not isinstance(data, bytes):
                    return [f"the text of {path!r} is lost"]
                zlib.decompress(data)
        except apsw.Error as error:
            raise as_fault(error, self.path) from error
        except (zlib.error, UnicodeDecodeError) as error:
            raise damaged(error, self.path) from error
        return []

    def select(self, sql: str, values: Sequence[Value | bytes] = ()) -> list[tuple]:  # type: ignore[type-arg]
        """Rows of a query of ours, for whoever reads the tables in a way of its own: the link graph."""
        return self._all(sql, values)

    def _all(self, sql: str, values: Sequence[Value | bytes] = ()) -> list[tuple]:  # type: ignore[type-arg]
        try:
            return self._db.execute(sql, values).fetchall()
        except apsw.Error as error:
            raise as_fault(error, self.path) from error
        except UnicodeDecodeError as error:  # what we write is UTF-8
            raise damaged(error, self.path) from error

    def _blobs(self, sql: str, values: Sequence[Value]) -> list[tuple[int, bytes]]:
        return self._typed(frozenset([(int, bytes)]), sql, values)

    def _typed(self, types: frozenset[tuple[type, ...]], sql: str, values: Sequence[Value]) -> list[tuple]:  # type: ignore[type-arg]
        """As `_all`. In a damaged file, pages of one table pass for rows of another: their types tell."""
        rows = self._all(sql, values)
        if not types.issuperset([tuple(map(type, row)) for row in rows]):
            raise damaged(TypeError("a row is not what was written"), self.path)
        return rows

    def _one(self, sql: str, values: Sequence[Value] = ()) -> tuple:  # type: ignore[type-arg]
        rows = self._all(sql, values)
        return rows[0] if rows else ()


def known_notes(db: apsw.Connection, path: str | None = None) -> dict[NotePath, KnownNote]:
    """Return what is known of every note, or of the one at `path`."""
    from hindbrain.index.plan import KnownNote  # here: a search, which starts cold, never asks
    from hindbrain.vault.path_rules import NotePath
    from hindbrain.vault.scan_result import FileStamp

    sql = "SELECT path, size, mtime_ns, inode, dev, ctime_ns, hash, indexed_ns FROM note"
    rows = db.execute(sql) if path is None else db.execute(f"{sql} WHERE path = ?", (path,))
    return {
        NotePath(path): KnownNote(FileStamp(size, mtime, _unsigned(inode), _unsigned(dev), ctime), digest, at)
        for path, size, mtime, inode, dev, ctime, digest, at in rows
    }


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _identity(path: Path) -> tuple[int, int]:
    """(0, 0) when there is no such file."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def unpack_text(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def _unsigned(number: int) -> int:
    return number + (1 << 64) if number < 0 else number


def _json_ids(ids: Iterable[int]) -> str:
    return f"[{','.join(map(str, ids))}]"
