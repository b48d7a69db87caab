"""A copy of a vault becomes a vault of its own; one that was moved, or has two names, stays the same one."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from command_runs import Cli
from hindbrain.vault import copies
from workbench import Vault


def history(cli: Cli, root: Path) -> list[str]:
    return [one["id"] for one in cli("history", "--json", vault=root).data["revisions"]]


def vault_id(root: Path) -> str:
    return (root / ".hindbrain" / "vault-id").read_text(encoding="ascii").strip()


@pytest.fixture
def original(cli: Cli, vault: Vault) -> Path:
    vault.write("Tea.md", "# Tea\n\nGreen tea is brewed at 70 degrees.\n")
    assert cli("init", "--layout", "obsidian").code == 0
    assert cli("sync").code == 0
    assert cli("remember", "Prefers oat milk", "--importance", "0.9").code == 0
    return vault.root


@pytest.mark.promise("P27")
def test_a_copy_gets_its_own_id_index_and_history(cli: Cli, original: Path, tmp_path: Path) -> None:
    before, id_ = history(cli, original), vault_id(original)
    copy = tmp_path / "copy"
    shutil.copytree(original, copy)
    first = cli("task", "add", "Fix the boat", vault=copy)
    assert first.code == 0 and str(original) in first.err
    assert vault_id(original) == id_ != vault_id(copy)
    assert len(history(cli, copy)) == 1 and history(cli, original) == before
    second = cli("task", "list", vault=copy)
    assert "copy" not in second.err, "it is said once"
    assert cli("sync", vault=copy).code == 0
    hits = cli("search", "boat", "--keyword", "--json", vault=original).data["hits"]
    assert hits == [], "the original's index knows nothing of the copy"
    found = cli("recall", "oat milk", "--json", vault=copy).data["memories"]
    assert [one["text"] for one in found] == ["Prefers oat milk"], "what the copy holds goes with it"
    assert cli("undo", vault=copy).code == 0
    assert history(cli, original) == before
    assert cli("undo", vault=original).code == 0
    assert cli("recall", "oat milk", "--json", vault=original).data["memories"] == []
    assert cli("recall", "oat milk", "--json", vault=copy).data["memories"]


@pytest.mark.promise("P27")
def test_a_vault_that_moved_keeps_its_history(cli: Cli, original: Path, tmp_path: Path) -> None:
    before, id_ = history(cli, original), vault_id(original)
    moved = tmp_path / "elsewhere" / "vault"
    moved.parent.mkdir()
    original.rename(moved)
    assert history(cli, moved) == before
    far = tmp_path / "far"  # as over the border of a file system: every file is another one
    shutil.copytree(moved, far)
    shutil.rmtree(moved)
    assert history(cli, far) == before and vault_id(far) == id_
    far.rename(original)
    assert history(cli, original) == before and vault_id(original) == id_


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_another_name_of_the_same_folder_is_no_copy(
    cli: Cli, original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, id_ = history(cli, original), vault_id(original)
    (tmp_path / "link").symlink_to(original, target_is_directory=True)
    ran = cli("history", vault=tmp_path / "link")
    assert ran.code == 0 and "copy" not in ran.err
    # A folder that is mounted twice may have another number under each of its paths.
    other = copies.Place(str(tmp_path / "link"), 1, 1)
    monkeypatch.setattr(copies, "place_at", lambda _: other)
    monkeypatch.setattr(Path, "samefile", lambda *_: False)
    for _ in range(2):
        ran = cli("history", "--json", vault=tmp_path / "link")
        assert [one["id"] for one in ran.data["revisions"]] == before and ran.err == ""
        assert vault_id(original) == id_


@pytest.mark.promise("P27")
def test_an_original_that_comes_back_keeps_its_history(cli: Cli, original: Path, tmp_path: Path) -> None:
    before, id_ = history(cli, original), vault_id(original)
    copy, away = tmp_path / "copy", tmp_path / "away"
    shutil.copytree(original, copy)
    original.rename(away)  # as if its disk were not mounted
    assert history(cli, copy) == before, "nothing tells it from a vault that was moved"
    assert cli("task", "add", "Fix the boat", vault=copy).code == 0
    away.rename(original)
    assert history(cli, original)[1:] == before and vault_id(original) == id_
    assert "copy" in cli("status", vault=copy).err
    assert vault_id(copy) != id_ == vault_id(original)
    assert "Fix the boat" in cli("task", "list", vault=copy).out
