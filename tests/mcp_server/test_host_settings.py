"""Hosts' settings are edited in place: our server is in it afterwards, and everything else as it was."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.edge.mcp import json_edit, toml_table
from hindbrain.edge.mcp.json_edit import read_members, set_member
from hindbrain.edge.mcp.toml_table import set_table

VALUE = {"command": "/bin/hindbrain", "args": ["mcp"]}
PATH = ("mcpServers", "hindbrain")


def _is_within(part: str, whole: str) -> bool:
    """Are all characters of `part` in `whole`, in their order?"""
    rest = iter(whole)
    return all(char in rest for char in part)


@pytest.mark.parametrize("text", ["", " \n", "{}", "{\n}\n", '{"a": 1}', '{"mcpServers": {}}', "\ufeff{}"])
def test_a_member_is_added_to_whatever_is_there(text: str) -> None:
    after = set_member(text, PATH, VALUE)
    assert read_members(after)["mcpServers"]["hindbrain"] == VALUE
    assert _is_within(text.strip(), after)
    assert set_member(after, PATH, VALUE) == after


def test_lines_comments_and_indents_of_others_stay() -> None:
    before = (
        '{\r\n\t// my servers\r\n\t"theme": "dark", /* { */\r\n\t"mcpServers": {\r\n'
        '\t\t"other": {"command": "x // no comment"}, // keep me\r\n\t},\r\n\t"last": [1,2,],\r\n}\r\n'
    )
    after = set_member(before, PATH, VALUE)
    added = [line for line in after.splitlines(keepends=True) if line not in before.splitlines(keepends=True)]
    assert _is_within(before, after)
    assert "".join(added).replace("\r\n", "\n").startswith('\t\t"hindbrain": {\n\t\t\t"command"')
    assert all(line.endswith("\r\n") for line in after.splitlines(keepends=True))
    assert read_members(after)["mcpServers"]["other"] == {"command": "x // no comment"}


def test_a_comment_beside_the_last_member_stays_beside_it() -> None:
    before = '{\n  "a": 1 // one\n}\n'
    assert set_member(before, ("b",), 2) == '{\n  "a": 1, // one\n  "b": 2\n}\n'


def test_only_the_value_is_replaced_where_the_member_is_there() -> None:
    before = '{\n  "mcpServers": {\n    "hindbrain": {"command": "old"}, "z": 1\n  }\n}\n'
    after = set_member(before, PATH, VALUE)
    assert after.startswith('{\n  "mcpServers": {\n    "hindbrain": {')
    assert after.endswith('}, "z": 1\n  }\n}\n')


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        '{"a": NaN}',
        "3",
        "{",
        '{"a": }',
        "{a: 1}",
        '{"mcpServers": []}',
        '{"mcpServers": {"x": 1}',
        "{} {}",
        "{'a': 1}",
    ],
)
def test_what_is_no_json_object_is_left_alone(text: str) -> None:
    with pytest.raises(json_edit.NotEditable):
        set_member(text, PATH, VALUE)


_NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
_JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_NAMES, inner, max_size=3)),
    max_leaves=8,
)


@given(
    st.dictionaries(_NAMES, _JSON, max_size=4),
    st.sampled_from([None, 1, 2, 4, "\t"]),
    st.booleans(),
    st.lists(st.sampled_from(["mcp", "servers", "a", 'q"\\', "é"]), min_size=1, max_size=3),
)
@settings(max_examples=80)
def test_any_object_keeps_all_it_has(
    held: dict[str, Any], indent: int | str | None, ascii_only: bool, path: list[str]
) -> None:
    before = json.dumps(held, indent=indent, ensure_ascii=ascii_only)
    want = json.loads(before)
    at = want
    for name in path[:-1]:
        below = at.setdefault(name, {})
        if not isinstance(below, dict):
            with pytest.raises(json_edit.NotEditable):
                set_member(before, path, VALUE)
            return
        at = below
    is_new = path[-1] not in at
    at[path[-1]] = VALUE
    after = set_member(before, path, VALUE)
    assert json.loads(after) == want
    assert set_member(after, path, VALUE) == after
    if is_new:
        assert _is_within(before, after)


TABLE = ("mcp_servers", "hindbrain")
KEYS: dict[str, str | list[str]] = {"command": "/bin/hindbrain", "args": ["mcp", "--vault", "/v"]}


@pytest.mark.parametrize(
    "before",
    [
        "",
        'model = "o5"\n',
        'model = "o5"',
        "# mine\r\n[mcp_servers.other]\r\ncommand = \"x\"\r\n",
        '[mcp_servers.hindbrain]\ncommand = "old" # here\nargs = [\n  "a", # first\n  "b",\n]\n'
        "startup_timeout_sec = 20\n\n[z]\na = 1\n",
        '[mcp_servers."hindbrain"]\nenv = { A = "1" }\n[mcp_servers.hindbrain.tools.recall]\nmode = "auto"\n',
        '[mcp_servers.hindbrain]\ncommand = "/bin/hindbrain"\nargs = ["mcp", "--vault", "/v"]\n',
    ],
)  # fmt: skip
def test_a_table_gets_our_keys_and_keeps_the_others(before: str) -> None:
    after = set_table(before, TABLE, KEYS)
    want = tomllib.loads(before)
    want.setdefault("mcp_servers", {}).setdefault("hindbrain", {}).update(KEYS)
    assert tomllib.loads(after) == want
    assert set_table(after, TABLE, KEYS) == after
    kept = [line for line in before.splitlines() if not line.startswith(("command", "args", "  ", "]"))]
    assert [line for line in after.splitlines() if line in kept] == kept


@pytest.mark.parametrize(
    "text",
    [
        "[",
        "a = ",
        'mcp_servers = { x = { command = "y" } }\n',
        "mcp_servers = 3\n",
        "[[mcp_servers]]\na = 1\n",
    ],
)
def test_toml_that_can_not_be_edited_by_line_is_left_alone(text: str) -> None:
    with pytest.raises(toml_table.NotEditable):
        set_table(text, TABLE, KEYS)
