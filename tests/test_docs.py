"""What the pages say of the program, as far as a program can check it."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.commands import NAMES
from hindbrain.edge.parser import command_module, make_parser
from hindbrain.models.static import load_static

ROOT = Path(__file__).parents[1]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
_LINK = re.compile(r"(?<!`)\[[^\]\n]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def _project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@cache
def _text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def _anchors(page: Path) -> set[str]:
    """As GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", _text(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.strip().lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in _LINK.findall(_CODE.sub("", _text(page))):
        name, _, anchor = target.partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        there = page.parent / name if name else page
        assert there.exists(), target
        assert not anchor or there.suffix != ".md" or anchor in _anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_option_that_a_page_names_exists(page: Path) -> None:
    for name, rest in re.findall(r"hindbrain ([a-z]+)([^\n`|#]*)", _text(page)):
        if name in NAMES:
            known = {o for a in make_parser(name, command_module(name))._actions for o in a.option_strings}
            named = {word.split("=")[0] for word in re.findall(r"(?<!\S)--[a-z][a-z-]*", rest)}
            assert named <= known, f"hindbrain {name}{rest}"


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_order_of_layers_is_the_one_that_is_enforced(page: str) -> None:
    (contract,) = _project()["tool"]["importlinter"]["contracts"]
    order = " > ".join(layer.removeprefix("hindbrain.") for layer in contract["layers"])
    assert f"`{order}`" in _text(ROOT / page)


def test_decision_1_lists_every_runtime_dependency() -> None:
    wanted = {re.split(r"[<>=;~ ]", line)[0] for line in _project()["project"]["dependencies"]}
    text = _text(ROOT / "docs" / "decisions" / "0001-dependencies.md")
    assert set(re.findall(r"^\| ([a-z0-9-]+) \d", text, re.MULTILINE)) == wanted
    words = {9: "Nine", 10: "Ten", 11: "Eleven"}
    assert f"{words[len(wanted)]} runtime dependencies" in text


def test_the_built_in_embedder_has_the_name_that_the_service_page_shows() -> None:
    shown = set(re.findall(r'"(?:embedder|model)": "(builtin[^"]*)"', _text(ROOT / "docs" / "service.md")))
    assert shown == {load_static().name}


def test_no_page_or_message_advises_to_install_a_name_that_is_not_registered() -> None:
    sources = [*PAGES, *(ROOT / "src").rglob("*.py")]
    assert not [path.name for path in sources if re.search(r"pip install '?hindbrain(?!-)", _text(path))]
