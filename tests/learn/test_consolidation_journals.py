"""Old journals are compressed and put together, and every byte of them stays."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.app import App
from hindbrain.learn.consolidation.journals import OldJournals
from hindbrain.learn.runs.events import RunCreated, RunEnded, to_line
from hindbrain.learn.runs.store import RunStore
from workbench import NOW, Vault

MakeApp = Callable[..., App]
DAY_S = 86_400


@pytest.fixture
def app(vault: Vault, make_app: MakeApp) -> App:
    return make_app(vault.root)


def write_run(root: Path, run: str, ago: int, *, more: bytes = b"") -> bytes:
    at = NOW - ago * DAY_S
    lines = [to_line(RunCreated(run, at, "open the mail")), to_line(RunEnded(run, at + 60, "complete", 90))]
    data = "".join(line + "\n" for line in lines).encode() + more
    file = root / ".hindbrain" / "runs" / run / "journal.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    os.utime(file, (at, at))
    return data


def journals(app: App) -> OldJournals:
    return OldJournals(app.root, lambda: app.writer)


def files(root: Path) -> list[str]:
    runs = root / ".hindbrain" / "runs"
    return sorted(file.relative_to(runs).as_posix() for file in runs.rglob("*") if file.is_file())


def test_journals_are_compressed_after_90_days(app: App) -> None:
    data = write_run(app.root, "r-old", 91, more=b'{"type":"of a later version"}\n{"torn')
    write_run(app.root, "r-new", 89)
    assert journals(app).count(now=NOW) == 1
    done = journals(app).compress(now=NOW)
    assert (done.compressed, done.cold, done.problems) == (1, 0, ())
    assert files(app.root) == ["r-new/journal.jsonl", "r-old/journal.jsonl.gz"]
    packed = app.root / ".hindbrain/runs/r-old/journal.jsonl.gz"
    assert gzip.decompress(packed.read_bytes()) == data


def test_after_a_year_they_are_one_file_and_still_known(app: App) -> None:
    store = RunStore(app.root, app.state, lambda: app.writer)
    for n, run in enumerate(["r-a", "r-b", "r-c"]):
        write_run(app.root, run, 400 + n)
    write_run(app.root, "r-d", 10)
    before = store.episodes()
    assert journals(app).compress(now=NOW).cold == 3
    assert files(app.root) == ["cold/2025.jsonl.gz", "r-d/journal.jsonl"]
    assert RunStore(app.root, app.state, lambda: app.writer).episodes() == before


def test_more_of_the_same_year_is_added_behind(app: App) -> None:
    first = write_run(app.root, "r-a", 400)
    journals(app).compress(now=NOW)
    second = write_run(app.root, "r-b", 401)
    journals(app).compress(now=NOW)
    cold = app.root / ".hindbrain/runs/cold/2025.jsonl.gz"
    assert gzip.decompress(cold.read_bytes()) == first + second
    again = cold.read_bytes()
    assert journals(app).compress(now=NOW) == (0, 0, ())
    assert cold.read_bytes() == again


def test_a_run_that_went_on_after_it_was_compressed_loses_nothing(app: App) -> None:
    first = write_run(app.root, "r-a", 200)
    journals(app).compress(now=NOW)
    second = write_run(app.root, "r-a", 100)
    journals(app).compress(now=NOW)
    packed = app.root / ".hindbrain/runs/r-a/journal.jsonl.gz"
    assert gzip.decompress(packed.read_bytes()) == first + second


def test_a_journal_that_grows_meanwhile_stays(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(app.root, "r-a", 100)
    real = app.writer.put_state_file

    def growing(relative: str, data: bytes) -> None:
        real(relative, data)
        app.writer.append_state_line("runs/r-a/journal.jsonl", "{}")

    monkeypatch.setattr(app.writer, "put_state_file", growing)
    journals(app).compress(now=NOW)
    assert "r-a/journal.jsonl" in files(app.root)


def test_what_is_not_there_as_it_was_written_costs_no_journal(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(app.root, "r-a", 100)
    write_run(app.root, "r-b", 500)
    monkeypatch.setattr(app.writer, "put_state_file", lambda *_: None)
    done = journals(app).compress(now=NOW)
    assert len(done.problems) == 2
    assert files(app.root) == ["r-a/journal.jsonl", "r-b/journal.jsonl"]


def test_screenshots_beside_a_journal_stay(app: App) -> None:
    write_run(app.root, "r-a", 400)
    (app.root / ".hindbrain/runs/r-a/1.png").write_bytes(b"png")
    journals(app).compress(now=NOW)
    assert files(app.root) == ["cold/2025.jsonl.gz", "r-a/1.png"]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    runs=st.dictionaries(
        st.sampled_from(["r-a", "r-b", "r-c"]), st.tuples(st.integers(0, 900), st.binary(max_size=40))
    )
)
def test_every_line_of_every_journal_stays(
    runs: dict[str, tuple[int, bytes]], make_app: MakeApp, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("vault")
    app = make_app(root, state_folder=str(tmp_path_factory.mktemp("state")))
    written = {
        line
        for run, (ago, more) in runs.items()
        for line in write_run(root, run, ago, more=more).split(b"\n")
        if line.strip()
    }
    for _ in range(2):
        journals(app).compress(now=NOW)
    held: set[bytes] = set()
    for name in files(root) if runs else ():
        data = (root / ".hindbrain/runs" / name).read_bytes()
        held.update((gzip.decompress(data) if name.endswith(".gz") else data).split(b"\n"))
    assert written <= held
