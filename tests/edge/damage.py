"""Ways to break an index file, as disks, sync tools and other versions do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw

from command_runs import Cli


def index_file(cli: Cli) -> Path:
    """Where the index of the vault lies; nothing of it is open, and all is in the one file."""
    state = Path(cli("status", "--json").data["vault"]["state"])
    path = state / "index.db"
    db = apsw.Connection(str(path))
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()
    return path


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is no database" * 400)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _emptied(path: Path) -> None:
    path.write_bytes(b"")


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(6_000, len(data), 997):
        data[at] ^= 0xFF
    path.write_bytes(bytes(data))


def _pages_swapped(path: Path) -> None:
    data = path.read_bytes()
    pages = [data[i : i + 4096] for i in range(0, len(data), 4096)]
    pages[2:6] = reversed(pages[2:6])
    path.write_bytes(b"".join(pages))


def _foreign_wal(path: Path) -> None:
    path.with_name("index.db-wal").write_bytes(b"\x37\x7f\x06\x82" + bytes(range(256)) * 64)
    _flipped(path)


def _foreign_database(path: Path) -> None:
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE note (x); CREATE TABLE recipe (y)")
    db.close()


def _newer(path: Path) -> None:
    _change(path, "INSERT INTO migration VALUES ('m999_from_the_future', 0)")


def _full_text_lost(path: Path) -> None:
    _change(path, "DELETE FROM passage_fts WHERE rowid = (SELECT min(id) FROM passage)")


def _passages_lost(path: Path) -> None:
    _change(path, "DELETE FROM passage WHERE id = (SELECT min(id) FROM passage)")


def _vectors_left_over(path: Path) -> None:
    _change(path, "INSERT INTO vector SELECT 999999, codes FROM vector LIMIT 1")


def _change(path: Path, sql: str) -> None:
    db = apsw.Connection(str(path))
    db.execute(sql)
    db.close()


DAMAGES: dict[str, Callable[[Path], None]] = {
    kind.__name__.strip("_").replace("_", " "): kind
    for kind in (
        _garbage, _cut, _emptied, _flipped, _pages_swapped, _foreign_wal, _foreign_database, _newer,
        _full_text_lost, _passages_lost, _vectors_left_over,
    )
}  # fmt: skip
