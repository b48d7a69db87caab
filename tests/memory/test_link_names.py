"""Mentions of notes become links, where they are surely mentions."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.memory.notes.link_names import NameTable, NoteName, link_known

NAMES = [
    NoteName("Project Alpha", "Projects/Project Alpha.md"),
    NoteName("Alpha", "Alpha.md"),
    NoteName("Ada Lovelace", "People/Ada.md"),
    NoteName("Ada", "People/Ada.md"),
    NoteName("Boston", "a/Boston.md"),
    NoteName("Boston", "b/Boston.md"),
    NoteName("Boston office", "a/Boston.md"),
    NoteName("Coffee", "Coffee.md"),
    NoteName("Alpha   Coffee", "Odd.md"),
    NoteName("2026-05-15", "Daily/2026-05-15.md"),
]


@pytest.mark.parametrize(
    ("text", "linked"),
    [
        ("We saw Project Alpha.", "We saw [[Project Alpha]]."),
        ("Alpha, then Project Alpha, then Alpha", "[[Alpha]], then [[Project Alpha]], then Alpha"),
        ("Met Ada Lovelace.", "Met [[Ada|Ada Lovelace]]."),
        ("Met Ada.", "Met Ada."),  # three letters
        ("In Boston.", "In Boston."),  # two notes
        ("The Boston office.", "The [[a/Boston|Boston office]]."),
        ("**Coffee** and Coffee's", "**[[Coffee]]** and Coffee's"),
        ("coffee, Coffeehouse, anti-Coffee, Coffee-free, x.Coffee", None),
        ("`Coffee` ``a Coffee`` $Coffee$ %%Coffee%%", None),
        ("[Coffee](x.md) [Coffee][1] [the Coffee] ![[Coffee.png]]", None),
        ("https://x.y/Coffee me@Coffee.com www.Coffee.org #Coffee <Coffee>", None),
        ("# Coffee\n\nCoffee\n======", None),
        ("```\nCoffee\n```\n\n    Coffee\n\n> Coffee\n\n| Coffee |\n|---|\n| Coffee |", None),
        ("---\ntitle: Coffee\n---\n", None),
        ("about:: Coffee", None),
        ("text ^Coffee", None),
        ("`one\nCoffee\ntwo` and [a\nCoffee](b)", None),
        ("We have [[Coffee]] and Coffee.", None),
        ("We have [[Coffee#Beans|beans]] and Coffee.", None),
        ("- [ ] buy Coffee [source:: Coffee] ^t-Coffee", "- [ ] buy [[Coffee]] [source:: Coffee] ^t-Coffee"),
        ("on 2026-05-15", None),
        ("Alpha `` Coffee", None),  # code that is not closed
        ("Alpha<b>Coffee</b>", None),  # not the name with three spaces
    ],
)
def test_a_mention_is_linked_or_left_alone(text: str, linked: str | None) -> None:
    assert link_known(text, NameTable(NAMES)) == (text if linked is None else linked)


def test_a_note_is_not_linked_to_itself() -> None:
    assert link_known("Coffee and Alpha", NameTable(NAMES), own="Coffee.md") == "Coffee and [[Alpha]]"


def test_names_that_would_break_a_link_are_left_alone() -> None:
    names = [NoteName("What [x]", "a.md"), NoteName("Good name", "bad#path.md")]
    assert link_known("What [x] Good name", NameTable(names)) == "What [x] Good name"


_NAMES_IN_TEXT = ["Coffee", "Project Alpha", "Alpha", "Ada Lovelace", "[[Alpha]]"]
_SIGNS = [
    "`",
    "```\n",
    "[",
    "]",
    "](x)",
    "$",
    "%%",
    "# ",
    "> ",
    "|",
    "::",
    "http://",
    "*",
    "<b>",
    "\\",
    "^id",
]
_PIECES = st.sampled_from([*_NAMES_IN_TEXT, *_SIGNS, " ", "\n", "\n\n", "\r\n", "- ", "    ", "é"])


@given(st.lists(_PIECES, max_size=14).map("".join))
@settings(max_examples=300, deadline=None)
def test_with_the_added_brackets_taken_away_the_text_is_what_it_was(text: str) -> None:
    linked = link_known(text, NameTable(NAMES))
    added = {
        "Coffee": "Coffee",
        "Project Alpha": "Project Alpha",
        "Alpha": "Alpha",
        "Ada|Ada Lovelace": "Ada Lovelace",
        "Odd|Alpha   Coffee": "Alpha   Coffee",
    }
    # Every link that is in the one and not in the other, taken back from left to right.
    at = 0
    while linked != text:
        while linked[at] == text[at : at + 1] and not _is_added(linked, text, at):
            at += 1
        match = re.compile(r"\[\[([^\[\]]+)\]\]").match(linked, at)
        assert match and match[1] in added
        linked = linked[:at] + added[match[1]] + linked[match.end() :]
        at += 1
    assert link_known(text, NameTable([])) == text


def _is_added(linked: str, text: str, at: int) -> bool:
    return linked.startswith("[[", at) and not text.startswith("[[", at)
