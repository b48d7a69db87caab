"""JSON5 is edited in place as JSON is: the change is in it afterwards, and all else as it was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.edge.mcp import json5_edit as edit
from hindbrain.edge.mcp.hosts import host_named
from hindbrain.edge.mcp.json_edit import NotEditable

WRITTEN = """// my "own" file: it's mine
{
  gateway: { mode: 'local', port: 0x4A, }, // keep: this
  'single "key"': +.5,
  "json": [1, 2.5e3, -7,],
  text: 'it\\'s \\x41 \\
long', /* a: b */
  $last: true,
}
"""


def test_it_says_what_json5_says() -> None:
    assert edit.read_members(WRITTEN) == {
        "gateway": {"mode": "local", "port": 74},
        'single "key"': 0.5,
        "json": [1, 2500.0, -7],
        "text": "it's A long",
        "$last": True,
    }


def test_a_change_leaves_every_other_line_as_it_was_written() -> None:
    after = edit.set_member(WRITTEN, ("gateway", "port"), 75)
    assert after == WRITTEN.replace("0x4A", "75")
    after = edit.set_member(WRITTEN, ("plugins", "slots", "memory"), "hindbrain")
    added = [line for line in after.splitlines() if line not in WRITTEN.splitlines()]
    assert added[0].strip() == '"plugins": {'
    assert [line for line in after.splitlines() if line not in added] == WRITTEN.splitlines()
    after = edit.append_item(WRITTEN, ("json",), 3)
    assert after == WRITTEN.replace("-7,]", "-7, 3]")
    assert edit.remove_item(WRITTEN, ("json",), 0) == WRITTEN.replace("[1, 2.5e3", "[2.5e3")
    gone = edit.remove_member(WRITTEN, ("text",))
    assert "text" not in edit.read_members(gone)
    assert "/* a: b */" in gone


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{\n  a: 'one',\n  1\n}", "the name of a member is missing at line 3, column 3"),
        ("{a: 'it', b: }", "a value is missing at line 1, column 14"),
        ("\ufeff{'a': [1 2]}", "a comma or a closing bracket is missing"),
    ],
)
def test_what_is_wrong_is_told_in_words_of_json5_and_where_it_stands(text: str, told: str) -> None:
    with pytest.raises(NotEditable, match="JSON5") as wrong:
        edit.read_members(text)
    assert told in str(wrong.value)


def test_what_is_so_already_is_not_written_anew() -> None:
    assert edit.set_member(WRITTEN, ("gateway", "port"), 74) == WRITTEN
    assert edit.remove_member(WRITTEN, ("nothing",)) == WRITTEN


@pytest.mark.parametrize(
    "text",
    ["{a: b}", "{a: NaN}", "{a: -Infinity}", "{a: 'x}", "{a 1}", "[]", "{a: 1", "{'a': 1,, }", "{a: 0x}"],
)
def test_what_is_no_json5_object_is_left_alone(text: str) -> None:
    with pytest.raises(NotEditable):
        edit.set_member(text, ("b",), 1)


def test_openclaw_s_settings_may_be_json5() -> None:
    after = host_named("openclaw").edit(
        "{mcp: {servers: {other: {command: 'x'}}}} // mine\n", ["hindbrain", "mcp"]
    )
    servers = edit.read_members(after)["mcp"]["servers"]
    assert servers == {"other": {"command": "x"}, "hindbrain": {"command": "hindbrain", "args": ["mcp"]}}
    assert after.endswith("// mine\n")


_NAMES = st.from_regex(r"[A-Za-z_$][A-Za-z0-9_$]{0,5}", fullmatch=True)
_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=8)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=6,
)


def as_json5(value: object) -> str:
    """With bare names, single quotes and a comma after the last of everything."""
    if isinstance(value, dict):
        return "{" + "".join(f"{name}: {as_json5(one)}, " for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + "".join(f"{as_json5(one)}, " for one in value) + "]"
    if isinstance(value, str):
        inner = json.dumps(value, ensure_ascii=False)[1:-1].replace('\\"', '"').replace("'", "\\'")
        return f"'{inner}'"
    return json.dumps(value)


@given(st.dictionaries(_NAMES, _VALUES, max_size=4), _NAMES, _VALUES)
def test_any_object_keeps_what_it_says(members: dict[str, object], name: str, value: object) -> None:
    text = as_json5(members)
    assert edit.read_members(text) == members
    after = edit.set_member(text, (name,), value)
    assert edit.read_members(after) == {**members, name: value}
    left = {other: one for other, one in members.items() if other != name}
    assert edit.read_members(edit.remove_member(after, (name,))) == left
