"""Cutting notes into passages."""

import itertools

import pytest

from hindbrain.index.passages import (
    CHARS_PER_TOKEN,
    MOST_PASSAGES,
    ChunkSettings,
    Passage,
    cut_passages,
    note_text,
)
from hindbrain.index.record import make_record
from hindbrain.index.spoken import sought, spoken
from hindbrain.search.query import SearchQuery
from hindbrain.vault.parse import parse_note
from workbench import Bench

SENTENCE = "The pump in the cellar was mended on Monday by Ola. "
LONG = SENTENCE * 30  # about 1,500 characters, so several passages


def cut(text: str, tokens: int = 120, overlap: int = 0) -> list[Passage]:
    return cut_passages(parse_note(text, stem="note"), ChunkSettings(tokens, overlap))


def texts(text: str, tokens: int = 120, overlap: int = 0) -> list[str]:
    whole = note_text(parse_note(text, stem="note"))
    return [whole[p.start : p.end] for p in cut(text, tokens, overlap)]


def uids(text: str) -> dict[str, int]:
    record = make_record("a.md", parse_note(text, stem="a"), ChunkSettings())
    return {passage.text: passage.uid for passage in record.passages}


def test_paragraphs_are_passages_and_a_heading_goes_with_the_text_below_it() -> None:
    assert texts("# One\n\nalpha beta\n\ngamma delta\n") == ["# One\n\nalpha beta", "gamma delta"]


def test_a_run_of_headings_goes_on_to_the_first_text_below_it() -> None:
    assert texts("# One\n## Two\n\ntext\n") == ["# One\n## Two\n\ntext"]
    assert cut("# One\n## Two\n\ntext\n")[0].headings == ("One", "Two")


def test_a_heading_without_text_is_not_lost() -> None:
    assert texts("text\n\n# The end\n") == ["text", "# The end"]


def test_short_list_items_stay_together_and_longer_ones_stand_alone() -> None:
    long_item = "- a list item that is long enough to say something by itself"
    assert texts(f"- milk\n- eggs\n{long_item}\n{long_item} too\n") == [
        f"- milk\n- eggs\n{long_item}",
        f"{long_item} too",
    ]


def test_items_are_not_joined_across_a_heading() -> None:
    assert texts("- milk\n\n# Two\n\n- eggs\n") == ["- milk", "# Two\n\n- eggs"]


def test_a_number_sign_in_a_fence_is_no_heading() -> None:
    passages = cut("# Real\n\n```sh\n# not a heading\nls\n```\n\nafter\n")
    assert [p.headings for p in passages] == [("Real",), ("Real",)]


def test_each_speaker_turn_is_a_passage_of_its_own() -> None:
    turns = [
        "**Ana:** I moved to Porto in March.",
        "**Ben:** And how is the weather there?",
        "**Ana:** Mild.",
    ]
    found = texts("\n\n".join(turns))
    assert found == turns


def test_line_numbers_are_those_of_the_file_with_frontmatter() -> None:
    passages = cut("---\ntitle: x\n---\n\nfirst\nsecond\n\nthird\n")
    assert [(p.first_line, p.last_line) for p in passages] == [(5, 6), (8, 8)]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    found = texts(LONG.strip())
    assert len(found) > 2
    assert all(part.rstrip().endswith(".") for part in found)
    assert "".join(found) == LONG.strip()


def test_a_long_line_without_a_space_is_cut_at_the_limit() -> None:
    found = texts("x" * 5_000)
    assert "".join(found) == "x" * 5_000
    assert max(map(len, found)) <= 120 * CHARS_PER_TOKEN * 5 // 4


def test_chinese_text_is_cut_at_its_own_full_stops() -> None:
    found = texts("今天我们去了山上看风景。" * 100)
    assert len(found) > 1
    assert all(part.endswith("。") for part in found)


def test_a_line_of_twenty_megabytes_is_cut_in_linear_time() -> None:
    # Not a time limit: the quadratic form takes minutes here, and nobody would overlook it.
    passages = cut("word " * 4_000_000)
    assert passages[-1].end == len("word " * 4_000_000)


