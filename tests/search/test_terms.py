"""What is looked for, and that SQLite's own tokenizer agrees on it."""

import json
import os
import tarfile
from pathlib import Path

import apsw
import pytest

from hindbrain.base.segment import segment
from hindbrain.search.terms import (
    MAX_WORD_CHARS,
    MAX_WORDS,
    QueryTerms,
    match_expression,
    understand_terms,
)

FTS = (
    "CREATE VIRTUAL TABLE passage USING "
    "fts5(text, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')"
)


def shared_data(name: str) -> Path:
    folder = Path(os.environ.get("HINDBRAIN_DATA", Path(__file__).parents[2] / "../shared/data"))
    if not (folder / name).is_file():
        pytest.skip(f"no {name} in {folder}; set HINDBRAIN_DATA to the folder that has it")
    return folder / name


class Passages:
    """A real FTS5 table, fed and asked the way the index does it."""

    def __init__(self, *texts: str) -> None:
        self.db = apsw.Connection(":memory:")
        self.db.execute(FTS)
        for rowid, text in enumerate(texts):
            self.db.execute("INSERT INTO passage(rowid, text) VALUES (?, ?)", (rowid, segment(text)))

    def find(self, query: str) -> set[int]:
        expression = match_expression(understand_terms(query))
        found = self.db.execute("SELECT rowid FROM passage WHERE passage MATCH ?", (expression,))
        return {rowid for (rowid,) in found}

    def best(self, query: str) -> int:
        expression = match_expression(understand_terms(query))
        sql = "SELECT rowid FROM passage WHERE passage MATCH ? ORDER BY rank LIMIT 1"
        return int(self.db.execute(sql, (expression,)).get)


def test_question_words_are_dropped_and_the_rest_is_kept_in_order():
    terms = understand_terms("When did Melanie sign up for a pottery class?")
    assert terms.words == ("melanie", "sign", "pottery", "class")
    assert terms.dropped == ("when", "did", "up", "for", "a")


def test_a_query_of_stop_words_alone_keeps_them():
    assert understand_terms("to be or not to be").words == ("to", "be", "or", "not")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("what's John's plan", ("john", "plan")),
        ("what’s John’s plan", ("john", "plan")),
        ("why didn't she call, and who'll go", ("call", "go")),
        ("they've won, don't worry", ("won", "worry")),
        ("vitamin D and plan t", ("vitamin", "d", "plan", "t")),
        ("Don won", ("don", "won")),
        ("didn't", ("didn", "t")),
    ],
)
def test_contractions_leave_no_crumbs(query, words):
    assert understand_terms(query).words == words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("job in IT in the US", ("job", "it", "us")),
        ("it helped us", ("helped",)),
        ("When did Will call?", ("will", "call")),
        ("Will she call?", ("call",)),
        ("cats AND dogs NOT birds", ("cats", "dogs", "birds")),
        ("WHO IS IN CHARGE", ("charge",)),
    ],
)
def test_capitals_save_names_that_look_like_stop_words(query, words):
    assert understand_terms(query).words == words


def test_words_end_where_unicode61_ends_them():
    terms = understand_terms("foo_bar C++ e-mail 3.5% naïve ½ \ue000x")
    assert terms.words == ("foo", "bar", "c", "e", "mail", "3", "5", "naïve", "½", "\ue000x")


def test_duplicates_are_removed_whatever_their_case_or_normal_form():
    assert understand_terms("Café CAFÉ cafe\u0301").words == ("café",)


def test_quoted_text_is_a_phrase_and_its_words_are_sought_too():
    terms = understand_terms('who read "Nothing is impossible" and “the Hobbit”')
    assert terms.phrases == ("nothing is impossible", "the hobbit")
    assert terms.words == ("read", "nothing", "impossible", "hobbit")


def test_a_quoted_phrase_ranks_above_scattered_words():
    passages = Passages("tea green is what I like most, no cup", "a green tea cup", "tea in a green cup")
    assert passages.best('"green tea"') == 1


def test_one_quotation_mark_alone_opens_nothing():
    assert understand_terms('a 5" nail').phrases == ()


def test_a_long_query_keeps_its_first_and_its_longest_words():
    words = [f"w{n}" for n in range(200)] + ["kubernetes"]
    terms = understand_terms(" ".join(words))
    assert len(terms.words) == MAX_WORDS
    assert terms.words[:32] == tuple(words[:32])
    assert terms.words[-1] == "kubernetes"
    assert set(terms.words) | set(terms.dropped) == set(words)


