"""Whatever is typed, understanding a query neither fails nor makes something that SQLite refuses."""

import unicodedata
from datetime import date

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.segment import segment
from hindbrain.search.dates import find_windows
from hindbrain.search.terms import MAX_WORD_CHARS, MAX_WORDS, match_expression, understand_terms
from hindbrain.vault.dates import date_words

OPERATORS = [
    "NEAR",
    "AND",
    "OR",
    "NOT",
    "*",
    "^",
    ":",
    "(",
    ")",
    "-",
    "+",
    ",",
    '"',
    "'",
    "“",
    "”",
    "\0",
    "{",
    "}",
]
PIECES = [
    *OPERATORS,
    "\ud800",
    "🎉",
    "水",
    "東京",
    "ガ",
    "カ\u3099",
    "กิน",
    "हि",
    "é",
    "e\u0301",
    "didn't",
    "john's",
    " ",
]
TEXT = st.text() | st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=40).map("".join)
DATE_WORDS = """
    in on since before after from to between and the last next this past week weekend month year years days
    ago a couple of few two 3 may May March june 8 8th 31 29 February 2023 2024 1990 s Q 1 - / . , early
    end mid summer fall Tuesday yesterday tomorrow Christmas eve 昨天 上周 5月 8日 2023年 三天前 以来
"""
DATE_PIECES = DATE_WORDS.split()
DATED = st.lists(st.sampled_from(DATE_PIECES) | st.text(max_size=3), max_size=15)
FTS = (
    "CREATE VIRTUAL TABLE passage USING "
    "fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')"
)


@pytest.fixture(scope="module")
def table():
    db = apsw.Connection(":memory:")
    db.execute(FTS)
    db.execute("INSERT INTO passage(rowid, text) VALUES (1, 'some text')")
    return db


def find(db: apsw.Connection, query: str) -> list[tuple[int]]:
    expression = match_expression(understand_terms(query))
    return list(db.execute("SELECT rowid FROM passage WHERE passage MATCH ?", (expression,)))


@pytest.mark.promise("P14")
@given(TEXT)
def test_fts5_accepts_every_query(table, query):
    find(table, query)


@given(TEXT)
def test_terms_keep_their_limits_and_lose_no_word_unsaid(query):
    terms = understand_terms(query)
    assert len(terms.words) <= MAX_WORDS
    assert all(0 < len(word) <= MAX_WORD_CHARS and " " not in word for word in terms.words)
    assert len(set(terms.words)) == len(terms.words)
    assert not set(terms.words) & set(terms.dropped)


# Elsewhere the tables of SQLite and of Python differ in what is a letter or a capital.
LATIN = st.characters(min_codepoint=1, max_codepoint=0x036F)
CYRILLIC = st.characters(min_codepoint=0x0400, max_codepoint=0x04FF)


@given(st.text(alphabet=LATIN | CYRILLIC).map(lambda text: unicodedata.normalize("NFC", text)))
def test_a_text_is_found_by_each_of_its_own_words(text):
    db = apsw.Connection(":memory:")
    db.execute(FTS)
    db.execute("INSERT INTO passage(rowid, text) VALUES (1, ?)", (segment(text),))
    for word in understand_terms(text).words:
        assert find(db, word) == [(1,)], word


@given(st.text(alphabet="水火木金土東京 都、a1", min_size=1))
def test_each_stretch_of_a_chinese_text_is_found(text):
    db = apsw.Connection(":memory:")
    db.execute(FTS)
    db.execute("INSERT INTO passage(rowid, text) VALUES (1, ?)", (segment(text),))
    for start in range(len(text)):
        piece = text[start : start + 3]
        if all("\u4e00" <= char <= "\u9fff" for char in piece):
            assert find(db, piece) == [(1,)]
            assert find(db, f"「{piece}」") == [(1,)]


@given(st.text(alphabet=st.characters(max_codepoint=0x0DFF)))
def test_segmenting_leaves_segmented_scripts_alone(text):
    assert segment(text) is text


@given(DATED, st.dates())
def test_windows_are_ordered_apart_and_not_empty(pieces, today):
    for text in (" ".join(pieces), "".join(pieces)):
        windows = find_windows(text, today=today)
        stop = 0
        for window in windows:
            assert window.start < window.end
            assert window.span[0] >= stop
            assert text[window.span[0] : window.span[1]] == window.text != ""
            stop = window.span[1]


@given(st.dates(min_value=date(1900, 1, 1), max_value=date(2199, 12, 30)), st.dates())
def test_a_written_date_is_read_as_that_day(day, today):
    name = date_words(day.isoformat()).split()[1]
    for text in (day.isoformat(), f"{day.day} {name} {day.year}", f"on {name} {day.day}, {day.year}"):
        [window] = find_windows(text, today=today)
        assert (window.start, (window.end - window.start).days, window.exact) == (day, 1, True)


@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2100, 1, 1)))
def test_a_day_without_a_year_is_the_most_recent_one(today):
    for text in ("March 7", "in August", "on Friday", "Q3 in", "in Q3", "3月7日"):
        for window in find_windows(text, today=today):
            assert window.start <= today
            assert (today - window.start).days < 367


def test_reading_dates_takes_a_bounded_number_of_looks_per_word():
    # Not by the clock: a long text of beginnings must not nest, or Python's stack would say so.
    for piece in (
        "the week before ",
        "from May to ",
        "last ",
        "a couple of ",
        "2023-",
        "early ",
        "上周",
        "between ",
    ):
        find_windows(piece * 3_000, today=date(2024, 5, 15))
