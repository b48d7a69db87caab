"""A sync that is interrupted at any statement: what is committed is sound, and the next sync goes on."""

from __future__ import annotations

import random
import resource
import sys
from pathlib import Path

import apsw
import pytest
from killer import run_forked

from hindbrain.base.errors import HindbrainError, IndexFault
from hindbrain.models.fake import FakeEmbedder
from index_faults import NEVER, Strikes, Struck, copy_index, failing, interrupt, kill
from index_oracle import assert_equals_vault, assert_sound, meaning, vault_content
from workbench import NOW, Bench, MakeBench

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills and limits are POSIX")


@pytest.fixture
def half_way(make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch) -> Bench:
    """A vault that was synced once and then changed in every way."""
    monkeypatch.setattr("hindbrain.index.sync._BATCH_NOTES", 2)
    monkeypatch.setattr("hindbrain.index.embed._REMOTE_BATCH", 3)
    bench = make_bench(FakeEmbedder(16))
    write = bench.vault.write
    for i in range(6):
        write(f"n{i}.md", f"# Note {i}\n\nzebra number {i} #tag\n\nlinks to [[n{(i + 1) % 6}]]\n")
    bench.sync()
    write("n0.md", "# Note 0\n\nchanged entirely\n", at=NOW - 60)
    bench.vault.edit("n1.md", "zebra", "giraffe")
    bench.vault.remove("n2.md")
    bench.vault.rename("n3.md", "moved/n3.md")
    write("new.md", "brand new\n")
    write("new2.md", "and another\n\nwith two paragraphs\n")
    return bench


def _statements(bench: Bench) -> int:
    """How many statements the sync takes, found on a copy."""
    kept = bench.app.state.with_name("kept")
    copy_index(bench.app.state, kept)
    strikes = Strikes(NEVER, interrupt)
    with strikes.active():
        bench.sync()
    copy_index(kept, bench.app.state)
    return len(strikes.statements)


def _converges(bench: Bench, expected: list[tuple]) -> None:  # type: ignore[type-arg]
    assert_sound(bench.app.index_path)
    bench.sync()
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)
    assert meaning(bench.app.index_path) == expected


def _expected(bench: Bench) -> list[tuple]:  # type: ignore[type-arg]
    kept = bench.app.state.with_name("kept-too")
    copy_index(bench.app.state, kept)
    bench.sync()
    expected = meaning(bench.app.index_path)
    copy_index(kept, bench.app.state)
    return expected


@pytest.mark.promise("P6")
def test_an_interruption_at_any_statement_leaves_it_sound_and_the_next_sync_converges(
    half_way: Bench,
) -> None:
    bench = half_way
    total, expected, kept = _statements(bench), _expected(bench), bench.app.state.with_name("start")
    copy_index(bench.app.state, kept)
    before = vault_content(bench.vault.root)
    assert total > 100
    for at in range(1, total + 1, 5):
        copy_index(kept, bench.app.state)
        with Strikes(at, interrupt).active(), pytest.raises(Struck):
            bench.sync()
        _converges(bench, expected)
    assert vault_content(bench.vault.root) == before


@pytest.mark.promise("P6")
@pytest.mark.parametrize("error", [apsw.FullError, apsw.IOError, apsw.CorruptError, apsw.BusyError])
def test_an_error_of_sqlite_at_any_statement_is_reported_and_the_next_sync_converges(
    half_way: Bench, error: type[apsw.Error]
) -> None:
    bench = half_way
    total, expected, kept = _statements(bench), _expected(bench), bench.app.state.with_name("start")
    copy_index(bench.app.state, kept)
    for at in range(1, total + 1, 9):
        copy_index(kept, bench.app.state)
        with Strikes(at, failing(error)).active(), pytest.raises(HindbrainError) as raised:
            bench.sync()
        assert raised.value.code in ("index", "index_damaged", "busy")
        _converges(bench, expected)


def _kills(bench: Bench, points: list[int]) -> None:
    expected, kept = _expected(bench), bench.app.state.with_name("start")
    copy_index(bench.app.state, kept)
    for at in points:
        copy_index(kept, bench.app.state)

        def run(at: int = at) -> None:
            with Strikes(at, kill).active():
                bench.sync()

        _, returned = run_forked(run)
        assert not returned
        _converges(bench, expected)


@pytest.mark.promise("P6")
def test_a_kill_at_random_statements_leaves_a_sound_index_and_the_next_converges(
    half_way: Bench,
) -> None:
    total = _statements(half_way)
    _kills(half_way, random.Random(1).sample(range(1, total + 1), 25))


@pytest.mark.slow
@pytest.mark.promise("P6")
def test_a_kill_at_every_statement_leaves_it_sound_and_the_next_sync_converges(half_way: Bench) -> None:
    _kills(half_way, list(range(1, _statements(half_way) + 1)))


@pytest.mark.promise("P6")
@pytest.mark.parametrize("limit", [30_000, 120_000, 250_000])
def test_a_full_disk_is_reported_and_costs_nothing(make_bench: MakeBench, limit: int) -> None:
    bench = make_bench(FakeEmbedder(64))
    for i in range(60):
        bench.vault.write(f"n{i}.md", f"# Note {i}\n\n" + f"zebra {i} and its words {i * i}\n\n" * 40)
    before = vault_content(bench.vault.root)

    def run() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # no file may grow beyond: write says EFBIG
        with pytest.raises(IndexFault) as raised:
            bench.sync()
        assert raised.value.code == "index"

    _, returned = run_forked(run)
    assert returned
    assert vault_content(bench.vault.root) == before
    assert bench.sync().clean
    assert_equals_vault(bench.app.index_path, bench.vault.root, all_embedded=True)


@pytest.mark.promise("P6")
def test_a_state_folder_that_can_not_be_made_is_reported(make_bench: MakeBench, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    bench = make_bench(None, state_folder=str(tmp_path / "file" / "state"))
    bench.vault.write("a.md", "text\n")
    with pytest.raises(IndexFault):
        bench.sync()