def test_an_overlong_word_is_found_by_its_start():
    digest = "0123456789abcdef" * 8
    passages = Passages(f"sha512 is {digest}", "nothing")
    assert len(understand_terms(digest).words[0]) == MAX_WORD_CHARS
    assert passages.find(digest) == {0}


def test_segment_returns_the_same_object_when_there_is_nothing_to_do():
    for text in ("plain", "curly ‘quotes’ — naïve, Привет, עברית 🎉", ""):
        assert segment(text) is text


def test_segment_makes_pairs_and_the_last_character():
    assert segment("東京都").split() == ["東京", "京都", "都"]
    assert segment("用Python写").split() == ["用", "Python", "写"]
    assert segment("水。火").split() == ["水", "。", "火"]


def test_chinese_is_found_by_word_by_one_character_and_by_phrase():
    passages = Passages("我昨天在北京大学读书", "他喜欢喝水", "京都很美", "大学在北京")
    assert passages.find("北京") == {0, 3}
    assert passages.find("水") == {1}
    assert passages.find("读") == {0}
    assert passages.best("北京大学") == 0
    assert passages.find("猫") == set()


def test_a_chinese_phrase_matches_where_it_stands_and_goes_on():
    passages = Passages("北京大学生很多", "大学在北京", "去北京大学。")
    expression = match_expression(QueryTerms((), understand_terms("「北京大学」").phrases, ()))
    found = passages.db.execute("SELECT rowid FROM passage WHERE passage MATCH ?", (expression,))
    assert {rowid for (rowid,) in found} == {0, 2}


def test_japanese_and_korean_are_found_in_either_normal_form():
    decomposed = "\u1112\u1161\u11ab\u1100\u116e\u11a8\u110b\u1165"
    passages = Passages("ガイドを読む", "カ\u3099イト\u3099", "ｶﾞｲﾄﾞ", "한국어를 배운다", decomposed)
    assert passages.find("ガイド") == {0, 1, 2}
    assert passages.find("한국어") == {3, 4}


def test_thai_is_found_although_unicode61_splits_at_its_vowel_signs():
    passages = Passages("ฉันกินข้าวที่บ้าน", "อากาศดี")
    assert passages.find("กินข้าว") == {0}


def test_a_hindi_word_is_sought_whole():
    passages = Passages("मुझे हिन्दी पसंद है", "हम नदी")
    assert passages.find("हिन्दी") == {0}


def test_accents_do_not_matter():
    passages = Passages("le café crème", "Mädchen")
    assert passages.find("cafe") == {0}
    assert passages.find("madchen") == {1}


def test_nothing_to_look_for_is_a_valid_expression_that_finds_nothing():
    passages = Passages("a", "")
    for query in ("", "  ", "!?", "\0", "🎉", "\ud800", '""'):
        assert understand_terms(query).words == ()
        assert passages.find(query) == set()


def test_quotation_marks_in_hand_made_terms_are_doubled():
    passages = Passages('say "hello" twice')
    expression = match_expression(QueryTerms(('say "hello"',), (), ()))
    assert list(passages.db.execute("SELECT rowid FROM passage WHERE passage MATCH ?", (expression,))) == [
        (0,)
    ]


@pytest.mark.promise("P14")
@pytest.mark.parametrize(
    "query",
    [
        'NEAR("a" b, 3) AND NOT (c OR d) ^e f* text:g {h i}: -j +k',
        "unbalanced \" quote ' and ) (",
        "nul\0inside\0",
        "\ud800 lone \udfff surrogates",
        " ".join(f"word{n}" for n in range(5000)),
        "水" * 5000,
        "👩‍👩‍👧‍👦 🏳️‍🌈 1️⃣",
        "a" * 100_000,
        "\u0301" * 1000,
        '"' * 5000,
        "“" * 20_000,
    ],
)
def test_no_query_is_a_syntax_error(query):
    Passages("anything").find(query)


@pytest.mark.promise("P14")
def test_the_list_of_naughty_strings_makes_no_syntax_error(tmp_path):
    archive = shared_data("security.tar.gz")
    with tarfile.open(archive) as tar:
        member = next(name for name in tar.getnames() if name.endswith("naughty/blns.json"))
        tar.extract(member, tmp_path, filter="data")
    passages = Passages("anything")
    for query in json.loads((tmp_path / member).read_text(encoding="utf-8")):
        passages.find(query)
