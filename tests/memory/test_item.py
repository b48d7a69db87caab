"""Which lines of a note are memories, what they say, and how one is written to read the same again."""

from __future__ import annotations

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.vault.blocks import BlockReader
from hindbrain.vault.items.category import CATEGORIES
from hindbrain.vault.items.item import (
    SOURCES,
    STRUCK,
    MemoryItem,
    new_id,
    parse_entries,
    parse_items,
    render_item,
)
from hindbrain.vault.items.item_line import read_line, set_field, set_id, set_text, strike
from hindbrain.vault.items.item_text import fold
from hindbrain.vault.items.plain_list import plain_blocks

LINE = "- Prefers dark mode in all apps [importance:: 0.8] [source:: user] [created:: 2026-02-20] ^m-7f3k2a"


def read(*lines: str, category: str = "") -> list[MemoryItem]:
    return parse_items(lines, path="Memory/fact.md", category=category)


def only(*lines: str, category: str = "") -> MemoryItem:
    items = read(*lines, category=category)
    assert len(items) == 1
    return items[0]


def test_a_line_in_our_form_says_everything_about_its_memory() -> None:
    assert only(LINE, category="preference") == MemoryItem(
        "m-7f3k2a",
        "Prefers dark mode in all apps",
        "preference",
        0.8,
        "user",
        "2026-02-20",
        path="Memory/fact.md",
        line=1,
    )


@pytest.mark.parametrize("bullet", ["-", "*", "+", "1.", "12)", "- [ ]", "- [x]", "  -"])
def test_any_list_item_that_somebody_typed_is_a_memory_of_its_owner(bullet: str) -> None:
    item = only(f"{bullet} Tea at four")
    assert (item.text, item.source, item.importance, item.created) == ("Tea at four", "user", 0.5, "")


def test_fields_may_stand_anywhere_and_in_round_brackets() -> None:
    item = only("- Likes (importance:: 0.9) tea [source:: tool] in winter [mood:: fine] ^m-1")
    assert (item.text, item.importance, item.source, item.id) == ("Likes tea in winter", 0.9, "tool", "m-1")


@pytest.mark.parametrize("bad", ["high", "7", "-1", "nan", "inf", ""])
def test_an_importance_that_makes_no_sense_does_not_lose_the_memory(bad: str) -> None:
    item = only(f"- Likes tea [importance:: {bad}]")
    assert (item.text, item.importance) == ("Likes tea", 0.5)


def test_a_source_that_nobody_knows_is_trusted_least() -> None:
    assert only("- Likes tea [source:: my friend]").source == "import"


def test_what_is_struck_through_is_superseded() -> None:
    assert only("- ~~Likes tea~~ [superseded:: ^m-2] ^m-1").superseded == "m-2"
    by_hand = only("- ~~Likes tea~~")
    assert (by_hand.text, by_hand.superseded) == ("Likes tea", STRUCK)
    assert only("- Likes ~~green~~ black tea").superseded == ""


def test_tags_at_the_end_are_no_part_of_the_text_and_numbers_are_no_tags() -> None:
    item = only("- Fixed issue #12 in #project/hb with care #bug #ui [source:: agent] ^m-1")
    assert item.text == "Fixed issue #12 in #project/hb with care"
    assert item.tags == ("project/hb", "bug", "ui")
    assert only("- Fixed issue #12").text == "Fixed issue #12"
    assert only("- #idea").text == "#idea"


def test_code_tables_quotes_headings_and_frontmatter_hold_no_memories() -> None:
    assert (
        read(
            "---",
            "tags:",
            "- agent",
            "---",
            "# Title",
            "```",
            "- in a fence",
            "```",
            "> - quoted",
            "",
            "| a | b |",
            "|---|---|",
            "| - x | y |",
            "",
            "Text - with a dash",
            "",
            "---",
        )
        == []
    )


def test_lines_below_an_item_belong_to_it() -> None:
    lines = ["- Ada", "  goes on here ^m-1", "  - a sub-item", "    - deeper", "", "  more", "- Bob"]
    first, second = parse_entries(lines, path="", category="")
    assert (first.item.text, first.item.id) == ("Ada goes on here", "m-1")
    assert (first.start, first.text_stop, first.stop) == (0, 2, 6)
    assert (second.item.text, second.start) == ("Bob", 6)


