"""`hindbrain sync`, `status` and `init`: what they do, what they say, what they leave alone."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.memory.storage.queue import Waiting, WriteQueue
from workbench import Vault


def _files(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*") if file.is_file()}


def test_a_sync_says_what_it_did(cli: Cli, notes: Vault) -> None:
    first = cli("sync", "--json").data
    assert (first["notes"], first["indexed"], first["clean"]) == (4, 4, True)
    assert first["embedded"] > 0 and first["pending"] == 0
    again = cli("sync", "--json").data
    assert (again["indexed"], again["unchanged"], again["embedded"]) == (0, 4, 0)
    assert re.match(r"4 notes: 0 indexed, 4 unchanged", cli("sync").out)


def test_a_sync_changes_nothing_in_the_vault(cli: Cli, notes: Vault) -> None:
    before = _files(notes.root)
    cli("sync")
    assert _files(notes.root) == before


def test_vectors_can_wait(cli: Cli, notes: Vault) -> None:
    report = cli("sync", "--no-vectors", "--json").data
    assert report["embedded"] == 0 and report["pending"] > 0
    assert cli("search", "turnips", "--keyword", "--json").data["hits"]
    assert cli("sync", "--json").data["pending"] == 0


@pytest.mark.promise("P29")
def test_a_file_that_fails_is_named_and_the_exit_code_is_1(cli: Cli, notes: Vault) -> None:
    notes.write("Blob.md", b"\0\1\2" * 500)
    ran = cli("sync")
    assert ran.code == 1
    assert "Blob.md" in ran.err
    assert [item["path"] for item in cli("status", "--json").data["index"]["left_out"]] == ["Blob.md"]
    assert "Blob.md" in cli("status").out


@pytest.mark.promise("P8", "P29")
def test_many_missing_notes_stay_until_a_person_says_so(cli: Cli, notes: Vault) -> None:
    for number in range(10):
        notes.write(f"many/{number}.md", f"# Note {number}\n\nquinoa {number}\n")
    cli("sync")
    shutil.rmtree(notes.root / "many")
    ran = cli("sync")
    assert ran.code == 1
    assert "--yes" in ran.err
    assert cli("status", "--json").data["index"]["notes"] == 14
    assert cli("sync", "--yes", "--json").data["removed"] == 10
    assert cli("sync").code == 0


@pytest.mark.promise("P8")
def test_a_vault_that_became_empty_is_not_believed(cli: Cli, indexed: Vault) -> None:
    moved = indexed.root.with_name("elsewhere")
    indexed.root.rename(moved)
    indexed.root.mkdir()
    assert cli("sync", "--yes", "--json").error == "vault_away"
    assert cli("search", "turnips", "--json").error == "vault_away"
    assert cli("doctor").code == 1
    indexed.root.rmdir()
    moved.rename(indexed.root)
    assert cli("search", "turnips", "--no-sync", "--json").data["hits"]


@pytest.mark.promise("P13")
def test_an_embedder_that_is_down_leaves_a_full_text_index(
    cli: Cli, notes: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_PROVIDER", "openai")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_MODEL", "nothing-there")
    monkeypatch.setenv("HINDBRAIN_EMBEDDING_MAX_RETRIES", "0")
    ran = cli("sync", "--json")
    assert ran.code == 1
    assert ran.data["indexed"] == 4 and ran.data["embedder_error"]
    assert cli("search", "turnips", "--json").data["hits"]


def test_a_note_that_is_deleted_is_no_longer_found(cli: Cli, indexed: Vault) -> None:
    indexed.remove("Archive/plan.md")
    assert cli("sync", "--json").data["removed"] == 1
    assert cli("search", "turnips", "--keyword", "--json").data["hits"] == []


def test_status_before_the_first_sync_says_so(cli: Cli, notes: Vault) -> None:
    ran = cli("status")
    assert ran.code == 0
    assert "hindbrain sync" in ran.out
    assert cli("status", "--json").data["index"] is None


def test_status_counts_what_is_there(cli: Cli, indexed: Vault) -> None:
    index = cli("status", "--json").data["index"]
    assert (index["notes"], index["pending"]) == (4, 0)
    assert index["passages"] == index["vectors"]


def test_init_writes_three_small_files_and_no_more(cli: Cli, notes: Vault) -> None:
    before = _files(notes.root)
    made = cli("init", "--json").data
    after = _files(notes.root)
    assert made["made"] and set(after) - set(before) == {
        str(Path(".hindbrain") / "vault-id"),
        str(Path(".hindbrain") / "README.md"),
        str(Path(".hindbrain") / "layout.toml"),
    }
    assert {name: after[name] for name in before} == before
    assert cli("init", "--json").data == {**made, "made": False}
    assert _files(notes.root) == after


def test_init_takes_the_folder_as_an_argument_too(cli: Cli, notes: Vault) -> None:
    assert cli.bare("init", str(notes.root), "--json").data["vault"] == str(notes.root)


def test_a_vault_with_an_id_keeps_its_index_when_it_moves(cli: Cli, indexed: Vault) -> None:
    cli("init")
    assert cli("search", "turnips", "--no-sync", "--json").data["hits"]
    moved = indexed.root.with_name("moved")
    indexed.root.rename(moved)
    assert cli("search", "turnips", "--no-sync", "--json", vault=moved).data["hits"]


def test_init_can_sync_at_once(cli: Cli, notes: Vault) -> None:
    assert cli("init", "--sync").code == 0
    assert cli("search", "turnips", "--no-sync", "--json").data["hits"]


def test_init_inside_another_vault_warns(cli: Cli, notes: Vault) -> None:
    ran = cli("init", vault=notes.root / "Archive")
    assert ran.code == 0
    assert "inside the vault" in ran.err


def test_init_where_nothing_can_be_written_is_an_error_and_leaves_no_trace(cli: Cli, notes: Vault) -> None:
    notes.write(".hindbrain", "a file where our folder would stand")
    before = _files(notes.root)
    ran = cli("init", "--json")
    assert (ran.code, ran.error) == (1, "write_failed")
    assert _files(notes.root) == before
    assert cli("search", "turnips", "--json").data["hits"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_vault_that_can_only_be_read_is_searched(cli: Cli, notes: Vault) -> None:
    notes.root.chmod(0o555)
    try:
        assert cli("search", "turnips", "--json").data["hits"]
        assert cli("init", "--json").error == "write_failed"
    finally:
        notes.root.chmod(0o755)


@pytest.mark.promise("P29")
def test_status_says_what_waits_and_for_how_long(cli: Cli, indexed: Vault) -> None:
    data = cli("status", "--json").data
    assert data["memory"] == {"waiting": 0, "waiting_since": 0.0, "oldest_s": None, "unreadable": 0}
    assert "memory" not in cli("status").out
    queue = WriteQueue(Path(data["vault"]["state"]))
    now = time.time()
    queue.add(Waiting("m-00000001", "The boat is in Lund", now - 7_200))
    queue.add(Waiting("m-00000002", "The mast is new", now - 60))
    memory = cli("status", "--json").data["memory"]
    assert (memory["waiting"], memory["waiting_since"], memory["unreadable"]) == (2, now - 7_200, 0)
    assert memory["oldest_s"] >= 7_200
    assert re.search(r"^memory +2 memories .* 2 h$", cli("status").out, re.M)
    assert "2 h" in next(row for row in cli("doctor").out.splitlines() if "memory" in row)
