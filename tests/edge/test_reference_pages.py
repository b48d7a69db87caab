"""The pages of settings and errors say what the program knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.base import errors
from hindbrain.base.config import SETTINGS, variable_of
from hindbrain.edge.reference_pages import PAGES, error_tree

_DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(PAGES))
def test_the_page_is_the_one_that_the_program_makes(name: str) -> None:
    assert (_DOCS / f"{name}.md").read_text(encoding="utf-8") == PAGES[name](), (
        f"run: python -m hindbrain.edge.reference_pages {name} > docs/{name}.md"
    )


def test_every_setting_stands_on_its_page_with_its_variable() -> None:
    page = PAGES["settings"]()
    assert [s.name for s in SETTINGS if f"`{s.name}`" not in page or variable_of(s.name) not in page] == []


def test_every_error_stands_in_the_tree_under_the_one_it_is_a_kind_of() -> None:
    above: list[type[errors.HindbrainError]] = []
    for depth, kind, meaning in error_tree():
        assert meaning
        if depth:
            assert kind.__bases__ == (above[depth - 1],)
        above[depth:] = [kind]


def test_a_tree_that_lacks_an_error_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors.__doc__ is not None
    monkeypatch.setattr(errors, "__doc__", errors.__doc__.replace("├── Busy ", "├── "))
    with pytest.raises((LookupError, AttributeError)):
        error_tree()


def test_a_tree_with_the_code_of_another_error_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert errors.__doc__ is not None
    monkeypatch.setattr(errors, "__doc__", errors.__doc__.replace(" unreadable  ", " conflict  "))
    with pytest.raises(LookupError):
        error_tree()
