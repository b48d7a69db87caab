"""What stands inside a line is found, and nothing is found inside code, math, comments or addresses."""

import pytest

from hindbrain.vault.inline import Found, extract, mask
from hindbrain.vault.note import BlockId, InlineField, Link


def found(line: str) -> Found:
    result = Found()
    extract(line, 7, result)
    return result


def tags(line: str) -> list[str]:
    return list(found(line).tags)


@pytest.mark.parametrize(
    ("line", "link"),
    [
        ("see [[Note]]", Link("Note", "", "", "", False, 7)),
        ("[[a/Note.md#Head|shown]]", Link("a/Note.md", "Head", "", "shown", False, 7)),
        ("[[Note#A#B]]", Link("Note", "A#B", "", "", False, 7)),
        ("[[Note#^b-1]]", Link("Note", "", "b-1", "", False, 7)),
        ("[[#Here]]", Link("", "Here", "", "", False, 7)),
        ("![[pic.png|100]]", Link("pic.png", "", "", "100", True, 7)),
        ("| [[Note\\|shown]] |", Link("Note", "", "", "shown", False, 7)),
        ("[shown](My%20Note.md#Head)", Link("My Note.md", "Head", "", "shown", False, 7)),
        ("[`code`](<a b.md>)", Link("a b.md", "", "", "`code`", False, 7)),
        ('[x](a_(b).md "title")', Link("a_(b).md", "", "", "x", False, 7)),
        ("![alt](pic.png)", Link("pic.png", "", "", "alt", True, 7)),
        ("[up](#head)", Link("", "head", "", "up", False, 7)),
    ],
)
def test_each_form_of_link_is_read(line, link):
    assert found(line).links == [link]


@pytest.mark.parametrize(
    "line",
    [
        "[x](https://example.org/a.md)",
        "[x](mailto:a@example.org)",
        "[x](//example.org)",
        "`[[code]]`",
        "``a ` [[code]]``",
        "%%[[hidden]]%%",
        "<!-- [[hidden]] -->",
        "$[[x]]$",
        "[[]] [x]() [ ] [[open",
    ],
)
def test_what_is_no_link_to_a_note_is_left_out(line):
    assert found(line).links == []


def test_links_of_both_kinds_keep_the_order_of_the_line():
    assert [link.target for link in found("[a](a.md) [[b]] [c](c.md) [[d]]").links] == [
        "a.md",
        "b",
        "c.md",
        "d",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("#a text #b/c, #d-e_f.", ["a", "b/c", "d-e_f"]),
        ("#Tag #tag #Tag", ["Tag", "tag"]),
        ("#标签/子 #ünï #हिन्दी #🚀go", ["标签/子", "ünï", "हिन्दी", "🚀go"]),
        ("(#in-brackets)", ["in-brackets"]),
        ("#123 #12/34 #1a # x ## y a#b \\#c", ["1a"]),
        ("https://example.org/#a http://x.y/,#b #c", ["c"]),
        ("[t](#anchor) [[#Head]] [[N#H]]", []),
        ("`#a` ``#b`` $#c$ $$#d$$ %%#e%% <!-- #f --> #g", ["g"]),
        ("it costs $5 #a and $6", ["a"]),
        ("`open #a", ["a"]),
    ],
)
def test_tags_are_found_where_obsidian_finds_them(line, expected):
    assert tags(line) == expected


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("up:: [[Home]]", [("up", "[[Home]]")]),
        ("- **Due date**:: 2023-05-30", [("Due date", "2023-05-30")]),
        ("- [ ] a [due:: 2023] (pri:: high)", [("due", "2023"), ("pri", "high")]),
        ("[source:: [[Note|n]]] x", [("source", "[[Note|n]]")]),
        ("状态:: 完成", [("状态", "完成")]),
        ("empty::", [("empty", "")]),
        ("std::vector and `a:: b` and ::before (::after)", []),
        ("[AudioWorklet:: what](x.md) [x](a/::b)", []),
    ],
)
def test_dataview_fields_are_read_on_their_own_line_and_in_brackets(line, fields):
    assert found(line).fields == [InlineField(key, value, 7) for key, value in fields]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a fact ^m-7f3k2a", "m-7f3k2a"),
        ("^alone", "alone"),
        ("a ^id  ", "id"),
        ("x^2", ""),
        ("a ^id more", ""),
        ("a ^no_underscore", ""),
        ("`a ^id`", ""),
        ("a ^", ""),
    ],
)
def test_a_block_id_stands_at_the_end_of_a_line(line, expected):
    assert found(line).block_ids == ([BlockId(expected, 7)] if expected else [])


def test_masking_keeps_the_length():
    line = "a `b` ``c ` d`` $e$ %%f%% <!-- g --> `"
    assert len(mask(line)) == len(line)
    assert not set("bcdefg") & set(mask(line))
