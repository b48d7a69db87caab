"""How far each conversation was captured, and what must be known to go on from there.

One file per session in the state folder's `captured/`, to which a line is added after each piece whose result
is durable; the last whole line holds. A place in a transcript is recognised by the bytes before it and not by
the file's number: hosts rewrite files, and people copy them. Knows nothing of what was captured.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.files import append_record, make_folder, replace_file
from hindbrain.context.capture.prompts import Pairs, pairs_from
from hindbrain.context.turn import SessionKey

FOLDER = "captured"
KEPT_DAYS = 90
_MOST_IDS = 50_000  # of messages that are remembered as captured, per session; the latest ones
_MOST_BYTES = 2_000_000  # of a session's file before it is made anew
_HEAD_BYTES = 512
_TAIL_BYTES = 128


class Cursor(NamedTuple):
    """Where the capture of one session stands."""

    session: SessionKey
    transcript: str = ""  # path; "" for a host that keeps none
    cwd: str = ""  # where it was held
    offset: int = 0  # bytes that were captured
    head: str = ""  # hash of the first bytes
    tail: str = ""  # hash of the bytes before the offset
    at: float = 0.0  # when it was captured, seconds since the epoch
    said: str = ""  # the agent's last words: what a person's next "yes" answers to
    failures: Mapping[str, object] = {}  # that were not solved yet
    tries: int = 0  # that the piece after the offset has failed
    anew: bool = False  # the file was replaced, and is being read a second time
    ids: frozenset[str] = frozenset()  # short ids of captured messages
    until: float = 0.0  # when the last message that a host handed over was said, by its clock
    began: float = 0.0  # when the first captured message was said; 0: nothing since it ended last
    kept: int = 0  # memories, proposals and fixes that were kept since it began
    pairs: Pairs = Pairs()  # what was captured from events or the record, and is still to come in the other

    def knows(self, given: str) -> bool:
        """Was the message with this id captured, or passed over, before?"""
        return short_id(given) in self.ids


class Cursors:
    """For one process at a time: who writes holds the capture's lock."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER
        self._known: dict[str, tuple[tuple[int, int], Cursor]] = {}  # by file name, with the file's stamp

    def load(self, session: SessionKey) -> Cursor:
        name = file_name(session)
        return self._read(name) or Cursor(session)

    def save(self, cursor: Cursor, new_ids: Iterable[str] = ()) -> None:
        """Durable when this returns. Raises OSError."""
        added = [short_id(given) for given in new_ids]
        path = self._folder / file_name(cursor.session)
        make_folder(self._folder)
        self._known.pop(path.name, None)
        if path.exists() and path.stat().st_size > _MOST_BYTES:
            kept = list(dict.fromkeys([*_ids_in(path), *added]))[-_MOST_IDS:]
            replace_file(path, _line(cursor, kept))
        else:
            append_record(path, _line(cursor, added))

    def known(self, *, now: float) -> list[Cursor]:
        """All sessions, the one that was captured last first. Takes away what is older than 90 days."""
        found: list[Cursor] = []
        try:
            entries = sorted(os.scandir(self._folder), key=lambda entry: entry.name)
        except FileNotFoundError:
            return []
        for entry in entries:
            if not entry.name.endswith(".jsonl"):
                continue
            try:
                cursor = self._read(entry.name)
            except OSError:  # its own session tells of it; the others are known
                continue
            if cursor is None:
                continue
            if cursor.at and now - cursor.at > KEPT_DAYS * 86_400:
                (self._folder / entry.name).unlink(missing_ok=True)
                self._known.pop(entry.name, None)
            else:
                found.append(cursor)
        return sorted(found, key=lambda cursor: -cursor.at)

    def _read(self, name: str) -> Cursor | None:
        path = self._folder / name
        try:
            found = path.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if name in self._known and self._known[name][0] == stamp:
                return self._known[name][1]
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        cursor: Cursor | None = None
        ids: list[str] = []
        for line in data.split(b"\n"):
            parsed = _parsed(line)
            if parsed is not None:
                cursor = parsed
                ids += parsed.ids
        if cursor is None:
            return None
        whole = cursor._replace(ids=frozenset(ids))
        self._known[name] = (stamp, whole)
        return whole


class Place(NamedTuple):
    """A place in a file as the bytes around it show it."""

    head: str
    tail: str


def place_at(path: Path, offset: int) -> Place:
    """Raises OSError."""
    with open(path, "rb") as file:
        head = file.read(min(_HEAD_BYTES, offset))
        file.seek(max(0, offset - _TAIL_BYTES))
        tail = file.read(min(_TAIL_BYTES, offset))
    return Place(_hash(head), _hash(tail))


def still_there(cursor: Cursor) -> bool:
    """Does the transcript still hold, before the cursor's offset, what was read there? Raises OSError."""
    if cursor.offset == 0:
        return True
    path = Path(cursor.transcript)
    return path.stat().st_size >= cursor.offset and place_at(path, cursor.offset) == (
        cursor.head,
        cursor.tail,
    )


def short_id(given: str) -> str:
    return hashlib.blake2b(given.encode("utf-8", "replace"), digest_size=6).hexdigest()


def file_name(session: SessionKey) -> str:
    """Hosts choose ids: nothing of them may become part of a path."""
    named = f"{session.host}\0{session.id}".encode("utf-8", "replace")
    return hashlib.blake2b(named, digest_size=10).hexdigest() + ".jsonl"


def _line(cursor: Cursor, ids: list[str]) -> bytes:
    fields = cursor._asdict() | {"session": cursor.session.id, "host": cursor.session.host, "ids": ids}
    fields["pairs"] = cursor.pairs._asdict()
    return json.dumps(fields, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"


def _parsed(line: bytes) -> Cursor | None:
    if not line.strip():
        return None
    try:
        found = json.loads(line)
        failures = found["failures"]
        return Cursor(
            SessionKey(str(found["host"]), str(found["session"])),
            str(found["transcript"]),
            str(found["cwd"]),
            int(found["offset"]),
            str(found["head"]),
            str(found["tail"]),
            float(found["at"]),
            str(found["said"]),
            failures if isinstance(failures, dict) else {},
            int(found["tries"]),
            bool(found["anew"]),
            frozenset(str(given) for given in found["ids"]),
            float(found.get("until") or 0.0),
            float(found.get("began") or 0.0),
            int(found.get("kept") or 0),
            pairs_from(found.get("pairs")),
        )
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None  # torn by a crash: the line before it holds


def _ids_in(path: Path) -> list[str]:
    """In the order in which they were captured."""
    found: list[str] = []
    for line in path.read_bytes().split(b"\n"):
        if _parsed(line) is not None:
            found += json.loads(line)["ids"]
    return found


def _hash(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()
