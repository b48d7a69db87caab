"""P8 through the real command: what `hindbrain sync` can't see stays in the index, and it says so.

Each case is a vault that was synced by the program and then looks smaller than it is, as it does behind a
mount that is gone, a dead link, a cloud that has taken the files away, or a copy that has only begun.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.anomalies.agents import environ

from index_oracle import index_content

pytestmark = pytest.mark.promise("P8")
NOTES = [f"{folder}/{number}.md" for folder in "abc" for number in range(20)]


def hindbrain(place: Path, *words: str) -> tuple[int, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain", words[0], "--vault", str(place / "vault"), "--json", *words[1:]],
        env=environ(place), capture_output=True, check=False,
    )  # fmt: skip
    return ran.returncode, json.loads(ran.stdout)


@pytest.fixture
def vault(place: Path) -> Path:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for path in NOTES:
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(f"# {path}\n\nzebra\n", encoding="utf-8")
    assert hindbrain(place, "init")[0] == 0
    assert hindbrain(place, "sync")[0] == 0
    return root


def _unmount(root: Path) -> None:
    root.rename(root.with_name("elsewhere"))
    root.mkdir()


def _take_away(root: Path) -> None:
    root.rename(root.with_name("elsewhere"))


def _swap_for_another(root: Path) -> None:
    _unmount(root)
    (root / ".obsidian").mkdir()
    (root / "other.md").write_text("another vault", encoding="utf-8")


def _break_a_link(root: Path) -> None:
    (root / "b").rename(root.with_name("disk"))
    (root / "b").symlink_to(root.with_name("disk that is gone"), target_is_directory=True)


def _evict_to_the_cloud(root: Path) -> None:
    for path in NOTES[:8]:
        note = root / path
        note.rename(note.with_name(f".{note.name}.icloud"))


def _copy_in_part(root: Path) -> None:
    for path in NOTES[:15]:  # 25 % of 60
        (root / path).unlink()


def _lose_most_folders(root: Path) -> None:
    shutil.rmtree(root / "a")
    shutil.rmtree(root / "b")


UNSEEN = (
    _unmount, _swap_for_another, _take_away, _break_a_link, _evict_to_the_cloud, _copy_in_part,
    _lose_most_folders,
)  # fmt: skip


@pytest.mark.skipif(sys.platform == "win32", reason="needs symlinks")
@pytest.mark.parametrize("hide", UNSEEN)
def test_what_a_sync_can_not_see_stays_in_the_index_and_is_reported(
    place: Path, vault: Path, hide: Callable[[Path], None]
) -> None:
    (index,) = (place / "state").rglob("index.db")
    known = index_content(index)
    assert set(NOTES) <= set(known)
    hide(vault)
    for _ in range(2):  # the second look must not believe what the first one saw
        code, _ = hindbrain(place, "sync")
        assert code != 0
        left = index_content(index)
        assert {path: left.get(path) for path in NOTES} == {path: known[path] for path in NOTES}


def test_a_few_notes_that_are_deleted_leave_the_index(place: Path, vault: Path) -> None:
    (index,) = (place / "state").rglob("index.db")
    for path in NOTES[:5]:
        (vault / path).unlink()
    assert hindbrain(place, "sync")[0] == 0
    assert set(index_content(index)) & set(NOTES) == set(NOTES[5:])


def test_many_that_are_deleted_leave_the_index_when_the_owner_says_so(place: Path, vault: Path) -> None:
    (index,) = (place / "state").rglob("index.db")
    _copy_in_part(vault)
    assert hindbrain(place, "sync")[0] != 0
    assert hindbrain(place, "sync", "--yes")[0] == 0
    assert set(index_content(index)) & set(NOTES) == set(NOTES[15:])
