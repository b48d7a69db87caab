"""The runs of a vault: journals in, episodes out; and what can't be read is told."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import FakeClock
from hindbrain.base.errors import Ambiguous, NotFound, UnsafePath, UsageError, VaultError, WriteFailed
from hindbrain.learn.runs import store as store_module
from hindbrain.learn.runs.events import Event, IterationEnded, RunCreated, RunEnded, ToolExecuted, to_line
from hindbrain.learn.runs.store import RunStore
from hindbrain.vault.write import VaultWriter
from workbench import NOW, Vault


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def writer(vault: Vault, state: Path, clock: FakeClock) -> Iterator[VaultWriter]:
    with VaultWriter(vault.root, state, clock) as writer:
        yield writer


@pytest.fixture
def store(vault: Vault, state: Path, writer: VaultWriter) -> RunStore:
    return RunStore(vault.root, state, lambda: writer)


def run_of(run: str, *, at: float = NOW, end: str = "complete", command: str = "go") -> list[Event]:
    return [
        RunCreated(run, at, command),
        ToolExecuted(run, at + 1, "click", {"x": 1, "to": {"deep": True}}, ok=False, said="no"),
        IterationEnded(run, at + 2, 1, 90),
        RunEnded(run, at + 5, end),  # type: ignore[arg-type]
    ]


def write_own(store: RunStore, events: list[Event]) -> None:
    journal = store.journal(events[0].run)
    for event in events:
        journal.add(event)


def ids(store: RunStore, last: int = 0) -> list[str]:
    return [episode.run for episode in store.episodes(last=last)]


def lines(*events: Event) -> bytes:
    return "".join(to_line(event) + "\n" for event in events).encode()


def runs_folder(vault: Vault) -> Path:
    return vault.root / ".hindbrain" / "runs"


def put(vault: Vault, name: str, data: bytes) -> Path:
    file = runs_folder(vault) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return file


def test_a_run_that_was_journalled_is_an_episode(store: RunStore, vault: Vault) -> None:
    write_own(store, run_of("r-1", command="Open Chrome"))
    (episode,) = store.episodes()
    assert (episode.run, episode.command, episode.outcome, episode.score) == (
        "r-1", "Open Chrome", "success", 90,
    )  # fmt: skip
    assert episode.actions[0].arguments == (("x", "1"), ("to", '{"deep":true}'))
    assert list(store.events("r-1")) == run_of("r-1", command="Open Chrome")
    assert (runs_folder(vault) / "r-1" / "journal.jsonl").read_bytes() == lines(
        *run_of("r-1", command="Open Chrome")
    )


def test_episodes_come_by_their_end_and_the_last_ones_alone_where_asked(store: RunStore) -> None:
    write_own(store, run_of("r-b", at=NOW + 20))
    write_own(store, run_of("r-c", at=NOW + 10))
    write_own(store, run_of("r-a", at=NOW + 30))
    assert ids(store) == ["r-c", "r-b", "r-a"]
    assert ids(store, last=2) == ["r-b", "r-a"]


def test_what_comes_from_the_cache_is_what_was_read(store: RunStore, vault: Vault, state: Path) -> None:
    write_own(store, run_of("r-1", end="fail"))
    store.add_imported("others", [run_of("i-1"), run_of("i-2", at=NOW + 9)])
    first = store.episodes()
    again = RunStore(vault.root, state, pytest.fail).episodes()
    assert again == first
    assert [type(action) for action in again[0].actions] == [type(action) for action in first[0].actions]
    (state / "runs.db").unlink()
    assert store.episodes() == first


def test_what_is_known_is_not_read_again_and_what_grew_is(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_own(store, run_of("r-1"))
    write_own(store, run_of("r-2")[:-1])
    assert ids(store) == ["r-1"]
    read: list[str] = []
    lines_of = store_module.files.Lines

    def watched(path: Path) -> store_module.files.Lines:
        read.append(path.parent.name)
        return lines_of(path)

    monkeypatch.setattr(store_module.files, "Lines", watched)
    assert ids(store) == ["r-1"] and read == []
    assert store.unfinished() == ["r-2"] and read == []
    store.journal("r-2").add(run_of("r-2")[-1])
    assert ids(store) == ["r-1", "r-2"] and read == ["r-2"]
    assert store.unfinished() == []


def test_a_journal_that_its_owner_deleted_is_gone(store: RunStore, vault: Vault) -> None:
    write_own(store, run_of("r-1"))
    write_own(store, run_of("r-2"))
    assert ids(store) == ["r-1", "r-2"]
    (runs_folder(vault) / "r-1" / "journal.jsonl").unlink()
    assert ids(store) == ["r-2"]
    assert not store.knows("r-1")


def test_lines_that_nobody_understands_are_passed_over_counted_and_kept(
    store: RunStore, vault: Vault
) -> None:
    begin, *rest = run_of("r-1")
    strange = (
        b'{"v":1,"run":"r-1","at":1,"type":"mood.noted"}\n{"v":9,"run":"r-1","at":1,"type":"run.fail"}\n'
    )
    torn = to_line(rest[0]).encode()[:30]
    file = put(vault, "r-1/journal.jsonl", lines(begin) + strange + b"\n\n" + torn)
    before = file.read_bytes()
    assert store.passed_over() == 2  # a line without an end may still be written to
    for event in rest:
        store.journal("r-1").add(event)
    assert file.read_bytes().startswith(before)
    assert store.episode("r-1").outcome == "success"
    assert len(store.episode("r-1").actions) == 1
    assert store.passed_over() == 3


def test_a_last_line_that_only_lacks_its_end_is_whole(store: RunStore, vault: Vault) -> None:
    put(vault, "r-1/journal.jsonl", lines(*run_of("r-1"))[:-1])
    assert ids(store) == ["r-1"]


def test_compressed_and_cold_journals_are_read(store: RunStore, vault: Vault) -> None:
    put(vault, "r-1/journal.jsonl.gz", gzip.compress(lines(*run_of("r-1"))))
    cold = [event for run in ("r-2", "r-3") for event in run_of(run, at=NOW - 9e7)]
    put(vault, "cold/2023.jsonl.gz", gzip.compress(lines(*cold)))
    assert ids(store) == ["r-2", "r-3", "r-1"]
    assert list(store.events("r-1")) == run_of("r-1")
    assert list(store.events("r-3")) == run_of("r-3", at=NOW - 9e7)


def test_a_run_that_two_files_tell_of_is_one_run(store: RunStore, vault: Vault) -> None:
    put(vault, "r-1/journal.jsonl", lines(*run_of("r-1", command="own")))
    put(vault, "r-1/journal.jsonl.gz", gzip.compress(lines(*run_of("r-1", command="packed"))))
    put(vault, "cold/2026.jsonl.gz", gzip.compress(lines(*run_of("r-1", command="cold"))))
    assert [episode.command for episode in store.episodes()] == ["own"]
    assert [episode.command for episode in store.episodes(last=1)] == ["own"]
    assert store.episode("r-1").command == "own"
    (runs_folder(vault) / "r-1" / "journal.jsonl").unlink()
    assert store.episode("r-1").command == "packed"
    (runs_folder(vault) / "r-1" / "journal.jsonl.gz").unlink()
    assert store.episode("r-1").command == "cold"


def test_the_end_of_a_run_is_believed_wherever_it_is_told(store: RunStore, vault: Vault) -> None:
    put(vault, "r-1/journal.jsonl", lines(*run_of("r-1")[:2]))
    put(vault, "cold/2026.jsonl", lines(*run_of("r-1")))
    assert ids(store) == ["r-1"]
    assert store.unfinished() == []


def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore) -> None:
    for run in ("r-20261116-103000-7f3k", "r-20261116-104500-aaaa", "r-20261117-090000-bbbb"):
        write_own(store, run_of(run))
    assert store.episode("r-20261117").run == "r-20261117-090000-bbbb"
    assert store.episode("^r-20261116-103000-7f3k").run == "r-20261116-103000-7f3k"
    with pytest.raises(Ambiguous) as several:
        store.episode("r-20261116")
    assert set(several.value.candidates) == {"r-20261116-103000-7f3k", "r-20261116-104500-aaaa"}
    with pytest.raises(NotFound, match="r-20261116-103000-7f3k"):
        store.events("r-20261116-103000-7f3x")
    with pytest.raises(NotFound):
        store.episode("")


def test_a_run_that_has_not_ended_has_a_story_and_no_episode(store: RunStore) -> None:
    write_own(store, run_of("r-1")[:2])
    assert list(store.events("r-1")) == run_of("r-1")[:2]
    assert store.unfinished() == ["r-1"]
    assert store.knows("r-1")
    with pytest.raises(NotFound):
        store.episode("r-1")


@pytest.mark.parametrize("run", ["", "imported", "cold", "../up", "R-1", "a/b", "a.b", "con ", "x" * 100])
def test_an_id_that_is_no_name_for_a_folder_is_refused(store: RunStore, run: str) -> None:
    with pytest.raises(UnsafePath):
        store.journal(run)


# --- imports


def test_an_import_is_one_file_and_the_second_time_nothing(store: RunStore, vault: Vault) -> None:
    runs = [run_of("i-1"), run_of("i-2", end="fail"), run_of("i-3")[:2]]
    added = store.add_imported("tau", iter(runs))
    assert added == (3, 10, 0, {"failed": 1, "success": 1, "unfinished": 1})
    file = runs_folder(vault) / "imported" / "tau.jsonl"
    before = file.read_bytes()
    assert before == lines(*(event for run in runs for event in run))
    assert store.add_imported("tau", runs) == (0, 0, 3, {})
    assert store.add_imported("tau-copy", runs) == (0, 0, 3, {})
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == ["tau.jsonl"]
    assert store.unfinished() == []  # nobody can go on with a run of others


def test_a_later_import_adds_what_is_new_behind_a_torn_line_too(store: RunStore, vault: Vault) -> None:
    store.add_imported("tau", [run_of("i-1")])
    file = runs_folder(vault) / "imported" / "tau.jsonl"
    file.write_bytes(file.read_bytes() + b'{"v":1,"run":"i-9"')
    added = store.add_imported("tau", [run_of("i-1"), run_of("i-2"), run_of("i-2")])
    assert (added.runs, added.known) == (1, 2)
    assert ids(store) == ["i-1", "i-2"]


def test_runs_that_were_our_own_are_known(store: RunStore) -> None:
    write_own(store, run_of("r-1"))
    assert store.add_imported("back", [run_of("r-1")]).known == 1


def test_an_import_that_breaks_off_leaves_nothing(store: RunStore, vault: Vault) -> None:
    def broken() -> Iterator[list[Event]]:
        yield run_of("i-1")
        raise UsageError("line 2 is wrong")

    with pytest.raises(UsageError):
        store.add_imported("tau", broken())
    assert not runs_folder(vault).exists()
    with pytest.raises(UsageError):
        store.add_imported("tau", [run_of("i-1"), [*run_of("i-2"), *run_of("i-3")]])
    with pytest.raises(UsageError):
        store.add_imported("tau", [run_of("i 1 ^")])
    with pytest.raises(UnsafePath):
        store.add_imported("../tau", [run_of("i-1")])
    assert not runs_folder(vault).exists()


def test_a_dry_run_counts_and_writes_nothing(vault: Vault, state: Path) -> None:
    dry = RunStore(vault.root, state, pytest.fail, dry_run=True)
    assert dry.add_imported("tau", [run_of("i-1")]).runs == 1
    assert dry.knows("i-1")
    assert dry.add_imported("other", [run_of("i-1"), run_of("i-2")])[:3] == (1, 4, 1)
    assert not runs_folder(vault).exists()


def test_a_full_file_is_followed_by_another(
    store: RunStore, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_FULL", 100)
    for number in range(3):
        store.add_imported("tau", [run_of(f"i-{number}")])
    folder = runs_folder(vault) / "imported"
    assert sorted(path.name for path in folder.iterdir()) == ["tau.2.jsonl", "tau.3.jsonl", "tau.jsonl"]
    assert ids(store) == ["i-0", "i-1", "i-2"]


def test_an_import_larger_than_memory_should_hold_goes_through_the_disk(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "_IN_MEMORY", 1_000)
    assert store.add_imported("many", (run_of(f"i-{number}") for number in range(300))).events == 1_200
    assert len(store.episodes()) == 300


@pytest.mark.promise("P21")
def test_secrets_of_imported_runs_stay_out(store: RunStore, vault: Vault) -> None:
    secret = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    begin, call, *rest = run_of("i-1", command=f"use {secret}")
    assert isinstance(call, ToolExecuted)
    store.add_imported("x", [[begin, call._replace(arguments={"header": f"Bearer {secret}"}), *rest]])
    assert secret.encode() not in (runs_folder(vault) / "imported" / "x.jsonl").read_bytes()


# --- what can go wrong


def test_a_damaged_cache_is_made_anew(store: RunStore, state: Path) -> None:
    write_own(store, run_of("r-1"))
    expected = store.episodes()
    (state / "runs.db").write_bytes(b"this is no database at all, is it?" * 100)
    assert store.episodes() == expected
    assert store.episodes() == expected
    data = bytearray((state / "runs.db").read_bytes())
    at = data.index(b"click")
    data[at] ^= 0x20  # one bit of an episode
    (state / "runs.db").write_bytes(data)
    assert store.episodes() == expected
    assert store.episodes() == expected
    assert b"click" in (state / "runs.db").read_bytes()


def test_where_nothing_can_be_written_runs_are_still_read(vault: Vault, tmp_path: Path) -> None:
    put(vault, "r-1/journal.jsonl", lines(*run_of("r-1")))
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert ids(RunStore(vault.root, tmp_path / "file" / "state", pytest.fail)) == ["r-1"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="permissions do not bind this user")
def test_a_journal_that_can_not_be_read_is_named_and_not_forgotten(store: RunStore, vault: Vault) -> None:
    write_own(store, run_of("r-1"))
    write_own(store, run_of("r-2"))
    assert ids(store) == ["r-1", "r-2"]
    file = runs_folder(vault) / "r-1" / "journal.jsonl"
    os.utime(file, (NOW, NOW))
    file.chmod(0)
    assert ids(store) == ["r-1", "r-2"]
    assert len(store.problems()) == 1


def test_a_journal_that_fails_while_it_is_read_keeps_what_was_known(
    store: RunStore, vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_own(store, run_of("r-1"))
    write_own(store, run_of("r-2"))
    assert ids(store) == ["r-1", "r-2"]
    write_own(store, run_of("r-3"))
    os.utime(runs_folder(vault) / "r-1" / "journal.jsonl", (NOW, NOW))

    def failing(path: Path) -> object:
        if path.parent.name == "r-1":
            raise OSError(5, "Input/output error")
        return open(path, "rb")

    monkeypatch.setattr(store_module.files, "_opened", failing)
    assert ids(store) == ["r-1", "r-2", "r-3"]
    assert len(store.problems()) == 1
    with pytest.raises(VaultError):
        list(store.events("r-1"))
    monkeypatch.undo()
    assert store.problems() == []


def test_of_a_cut_archive_the_runs_before_the_cut_are_used(store: RunStore, vault: Vault) -> None:
    many = [event for number in range(500) for event in run_of(f"r-{number}", command=f"do {number * 7919}")]
    packed = gzip.compress(lines(*many))
    put(vault, "cold/2025.jsonl.gz", packed[: len(packed) // 2])
    put(vault, "r-own/journal.jsonl", lines(*run_of("r-own")))
    found = ids(store)
    assert "r-own" in found and "r-0" in found and "r-499" not in found
    assert len(store.problems()) == 1
    assert len(store.problems()) == 1  # also from the cache
    put(vault, "cold/2025.jsonl.gz", b"no archive")
    assert ids(store) == ["r-own"]


@pytest.mark.skipif(os.name == "nt", reason="needs links and pipes")
def test_links_and_pipes_are_no_journals(store: RunStore, vault: Vault, tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.write_bytes(lines(*run_of("r-out")))
    for run in ("r-1", "r-2"):
        (runs_folder(vault) / run).mkdir(parents=True)
    (runs_folder(vault) / "r-1" / "journal.jsonl").symlink_to(outside)
    os.mkfifo(runs_folder(vault) / "r-2" / "journal.jsonl")
    (runs_folder(vault) / "r-3").symlink_to(tmp_path)
    assert ids(store) == []


def test_an_endless_line_is_passed_over(store: RunStore, vault: Vault) -> None:
    begin, *rest = run_of("r-1")
    put(vault, "r-1/journal.jsonl", lines(begin) + b"x" * 5_000_000 + b"\n" + lines(*rest))
    assert store.episode("r-1").outcome == "success"
    assert store.passed_over() == 1


def test_a_place_in_the_vault_that_is_taken_is_an_error_and_not_an_empty_answer(
    store: RunStore, vault: Vault
) -> None:
    write_own(store, run_of("r-1"))
    (runs_folder(vault) / "imported").write_text("a file", encoding="utf-8")
    assert ids(store) == ["r-1"]
    with pytest.raises(WriteFailed):
        store.add_imported("tau", [run_of("i-1")])
