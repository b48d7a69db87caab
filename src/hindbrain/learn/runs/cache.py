"""Episodes of journals that were read before, in a small database of the state folder. May be deleted.

Knows nothing of how an episode is made: it keeps what it is given under a file's name, size and time stamp.
"""

from __future__ import annotations

import contextlib
import gc
import marshal
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from hindbrain.base.files import create_empty
from hindbrain.learn.runs.episode import Action, Episode, Rejection

if TYPE_CHECKING:
    from hindbrain.learn.runs.files import JournalFile

CACHE = "runs.db"
_FOLDED = 2  # another number when folding changes: all journals are read again
_FORM = (_FOLDED, Episode._fields, Action._fields, Rejection._fields, marshal.version, sys.version_info[:2])
_RECIPE = zlib.crc32(repr(_FORM).encode()) >> 1 or 1  # SQLite keeps 31 bits of it; 0 is a new file
_ACTIONS, _REJECTIONS = map(Episode._fields.index, ("actions", "rejections"))
_CHECKSUM = 4  # bytes
_BUSY_MS = 10_000
# Several episodes to a page; and what was purged from a journal must not be left in a free one.
_SETTINGS = "PRAGMA page_size = 16384; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON"
_TABLES = """
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE, rank INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    passed_over INTEGER NOT NULL, problem TEXT NOT NULL
) STRICT;
CREATE TABLE run (
    file INTEGER NOT NULL, id TEXT NOT NULL, rank INTEGER NOT NULL,
    at REAL NOT NULL,                         -- its end; its beginning while it has none
    ended INTEGER NOT NULL,
    data BLOB NOT NULL                        -- the episode; empty while the run has not ended
) STRICT;
CREATE UNIQUE INDEX run_by_file ON run (file, id);
CREATE INDEX run_by_id ON run (id, ended, rank, file);
CREATE INDEX run_by_end ON run (at, id);
"""
# Of several files that tell of a run, the first by rank; one that tells its end before one that does not.
_BELIEVED = """
    ended AND NOT EXISTS (SELECT 1 FROM run other WHERE other.id = run.id AND other.ended
                          AND (other.rank, other.file) < (run.rank, run.file))
"""


class Told(NamedTuple):
    """What one file tells of one run."""

    run: str
    at: float
    episode: Episode | None  # None while it has not ended


