"""The lines of a note that enter a card or a slot, read from hostile and ordinary text."""

from __future__ import annotations

import pytest

from growth import grows_linearly
from hindbrain.context.packs.note_lines import note_text


@pytest.mark.promise("P14")
@pytest.mark.parametrize("piece", ["<!-- ", "%% a\n\n", "%%a%% b ", "- **Name:** \n", "~~a~~ "])
def test_time_grows_with_the_length_of_a_note_and_no_faster(piece: str) -> None:
    assert grows_linearly(lambda count: note_text(piece * count), 1_000)


def test_a_comment_says_nothing_and_code_that_shows_one_does() -> None:
    text = "Tea <!-- a secret plan --> at five\n\n```html\n<!-- a page's head -->\n```\n"
    shown = "\n".join(line.text for line in note_text(text).lines)
    assert "plan" not in shown
    assert "Tea" in shown
    assert "<!-- a page's head -->" in shown