def test_a_stored_memory_below_a_heading_item_is_found_all_the_same() -> None:
    assert [item.text for item in read("- Editors", "  - Prefers vim ^m-1", "  - a remark")] == [
        "Editors",
        "Prefers vim",
    ]


def test_the_reference_form_is_read() -> None:
    item = only("- The repo is at ~/Projects/x `[project]` `[2026-01-31T10:00:00Z]`")
    assert (item.text, item.category, item.created) == (
        "The repo is at ~/Projects/x",
        "project",
        "2026-01-31",
    )


def test_headings_tell_the_category_where_the_note_does_not() -> None:
    lines = [
        "# Agent Memory", "", "## User Preferences", "### Communication Style", "- Concise answers",
        "## Project Context", "### Active Projects", "- **Alpha**: a tool", "## Important Decisions",
        "### 2025-01-15: Architecture", "- Chose SQLite", "## Relationships & Contacts",
        "- **John (Manager)**: mails", "## Learned Patterns", "1. Morning routine", "## System Configuration",
        "- Browser: Edge",
    ]  # fmt: skip
    assert [item.category for item in read(*lines)] == [
        "preference", "project", "decision", "contact", "pattern", "fact",
    ]  # fmt: skip


def test_setting_a_field_changes_its_value_and_no_other_character() -> None:
    line = "\t* [x]  Likes tea  (mood::  fine ) [importance::0.5]  [x:: [[A]]] ^m-1  "
    assert set_field(line, "importance", "0.9") == line.replace("[importance::0.5]", "[importance::0.9]")
    assert set_field(line, "mood", "bad") == line.replace(" fine ", " bad ")
    assert set_field(line, "source", "web") == line.replace("[[A]]] ^m-1", "[[A]]] [source:: web] ^m-1")
    assert set_field("- Tea", "source", "web") == "- Tea [source:: web]"


def test_other_words_leave_fields_tags_and_id_alone() -> None:
    line = "1) [ ] Likes tea [mood:: fine] in winter #drink [importance:: 0.5] ^m-1"
    assert set_text(line, "Hates tea") == "1) [ ] Hates tea [mood:: fine] #drink [importance:: 0.5] ^m-1"


def test_striking_through_keeps_the_words() -> None:
    line = "- Likes ~5 cups [mood:: fine] daily #drink ^m-1"
    struck = strike(line, "m-2")
    assert struck == r"- ~~Likes \~5 cups~~ [mood:: fine] ~~daily~~ #drink [superseded:: ^m-2] ^m-1"
    item = only(struck)
    assert (item.text, item.superseded, item.tags) == ("Likes ~5 cups daily", "m-2", ("drink",))
    assert strike(struck, "m-3").count("~~") == 4


def test_a_line_without_an_id_can_be_given_one() -> None:
    assert set_id("- Likes tea  ", "m-1") == "- Likes tea ^m-1  "


def test_a_text_of_many_lines_becomes_one() -> None:
    item = MemoryItem("m-1", "one\r\ntwo\n\n - three\x00\u2028four")
    assert "\n" not in render_item(item)
    assert only(render_item(item)).text == "one two - three four"


def test_a_category_that_the_place_does_not_tell_is_written_down() -> None:
    item = MemoryItem("m-1", "Ada is Bob's sister", "relationship")
    line = render_item(item, place="contact")
    assert only("## Relationships & Contacts", line)._replace(line=0, path="") == item


def test_ids_do_not_repeat() -> None:
    assert len({new_id() for _ in range(2_000)}) == 2_000
    assert new_id("p").startswith("p-")