class EpisodeCache:
    """One connection, for one thread. Raises apsw.Error."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    @classmethod
    @contextlib.contextmanager
    def open(cls, path: Path | None) -> Iterator[EpisodeCache]:
        """None: in memory, where there is no place on disk."""
        if path is not None:
            create_empty(path)  # SQLite would make it readable by others
        db = apsw.Connection(":memory:" if path is None else str(path))
        try:
            db.set_busy_timeout(_BUSY_MS)
            db.execute(_SETTINGS)
            _prepare(db)
            yield cls(db)
        finally:
            db.close()

    def known(self) -> dict[str, tuple[int, int]]:
        """The size and the time stamp under which each file was read."""
        rows = self._db.execute("SELECT name, size, mtime_ns FROM file")
        return {str(name): (int(size), int(mtime_ns)) for name, size, mtime_ns in rows}

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Everything inside is kept, or nothing."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def replace(self, file: JournalFile, told: Iterable[Told], faults: Callable[[], tuple[int, str]]) -> None:
        """Keep what a file tells, in the place of what it told before; that stays when `told` raises.

        `faults`: how many lines were passed over and what is wrong with the file, asked when it was read.
        """
        with self._db:
            self._replace(file, told, faults)

    def _replace(
        self, file: JournalFile, told: Iterable[Told], faults: Callable[[], tuple[int, str]]
    ) -> None:
        self.remove(file.name)
        self._db.execute(
            "INSERT INTO file (name, rank, size, mtime_ns, passed_over, problem)"
            " VALUES (?, ?, ?, ?, 0, '')", file
        )  # fmt: skip
        number = self._db.last_insert_rowid()
        self._db.executemany(
            "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",  # its first end counts
            (
                (number, one.run, file.rank, one.at, one.episode is not None, _packed(one.episode))
                for one in told
            ),
        )
        self._db.execute("UPDATE file SET (passed_over, problem) = (?, ?) WHERE id = ?", (*faults(), number))

    def remove(self, name: str) -> None:
        self._db.execute("DELETE FROM run WHERE file = (SELECT id FROM file WHERE name = ?)", (name,))
        self._db.execute("DELETE FROM file WHERE name = ?", (name,))

    def episodes(self, last: int) -> list[Episode]:
        """Oldest end first; the newest `last`, or all when that is 0."""
        rows = self._db.execute(
            f"SELECT data FROM run WHERE {_BELIEVED} ORDER BY at DESC, id DESC LIMIT ?",
            (last or -1,),
        )
        with _uncollected():
            found = [_unpacked(data) for (data,) in rows]
        found.reverse()
        return found

    def episode(self, run: str) -> Episode | None:
        row = self._db.execute(f"SELECT data FROM run WHERE id = ? AND {_BELIEVED}", (run,)).fetchone()
        return _unpacked(row[0]) if row else None

    def file_of(self, run: str) -> str:
        """The name of the file that tells of a run; "" when none does."""
        row = self._db.execute(
            "SELECT name FROM run JOIN file ON file.id = run.file WHERE run.id = ?"
            " ORDER BY ended DESC, run.rank, run.file LIMIT 1",
            (run,),
        ).fetchone()
        return str(row[0]) if row else ""

    def ids(self, prefix: str = "", limit: int = -1) -> list[str]:
        """The runs whose id begins so, newest first."""
        rows = self._db.execute(
            "SELECT id FROM run WHERE substr(id, 1, ?) = ?"
            " GROUP BY id ORDER BY max(at) DESC, id DESC LIMIT ?",
            (len(prefix), prefix, limit),
        )
        return [str(run) for (run,) in rows]

    def knows(self, run: str) -> bool:
        return bool(self._db.execute("SELECT 1 FROM run WHERE id = ?", (run,)).fetchone())

    def unfinished(self, rank: int) -> list[str]:
        """Oldest first."""
        rows = self._db.execute(
            "SELECT id FROM run WHERE rank = ? AND id NOT IN (SELECT id FROM run WHERE ended)"
            " GROUP BY id ORDER BY min(at), id",
            (rank,),
        )
        return [str(run) for (run,) in rows]

    def passed_over(self) -> int:
        return int(self._db.execute("SELECT coalesce(sum(passed_over), 0) FROM file").get)

    def problems(self) -> list[str]:
        rows = self._db.execute("SELECT problem FROM file WHERE problem != '' ORDER BY name")
        return [str(problem) for (problem,) in rows]


def discard_cache(path: Path) -> None:
    for ending in ("", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _prepare(db: apsw.Connection) -> None:
    if db.pragma("user_version") == _RECIPE:
        return
    with db:
        if db.pragma("user_version") != _RECIPE:  # another process may have been faster
            db.execute("DROP TABLE IF EXISTS run; DROP TABLE IF EXISTS file;" + _TABLES)
            db.pragma("user_version", _RECIPE)


def _packed(episode: Episode | None) -> bytes:
    """Python's own form of plain values, which is read three times as fast as JSON, behind its checksum."""
    if episode is None:
        return b""
    values: list[Any] = list(episode)
    for at in (_ACTIONS, _REJECTIONS):
        values[at] = tuple(map(tuple, values[at]))
    data = marshal.dumps(tuple(values))
    return zlib.crc32(data).to_bytes(_CHECKSUM, "big") + data


def _unpacked(data: Any) -> Episode:
    checksum, data = data[:_CHECKSUM], data[_CHECKSUM:]
    if zlib.crc32(data).to_bytes(_CHECKSUM, "big") != checksum:  # else a damaged form could do anything
        raise ValueError("a row of the cache is damaged")
    values = list(marshal.loads(data))
    values[_ACTIONS] = tuple(map(Action._make, values[_ACTIONS]))
    values[_REJECTIONS] = tuple(map(Rejection._make, values[_REJECTIONS]))
    return Episode._make(values)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Without looking for garbage: half the time of making a million tuples, none of which is any."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
