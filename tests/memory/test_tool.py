"""Arguments of tools: what a model sends is either clean or refused by name."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import (
    Ambiguous,
    Busy,
    HindbrainError,
    NoteChanged,
    NotFound,
    Refused,
    UsageError,
)
from hindbrain.memory.service import Memory
from hindbrain.memory.tools.tool import (
    Arguments,
    Param,
    Tool,
    ToolResult,
    call,
    check_arguments,
    failure_text,
    input_schema,
)


def _echo(_memory: Memory, args: Arguments) -> ToolResult:
    return ToolResult("done", args)


TOOL = Tool(
    "plant",
    "Plant something.",
    (
        Param("name", "string", "What", required=True),
        Param("rows", "integer", "How many", minimum=1, maximum=9, also=("maxRows",)),
        Param("depth", "number", "", minimum=0),
        Param("wet", "boolean", ""),
        Param("tags", "array", ""),
        Param("season", "string", "", choices=("spring", "autumn")),
        Param("kinds", "array", "", choices=("root", "leaf")),
        Param("legacy", "string", "", declared=False),
    ),
    "add",
    _echo,
)
BARE = {"name": "carrots"}


def test_the_schema_is_what_was_declared_and_no_more() -> None:
    schema = input_schema(TOOL)
    assert schema["required"] == ["name"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["rows"] == {
        "type": "integer", "minimum": 1, "maximum": 9, "description": "How many",
    }  # fmt: skip
    assert schema["properties"]["season"] == {"type": "string", "enum": ["spring", "autumn"]}
    assert schema["properties"]["kinds"] == {
        "type": "array", "items": {"type": "string", "enum": ["root", "leaf"]},
    }  # fmt: skip
    assert "legacy" not in schema["properties"] and "maxRows" not in schema["properties"]
    json.dumps(schema)


@pytest.mark.parametrize(
    ("args", "clean"),
    [
        ({}, {}),
        ({"rows": 3}, {"rows": 3}),
        ({"rows": "3"}, {"rows": 3}),
        ({"rows": " 3 "}, {"rows": 3}),
        ({"rows": 3.0}, {"rows": 3}),
        ({"maxRows": 4}, {"rows": 4}),
        ({"rows": None}, {}),
        ({"rows": ""}, {}),
        ({"depth": 2}, {"depth": 2.0}),
        ({"depth": "0.5"}, {"depth": 0.5}),
        ({"wet": True}, {"wet": True}),
        ({"wet": "false"}, {"wet": False}),
        ({"tags": ["a", "b"]}, {"tags": ("a", "b")}),
        ({"tags": "a, b"}, {"tags": ("a", "b")}),
        ({"tags": '["a", "b,c"]'}, {"tags": ("a", "b,c")}),
        ({"tags": []}, {}),
        ({"season": "Spring "}, {"season": "spring"}),
        ({"kinds": ["root"]}, {"kinds": ("root",)}),
        ({"legacy": "x"}, {"legacy": "x"}),
    ],
)
def test_what_is_meant_clearly_is_taken(args: dict[str, Any], clean: dict[str, Any]) -> None:
    assert check_arguments(TOOL, {**BARE, **args}) == {**BARE, **clean}


@pytest.mark.parametrize(
    "args",
    [
        {"nmae": "x"},
        {"rows": "three"},
        {"rows": "3.5"},
        {"rows": 3.5},
        {"rows": True},
        {"rows": 0},
        {"rows": 10},
        {"rows": "1" * 5000},
        {"rows": [3]},
        {"rows": 3, "maxRows": 3},
        {"depth": "deep"},
        {"depth": float("nan")},
        {"depth": float("inf")},
        {"depth": "inf"},
        {"depth": 10**400},
        {"depth": -1},
        {"wet": "yes"},
        {"wet": 1},
        {"tags": [1]},
        {"tags": {"a": 1}},
        {"tags": "[1"},
        {"season": "winter"},
        {"kinds": ["root", "flower"]},
        {"name": 7},
        {"name": ""},
        {"name": "  \n"},
        {"name": None},
        {"name": "half \ud800"},
        {"name": "nul \0"},
        {"name": "x" * 1_000_001},
        {"name": "é" * 500_001},
        {"tags": ["\udfff"]},
    ],
)
def test_what_is_wrong_is_refused_with_its_name(args: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as caught:
        check_arguments(TOOL, {**BARE, **args})
    assert repr(next(iter(args))) in str(caught.value) or "'rows'" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_a_million_bytes_are_taken() -> None:
    assert len(check_arguments(TOOL, {"name": "x" * 1_000_000})["name"]) == 1_000_000


def test_a_misspelt_name_is_met_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="'season'"):
        check_arguments(TOOL, {**BARE, "saeson": "spring"})


def test_what_is_missing_is_named() -> None:
    with pytest.raises(UsageError, match="'name'"):
        check_arguments(TOOL, None)


def test_arguments_without_names_are_refused() -> None:
    with pytest.raises(UsageError):
        check_arguments(TOOL, cast(Any, ["carrots"]))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([param.name for param in TOOL.params]) | st.text(max_size=4), _JSON))
@settings(max_examples=80)
def test_whatever_is_sent_is_clean_or_a_usage_error(args: dict[str, Any]) -> None:
    try:
        checked = check_arguments(TOOL, args)
    except UsageError:
        return
    kinds = {"string": str, "integer": int, "number": float, "boolean": bool, "array": tuple}
    declared = {param.name: param for param in TOOL.params}
    for name, value in checked.items():
        assert isinstance(value, kinds[declared[name].kind])
    assert checked["name"].strip()


def test_a_call_checks_first_and_then_acts() -> None:
    nobody = cast("Memory", None)
    assert call(nobody, TOOL, {"name": "peas", "rows": "2"}).data == {"name": "peas", "rows": 2}
    with pytest.raises(UsageError):
        call(nobody, TOOL, {"name": "peas", "row": 2})


@pytest.mark.parametrize(
    ("error", "begins", "ends"),
    [
        (UsageError("no"), "error (usage): no.", "Fix the arguments and try again."),
        (NotFound("no note 'x'."), "error (not_found): no note 'x'.", "Fix the arguments and try again."),
        (Busy("locked"), "error (busy): locked.", "Try again in a moment."),
        (Refused("not that"), "error (refused): not that.", "Stop and tell the user."),
        (HindbrainError("?"), "error (internal)", "Stop and tell the user."),
        (ZeroDivisionError("secret inside"), "error (internal)", "Stop and tell the user."),
    ],
)
def test_a_failure_says_what_it_is_and_what_to_do(error: Exception, begins: str, ends: str) -> None:
    text = failure_text(error)
    assert text.startswith(begins) and text.endswith(ends)
    assert "secret inside" not in text


def test_a_conflict_tells_the_current_hash_and_an_ambiguity_its_candidates() -> None:
    assert " 0123456789abcdef." in failure_text(NoteChanged("x", current_hash="0123456789abcdef" * 4))
    assert "a.md, b.md" in failure_text(Ambiguous("two", candidates=("a.md", "b.md")))
