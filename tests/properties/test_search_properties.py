"""No query whatever makes a search fail, and every answer is well formed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.index.passages import ChunkSettings
from hindbrain.index.store import IndexStore
from hindbrain.index.sync import Syncer
from hindbrain.models.static import load_static
from hindbrain.search.engine import SearchEngine
from hindbrain.search.profiles import PROFILES
from hindbrain.search.query import Filters, SearchQuery
from hindbrain.vault.ignore import make_rules
from workbench import NOW, Vault

_WORDS = st.sampled_from(
    [
        "zebra", "savanna", "NEAR(", "AND", "OR", "NOT", '"', "*", "^", "title:", "(", ")", "{a b}:", "+",
        "-", "'", "\0", "\ud800", "🦀", "猫", "東京", "last Tuesday", "2026-05-12", "in May", "%", "_", "\\",
        "\n", "a" * 500,
    ]
)  # fmt: skip
_QUERIES = (
    st.text(max_size=80)
    | st.text(
        alphabet=st.characters(categories=["Cs", "Cc", "Cf", "Co", "Cn", "Lo", "Mn", "So"]), max_size=40
    )
    | st.lists(_WORDS, max_size=12).map(" ".join)
    | st.lists(_WORDS, max_size=12).map("".join)
)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    folder = tmp_path_factory.mktemp("searched")
    vault, embedder, clock = Vault(folder / "vault"), load_static(), FakeClock(NOW)
    vault.write(".obsidian/app.json", "{}")
    for i in range(30):
        vault.write(f"notes/n{i}.md", f"# Zebra {i}\n\nIn the savanna {i} #t{i}\n\n猫と東京 {i}\n")
    vault.write("diary/2026-05-12.md", "A day in May.\n")
    Syncer(vault.root, folder / "state", make_rules(), ChunkSettings(), clock).sync(embedder)
    store = IndexStore(folder / "state" / "index.db")
    yield SearchEngine(store, lambda: embedder, clock, warm=True)
    store.close()


@settings(max_examples=250, deadline=None)
@example("")
@example("word " * 5_000)
@example('"' * 999)
@example("\0\0")
@example("\ud800\udfff")
@example("NEAR(a b, 5) AND title:x OR NOT (y")
@given(_QUERIES)
def test_no_text_makes_a_search_fail(engine: SearchEngine, text: str) -> None:
    hits = engine.search(SearchQuery(text)).hits
    assert len(hits) <= 10
    assert len({hit.passage for hit in hits}) == len(hits)
    assert all(0 <= hit.score <= 1.000001 and 0 <= hit.confidence <= 1 for hit in hits)
    assert all(a.score >= b.score for a, b in pairwise(hits))


@settings(max_examples=80, deadline=None)
@given(
    _QUERIES,
    st.sampled_from(sorted(PROFILES)),
    st.sampled_from(["hybrid", "keyword", "semantic"]),
    st.sampled_from(["passage", "note"]),
    st.floats(0, 1),
    st.integers(1, 40),
)
def test_no_text_fails_under_any_profile_mode_and_unit(
    engine: SearchEngine, text: str, profile: str, mode: str, unit: str, diversity: float, k: int
) -> None:
    query = SearchQuery(text, k, mode=mode, unit=unit, profile=profile, diversity=diversity)  # type: ignore[arg-type]
    hits = engine.search(query).hits
    assert len(hits) <= k
    if unit == "note":
        assert len({hit.path for hit in hits}) == len(hits)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_no_filter_lets_through_what_it_should_not(
    engine: SearchEngine, folder: str, tag: str, area: str
) -> None:
    hits = engine.search(SearchQuery("zebra", filters=Filters(folder=folder, tags=(tag,), area=area))).hits
    assert hits == () or not (folder.strip("/") or area)


@settings(max_examples=60, deadline=None)
@given(_QUERIES)
def test_every_hit_shows_the_text_of_its_own_lines(engine: SearchEngine, text: str) -> None:
    for hit in engine.search(SearchQuery(text)).hits:
        note = engine._store.note_at(hit.path)
        assert note is not None
        lines = engine._store.text_of(note.id).split("\n")[hit.first_line - 1 : hit.last_line]
        assert hit.text in "\n".join(lines)


def test_the_index_that_is_searched_is_a_real_one(engine: SearchEngine) -> None:
    assert Path(engine._store.path).stat().st_size > 0
    assert engine.search(SearchQuery("zebra 7")).hits[0].path == "notes/n7.md"
