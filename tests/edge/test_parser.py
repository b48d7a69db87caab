"""What is an option, what is a word, and what is said about a word that is neither."""

from __future__ import annotations

from argparse import Namespace

import pytest

from command_runs import Cli
from hindbrain.base.errors import UsageError
from hindbrain.edge.parser import command_module, parse
from workbench import Vault


def _parsed(name: str, *argv: str) -> Namespace:
    return parse(name, command_module(name), argv)


@pytest.mark.parametrize(
    "text",
    ["- a list item", "-have tea at five", "--- and so on", "-5C", "-5 degrees", "- [ ] a=b", "-", "-x=a b"],
)  # fmt: skip
@pytest.mark.parametrize("before", [[], ["--json"], ["--tag", "drinks"]])
@pytest.mark.parametrize("after", [[], ["--json"]])
def test_text_that_begins_with_a_dash_is_text(text: str, before: list[str], after: list[str]) -> None:
    assert _parsed("remember", *before, text, *after).words == [text]


@pytest.mark.parametrize("text", ["- a list item", "-have tea at five", "-5", "-", "", "a=b", "-x y=z"])
def test_so_is_the_value_of_an_option(text: str) -> None:
    args = _parsed("note", "append", "Plan", "--text", text, "--json")
    assert (args.text, args.json) == (text, True)


def test_after_two_dashes_all_is_text() -> None:
    args = _parsed("search", "tea", "--keyword", "--", "--json", "--", "-k")
    assert (args.words, args.keyword, args.json) == (["tea", "--json", "--", "-k"], True, False)


def test_words_may_stand_on_both_sides_of_an_option() -> None:
    assert _parsed("note", "append", "--json", "Plan", "--heading", "Beds", "- peas").words == ["- peas"]
    assert _parsed("mcp", "install", "--tools", "core", "cursor").host_name == "cursor"
    assert _parsed("lint", "Tea", "--check", "Plan").notes == ["Tea", "Plan"]


def test_an_option_without_its_value_takes_no_word_for_it() -> None:
    with pytest.raises(UsageError, match="-k"):
        _parsed("search", "5", "-k")
    with pytest.raises(UsageError, match="--add"):
        _parsed("daily", "--add", "--json")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["task", "ad", "Buy rope"], "'add'"),
        (["task", "Buy rope"], "cancel"),
        (["task", "add", "Buy rope", "--priority", "hgh"], "'high'"),
        (["task", "list", "--status", "x"], "in_progress"),
        (["note", "apend", "Tea", "more"], "'append'"),
        (["note", "append", "Tea", "--headng", "x", "- more"], "'--heading'"),
        (["inbox", "acept", "1"], "accept"),
        (["mcp", "instal", "cursor"], "install"),
        (["mcp", "install", "cursr"], "cursor"),
        (["remember", "-x"], "hindbrain remember"),
        (["daily", "--ad", "tea"], "'--add'"),
    ],
)
def test_a_wrong_word_is_named_with_what_would_be_right(
    cli: Cli, notes: Vault, words: list[str], hint: str
) -> None:
    ran = cli(*words)
    assert ran.code == 2
    assert hint in ran.err
    assert cli(*words, "--json").error == "usage"


def test_what_may_be_left_out_is_not_called_missing() -> None:
    with pytest.raises(UsageError) as told:
        _parsed("note", "append")
    assert "NOTE" in str(told.value) and "TEXT" not in str(told.value)


def test_a_list_item_comes_into_the_note_as_it_was_typed(cli: Cli, notes: Vault) -> None:
    assert cli("note", "append", "Tea", "--json", "- a list item").code == 0
    assert (notes.root / "Tea.md").read_bytes().endswith(b"\n- a list item\n")
