"""A vault of 25,000 passages, searched by commands that start cold: all of its vectors count."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.app import App, build_app
from hindbrain.base.config import load_config
from hindbrain.search.hit import SearchResult
from hindbrain.search.query import Filters, SearchQuery

NOTES, PASSAGES = 250, 100
QUESTIONS = ("a physician examines a sick child", "sailing across the ocean", "quarterly revenue report")
_TEXT = """
    river mountain copper ledger engine violin harbour winter garden protein galaxy contract saddle lantern
    budget algorithm orchard bishop turbine novel glacier invoice kernel anchor meadow senate enzyme canvas
    railway comet tariff compiler vineyard abbey piston sonnet delta mortgage socket rudder
"""
WORDS = _TEXT.split()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `vault` and `state`; tests that change it work on a copy."""
    folder = tmp_path_factory.mktemp("large")
    pick = random.Random(7)
    (folder / "vault" / ".obsidian").mkdir(parents=True)
    for number in range(NOTES):
        lines = [" ".join(pick.choices(WORDS, k=6)) + "." for _ in range(PASSAGES)]
        (folder / "vault" / f"n{number:03}.md").write_text("\n\n".join(lines) + "\n", "utf-8")
    answer = "The doctor looked after a feverish toddler.\n"
    (folder / "vault" / "Clinic.md").write_text(answer, "utf-8")
    with _opened(folder) as app:
        app.sync()
        assert app.store.vector_count() > 25_000
    return folder


class _Closing:
    def __init__(self, app: App) -> None:
        self.app = app

    def __enter__(self) -> App:
        return self.app

    def __exit__(self, *_: object) -> None:
        self.app.close()


def _opened(folder: Path, *, warm: bool = False) -> _Closing:
    environ = {
        "HINDBRAIN_STATE_FOLDER": str(folder / "state"),
        "HINDBRAIN_EMBEDDING_PROVIDER": "builtin",
    }
    config = load_config(environ, folder / "no-config.toml")
    return _Closing(build_app(config, folder / "vault", warm=warm))


def _ask(folder: Path, query: SearchQuery, *, warm: bool = False) -> SearchResult:
    with _opened(folder, warm=warm) as app:
        return app.search(query)


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Iterator[Path]:
    """The index of the large vault, to be damaged."""
    (tmp_path / "vault").symlink_to(made / "vault")
    shutil.copytree(made / "state", tmp_path / "state")
    yield tmp_path


def _signs(folder: Path) -> Path:
    (file,) = (folder / "state").glob("*/signs.bin")
    return file


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_a_cold_search_answers_as_a_warm_one_and_says_nothing_of_parts(made: Path, mode: str) -> None:
    for question in QUESTIONS:
        query = SearchQuery(question, mode=mode)  # type: ignore[arg-type]
        cold, warm = _ask(made, query), _ask(made, query, warm=True)
        assert cold.notices == warm.notices == ()
        assert [hit.passage for hit in cold.hits] == [hit.passage for hit in warm.hits]
    assert _ask(made, SearchQuery(QUESTIONS[0], mode="semantic")).hits[0].path == "Clinic.md"


def test_a_filter_costs_no_hit(made: Path) -> None:
    query = SearchQuery(QUESTIONS[0], mode="semantic", filters=Filters(folder="Clinic.md"))
    assert [hit.path for hit in _ask(made, query).hits] == ["Clinic.md"]


def _remove(file: Path) -> None:
    file.unlink()


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5_000])


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-300_000:] = bytes(255 - byte for byte in data[-300_000:])
    file.write_bytes(data)


def _take_from_another_index(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[8:16] = b"\1" * 8  # the epoch
    file.write_bytes(data)


@pytest.mark.parametrize("damage", [_remove, _cut, _empty, _flip, _take_from_another_index])
def test_a_file_that_does_not_fit_is_made_again(
    made: Path, copy: Path, damage: Callable[[Path], None]
) -> None:
    whole = _signs(made).read_bytes()
    damage(_signs(copy))

    found = _ask(copy, SearchQuery(QUESTIONS[0], mode="semantic"))

    assert found.hits[0].path == "Clinic.md"
    assert _signs(copy).read_bytes() == whole


def test_a_folder_that_can_not_be_written_changes_no_answer(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _signs(copy).unlink()

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert _ask(copy, SearchQuery(QUESTIONS[0], mode="semantic")).hits[0].path == "Clinic.md"
    assert not list((copy / "state").glob("*/signs*"))


def test_new_vectors_are_found_and_removed_ones_are_not(made: Path) -> None:
    clinic, before = made / "vault" / "Clinic.md", _signs(made).read_bytes()
    text = clinic.read_text("utf-8")
    try:
        clinic.unlink()
        (made / "vault" / "Zoo.md").write_text("The veterinarian treats an ill elephant.\n", "utf-8")
        paths = [hit.path for hit in _ask(made, SearchQuery(QUESTIONS[0], mode="semantic")).hits]
        assert "Clinic.md" not in paths
        found = _ask(made, SearchQuery("the vet treats elephants that are ill", mode="semantic")).hits
        assert found[0].path == "Zoo.md"
        assert _signs(made).read_bytes() == before  # few changes do not make it anew
    finally:
        (made / "vault" / "Zoo.md").unlink(missing_ok=True)
        clinic.write_text(text, "utf-8")
        with _opened(made) as app:
            app.sync()


def test_an_index_that_is_made_again_has_its_own_file(copy: Path) -> None:
    before = _signs(copy).read_bytes()
    with _opened(copy) as app:
        app.rebuild()
    assert _signs(copy).read_bytes()[8:16] != before[8:16]
    assert _ask(copy, SearchQuery(QUESTIONS[0], mode="semantic")).hits[0].path == "Clinic.md"
