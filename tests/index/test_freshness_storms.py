"""After a look at the files the index says what a whole sync would say, or says that it does not."""

from __future__ import annotations

import os
import random
import shutil
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load_config

NAMES = ("Plan.md", "Café.md", unicodedata.normalize("NFD", "Über.md"), "a b.md", "notes.markdown", "x.txt")
FOLDERS = ("", "One/", "One/Two/", "Templates/", "drafts/", ".hidden/")


def opened(root: Path, state: Path) -> App:
    environ = {"HINDBRAIN_STATE_FOLDER": str(state), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
    return build_app(load_config(environ, state / "none.toml"), root, clock=SystemClock(), warm=False)


def known(app: App) -> dict[str, str]:
    return {path: note.hash for path, note in app.store.known_notes().items()}


def storm(root: Path, pick: random.Random) -> None:
    """One thing that people, editors and sync tools do."""
    files = sorted(path for path in root.rglob("*.md") if path.is_file() and not path.is_symlink())
    place = root / pick.choice(FOLDERS) / pick.choice(NAMES)
    kind = pick.choice(
        ("write", "write", "edit", "edit", "delete", "move", "copy", "ignore", "link", "folder")
    )
    if kind == "write" or not files:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"text {pick.random()}\n", "utf-8")
        return
    file = pick.choice(files)
    if kind == "edit":
        stamp = file.stat()
        file.write_bytes(file.read_bytes()[::-1])  # the same size, and sometimes the same time
        if pick.random() < 0.5:
            os.utime(file, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    elif kind == "delete":
        file.unlink()
    elif kind == "move":
        file.rename(file.with_name(f"moved {pick.randrange(99)}.md"))
    elif kind == "copy" and "copy" not in file.name:
        shutil.copy2(file, file.with_name(f"{file.stem} (conflicted copy 2026-05-01).md"))
    elif kind == "ignore":
        (root / ".gitignore").write_text(pick.choice(("drafts/\n", "*.tmp.md\n", "")), "utf-8")
    elif kind == "link":
        link = root / f"link{pick.randrange(9)}"
        if not link.is_symlink():
            link.symlink_to(pick.choice(("One", "nowhere", ".")))
    elif kind == "folder":
        shutil.rmtree(root / pick.choice(("One/Two", "drafts")), ignore_errors=True)


@pytest.mark.parametrize("seed", range(8))
def test_the_index_is_what_a_whole_sync_makes_or_says_that_it_is_not(tmp_path: Path, seed: int) -> None:
    root, pick = tmp_path / "vault", random.Random(seed)
    (root / ".obsidian").mkdir(parents=True)
    for number in range(12):
        (root / f"n{number}.md").write_text(f"note {number}\n", "utf-8")
    app = opened(root, tmp_path / "state")
    app.sync()
    app.freshen_s = 60
    told = 0
    for step in range(12):
        for _ in range(pick.randrange(1, 4)):
            storm(root, pick)
        fresh = app.freshen()
        told += bool(fresh.notices)
        if not fresh.notices:
            whole = opened(root, tmp_path / f"other{step}")
            whole.sync()
            assert known(app) == known(whole), step
            whole.close()
    assert not told
    app.close()


def test_a_vault_that_is_away_is_said_and_nothing_is_removed(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for number in range(3):
        (root / f"n{number}.md").write_text(f"note {number}\n", "utf-8")
    app = opened(root, tmp_path / "state")
    app.sync()
    before = known(app)

    def away() -> None:
        root.rename(tmp_path / "elsewhere")

    def empty() -> None:
        root.mkdir()

    steps: list[Callable[[], None]] = [away, empty]
    for step in steps:
        step()
        assert app.freshen().notices, step.__name__
        assert known(app) == before


def test_a_vault_that_can_not_be_looked_through_in_time_says_how_much_was_not(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    for number in range(5):
        (root / f"f{number}").mkdir(parents=True)
        (root / f"f{number}" / "n.md").write_text("x\n", "utf-8")
    app = opened(root, tmp_path / "state")
    app.sync()
    app.freshen_s = 0.0
    (notice,) = app.freshen().notices
    assert notice.startswith("index_unchecked: 5 of 5 ")
