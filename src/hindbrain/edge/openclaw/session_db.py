"""The database in which OpenClaw 2026.9 keeps the sessions of an agent: windows, and the records of each.

Opened to be read only, and so that not even a file appears beside it: also while a gateway writes to it, and
after one was killed. Knows nothing of what records say.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from hindbrain.context.capture.transcripts.reading import parse_record

Record = Mapping[str, Any]
_BUSY_MS = 2_000
_WINDOWS = "SELECT session_id, session_key, chat_type, spawned_by FROM session_windows ORDER BY created_at, 1"
_GROUPS = "SELECT conversation_id FROM conversations WHERE kind IN ('group', 'channel')"
_EVENTS = (
    "SELECT e.event_json, e.event_zstd, e.navigation_json, i.event_id, i.message_idempotency_key"
    " FROM transcript_events e LEFT JOIN transcript_event_identities i"
    " ON i.session_id = e.session_id AND i.seq = e.seq WHERE e.session_id = ? ORDER BY e.seq"
)
# The plain table behind OpenClaw's own full text search: what a compressed message says.
_WORDS = "SELECT c0 FROM session_transcript_fts_content WHERE c1 = ? AND c2 = ?"


class Window(NamedTuple):
    """One session. What is not told is ""."""

    id: str
    key: str  # "agent:main:telegram:group:-100555"
    chat: str = ""  # direct, group, channel
    spawned: str = ""  # the key of the session that it works for


class SessionDb:
    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def windows(self) -> list[Window]:
        return [Window(*(str(value or "") for value in row)) for row in self._db.execute(_WINDOWS)]

    def group_chats(self) -> frozenset[str]:
        """The ids of conversations in which others than the owner take part."""
        return frozenset(str(row[0]) for row in self._db.execute(_GROUPS))

    def records(self, session: str) -> tuple[list[Record], int]:
        """In their order, and how many could not be read."""
        found: list[Record] = []
        missing = 0
        for text, packed, shown, id_, key in list(self._db.execute(_EVENTS, (session,))):
            text = _unpacked(packed) if text is None else text
            record = parse_record(str(text).encode("utf-8", "replace")) if text is not None else None
            if record is None:
                record = self._from_search(session, id_, key, shown)
            if record is None:
                missing += 1
            else:
                found.append(record)
        return found, missing

    def _from_search(self, session: str, id_: object, key: object, shown: object) -> Record | None:
        """What stays readable of a compressed record: its outline, and what a person or an agent said."""
        outline = parse_record(str(shown or "").encode("utf-8", "replace")) or {}
        record = outline.get("model")
        message = record.get("message") if isinstance(record, dict) else None
        if not isinstance(record, dict) or not isinstance(message, dict):
            return None
        said: dict[str, Any] = dict(message)
        if message.get("role") in ("user", "assistant"):
            words = [str(row[0]) for row in self._db.execute(_WORDS, (session, str(id_)))]
            if not words:
                return None
            said["content"] = "\n".join(words)
        if key:
            said["idempotencyKey"] = str(key)
        return {**record, "message": said}


@contextmanager
def opened(file: Path) -> Iterator[SessionDb]:
    """Raises apsw.Error for what is no such database, OSError when it can't be copied."""
    with tempfile.TemporaryDirectory(prefix="hindbrain-") as scratch:
        db = _connected_or_copied(file, Path(scratch))
        try:
            yield SessionDb(db)
        finally:
            db.close()


def _connected_or_copied(file: Path, scratch: Path) -> apsw.Connection:
    in_use = any(_beside(file, end).exists() for end in ("-wal", "-shm", "-journal"))
    if not in_use:
        return _connected(file, "?immutable=1")  # nobody has it open: no lock is needed, no file is made
    if _beside(file, "-shm").exists():
        try:
            return _connected(file, "?mode=ro")
        except apsw.CantOpenError:
            pass
    # What a gateway that was killed has left needs mending, which is done on a copy.
    for end in ("", "-wal", "-journal"):
        if _beside(file, end).exists():
            shutil.copyfile(_beside(file, end), scratch / f"copy{end}")
    return _connected(scratch / "copy", "")


def _connected(file: Path, query: str) -> apsw.Connection:
    access = apsw.SQLITE_OPEN_READONLY if query else apsw.SQLITE_OPEN_READWRITE
    db = apsw.Connection(f"{file.absolute().as_uri()}{query}", flags=apsw.SQLITE_OPEN_URI | access)
    try:
        db.set_busy_timeout(_BUSY_MS)
        db.execute("SELECT count(*) FROM session_windows").fetchall()
    except apsw.Error:
        db.close()
        raise
    return db


def _beside(file: Path, end: str) -> Path:
    return file.with_name(file.name + end)


def _unpacked(packed: object) -> str | None:
    """None where this Python has no zstd, which came with 3.14."""
    try:
        from compression import zstd  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return None
    try:
        return str(zstd.decompress(packed).decode("utf-8"))
    except (zstd.ZstdError, TypeError, ValueError):
        return None
