"""Every promise that we call kept is proved by tests that assert and run, and a command shows its figure.

Reads the tests as text: a test proves a promise that it is marked with. It counts if it asserts (itself or
through a function of the tests that it calls) and is not skipped wherever it runs. That it really ran is
checked by `promise_runs` at the end of a whole run.
"""

from __future__ import annotations

import ast
import shlex
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

TESTS = Path(__file__).parent
_LONG = {"slow", "hosts", "model", "openclaw"}  # not in the default run
_CHECKS = {"raises", "fail", "xfail"}


class Kept(NamedTuple):
    says: str
    figure: str  # what the command asserts
    shown_by: str  # the command


class Proof(NamedTuple):
    """A test that is marked with a promise."""

    promise: str
    file: str
    name: str
    long: bool  # not in the default run
    skipped: bool  # without a condition
    asserts: bool


def _listed() -> dict[str, dict[str, Any]]:
    return tomllib.loads((TESTS / "promises.toml").read_text(encoding="utf-8"))


KEPT = {name: Kept(**entry) for name, entry in _listed()["kept"].items()}
NOT_YET = set(_listed()["not_yet"])


@cache
def proofs() -> dict[str, list[Proof]]:
    found = defaultdict(list)
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if ".promise(" in text:
            for proof in find_proofs(text, str(file.relative_to(TESTS.parent))):
                found[proof.promise].append(proof)
    return dict(found)


def find_proofs(text: str, file: str, asserting: frozenset[str] | None = None) -> Iterator[Proof]:
    """`asserting` are names of functions that assert; by default those of all tests."""
    known = asserting if asserting is not None else _asserting_functions()
    tree = ast.parse(text)
    module = [node.value for node in tree.body if isinstance(node, ast.Assign) and _assigns_marks(node)]
    for test, outer in _tests(tree.body, module):
        marks = [mark for node in (*outer, *test.decorator_list) for mark in _marks(node)]
        names = {name for name, _ in marks}
        for promise in dict.fromkeys(arg for name, args in marks if name == "promise" for arg in args):
            asserts = _asserts(test, known)
            yield Proof(promise, file, test.name, bool(names & _LONG), "skip" in names, asserts)


def _assigns_marks(node: ast.Assign) -> bool:
    return any(isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets)


def _tests(
    body: Sequence[ast.stmt], outer: list[ast.expr]
) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, list[ast.expr]]]:
    """Test functions with the expressions of marks around them."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body, [*outer, *node.decorator_list])
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node, outer


def _marks(node: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(name, arguments) of each `pytest.mark.name`, without those in `pytest.param`, which mark one case."""
    if isinstance(node, ast.List | ast.Tuple):
        for element in node.elts:
            yield from _marks(element)
    elif isinstance(node, ast.Call):
        args = tuple(
            arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)
        )
        for name, _ in _marks(node.func):
            yield name, args
    elif isinstance(node, ast.Attribute) and ast.unparse(node.value) == "pytest.mark":
        yield node.attr, ()


def _asserts(function: ast.AST, asserting: frozenset[str]) -> bool:
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and not _is_trivial(node.test):
            return True
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in _CHECKS or called in asserting:
                return True
    return False


def _is_trivial(test: ast.expr) -> bool:
    """`assert True`, and `assert total > 0`: neither can fail on a figure."""
    if isinstance(test, ast.Constant):
        return True
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.ops[0], ast.Gt)
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == 0
    )


@cache
def _asserting_functions() -> frozenset[str]:
    """Names of functions of the tests that assert, directly or through each other."""
    functions = [
        node
        for file in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__")
    ]
    known: frozenset[str] = frozenset()
    while True:
        grown = known | {node.name for node in functions if node.name not in known and _asserts(node, known)}
        if grown == known:
            return known
        known = frozenset(grown)


@pytest.mark.parametrize("promise", sorted(KEPT))
def test_a_kept_promise_is_proved_in_the_default_run(promise: str) -> None:
    usual = [proof for proof in proofs().get(promise, []) if not proof.long]
    assert any(proof.asserts and not proof.skipped for proof in usual), usual


def test_no_test_of_a_promise_is_empty_or_switched_off() -> None:
    weak = [proof for found in proofs().values() for proof in found if proof.skipped or not proof.asserts]
    assert weak == []


@pytest.mark.parametrize("promise", sorted(KEPT))
def test_the_figure_of_a_kept_promise_is_shown_by_a_command(promise: str) -> None:
    kept = KEPT[promise]
    assert kept.says and kept.figure
    program, *words = shlex.split(kept.shown_by)
    assert program == "pytest"
    long = words[:2] == ["-m", "slow"]
    files = words[2:] if long else words
    assert files
    for file in files:
        assert (TESTS.parent / file).is_file(), file
        marked = [proof for proof in proofs()[promise] if proof.file == file]
        assert [proof for proof in marked if proof.long == long], f"{file} has no such test"


def test_tests_name_only_promises_that_exist() -> None:
    assert {name: found for name, found in proofs().items() if name not in KEPT and name not in NOT_YET} == {}


def test_every_promise_is_kept_or_not_yet_and_not_both() -> None:
    assert NOT_YET.isdisjoint(KEPT)
    assert NOT_YET | set(KEPT) == {f"P{number}" for number in range(1, 37)}


_EMPTY = """
import pytest
pytestmark = [pytest.mark.promise("P1")]

@pytest.mark.skip(reason="later")
def test_off(): assert 1 == one()

def test_empty(): print(measure())

def test_trivial(): assert measure() > 0

@pytest.mark.slow
def test_long(): judge()

@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_good(n): assert measure() == 0
"""


def test_the_check_sees_what_is_empty_skipped_or_long() -> None:
    found = {proof.name: proof for proof in find_proofs(_EMPTY, "x.py", frozenset({"judge"}))}
    assert {name for name, proof in found.items() if proof.skipped} == {"test_off"}
    assert {name for name, proof in found.items() if not proof.asserts} == {"test_empty", "test_trivial"}
    assert {name for name, proof in found.items() if proof.long} == {"test_long"}