@pytest.mark.parametrize(("tokens", "overlap"), [(400, 80), (600, 60)])
def test_packed_chunks_fill_their_size_and_overlap(tokens: int, overlap: int) -> None:
    text = "\n\n".join(f"Paragraph {i}: {SENTENCE * 3}".strip() for i in range(80))
    chunks = cut(text, tokens, overlap)
    limit = tokens * CHARS_PER_TOKEN
    assert all(chunk.end - chunk.start <= limit for chunk in chunks)
    assert all(chunk.end - chunk.start > limit // 2 for chunk in chunks[:-1])
    for before, after in itertools.pairwise(chunks):
        shared = before.end - after.start
        assert 0 < shared <= overlap * CHARS_PER_TOKEN


def test_small_chunks_overlap_too() -> None:
    text = "\n\n".join(f"Line {i} says little." for i in range(40))
    apart, chunks = cut(text), cut(text, overlap=30)
    assert all(before.end < after.start for before, after in itertools.pairwise(apart))
    for before, after in itertools.pairwise(chunks):
        assert 0 < before.end - after.start <= 30 * CHARS_PER_TOKEN
        assert after.end - after.start <= 120 * CHARS_PER_TOKEN


def test_packed_chunks_do_not_cross_sections() -> None:
    text = "\n\n".join(f"# Section {i}\n\n{SENTENCE}" for i in range(5))
    assert [chunk.headings for chunk in cut(text, 400, 80)] == [(f"Section {i}",) for i in range(5)]


def test_a_blank_line_on_top_changes_no_passage_id() -> None:
    text = "# One\n\nalpha\n\nbeta\n\n# Two\n\ngamma\n"
    assert uids("\n\n" + text) == uids(text)


def test_a_paragraph_on_top_changes_no_other_passage_id() -> None:
    text = "# One\n\nalpha\n\nbeta\n\n# Two\n\ngamma\n"
    before, after = uids(text), uids("new on top\n\n" + text)
    assert {part: after[part] for part in before} == before


def test_equal_texts_under_one_heading_have_different_ids() -> None:
    record = make_record("a.md", parse_note("same\n\nsame\n\nsame\n", stem="a"), ChunkSettings())
    assert len({passage.uid for passage in record.passages}) == 3


def test_an_empty_note_has_no_passages_and_frontmatter_alone_neither() -> None:
    assert cut("") == []
    assert cut("---\ntitle: x\n---\n") == []


def test_the_fields_and_the_id_of_a_memory_are_not_sought_and_those_of_the_owner_are():
    memory = "- Prefers dark mode [importance:: 0.8] [source:: user] ^m-7f3k2a"
    own = "- Read it [source:: Times] ^quote"
    assert spoken(f"{memory}\n{own}") == f"- Prefers dark mode\n{own}"
    cued = "- Trains legs [day:: [[Daily/2026-02-20]]] [cues:: gym, work out] [source:: user] ^m-7f3k2a9d"
    assert spoken(cued) == "- Trains legs"
    assert sought(cued).split() == ["-", "Trains", "legs", "gym,", "work", "out"]


@pytest.mark.promise("P14", "P29")
def test_a_note_of_countless_blocks_has_a_bounded_number_of_passages(plain: Bench) -> None:
    lines = "~~~\n" * (2 * MOST_PASSAGES + 2_000) + "\n# End\n\nThe walrus dances.\n"
    plain.vault.write("fences.md", lines + "~~~\n" * 2_000)
    plain.vault.write("tea.md", "# Tea\n\nGreen tea.\n")
    for _ in range(2):  # also when nothing has changed
        report = plain.app.sync()
        assert [(item.path, item.reason) for item in report.noticed] == [("fences.md", "too_many_passages")]
    store = plain.app.store
    assert MOST_PASSAGES < store.passage_count() < MOST_PASSAGES + 100
    ((path, problem),) = store.problems()
    assert (path, problem.partition("\t")[0]) == ("fences.md", "too_many_passages")
    assert {hit.path for hit in plain.app.search(SearchQuery("walrus", mode="keyword")).hits} == {"fences.md"}
