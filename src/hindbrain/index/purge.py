"""Taking words out of an index for good: from its rows, from pages that were given back, from its log.

A deleted row stays in the file until its page is used again, and a deleted full-text entry until its segment
is merged. So the file is written anew. The caller has synced the notes that held the words before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import apsw

from hindbrain.index.embedding_cache import CACHE_FILE, MEMORY_FILE
from hindbrain.index.schema import as_fault, open_writer, remove_index
from hindbrain.index.sign_file import SIGN_FILE
from hindbrain.index.store import unpack_text
from hindbrain.index.writer import IndexWriter
from hindbrain.vault.lock import FileLock

Holds = Callable[[str], bool]


def notes_holding(state: Path, holds: Holds) -> list[str]:
    """The paths of the notes whose text in the index holds the words. Reads through all of it."""
    path = state / "index.db"
    db = open_writer(path)
    try:
        rows = db.execute("SELECT path, data FROM note JOIN note_text ON note_id = id ORDER BY path")
        return [str(note) for note, data in rows if holds(unpack_text(bytes(data)))]
    except apsw.Error as error:
        raise as_fault(error, path) from error
    finally:
        db.close()


def purge_index(state: Path, unwanted: Holds, gone: Iterable[str], *, timeout_s: float) -> bool:
    """Forget `gone`, notes that the vault has no more, and all queries that are not wanted; write anew.

    False when another process reads an old state of the index, which keeps the words: then do it again
    later. Raises Busy and IndexFault.
    """
    path = state / "index.db"
    with FileLock(state / "index.lock").held(timeout_s):
        writer = IndexWriter(path)
        try:
            with writer.transaction():
                for note in gone:
                    writer.remove_note(note)
        finally:
            writer.close()
        db = open_writer(path)
        try:
            _forget_queries(db, unwanted)
            (state / SIGN_FILE).unlink(missing_ok=True)
            # By hash only, and nobody can say of which text: vectors of living passages stand in the index.
            for cache in (CACHE_FILE, MEMORY_FILE):
                remove_index(state / cache)
            return _write_anew(db)
        except apsw.Error as error:
            raise as_fault(error, path) from error
        finally:
            db.close()


def _forget_queries(db: apsw.Connection, unwanted: Holds) -> None:
    with db:
        rows = db.execute("SELECT DISTINCT query FROM access_log WHERE query <> ''").fetchall()
        held = [(text,) for (query,) in rows if unwanted(text := str(query))]
        db.executemany("UPDATE access_log SET query = '' WHERE query = ?", held)
        db.execute("DELETE FROM memory_access WHERE memory_id NOT IN (SELECT id FROM memory)")


def _write_anew(db: apsw.Connection) -> bool:
    for table in ("passage_fts", "note_fts"):
        db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")
    db.execute("PRAGMA secure_delete = ON")
    db.execute("VACUUM")
    try:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except (apsw.BusyError, apsw.LockedError):
        return False
    return True
