"""The tables of an index file, as named steps; and how such a file is opened.

A step and its record share a transaction. The file is disposable: whatever is in it is made again from the
vault. It lies outside the vault, since a sync tool that copies a live database damages it.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path

import apsw

from hindbrain.base.errors import Busy, IndexDamaged, IndexFault, IndexMissing, IndexTooNew
from hindbrain.base.files import create_empty, make_folder, why_unwritable

# SQLite 3.7.0 to 3.51.2 can lose commits when the write-ahead log is reset under two connections.
_SAFE_SQLITE = 3_051_003
_BUSY_MS = 5_000
_TOKENIZE = "porter unicode61 remove_diacritics 2"
_RECIPE = 9  # how notes are cut and recorded; a new number has every index made again

Step = Callable[[apsw.Connection], None]
_STEPS: list[Step] = []


def index_recipe(chunk_tokens: int, chunk_overlap: int, *, logseq: bool) -> str:
    """How this version makes an index with these settings; one that was made otherwise is made again."""
    return f"{_RECIPE}:{chunk_tokens}/{chunk_overlap}{':logseq' if logseq else ''}"


def migration(step: Step) -> Step:
    _STEPS.append(step)
    return step


@migration
def m001_notes_and_passages(db: apsw.Connection) -> None:
    db.execute(
        f"""
        CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY) STRICT, WITHOUT ROWID;
        CREATE TABLE note (
            id INTEGER PRIMARY KEY,
            path TEXT NOT NULL UNIQUE,            -- vault-relative, NFC
            filename TEXT NOT NULL,               -- without folder and ending
            title TEXT NOT NULL,
            tags TEXT NOT NULL,                   -- one per line, as the other lists here
            aliases TEXT NOT NULL,
            headers TEXT NOT NULL,
            para_category TEXT NOT NULL,
            para_area TEXT NOT NULL,
            summary TEXT NOT NULL,
            type TEXT NOT NULL,                   -- frontmatter `type`
            date TEXT NOT NULL,                   -- YYYY-MM-DD, or ''
            importance REAL,                      -- 0..1, NULL when the note does not say
            mtime_ns INTEGER NOT NULL,
            size INTEGER NOT NULL,
            inode INTEGER NOT NULL,
            dev INTEGER NOT NULL,
            hash TEXT NOT NULL,                   -- sha256 of the bytes
            indexed_ns INTEGER NOT NULL,          -- when the bytes were read
            problems TEXT NOT NULL,               -- one per line: code, line, message
            first_passage INTEGER NOT NULL,       -- its passages are numbered from here, without a gap
            passages INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE note_text (note_id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;  -- zlib
        CREATE TABLE name (                       -- under which a note is called: title, alias, file name
            name TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (name, note_id)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE tag (
            tag TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (tag, note_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tag_note ON tag (note_id);
        CREATE INDEX name_note ON name (note_id);
        CREATE TABLE link (
            note_id INTEGER NOT NULL, ordinal INTEGER NOT NULL,
            target TEXT NOT NULL, target_key TEXT NOT NULL, heading TEXT NOT NULL,
            block TEXT NOT NULL, alias TEXT NOT NULL, embed INTEGER NOT NULL,
            line INTEGER NOT NULL, PRIMARY KEY (note_id, ordinal)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX link_target ON link (target_key);
        CREATE TABLE passage (
            id INTEGER PRIMARY KEY,               -- ascending within a note; never used twice
            note_id INTEGER NOT NULL,
            uid INTEGER NOT NULL,                 -- lasting: of path, heading path, text
            start INTEGER NOT NULL, stop INTEGER NOT NULL,
            first_line INTEGER NOT NULL, last_line INTEGER NOT NULL,
            heading TEXT NOT NULL,                -- path, joined by ' > '
            text_hash BLOB NOT NULL
        ) STRICT;
        CREATE INDEX passage_uid ON passage (uid);
        CREATE VIRTUAL TABLE passage_fts USING fts5(
            text, content='', contentless_delete=1, tokenize='{_TOKENIZE}'
        );
        CREATE VIRTUAL TABLE note_fts USING fts5(
            filename, title, aliases, tags, headers, para_area, summary, date,
            content='', contentless_delete=1, tokenize='{_TOKENIZE}'
        );
        CREATE TABLE vector (passage_id INTEGER PRIMARY KEY, codes BLOB NOT NULL) STRICT;  -- int8
        CREATE TABLE embedding_cache (
            model TEXT NOT NULL, text_hash BLOB NOT NULL, codes BLOB NOT NULL, used_ns INTEGER NOT NULL,
            PRIMARY KEY (model, text_hash)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE access_log (
            id INTEGER PRIMARY KEY, path TEXT NOT NULL, at REAL NOT NULL, query TEXT NOT NULL
        ) STRICT;
        CREATE INDEX access_path ON access_log (path, at);
        CREATE TABLE report (                     -- what the last sync could not take, by file
            path TEXT NOT NULL, code TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (path, code)
        ) STRICT, WITHOUT ROWID;
        """
    )


@migration
def m002_origins(db: apsw.Connection) -> None:
    db.execute(
        """
        CREATE TABLE origin (                     -- of notes that are trusted less than an agent's
            note_id INTEGER PRIMARY KEY, source TEXT NOT NULL
        ) STRICT;
        """
    )


@migration
def m003_note_names(db: apsw.Connection) -> None:
    # What a hit shows: the title property (from the next sync on), else the file name.
    db.execute("ALTER TABLE note ADD COLUMN name TEXT NOT NULL DEFAULT ''; UPDATE note SET name = filename")


@migration
def m004_blocks(db: apsw.Connection) -> None:
    db.execute(
        """
        CREATE TABLE block (                      -- lines that are memories (m-...) and tasks (t-...)
            id TEXT NOT NULL, note_id INTEGER NOT NULL, PRIMARY KEY (id, note_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX block_note ON block (note_id);
        """
    )


@migration
def m005_no_embedding_cache(db: apsw.Connection) -> None:
    db.execute("DROP TABLE embedding_cache")  # in a file of its own since: `embedding_cache`


@migration
def m006_change_times(db: apsw.Connection) -> None:
    # 0: not known; such a note is read once more by the next sync.
    db.execute("ALTER TABLE note ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0")


@migration
def m007_memories(db: apsw.Connection) -> None:
    db.execute(
        """
        CREATE TABLE memory (                     -- each line with the id of a memory
            note_id INTEGER NOT NULL, line INTEGER NOT NULL,  -- 1-based
            id TEXT NOT NULL,                     -- m-...
            kind TEXT NOT NULL,                   -- its category
            created TEXT NOT NULL,                -- its own day, YYYY-MM-DD, or ''
            importance REAL NOT NULL,             -- 0..1
            source TEXT NOT NULL,                 -- whose word it is
            tags TEXT NOT NULL,                   -- its own, one per line
            cues TEXT NOT NULL,                   -- one per line
            day TEXT NOT NULL,                    -- the daily note that tells it, as it is linked, or ''
            state TEXT NOT NULL,                  -- live, superseded or archived
            PRIMARY KEY (note_id, line)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX memory_id ON memory (id);
        CREATE TABLE memory_passage (             -- a long memory has several, and a passage may hold several
            passage_id INTEGER NOT NULL, note_id INTEGER NOT NULL, line INTEGER NOT NULL,
            PRIMARY KEY (passage_id, line)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX memory_passage_line ON memory_passage (note_id, line);
        CREATE TABLE memory_tag (                 -- folded: its own, and those of its note's properties
            tag TEXT NOT NULL, note_id INTEGER NOT NULL, line INTEGER NOT NULL,
            PRIMARY KEY (tag, note_id, line)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX memory_tag_note ON memory_tag (note_id);
        CREATE TABLE memory_access (              -- which memories were shown, and when
            memory_id TEXT NOT NULL, at REAL NOT NULL
        ) STRICT;
        CREATE INDEX memory_access_id ON memory_access (memory_id, at);
        """
    )


def open_writer(path: Path) -> apsw.Connection:
    """Open an index for writing, made or migrated where needed. The caller holds the writer's lock."""
    _check_sqlite()
    _check_file(path)
    try:
        make_folder(path.parent)
        if path.exists() and not path.stat().st_size:
            # Emptied under processes that have it open: their locks and logs would keep us waiting, and mix
            # with ours. They find the new file by its number.
            remove_index(path)
        create_empty(path)  # SQLite would make it readable by others; its log gets the mode of this file
        db = apsw.Connection(str(path))
        db.set_busy_timeout(_BUSY_MS)
        _enter_wal(db)
        db.execute("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY")
        _migrate(db, path)
        return db
    except apsw.Error as error:
        raise as_fault(error, path) from error
    except OSError as error:
        raise IndexFault(f"the index folder {str(path.parent)!r} can't be made: {error.strerror}") from error


def open_reader(path: Path) -> apsw.Connection:
    """Open an index for reading only. Raises IndexMissing when there is none."""
    _check_sqlite()
    if not path.exists():
        raise IndexMissing("this vault has no index yet; make it with: hindbrain sync")
    _check_file(path)
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(_BUSY_MS)
        # No mmap: a file that is cut short under us would end the process, and it makes nothing faster.
        db.execute("PRAGMA cache_size = -16384")
        _check_steps(_done(db), path)
        return db
    except apsw.Error as error:
        raise as_fault(error, path) from error


def as_fault(error: apsw.Error, path: Path) -> IndexFault | Busy:
    """Return what an error of SQLite means to the owner of the index."""
    if isinstance(error, apsw.CorruptError | apsw.NotADBError | apsw.FormatError):
        return damaged(error, path)
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return Busy(f"the index {str(path)!r} is held by another process; try again")
    if isinstance(error, apsw.FullError):
        return IndexFault(
            f"the disk that holds the index {str(path)!r} is full; free some space and sync again"
        )
    if why := why_unwritable(path.parent):
        return IndexFault(
            f"the index {str(path)!r} can't be used: nothing can be written in its folder ({why}); "
            "make room, or set state.folder"
        )
    return IndexFault(f"the index {str(path)!r} can't be used: {error}; try hindbrain doctor")


def damaged(error: Exception, path: Path) -> IndexDamaged:
    return IndexDamaged(
        f"the index {str(path)!r} is damaged ({error}); no note is affected: "
        "run hindbrain doctor --fix to rebuild it"
    )


def remove_index(path: Path) -> None:
    """Delete an index with its log files. The caller holds the writer's lock; notes are never touched."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + suffix)
        if file.is_dir() and not file.is_symlink():
            file.replace(file.with_name(f"{file.name}.aside-{os.urandom(4).hex()}"))  # not ours to delete
        else:
            file.unlink(missing_ok=True)


def _check_file(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        if path.with_name(path.name + suffix).is_dir():
            raise damaged(IsADirectoryError(f"{path.name + suffix} is a folder"), path)


def _check_sqlite() -> None:
    if apsw.SQLITE_VERSION_NUMBER < _SAFE_SQLITE:
        raise IndexFault(
            f"SQLite {apsw.sqlite_lib_version()} can lose commits; "
            "install apsw 3.51.3 or newer: pip install -U apsw"
        )


def _enter_wal(db: apsw.Connection) -> None:
    # Switching to WAL while another connection reads may fail at once, whatever the time-out says: retry.
    # Or it waits that long, so that the clock is looked at and not the number of tries.
    until = time.monotonic() + _BUSY_MS / 1e3
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except apsw.BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)


def _migrate(db: apsw.Connection, path: Path) -> None:
    db.execute(
        "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID"
    )
    done = {name for (name,) in db.execute("SELECT name FROM migration")}
    _check_newer(done, path)
    for step in _STEPS:
        if step.__name__ not in done:
            with db:
                step(db)
                db.execute("INSERT INTO migration VALUES (?, ?)", (step.__name__, time.time()))


def _done(db: apsw.Connection) -> set[str]:
    if not db.execute("SELECT 1 FROM sqlite_schema WHERE name = 'migration'").fetchall():
        return set()
    return {name for (name,) in db.execute("SELECT name FROM migration")}


def _check_steps(done: set[str], path: Path) -> None:
    _check_newer(done, path)
    if len(done) < len(_STEPS):
        raise IndexMissing(f"the index {str(path)!r} is of an older version; run: hindbrain sync")


def _check_newer(done: set[str], path: Path) -> None:
    unknown = done - {step.__name__ for step in _STEPS}
    if unknown:
        raise IndexTooNew(
            f"the index {str(path)!r} was made by a newer Hindbrain (step {min(unknown)!r}); "
            "update Hindbrain, or run hindbrain doctor --fix to rebuild the index with this version"
        )
