"""A guard stops the calls that its owner meant, in time that grows with the text alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.learn.lessons.guarding import Guard, Unusable, check, checked_text, parse_guard

pytest.importorskip("re2")


def guard(text: str) -> Guard:
    parsed = parse_guard(text, id="l-1", reason="ask first", path="Lessons.md")
    assert isinstance(parsed, Guard)
    return parsed


PUSH, ROOT, BAR = guard("Bash: git push .*--force"), guard("*: rm -rf /"), guard("click: (?i)bookmark bar")
ALL = (PUSH, ROOT, BAR)


@pytest.mark.parametrize(
    ("tool", "arguments", "hit"),
    [
        ("Bash", {"command": "git push origin main --force"}, PUSH),
        ("bash", {"command": "cd x && git push --force"}, PUSH),
        ("Bash", {"command": "git push origin main"}, None),
        ("Write", {"content": "git push --force"}, None),
        ("run_shell", {"argv": ["sh", "-c", "rm -rf /"]}, ROOT),
        ("click", {"element": "Bookmark Bar", "times": 2}, BAR),
        ("click", {}, None),
    ],
)
def test_a_call_runs_into_the_guard_of_its_tool(
    tool: str, arguments: dict[str, object], hit: Guard | None
) -> None:
    assert check(ALL, tool, arguments) == hit


def test_arguments_are_one_text_a_line_each() -> None:
    assert checked_text({"a": "x y", "b": {"c": [1, True]}, "d": None}) == 'x y\n{"c":[1,true]}\nnull'
    assert check([guard("t: ^b$")], "t", {"one": "a", "two": "b"}) is not None


@pytest.mark.parametrize("text", ["", "Bash", "Bash:", ": x", "Bash: (", "t: (?=x)y", "t: " + "x" * 501])
def test_what_is_no_guard_is_reported_and_never_raises(text: str) -> None:
    parsed = parse_guard(text, id="l-9")
    assert isinstance(parsed, Unusable) and parsed.id == "l-9" and parsed.problem


def test_a_hostile_pattern_takes_no_longer_than_another() -> None:
    assert check([guard("t: (a+)+$")], "t", {"x": "a" * 100_000 + "b"}) is None


@given(st.text(max_size=40), st.dictionaries(st.text(max_size=5), st.text(max_size=30), max_size=3))
def test_any_text_is_a_guard_or_a_report(text: str, arguments: dict[str, str]) -> None:
    parsed = parse_guard(text)
    if isinstance(parsed, Guard):
        check([parsed], parsed.tool, arguments)
