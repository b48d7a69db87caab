"""Many processes on one index: no commit is lost, readers see whole states, and our SQLite is safe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from hindbrain.base.errors import IndexFault
from hindbrain.index import schema
from hindbrain.index.schema import open_writer
from index_oracle import assert_equals_vault, rows
from workbench import Bench

# One process: as many commits as told, each acknowledged on its standard output after it returned.
_COMMITTER = """
import sys
from pathlib import Path
from hindbrain.index.writer import IndexWriter
from hindbrain.base.errors import Busy
path, own, commits = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
writer, done, waits = IndexWriter(path), 0, 0
while done < commits:
    try:
        with writer.transaction():
            writer.log_access([(f"p{own}", float(done), "q" * (done % 300))])
    except Busy:
        waits += 1
        continue
    done += 1
    if done % 97 == 0:
        writer.checkpoint()
print(done, waits)
"""

# One process that reads until its input closes: each state that it sees must be whole.
_READER = """
import sys, threading
from pathlib import Path
from hindbrain.index.store import IndexStore
path = Path(sys.argv[1])
threading.Thread(target=lambda: (sys.stdin.read(), stop.append(1)), daemon=True).start()
stop, seen, last = [], 0, 0
while not stop:
    store = IndexStore(path)
    for _ in range(20):
        generation = store.generation()
        assert generation >= last, (generation, last)
        last = generation
        seen += 1
    assert seen % 400 or store.check() == []
    store.close()
print(seen)
"""


def _start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _commit_from_many(path: Path, processes: int, commits: int) -> int:
    """Run writers with a reader beside them; return how many commits were acknowledged and are there."""
    open_writer(path).close()
    reader = _start(_READER, path)
    writers = [_start(_COMMITTER, path, own, commits) for own in range(processes)]
    acknowledged = {}
    for own, process in enumerate(writers):
        out, err = process.communicate()
        assert process.returncode == 0, err
        acknowledged[f"p{own}"] = int(out.split()[0])
    out, err = reader.communicate()
    assert reader.returncode == 0, err
    assert int(out) > 0
    found = dict(rows(path, "SELECT path, count(*) FROM access_log GROUP BY path"))
    assert found == acknowledged
    distinct = rows(path, "SELECT count(DISTINCT path || ' ' || at) FROM access_log")
    assert distinct == [(sum(acknowledged.values()),)]
    ((generation,),) = rows(path, "SELECT value FROM meta WHERE key = 'generation'")
    assert generation == sum(acknowledged.values())
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    return sum(acknowledged.values())


@pytest.mark.promise("P10")
def test_four_processes_lose_no_commit(place: Path) -> None:
    assert _commit_from_many(place / "index.db", 4, 500) == 2_000


@pytest.mark.slow
@pytest.mark.promise("P10")
def test_four_processes_lose_none_of_a_million_commits(place: Path) -> None:
    rounds = [_commit_from_many(place / str(number) / "index.db", 4, 10_000) for number in range(25)]
    assert sum(rounds) == 1_000_000


@pytest.mark.promise("P10")
def test_the_sqlite_that_we_run_on_is_one_without_the_bug_that_loses_commits() -> None:
    assert apsw.SQLITE_VERSION_NUMBER >= 3_051_003


@pytest.mark.promise("P10")
@pytest.mark.parametrize("version", [3_007_000, 3_050_004, 3_051_002])
def test_an_older_sqlite_is_refused(place: Path, monkeypatch: pytest.MonkeyPatch, version: int) -> None:
    monkeypatch.setattr(schema.apsw, "SQLITE_VERSION_NUMBER", version)
    for action in (schema.open_reader, schema.open_writer):
        with pytest.raises(IndexFault):
            action(place / "index.db")
    assert list(place.iterdir()) == []


# A process that syncs a vault over and over, told through its standard input to go on.
_SYNCER = """
import json, sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.sync import Syncer
from hindbrain.vault.ignore import make_rules
root, state, rounds = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
for i in range(rounds):
    (root / f"{sys.argv[4]}-{i}.md").write_text(f"zebra {i} of {sys.argv[4]}")
    report = Syncer(root, state, make_rules(), ChunkSettings(), SystemClock(), lock_timeout_s=60).sync(None)
    assert not report.failed, report
print(json.dumps({"indexed": report.indexed}))
"""


@pytest.mark.promise("P10")
def test_processes_that_sync_at_once_agree_with_the_vault_while_others_search(plain: Bench) -> None:
    plain.vault.write("first.md", "zebra first\n")
    plain.sync()
    workers = [_start(_SYNCER, plain.vault.root, plain.app.state, 6, name) for name in ("a", "b", "c")]
    answers = 0
    while any(worker.poll() is None for worker in workers):
        assert "first.md" in {hit.path for hit in plain.hits("zebra first")}
        answers += 1
    for worker in workers:
        out, err = worker.communicate()
        assert worker.returncode == 0, err
        assert json.loads(out)
    assert answers > 0
    plain.sync()
    assert_equals_vault(plain.app.index_path, plain.vault.root)
    assert len(os.listdir(plain.vault.root)) == 20  # noqa: PTH208


def test_a_reader_that_stays_open_sees_what_a_sync_has_added(bench: Bench) -> None:
    from hindbrain.index.store import IndexStore
    from hindbrain.search.engine import SearchEngine
    from hindbrain.search.query import SearchQuery

    bench.vault.write("a.md", "zebras live in the grass\n")
    bench.sync()
    store = IndexStore(bench.app.index_path)
    engine = SearchEngine(store, lambda: bench.embedder, bench.app.clock, warm=True)
    assert [hit.path for hit in engine.search(SearchQuery("zebras")).hits] == ["a.md"]
    bench.vault.write("b.md", "giraffes eat from trees\n")
    bench.vault.remove("a.md")
    bench.sync()
    for mode in ("hybrid", "keyword", "semantic"):
        assert [hit.path for hit in engine.search(SearchQuery("giraffes", mode=mode)).hits] == ["b.md"]
        assert [hit.path for hit in engine.search(SearchQuery("zebras", mode=mode)).hits] in ([], ["b.md"])
    store.close()
