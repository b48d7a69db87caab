"""P30: `hindbrain doctor --fix` repairs every kind of damaged index while servers run on the vault.

All are real processes: the command, a daemon that watches the vault, an MCP server that does not. Damage that
SQLite can't see, a lone flipped bit in a vector, is not repaired by it; see `test_index_damage`.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import apsw
import pytest
from tests.anomalies import test_index_damage, test_index_swept_away
from tests.anomalies.agents import McpDoor, environ
from tests.anomalies.machine import wait_until

from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.address import read_address

pytestmark = [
    pytest.mark.promise("P30"),
    pytest.mark.skipif(os.name == "nt", reason="an open file can't be damaged or taken away there"),
]

QUERIES = ("green tea", "number twelve")
Damage = Callable[[Path], None]


def _in_file(change: Callable[[bytearray, random.Random], None], index: Path) -> None:
    """As `test_index_damage` does it, to the whole index in one file; twenty times, so that it is seen."""
    db = apsw.Connection(str(index))
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()
    data, choose = bytearray(index.read_bytes()), random.Random(5)
    for _ in range(20 if change is test_index_damage.flip_bits else 1):
        change(data, choose)
    index.write_bytes(data)


def _with_content(content: bytes, index: Path) -> None:
    index.write_bytes(content)


def _by_sql(sql: str, index: Path) -> None:
    db = apsw.Connection(str(index))
    db.execute(sql)
    db.close()


def _with_log_of_another(index: Path) -> None:
    """The log of another database, in the place of its own."""
    other = apsw.Connection(str(index.with_name("other.db")))
    sql = "PRAGMA journal_mode = wal; CREATE TABLE note (x); INSERT INTO note VALUES (randomblob(9999))"
    other.execute(sql).fetchall()
    log = index.with_name("other.db-wal").read_bytes()
    other.close()
    index.with_name("index.db-wal").write_bytes(log)


def _from_before(index: Path) -> None:
    """An index of the first version, with nothing in it yet."""
    for file in index.parent.glob("index.db*"):
        file.unlink()
    sql = "CREATE TABLE migration (name TEXT PRIMARY KEY, at REAL NOT NULL) STRICT, WITHOUT ROWID"
    _by_sql(sql, index)


def _no_state(index: Path) -> None:
    """All at once: a server that still writes there would keep the folder from being removed."""
    index.parent.rename(index.parent.parent.with_name("gone"))


DAMAGES: dict[str, Damage] = {
    **{damage.__name__.strip("_"): damage for damage in test_index_swept_away.DAMAGES},
    "no_state": _no_state,
    **{change.__name__: partial(_in_file, change) for change in test_index_damage.DAMAGES},
    "only a header": partial(_with_content, b"SQLite format 3\0" + bytes(84)),
    "zeros": partial(_with_content, bytes(8_192)),
    "newer version": partial(_by_sql, "INSERT INTO migration VALUES ('m999_from_the_future', 0)"),
    "older version": _from_before,
    "changed text": partial(_by_sql, "UPDATE note_text SET data = x'789c0012345678'"),
    "lost text": partial(_by_sql, "DELETE FROM note_text WHERE note_id = 3"),
    "lost passages": partial(_by_sql, "DELETE FROM passage WHERE id % 2"),
    "lost full text": partial(_by_sql, "DELETE FROM passage_fts WHERE rowid % 2"),
    "log of another": _with_log_of_another,
}


class Server(Protocol):
    def found(self, query: str) -> object:
        """What it answers: something that says the same when the answer is the same, or an error."""
        ...

    def end(self) -> None: ...


class DaemonServer:
    def __init__(self, place: Path) -> None:
        self._folder = place / "state" / "daemon"
        self._root = place / "vault"
        self._process = subprocess.Popen(
            [sys.executable, "-m", "hindbrain", "up", "--foreground"],
            env=environ(place), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_until(lambda: read_address(str(self._folder)) is not None)

    def found(self, query: str) -> object:
        asked = client.request(self._folder, "search", self._root, {"query": query}, timeout_s=60)
        assert asked is not None
        reply: dict[str, Any] = dict(asked)
        return _passages(reply["result"]["hits"]) if reply["ok"] else reply

    def end(self) -> None:
        self._process.kill()
        self._process.wait()


class McpServer:
    def __init__(self, place: Path) -> None:
        self._door = McpDoor(place)

    def found(self, query: str) -> object:
        result = self._door.ask("tools/call", {"name": "vault_search", "arguments": {"query": query}})
        return result["result"]["content"]

    def end(self) -> None:
        self._door.kill()


def hindbrain(place: Path, *words: str) -> tuple[int, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain", words[0], "--vault", str(place / "vault"), "--json", *words[1:]],
        env=environ(place), capture_output=True, check=False,
    )  # fmt: skip
    return ran.returncode, json.loads(ran.stdout)


def _passages(hits: list[Any]) -> list[tuple[str, str, str]]:
    return [(hit["path"], hit["passage"], hit["text"]) for hit in hits]


def answers(place: Path, servers: Sequence[Server]) -> list[object]:
    """What commands and servers say, each of them by itself."""
    told: list[object] = [
        _passages(hindbrain(place, "search", query, "--keyword")[1]["hits"]) for query in QUERIES
    ]
    return told + [server.found(query) for server in servers for query in QUERIES]


def vault_bytes(place: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in (place / "vault").rglob("*") if file.is_file()}


def check_repair(place: Path, damage: Damage, servers: Sequence[Server]) -> None:
    """Damage the index under servers that have it open, repair it, and compare with what was before."""
    (index,) = (place / "state").glob("*/index.db")
    expected = answers(place, servers)
    assert all(expected)
    before = vault_bytes(place)
    damage(index)
    for server in servers:
        server.found(QUERIES[0])  # it answers, or says what is wrong
    code, report = hindbrain(place, "doctor", "--fix")
    assert code == 0 and report["healthy"], report
    assert not [finding for finding in report["findings"] if finding["state"] != "ok"]
    assert answers(place, servers) == expected
    assert vault_bytes(place) == before


@pytest.fixture
def vault(place: Path) -> Path:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for number in range(30):
        (root / f"{number}.md").write_text(
            f"# Note {number}\n\nGreen tea, number {number}.\n\nnumber twelve, a walrus\n", encoding="utf-8"
        )
    assert hindbrain(place, "init")[0] == 0
    remembered = hindbrain(place, "remember", "Drinks green tea", "--importance", "0.9")
    assert remembered[0] == 0
    assert hindbrain(place, "sync")[0] == 0
    return root


@contextlib.contextmanager
def running(place: Path, kinds: Sequence[Callable[[Path], Server]]) -> Iterator[list[Server]]:
    with contextlib.ExitStack() as stack:
        servers = []
        for kind in kinds:
            servers.append(kind(place))
            stack.callback(servers[-1].end)
        yield servers


def test_a_damaged_index_is_repaired_while_servers_run(place: Path, vault: Path) -> None:
    with running(place, (DaemonServer, McpServer)) as servers:
        for kind in ("junk", "swap_pages"):
            check_repair(place, DAMAGES[kind], servers)


@pytest.mark.slow
@pytest.mark.parametrize("servers", [(DaemonServer,), (McpServer,), (DaemonServer, McpServer)])
@pytest.mark.parametrize("kind", DAMAGES)
def test_every_damaged_index_is_repaired_while_servers_run(
    place: Path, vault: Path, kind: str, servers: Sequence[Callable[[Path], Server]]
) -> None:
    with running(place, servers) as started:
        check_repair(place, DAMAGES[kind], started)