_HOSTILE = st.sampled_from(
    [
        "::", "[", "]", "(", ")", "[[", "]]", "^m-1", "^", "`", "``", "```", "~~", "~", "\\", "#", "# ", "- ",
        "1. ", "[x] ", "$$", "$", "%%", "<!--", "-->", "|", ">", " ", "  ", "\n", "key", "[a:: b]", "(a:: b)",
        "[importance:: 1]", "é", "漢字", "*", "_", "---", "~~~", "`[fact]` `[2026-01-01]`", "0.5", ":", "!",
        "<",
    ]
)  # fmt: skip
_TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(_HOSTILE, max_size=12).map("".join),
    st.lists(st.one_of(_HOSTILE, st.text(string.printable, max_size=6)), max_size=8).map("".join),
)
_WITHOUT_TAGS = _TEXTS.map(lambda text: text.replace("#", "")).filter(lambda text: bool(fold(text)))
_ITEMS = st.builds(
    MemoryItem,
    id=st.sampled_from(["m-7f3k2a", "m-1", ""]),
    text=_WITHOUT_TAGS.map(fold),
    category=st.sampled_from(CATEGORIES),
    importance=st.sampled_from([0.0, 0.25, 0.5, 0.85, 1.0]),
    source=st.sampled_from(SOURCES),
    created=st.sampled_from(["", "2026-02-20"]),
    tags=st.lists(st.sampled_from(["ui", "a/b", "Übung", "x-1"]), unique=True, max_size=3).map(tuple),
    related=st.lists(st.sampled_from(["m-2", "m-3"]), unique=True).map(tuple),
    superseded=st.sampled_from(["", "m-9", STRUCK]),
    path=st.just(""),
    line=st.just(0),
    day_note=st.sampled_from(["", "Agent/Daily/2026-02-20"]),
    cues=st.lists(st.sampled_from(["gym", "work out", "C#", "健身"]), unique=True, max_size=3).map(tuple),
    heading=st.just(""),
)


@settings(max_examples=600, deadline=None)
@given(_ITEMS)
def test_what_is_written_reads_the_same_again(item: MemoryItem) -> None:
    line = render_item(item)
    assert only(line, category=item.category)._replace(path="", line=0) == item


@settings(max_examples=200, deadline=None)
@given(st.lists(_ITEMS, min_size=2, max_size=5))
def test_memories_that_stand_together_do_not_change_each_other(items: list[MemoryItem]) -> None:
    lines = ["# Memory", "", *(render_item(item, place="fact") for item in items)]
    found = parse_items(lines, path="", category="fact")
    assert [item._replace(line=0) for item in found] == items


@settings(max_examples=300, deadline=None)
@given(_TEXTS.filter(lambda text: bool(fold(text))))
def test_whatever_somebody_says_is_one_memory_that_stays_itself(text: str) -> None:
    once = only(render_item(MemoryItem("m-1", text)))
    assert once.id == "m-1"
    assert only(render_item(once)) == once


@settings(max_examples=300, deadline=None)
@given(_TEXTS, st.sampled_from(["", " [importance:: 0.5]", " [x:: y] (z:: w) ^m-1", " ^m-1  "]))
def test_a_change_of_one_part_leaves_the_other_parts(text: str, tail: str) -> None:
    line = "- " + fold(text) + tail
    before = read_line(line)
    changed = read_line(set_field(line, "superseded", "^m-9"))
    assert (changed.text, changed.id, changed.tags) == (before.text, before.id, before.tags)
    if before.pieces:
        reworded = read_line(set_text(line, "Other words"))
        assert reworded.text == "Other words"
        assert [(f.key, f.value) for f in reworded.fields] == [(f.key, f.value) for f in before.fields]
        assert reworded.id == before.id


def test_a_memory_of_100000_characters_is_read_in_the_same_form() -> None:
    text = fold("word [a:: b] `code` ~~x~~ \\ " * 4_000)
    assert only(render_item(MemoryItem("m-1", text))).text == text


_LINES = st.one_of(
    st.sampled_from(
        [
            "", "# Title", "## Two ", "### Three ###", "#tag", "- one", "- two ^m-1", "-", "- ", "-  wide",
            "---", "- - -", "text", "Text: more", "  indented", "\tindented", "* star", "1. one", "> quote",
            "```",
            "| a | b |", "|---|---|", "%%", "- a %% b", "<!-- x", "===", "+ plus", "- [ ] task", "- `code`",
            "$$", "####### seven", "-->", "   ",
        ]
    ),
    st.text(string.printable.replace("\n", "").replace("\r", ""), max_size=12),
)  # fmt: skip


@settings(max_examples=500, deadline=None)
@given(st.lists(_LINES, max_size=10))
def test_the_short_way_through_a_plain_note_sees_what_the_whole_reader_sees(lines: list[str]) -> None:
    blocks = plain_blocks(lines, 0)
    reader = BlockReader("\n".join(lines), lines)
    reader.read(0)
    if blocks is not None:
        assert blocks == reader.blocks
