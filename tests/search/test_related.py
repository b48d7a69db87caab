"""Related notes: by links, tags and text, with reasons; and honest about what could not be looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from hindbrain.base.errors import IndexFault, NotFound
from hindbrain.index.links import LinkGraph
from hindbrain.index.store import IndexStore
from hindbrain.search.hit import SearchResult
from hindbrain.search.query import SearchQuery
from hindbrain.search.related import Related, query_text, related_notes
from workbench import MakeBench, Vault

Ask = Callable[..., tuple[list[Related], tuple[str, ...]]]


def nothing(query: SearchQuery) -> SearchResult:
    return SearchResult((), query.mode, query.profile or "default")


@pytest.fixture
def related(make_bench: MakeBench) -> Iterator[Ask]:
    opened: list[IndexStore] = []

    def ask(path: str, *, by_text: bool = False, **more: object) -> tuple[list[Related], tuple[str, ...]]:
        bench = make_bench()
        bench.sync()
        store = IndexStore(bench.app.index_path)
        opened.append(store)
        search = bench.search if by_text else nothing
        return related_notes(store, LinkGraph(store), search, path, **more)  # type: ignore[arg-type]

    yield ask
    for store in opened:
        store.close()


def test_direct_links_count_in_both_directions(vault: Vault, related: Ask) -> None:
    vault.write("a.md", "[[b]]")
    vault.write("b.md", "x")
    vault.write("c.md", "[[a]]")
    vault.write("d.md", "x")

    found, notices = related("a.md")

    assert {(note.path, note.is_linked) for note in found} == {("b.md", True), ("c.md", True)}
    assert notices == ()


def test_notes_cited_together_are_related_and_a_hub_says_less(vault: Vault, related: Ask) -> None:
    vault.write("pair.md", "[[a]] [[near]]")
    vault.write("hub.md", "[[a]] [[far]] " + " ".join(f"[[n{i}]]" for i in range(30)))
    for name in ("a", "near", "far", *(f"n{i}" for i in range(30))):
        vault.write(f"{name}.md", "x")

    found, _ = related("a.md", linked=False, k=40)

    assert found[0].path == "near.md"
    assert "pair" in found[0].reasons[0]
    assert {"pair.md", "hub.md", "a.md"}.isdisjoint(note.path for note in found)


def test_notes_that_link_to_the_same_note_are_related(vault: Vault, related: Ask) -> None:
    vault.write("a.md", "[[topic]]")
    vault.write("b.md", "[[topic]]")
    vault.write("topic.md", "x")

    found, _ = related("a.md", linked=False)

    assert [note.path for note in found] == ["b.md"]


def test_a_rare_tag_tells_more_than_a_common_one(vault: Vault, related: Ask) -> None:
    vault.write("a.md", "#note #beekeeping")
    vault.write("rare.md", "#Beekeeping")
    for i in range(8):
        vault.write(f"common{i}.md", "#note")
    vault.write("none.md", "x")

    found, _ = related("a.md")

    assert found[0].path == "rare.md"
    assert found[0].reasons == ("shares #beekeeping",)
    assert "none.md" not in [note.path for note in found]


def test_what_a_note_says_finds_notes_without_any_link(vault: Vault, related: Ask) -> None:
    vault.write("bread.md", "# Bread\n\nSourdough starter, flour and a hot oven.")
    vault.write("dough.md", "# Dough\n\nFeed the sourdough starter with flour each day.")
    vault.write("tax.md", "# Tax\n\nThe form is due in June.")

    found, _ = related("bread.md", by_text=True)

    assert found[0].path == "dough.md"
    assert not found[0].is_linked


def test_a_search_that_could_not_look_leaves_the_links_and_a_notice(
    make_bench: MakeBench, vault: Vault
) -> None:
    vault.write("a.md", "[[b]]")
    vault.write("b.md", "x")
    bench = make_bench()
    bench.sync()

    def broken(query: SearchQuery) -> SearchResult:
        raise IndexFault("gone")

    store = IndexStore(bench.app.index_path)
    found, notices = related_notes(store, LinkGraph(store), broken, "a.md")
    store.close()

    assert [note.path for note in found] == ["b.md"]
    assert len(notices) == 1


def test_a_note_that_the_index_lacks_is_an_error_and_not_an_empty_answer(vault: Vault, related: Ask) -> None:
    vault.write("a.md", "x")

    with pytest.raises(NotFound):
        related("b.md")


def test_the_query_is_what_a_reader_sees() -> None:
    text = "---\ntags: x\n---\nSee [[deep/Tea|the tea]] and [[Cup]].\n```py\ncode\n```\nhttps://x.example/y"

    assert query_text("Home", text) == "Home\nSee the tea and Cup."
