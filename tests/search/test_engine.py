"""One search, from query to hits, on real notes and a real index."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.base.errors import EmbedderDown, EmbedderError, EmbedderMismatch, IndexMissing, UsageError
from hindbrain.models.fake import FakeEmbedder
from hindbrain.search.query import Filters, SearchQuery
from workbench import NOW, Bench, MakeBench

DAY = 86_400.0


@pytest.fixture
def animals(bench: Bench) -> Bench:
    write = bench.vault.write
    write("zebra.md", "# Zebra\n\nStripes keep the flies away.\n\nThey live in the savanna.\n")
    write("lion.md", "---\naliases: [King]\n---\n# Lion\n\nSleeps twenty hours a day.\n\nHunts the zebra.\n")
    write("diary/2026-05-12.md", "Saw a film about animals of the savanna.\n")
    write("taxes.md", "# Taxes\n\nThe income form is due in July.\n")
    bench.sync()
    return bench


def test_the_note_that_speaks_of_it_comes_first(animals: Bench) -> None:
    assert animals.paths("when is the income form due")[0] == "taxes.md"
    assert animals.paths("flies and stripes")[0] == "zebra.md"


def test_a_hit_says_where_it_stands_and_why(animals: Bench) -> None:
    hit = animals.hits("stripes flies")[0]
    assert (hit.path, hit.title, hit.heading) == ("zebra.md", "zebra", "Zebra")
    assert (hit.first_line, hit.last_line) == (1, 3)
    assert hit.text == "# Zebra\n\nStripes keep the flies away."
    assert hit.after == "They live in the savanna."
    assert set(hit.terms) == {"stripes", "flies"}
    assert hit.citation == "[[zebra#Zebra]]"
    assert "lexical" in hit.why
    assert 0 < hit.confidence < 1
    assert len(hit.passage) == 16


def test_scores_lie_between_0_and_1_and_the_best_has_1(animals: Bench) -> None:
    scores = [hit.score for hit in animals.hits("zebra savanna")]
    assert scores[0] == pytest.approx(1.0)
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)


@pytest.mark.parametrize("profile", ["default", "rrf", "linear", "multi-factor", "keyword-recency"])
def test_the_shares_of_a_hit_add_up_to_its_score(animals: Bench, profile: str) -> None:
    hits = animals.hits(SearchQuery("zebra savanna stripes", profile=profile))
    top = sum(hits[0].why.values())
    for hit in hits:
        assert sum(hit.why.values()) == pytest.approx(hit.score * top, abs=2e-3)


def test_nothing_found_is_an_empty_answer(plain: Bench) -> None:
    plain.vault.write("a.md", "text\n")
    plain.sync()
    result = plain.search("zebra")
    assert (result.hits, result.notices) == ((), ())
    assert result.synced_at == NOW


def test_an_empty_vault_has_an_empty_answer(bench: Bench) -> None:
    bench.sync()
    for mode in ("hybrid", "keyword", "semantic"):
        assert bench.hits(SearchQuery("zebra", mode=mode)) == ()


def test_no_index_is_an_error(bench: Bench) -> None:
    with pytest.raises(IndexMissing) as raised:
        bench.search("zebra")
    assert raised.value.code == "index_missing"


@pytest.mark.parametrize(
    "query",
    [
        SearchQuery("", k=0),
        SearchQuery("", k=1_001),
        SearchQuery("", diversity=2),
        SearchQuery("", profile=""),
    ],
)
def test_a_query_that_makes_no_sense_is_a_usage_error(animals: Bench, query: SearchQuery) -> None:
    with pytest.raises(UsageError):
        animals.search(query)


def test_no_more_hits_than_asked_for(animals: Bench) -> None:
    assert len(animals.hits(SearchQuery("zebra savanna animals", k=2))) == 2


def test_with_notes_as_the_unit_each_note_has_one_hit(animals: Bench) -> None:
    hits = animals.hits(SearchQuery("zebra savanna stripes", unit="note"))
    paths = [hit.path for hit in hits]
    assert len(paths) == len(set(paths)) > 1


def test_a_note_is_found_by_its_alias_and_its_name(animals: Bench) -> None:
    assert animals.paths("King")[0] == "lion.md"
    assert animals.paths("lion")[0] == "lion.md"


def test_a_quoted_phrase_must_be_in_a_hit_or_is_preferred(plain: Bench) -> None:
    plain.vault.write("a.md", "the red house stands by the old green door\n")
    plain.vault.write("b.md", "nobody has lived in a green house since the war\n")
    plain.sync()
    assert plain.paths('"green house"') == ["b.md"]
    assert plain.paths(SearchQuery('"green house"', exact=False)) == ["b.md", "a.md"]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ('"Green-House plants"', {"a.md"}),
        ('"green house plant"', set()),  # the index knows stems; a quotation means the words themselves
        ('"cafe creme"', {"b.md"}),
        ('"東京の天気"', {"b.md"}),
        ('"天気東京"', set()),
        ('"Sailing Trip"', {"Sailing trip.md"}),  # the note's name
        ('"what to pack"', {"Sailing trip.md"}),  # a heading
        ('"old anchor" "new chain"', {"Sailing trip.md"}),
        ('"old anchor" "green house"', set()),
        ('"the"', {"a.md"}),
    ],
)
def test_a_quoted_phrase_is_found_as_it_is_written(bench: Bench, query: str, paths: set[str]) -> None:
    bench.vault.write("a.md", "The green **house** plants grow.\n")
    bench.vault.write("b.md", "Café Crème, 東京の天気は晴れ\n")
    bench.vault.write("Sailing trip.md", "## What to pack\n\nAn old anchor and a new chain.\n")
    bench.sync()
    assert set(bench.paths(query)) == paths
    result = bench.search(query)
    assert any(notice.startswith("phrase_not_found") for notice in result.notices) == (not paths)


def test_a_date_in_the_query_lifts_the_notes_of_that_day(bench: Bench) -> None:
    for day in range(10, 15):
        bench.vault.write(f"diary/2026-05-{day}.md", "Went for a run along the river.\n\nSlept.\n")
    bench.sync()
    # The clock stands at Friday, 15 May 2026.
    assert bench.paths("run by the river last Tuesday")[0] == "diary/2026-05-12.md"
    assert bench.paths("run by the river yesterday")[0] == "diary/2026-05-14.md"


@pytest.mark.parametrize(
    ("query", "path"), [("猫", "cat.md"), ("東京", "tokyo.md"), ("天气", "zh.md"), ("고양이", "ko.md")]
)
def test_scripts_without_spaces_are_found_by_one_and_by_two_characters(
    plain: Bench, query: str, path: str
) -> None:
    plain.vault.write("cat.md", "私は黒い猫が好きです。\n")
    plain.vault.write("tokyo.md", "来週東京都へ行く予定です。\n")
    plain.vault.write("zh.md", "今天北京的天气很好。\n")
    plain.vault.write("ko.md", "검은 고양이를 보았다.\n")
    plain.sync()
    assert plain.paths(query) == [path]


def test_words_are_found_in_any_unicode_form_case_and_number(plain: Bench) -> None:
    plain.vault.write("a.md", "Die Übungen im Cafe\u0301\n")
    plain.sync()
    for query in ("café", "CAFÉ", "cafe\u0301", "cafe", "übungen", "ubungen"):
        assert plain.paths(query) == ["a.md"], query


# -- repetitions -----------------------------------------------------------------------------------------

LONG = "The committee met on Monday and agreed that the old bridge over the river is mended in the spring."


def test_equal_texts_collapse_into_one_hit_that_names_the_others(plain: Bench) -> None:
    for name in "abc":
        plain.vault.write(f"{name}.md", f"{LONG}\n")
    plain.sync()
    (hit,) = plain.hits("bridge committee")
    assert len(hit.also) == 2
    assert {hit.path, *(place.partition(":")[0] for place in hit.also)} == {"a.md", "b.md", "c.md"}


def test_texts_that_are_nearly_equal_collapse_too(bench: Bench) -> None:
    both = f"{LONG} Nobody spoke against it, though two members had doubts about what the stone will cost us."
    bench.vault.write("a.md", f"{both}\n")
    bench.vault.write("b.md", f"{both} Indeed.\n")
    bench.vault.write("c.md", "Another bridge entirely, of which the committee knows nothing at all today.\n")
    bench.sync()
    hits = bench.hits("bridge committee")
    assert len(hits) == 2
    assert sum(len(hit.also) for hit in hits) == 1


def test_diversity_changes_the_order_and_not_what_is_found(animals: Bench) -> None:
    for i in range(6):
        animals.vault.write(f"more{i}.md", f"The zebra of the savanna has stripes, seen on day {i}.\n")
    animals.sync()
    plain = animals.hits(SearchQuery("zebra savanna stripes", k=50))
    for diversity in (0.3, 0.7, 1.0):
        diverse = animals.hits(SearchQuery("zebra savanna stripes", k=50, diversity=diversity))
        assert {hit.passage for hit in diverse} == {hit.passage for hit in plain}
        assert diverse[0] == plain[0]


# -- embedders -------------------------------------------------------------------------------------------


def test_a_query_that_is_a_notes_name_asks_no_remote_embedder(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("Solar Panels.md", "On the roof.\n")
    remote.vault.write("b.md", "solar things and panels\n")
    remote.sync()
    assert "Solar Panels.md" in remote.paths("solar panels")
    assert "Solar Panels.md" in remote.paths("find the note called Solar Panels")
    assert embedder.queries() == []
    remote.search("what keeps the house warm")
    assert embedder.queries() == ["what keeps the house warm"]


@pytest.mark.parametrize("query", ["solar panels", "Sunlight Catchers"])
def test_a_query_that_is_a_notes_name_or_alias_puts_that_note_first(bench: Bench, query: str) -> None:
    bench.vault.write("Solar Panels.md", "---\naliases: [Sunlight Catchers]\n---\nOn the roof since May.\n")
    bench.vault.write("b.md", "solar things and panels, sunlight and catchers\n")
    bench.sync()
    assert bench.paths(query)[0] == "Solar Panels.md"


def test_keyword_mode_asks_no_embedder(remote: Bench, embedder: FakeEmbedder) -> None:
    remote.vault.write("a.md", "zebras\n")
    remote.sync()
    assert remote.search(SearchQuery("zebras in the grass", mode="keyword")).mode == "keyword"
    assert embedder.queries() == []


def test_an_embedder_that_is_down_leaves_keyword_search_with_a_notice(
    remote: Bench, embedder: FakeEmbedder
) -> None:
    remote.vault.write("a.md", "zebras\n")
    remote.sync()
    embedder.fail("down")
    result = remote.search("zebras in the grass")
    assert [hit.path for hit in result.hits] == ["a.md"]
    assert result.mode == "keyword"
    assert result.notices[0].startswith("embedder_down")


def test_semantic_mode_with_an_embedder_that_is_down_could_not_look(
    remote: Bench, embedder: FakeEmbedder
) -> None:
    remote.vault.write("a.md", "zebras\n")
    remote.sync()
    embedder.fail("down")
    with pytest.raises(EmbedderDown):
        remote.search(SearchQuery("zebras in the grass", mode="semantic"))


def test_semantic_mode_counts_no_words(animals: Bench) -> None:
    hits = animals.hits(SearchQuery("zebra", mode="semantic"))
    assert hits
    assert all("lexical" not in hit.why and "fields" not in hit.why for hit in hits)


@pytest.mark.parametrize("warm", [False, True])
def test_semantic_mode_works_where_a_word_stands_nearly_everywhere(bench: Bench, warm: bool) -> None:
    lines = (f"word number {i} in a line of its own that is long enough\n\n" for i in range(2_100))
    bench.vault.write("a.md", "".join(lines))
    bench.sync()
    assert bench.search(SearchQuery("word", mode="semantic"), warm=warm).mode == "semantic"
    assert bench.search(SearchQuery("word number 77"), warm=warm).hits


@pytest.mark.parametrize("query", ["zebra savanna", "taxes", "animals", "when is it due"])
def test_a_warm_engine_and_a_cold_one_agree(animals: Bench, query: str) -> None:
    cold, warm = animals.hits(query), animals.hits(query, warm=True)
    assert [(hit.passage, pytest.approx(hit.score)) for hit in cold] == [  # type: ignore[comparison-overlap]
        (hit.passage, hit.score) for hit in warm
    ]


@pytest.mark.parametrize("warm", [False, True])
def test_vectors_that_are_pending_are_told(
    make_bench: MakeBench, monkeypatch: pytest.MonkeyPatch, warm: bool
) -> None:
    bench = make_bench(FakeEmbedder(32))
    monkeypatch.setattr("hindbrain.index.embed._REMOTE_BATCH", 2)
    for i in range(4):
        bench.vault.write(f"n{i}.md", f"zebra number {i}\n")
    bench.sync()
    bench.vault.write("new.md", "a giraffe that is new\n")
    embedder, bench.embedder = bench.embedder, None
    bench.sync()
    bench.embedder = embedder
    result = bench.search("a zebra or a giraffe", warm=warm)
    assert any(notice.startswith("vectors_pending") for notice in result.notices)
    assert "new.md" in {hit.path for hit in result.hits}


@pytest.mark.parametrize("diversity", [0.0, 0.5])
def test_vectors_that_are_pending_hinder_no_search(bench: Bench, diversity: float) -> None:
    bench.vault.write("a.md", f"{LONG}\n")
    bench.sync()
    bench.vault.write("b.md", "The bridge that the committee did not speak of.\n")
    embedder, bench.embedder = bench.embedder, None
    bench.sync()
    bench.embedder = embedder
    assert set(bench.paths(SearchQuery("bridge committee", diversity=diversity))) == {"a.md", "b.md"}


def test_keyword_search_loads_no_numpy(plain: Bench) -> None:
    plain.vault.write("a.md", "zebras in the grass\n")
    plain.sync()
    program = f"""
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.index.store import IndexStore
from hindbrain.search.engine import SearchEngine
from hindbrain.search.query import Filters, SearchQuery
store = IndexStore(Path({str(plain.app.index_path)!r}))
engine = SearchEngine(store, lambda: None, SystemClock(), warm=False)
hits = engine.search(SearchQuery("zebras", mode="keyword")).hits
assert [hit.path for hit in hits] == ["a.md"]
heavy = {{"numpy", "rich", "httpx", "pathspec", "watchfiles", "tokenizers", "asyncio"}}
print(sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert done.stdout.strip() == "[]"


# -- signals that only part what is equal otherwise ------------------------------------------------------


def test_of_two_equal_notes_the_newer_and_the_more_important_come_first(plain: Bench) -> None:
    plain.vault.write("old.md", "the zebra ran over the hill\n", at=NOW - 400 * DAY)
    plain.vault.write("new.md", "the zebra ran over the dale\n", at=NOW - 1 * DAY)
    plain.sync()
    assert plain.paths("zebra ran") == ["new.md", "old.md"]
    plain.vault.write("old.md", "---\nimportance: 1.0\n---\nthe zebra ran over the hill\n", at=NOW - 1 * DAY)
    plain.sync()
    assert plain.paths("zebra ran") == ["old.md", "new.md"]


def test_the_same_question_has_the_same_answer(animals: Bench) -> None:
    assert animals.hits("zebra savanna") == animals.hits("zebra savanna")


# -- "nothing found" is not "could not look"


def test_a_search_by_meaning_alone_without_an_embedder_is_an_error(plain: Bench) -> None:
    plain.vault.write("a.md", "zebras\n")
    plain.sync()
    with pytest.raises(EmbedderError):
        plain.search(SearchQuery("zebras", mode="semantic"))


def test_a_search_by_meaning_alone_over_vectors_of_another_embedder_is_an_error(
    remote: Bench, make_bench: Callable[..., Bench]
) -> None:
    remote.vault.write("a.md", "zebras\n")
    remote.sync()
    other = make_bench(FakeEmbedder(8, name="another"))
    with pytest.raises(EmbedderMismatch):
        other.search(SearchQuery("zebras", mode="semantic"))


NOTES = SearchQuery("", unit="note")


def note_paths(bench: Bench, text: str, **more: Any) -> list[str]:
    return [hit.path for hit in bench.hits(NOTES._replace(text=text, **more))]


def test_a_note_whose_name_has_the_words_of_the_query_comes_first(bench: Bench) -> None:
    long = (
        "A race condition. The invoice has a hash. The chain of invoices. Hash, chain, race, condition.\n\n"
    )
    bench.vault.write("race condition invoice hash chain.md", "We add a lock.\n")
    bench.vault.write("Ledger.md", long * 8)
    bench.vault.write("Invoice.md", long)
    bench.sync()
    for query in ("race condition invoice hash chain", "hash chain of the invoice: race condition"):
        assert note_paths(bench, query)[0] == "race condition invoice hash chain.md"


def test_an_alias_in_another_order_is_a_name_too(bench: Bench) -> None:
    bench.vault.write("k8s.md", "---\naliases: [Kubernetes Cluster Upgrade]\n---\nDrain first.\n")
    bench.vault.write("b.md", "The upgrade of a cluster. Kubernetes upgrade, cluster by cluster.\n")
    bench.sync()
    assert note_paths(bench, "upgrade kubernetes cluster")[0] == "k8s.md"


def test_a_note_of_nothing_but_properties_is_found_by_its_name(bench: Bench) -> None:
    bench.vault.write("Films/Blade Runner.md", "---\nyear: 1982\ntags: [film]\n---\n")
    bench.vault.write("Runner.md", "A runner with a blade.\n")
    bench.sync()
    for query in ("Blade Runner", "runner blade", '"blade runner"'):
        hit = bench.hits(NOTES._replace(text=query))[0]
        assert (hit.path, hit.text, hit.passage) == ("Films/Blade Runner.md", "", "")
    in_folder = NOTES._replace(text="blade runner", filters=Filters(folder="Films", tags=("film",)))
    assert [hit.path for hit in bench.hits(in_folder)] == ["Films/Blade Runner.md"]
    elsewhere = NOTES._replace(text="blade runner", filters=Filters(tags=("book",)))
    assert bench.hits(elsewhere) == ()
    assert "Films/Blade Runner.md" not in bench.paths("blade runner")  # a passage is sought, and it has none


def test_one_hit_a_note_says_how_many_more_passages_speak_of_it(bench: Bench) -> None:
    bench.vault.write("a.md", "\n\n".join(f"# H{n}\n\nThe zebra, part {n}, {'word ' * 60}" for n in range(4)))
    bench.vault.write("b.md", "One zebra.\n")
    bench.sync()
    passages = [hit.path for hit in bench.hits("zebra")]
    hits = {hit.path: hit.more for hit in bench.hits(NOTES._replace(text="zebra"))}
    assert hits == {"a.md": passages.count("a.md") - 1, "b.md": 0}
    assert passages.count("a.md") > 2
    assert all(hit.more == 0 for hit in bench.hits("zebra"))


@pytest.mark.parametrize("unit", ["note", "passage"])
def test_a_named_speakers_turn_beats_anothers(bench: Bench, unit: str) -> None:
    bench.vault.write("ben.md", "**Ben:** Anna, the trip to the lake was long.\n")
    bench.vault.write("anna.md", "**Anna:** Ben, the trip to the lake was long.\n")
    bench.sync()
    for who in ("Anna", "Ben"):
        query = SearchQuery(f"What did {who} say of the trip to the lake?", unit=unit)  # type: ignore[arg-type]
        assert "speaker" in bench.hits(query)[0].why
        assert bench.hits(query)[0].text.startswith(f"**{who}:**")


def test_shares_of_whole_notes_add_up_to_their_score(animals: Bench) -> None:
    hits = animals.hits(NOTES._replace(text="my zebra savanna stripes"))
    top = sum(hits[0].why.values())
    assert [sum(hit.why.values()) for hit in hits] == pytest.approx(
        [hit.score * top for hit in hits], abs=2e-3
    )


@pytest.mark.parametrize("profile", ["rrf", "linear", "multi-factor", "keyword-recency"])
def test_named_formulas_rank_notes_by_their_best_passage(animals: Bench, profile: str) -> None:
    query = SearchQuery("zebra savanna stripes", profile=profile, k=10)
    notes = [hit.path for hit in animals.hits(query._replace(unit="note"))]
    assert notes == animals.paths(query)[: len(notes)]
