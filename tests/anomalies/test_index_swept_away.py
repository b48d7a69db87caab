"""The file of an index is emptied, replaced or taken away under a server that has it open."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError
from hindbrain.edge.main import main
from hindbrain.edge.serving.serving import Serving

pytestmark = pytest.mark.promise("P6", "P30")

Damage = Callable[[Path], None]


def _logs(index: Path) -> Iterator[Path]:
    yield from (index.with_name(f"index.db{suffix}") for suffix in ("-wal", "-shm"))


def _empty(index: Path) -> None:
    os.truncate(index, 0)


def _junk(index: Path) -> None:
    index.write_bytes(b"this is no database" * 400)


def _another_file(index: Path) -> None:
    _junk(index.with_name("other"))
    index.with_name("other").replace(index)


def _without_log(index: Path) -> None:
    for log in _logs(index):
        log.unlink()


def _folder(index: Path) -> None:
    for file in (index, *_logs(index)):
        file.unlink()
    index.mkdir()
    (index / "mine.txt").write_text("somebody's own", encoding="utf-8")


def _deleted(index: Path) -> None:
    for file in (index, *_logs(index)):
        file.unlink()


def _no_state(index: Path) -> None:
    shutil.rmtree(index.parent)


DAMAGES = (_empty, _junk, _another_file, _without_log, _folder, _deleted, _no_state)
NEED_A_DOCTOR = (_junk, _another_file, _folder)


@pytest.fixture(autouse=True)
def own_settings(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDBRAIN_CONFIG", str(place / "config.toml"))
    monkeypatch.setenv("HINDBRAIN_STATE_FOLDER", str(place / "state"))
    monkeypatch.setenv("HINDBRAIN_VAULT_PATH", str(place / "vault"))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def root(place: Path) -> Path:
    root = place / "vault"
    (root / ".obsidian").mkdir(parents=True)
    for number in range(20):
        (root / f"{number}.md").write_text(f"# Note {number}\n\nGreen tea.\n", encoding="utf-8")
    assert main(["init", str(root), "--sync"]) == 0
    return root


@pytest.fixture
def served(root: Path) -> Iterator[Serving]:
    """A server that has answered, without a watcher: nothing heals but what is asked."""
    serving = Serving(lambda: build_app(load_config(), root, warm=True), keep=False)
    assert _found(serving, "tea") == 10
    yield serving
    serving.close()


def _found(serving: Serving, words: str) -> int | str:
    """How many hits a running server finds; or the code of its error."""
    from hindbrain.search.query import SearchQuery

    def search(app: App) -> Any:
        return len(app.search(SearchQuery(words, k=10, mode="keyword")).hits)

    try:
        return int(serving.submit(search).result(timeout=30))
    except HindbrainError as error:
        return error.code


def _from_outside(damage: Damage, index: Path) -> None:
    """In a process of its own: one that closes a file gives up all its locks on it."""
    child = multiprocessing.get_context("fork").Process(target=damage, args=(index,))
    child.start()
    child.join()
    assert child.exitcode == 0


def _index(place: Path) -> Path:
    return next((place / "state").glob("*/index.db"))


@pytest.mark.skipif(os.name == "nt", reason="an open file can't be taken away there")
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_server_answers_or_says_what_is_wrong_and_a_command_heals_it(
    place: Path, root: Path, served: Serving, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    index = _index(place)
    notes = {path: path.read_bytes() for path in root.glob("*.md")}
    _from_outside(damage, index)
    assert _found(served, "tea") in (10, "index_missing", "index_damaged")
    if damage in NEED_A_DOCTOR:
        assert main(["search", "tea"]) == main(["sync"]) == 1
        assert "(index_damaged)" in capsys.readouterr().err
        assert main(["doctor", "--fix"]) == 0
    assert main(["search", "tea"]) == 0
    assert main(["sync"]) == 0
    assert main(["doctor"]) == 0
    assert _found(served, "tea") == 10
    (root / "walrus.md").write_text("# Walrus\n\nIt dances.\n", encoding="utf-8")
    assert _found(served, "walrus") == 1
    assert {path: path.read_bytes() for path in notes} == notes
    if damage is _folder:
        assert [file.read_text("utf-8") for file in index.parent.glob("index.db.aside-*/mine.txt")] == [
            "somebody's own"
        ]
