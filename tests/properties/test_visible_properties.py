"""Whatever stands in a note or a canvas: it is read, and offsets and lines stay those of the file."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import grows_linearly
from hindbrain.vault.canvas import read_canvas
from hindbrain.vault.parse import parse_note
from hindbrain.vault.visible import visible_note

PIECES = [
    "%%", "<!--", "-->", "`", "```", "$$", "\n", "\r\n", "\n\n", "> ", "- ", "# Drawing", "## Text Elements",
    "# Excalidraw Data", "==⚠ warning", "text ", "[[Link]]", "<!-- SerializedQuery: x -->",
    "<!-- SerializedQuery END -->", "^id1", "|", "    ", "日本",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
drawings = texts.map(lambda text: f"---\nexcalidraw-plugin: parsed\n---\n{text}")
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
nodes = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "file", "group", "link"]) | values,
        "text": st.text() | values,
        "file": st.text() | values,
        "label": st.text() | values,
        **dict.fromkeys(("id", "x", "y", "width", "height", "subpath"), values),
    },
)


@given(texts | drawings)
def test_hiding_changes_no_length_and_shows_nothing_new(text: str) -> None:
    whole, seen = parse_note(text, stem="n"), visible_note(text, stem="n")
    assert [len(line) for line in seen.lines] == [len(line) for line in whole.lines]
    for before, after in zip(whole.lines, seen.lines, strict=True):
        assert all(new in (old, " ") for old, new in zip(before, after, strict=True))


@given(st.lists(nodes | values, max_size=6) | values)
def test_any_canvas_is_read(found: object) -> None:
    canvas = read_canvas(json.dumps({"nodes": found}, indent=1), stem="n")
    assert len(canvas.lines) == len(canvas.note.lines)
    assert all(1 <= block.first_line <= block.last_line <= len(canvas.lines) for block in canvas.note.blocks)


@given(st.text())
def test_any_text_is_read_as_a_canvas(text: str) -> None:
    read_canvas(text, stem="n")


@pytest.mark.promise("P14")
@pytest.mark.parametrize("piece", ["%%a%% b ", "`%% ", "<!-- ", "<!--a-->", "``%%`"])
def test_time_grows_with_the_length_of_a_line_and_no_faster(piece: str) -> None:
    assert grows_linearly(lambda count: visible_note(piece * count, stem="a"), 1_000)
