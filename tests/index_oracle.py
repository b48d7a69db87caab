"""I4 of the promises: the index equals the vault. Looks into the file with plain SQL, past our own store."""

from __future__ import annotations

import hashlib
from pathlib import Path

import apsw


def vault_content(root: Path) -> dict[str, str]:
    """(path, hash) of each note, read the plain way."""
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in root.rglob("*.md")
        if not any(part.startswith(".") for part in file.relative_to(root).parts)
    }


def rows(index: Path, sql: str) -> list[tuple]:  # type: ignore[type-arg]
    db = apsw.Connection(str(index), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def index_content(index: Path) -> dict[str, str]:
    return dict(rows(index, "SELECT path, hash FROM note"))


def assert_sound(index: Path, *, all_embedded: bool = False) -> None:
    """Every part of the index fits every other."""
    assert rows(index, "PRAGMA integrity_check") == [("ok",)]
    passages = {id_ for (id_,) in rows(index, "SELECT id FROM passage")}
    spans = rows(index, "SELECT id, first_passage, passages FROM note")
    expected = {id_ for _, first, count in spans for id_ in range(first, first + count)}
    assert passages == expected
    assert {id_ for (id_,) in rows(index, "SELECT rowid FROM passage_fts")} == passages
    notes = {note_id for note_id, _, _ in spans}
    assert {id_ for (id_,) in rows(index, "SELECT rowid FROM note_fts")} == notes
    assert {id_ for (id_,) in rows(index, "SELECT note_id FROM note_text")} == notes
    for table in ("name", "tag", "link", "passage"):
        assert {id_ for (id_,) in rows(index, f"SELECT note_id FROM {table}")} <= notes
    vectors = {id_ for (id_,) in rows(index, "SELECT passage_id FROM vector")}
    assert vectors <= passages  # those that lack one are pending: that is what pending means
    if all_embedded:
        assert vectors == passages


def assert_equals_vault(index: Path, root: Path, *, all_embedded: bool = False) -> None:
    assert index_content(index) == vault_content(root)
    assert_sound(index, all_embedded=all_embedded)


def meaning(index: Path) -> list[tuple]:  # type: ignore[type-arg]
    """What the index says, without its inner numbers: two indexes that mean the same compare equal."""
    return rows(
        index,
        "SELECT n.path, n.hash, n.title, n.tags, n.date, p.uid, p.start, p.stop, p.first_line, p.last_line,"
        " p.heading, p.text_hash, v.codes FROM note n LEFT JOIN passage p ON p.note_id = n.id"
        " LEFT JOIN vector v ON v.passage_id = p.id ORDER BY n.path, p.id",
    )
