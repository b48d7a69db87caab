"""What holds for the passages of any note."""

import itertools

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.index.passages import CHARS_PER_TOKEN, ChunkSettings, Passage, cut_passages, note_text
from hindbrain.index.record import make_record
from hindbrain.vault.note import Note
from hindbrain.vault.parse import parse_note

_PIECES = st.sampled_from(
    [
        "# Head", "## Sub", "- item", "* [ ] task", "1. one", "```", "# in fence?", "| a | b |", "|---|---|",
        "> quote", "$$", "%%", "---", "", " ", "\t", "**Ana:** hello", "word " * 150, "字" * 700, "x" * 900,
        "Sentence one. Two! " * 60, "<div>", "</div>", "text", "text that says something", "\u2028",
    ]
)  # fmt: skip
_LINES = st.lists(_PIECES | st.text(max_size=60), max_size=40)
_NOTES = _LINES.map("\n".join)
_SETTINGS = st.sampled_from(
    [
        ChunkSettings(),
        ChunkSettings(40),
        ChunkSettings(120, 60),
        ChunkSettings(400, 80),
        ChunkSettings(600, 60),
    ]
)


def read(text: str) -> Note:
    return parse_note(text, stem="note")


def cut(note: Note, chosen: ChunkSettings) -> list[Passage]:
    return cut_passages(note, chosen)


@settings(max_examples=150, deadline=None)
@given(_NOTES, _SETTINGS)
def test_every_line_of_the_body_that_is_not_blank_is_in_a_passage(text: str, chosen: ChunkSettings) -> None:
    note = read(text)
    covered = {n for p in cut(note, chosen) for n in range(p.first_line, p.last_line + 1)}
    body = range(note.body_line, len(note.lines) + 1)
    assert {n for n in body if note.lines[n - 1].strip()} <= covered


@settings(max_examples=150, deadline=None)
@given(_NOTES, _SETTINGS)
def test_every_character_of_the_body_that_is_not_blank_is_in_a_passage(
    text: str, chosen: ChunkSettings
) -> None:
    note = read(text)
    whole = note_text(note)
    covered = bytearray(len(whole))
    for p in cut(note, chosen):
        covered[p.start : p.end] = b"\1" * (p.end - p.start)
    start = sum(len(line) + 1 for line in note.lines[: note.body_line - 1])
    assert not [i for i in range(start, len(whole)) if not covered[i] and not whole[i].isspace()]


@settings(max_examples=150, deadline=None)
@given(_NOTES, _SETTINGS)
def test_offsets_and_line_numbers_speak_of_the_same_text(text: str, chosen: ChunkSettings) -> None:
    note = read(text)
    whole = note_text(note)
    for p in cut(note, chosen):
        assert 0 <= p.start < p.end <= len(whole)
        assert whole.count("\n", 0, p.start) + 1 == p.first_line
        assert whole.count("\n", 0, p.end) + 1 == p.last_line


@settings(max_examples=100, deadline=None)
@given(_NOTES)
def test_passages_are_in_order_and_do_not_overlap(text: str) -> None:
    passages = cut(read(text), ChunkSettings())
    assert all(a.end <= b.start for a, b in itertools.pairwise(passages))


@example("# A\n| a | b |\n# A\n" + "word " * 318 + "\n" + "x" * 1_500, ChunkSettings(tokens=400, overlap=80))
@settings(max_examples=100, deadline=None)
@given(_NOTES, _SETTINGS)
def test_chunks_are_in_order(text: str, chosen: ChunkSettings) -> None:
    chunks = cut(read(text), chosen)
    assert all(a.start < b.start and a.end < b.end for a, b in itertools.pairwise(chunks))


@settings(max_examples=150, deadline=None)
@given(_NOTES, _SETTINGS)
def test_no_passage_is_longer_than_the_limit_and_a_quarter(text: str, chosen: ChunkSettings) -> None:
    limit = chosen.tokens * CHARS_PER_TOKEN
    assert all(p.end - p.start <= limit + limit // 4 for p in cut(read(text), chosen))


@settings(max_examples=100, deadline=None)
@given(_NOTES, st.integers(1, 3))
def test_blank_lines_above_change_no_passage_id(text: str, blanks: int) -> None:
    if text.startswith(("---", "\ufeff")):  # no frontmatter any more once something stands above it
        return
    before = make_record("a.md", read(text), ChunkSettings())
    after = make_record("a.md", read("\n" * blanks + text), ChunkSettings())
    assert [p.uid for p in before.passages] == [p.uid for p in after.passages]
