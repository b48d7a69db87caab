"""Every promise that we call kept has a test, and no test names a promise that does not exist."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


def _listed() -> tuple[set[str], set[str]]:
    table = tomllib.loads((TESTS / "promises.toml").read_text(encoding="utf-8"))
    return set(table["kept"]), set(table["not_yet"])


def _markers(tree: ast.AST) -> Iterator[str]:
    """The arguments of every `pytest.mark.promise(...)`, wherever it stands."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == "promise":
            yield from (str(arg.value) for arg in node.args if isinstance(arg, ast.Constant))


@cache
def _named() -> dict[str, list[str]]:
    named = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if ".promise(" in text:
            for promise in _markers(ast.parse(text)):
                named[promise].append(file.name)
    return dict(named)


@pytest.mark.parametrize("promise", sorted(_listed()[0]))
def test_a_kept_promise_has_a_test(promise: str) -> None:
    assert _named().get(promise)


def test_tests_name_only_promises_that_exist() -> None:
    kept, not_yet = _listed()
    assert {name: files for name, files in _named().items() if name not in kept | not_yet} == {}


def test_every_promise_is_kept_or_not_yet_and_not_both() -> None:
    kept, not_yet = _listed()
    assert kept.isdisjoint(not_yet)
    assert kept | not_yet == {f"P{number}" for number in range(1, 31)}
