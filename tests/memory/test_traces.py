"""The words of a memory in other texts: where they are found, and a note without them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.memory.forgetting.traces import Traces, texts_of

TEXT = "Ada's cat is called Pixel"
NOTE = b"""# Facts\r
\r
- Ada's cat is called Pixel [importance:: 0.5] ^m-1\r
  - since May\r
- ~~Bob plays the oboe~~ [superseded:: ^m-1] ^m-2\r
"""


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "ADA'S CAT, IS CALLED -- PIXEL",
        "They say: Ada's cat\nis called *Pixel*.",
        "[[People/Ada|Ada's]] cat is called [[Pixel]]",
        "~~Ada's cat is called Pixel~~ [importance:: 0.5]",
    ],
)
def test_a_text_holds_the_words_in_any_dress(text: str) -> None:
    assert Traces("m-1", [TEXT]).in_text(text)


@pytest.mark.parametrize("text", ["", "Ada's cat is called Pixels", "Pixel is called Ada's cat", "m-1"])
def test_other_words_are_no_trace(text: str) -> None:
    assert not Traces("m-1", [TEXT]).in_text(text)


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        (
            "User's sister Lena lives in Graz",
            "Remember that my sister Lena lives in Graz. And now the tests!",
        ),
        ("Decided: use uv instead of pip", "ok, we'll use uv instead of pip from now on"),
    ],
)
def test_what_a_memory_was_made_of_retells_it(memory: str, said: str) -> None:
    traces = Traces("m-1", [memory])
    assert traces.retold_in(said) and not traces.in_text(said)
    assert not traces.retold_in("my sister uses pip in Graz")


def test_a_memory_of_one_word_is_retold_by_itself_alone() -> None:
    traces = Traces("m-1", ["Pixel"])
    assert traces.retold_in("pixel") and not traces.retold_in("a pixel is small")


def test_a_memory_of_two_words_is_found_as_a_whole_line_only() -> None:
    traces = Traces("m-1", ["dark mode"])
    assert traces.in_text("Dark mode!")
    assert not traces.in_text("prefers dark mode everywhere")


def test_a_note_loses_the_memory_with_what_stands_below_it_and_nothing_else() -> None:
    taken = Traces("m-1", [TEXT]).taken_from(NOTE)
    assert taken == b"# Facts\r\n\r\n- ~~Bob plays the oboe~~ [superseded:: ^m-1] ^m-2\r\n"


def test_a_line_that_only_cites_the_memory_stays() -> None:
    note = b"See [[fact#^m-1]] and ^m-1x.\n- Bob [related:: ^m-1, ^m-2] ^m-3\n"
    assert Traces("m-1", [TEXT]).taken_from(note) == note


def test_words_that_run_over_lines_of_prose_can_not_be_cut_out() -> None:
    assert Traces("m-1", [TEXT]).taken_from(b"They say Ada's cat\nis called Pixel today.\n") is None
    assert Traces("m-1", [TEXT]).taken_from(TEXT.encode("utf-16")) is None


def test_a_memory_without_any_letter_is_found_too() -> None:
    traces = Traces("m-1", ["-> ;-)"])
    assert traces.in_text("->  ;-)")
    assert traces.taken_from(b"one\n- -> ;-)\ntwo\n") == b"one\ntwo\n"


def test_the_wordings_of_a_memory_are_read_from_a_note_by_its_id() -> None:
    assert texts_of("m-1", NOTE) == {TEXT}
    assert texts_of("m-9", NOTE) == set()


LINES = st.lists(st.sampled_from(["- Ada's cat is called Pixel ^m-1", "x", "", "- a list", TEXT, "  more"]))


@settings(max_examples=150)
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.binary(max_size=6))
def test_what_is_taken_once_is_taken_for_good(lines: list[str], end: str, tail: bytes) -> None:
    traces = Traces("m-1", [TEXT])
    taken = traces.taken_from(end.join([*lines, ""]).encode() + tail)
    if taken is not None:
        assert traces.taken_from(taken) == taken
        assert b"Pixel" not in taken


def test_every_wording_of_a_memory_is_looked_for() -> None:
    note = (
        b"- Prefers dark mode in all apps [source:: agent] ^m-1\n"
        b"  - also said: User wants dark mode [source:: agent]\n"
        b"  - a remark of the owner\n"
        b"- Likes tea ^m-2\n"
    )
    assert texts_of("m-1", note) == {"Prefers dark mode in all apps", "User wants dark mode"}


def test_a_word_that_no_note_has_besides_gives_the_memory_away_and_an_ordinary_one_does_not() -> None:
    text = "The Zyxelmoor keypad is behind the boiler"
    notes = [f"- {text} ^m-1\n".encode(), b"# Plan\n\nBuy keypads, and sweep behind the stove.\n"]
    own = Traces("m-1", [text]).find_own_words(notes)
    assert own == {"zyxelmoor", "boiler"}
    traces = Traces("m-1", [text], own)
    assert traces.retold_in("what do Zyxelmoors cost?") and traces.hinted_at("two boilers?")
    assert not traces.retold_in("a keypad for the garage door")
    assert traces.hinted_at("a keypad for the garage door")
    assert not traces.hinted_at("where is the key?")
