"""Links are resolved as Obsidian resolves them, and what leads nowhere is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.index.links import LinkGraph
from hindbrain.index.store import IndexStore
from workbench import MakeBench, Vault

Graph = Callable[..., LinkGraph]


@pytest.fixture
def graph(make_bench: MakeBench) -> Iterator[Graph]:
    """The links of the vault as it is when this is called."""
    opened: list[IndexStore] = []

    def make(files: Iterable[str] = ()) -> LinkGraph:
        bench = make_bench()
        bench.sync()
        opened.append(IndexStore(bench.app.index_path))
        return LinkGraph(opened[-1], files)

    yield make
    for store in opened:
        store.close()


def test_a_name_is_found_anywhere_whatever_its_case_or_normal_form(vault: Vault, graph: Graph) -> None:
    vault.write("deep/er/Café.md", "x")

    assert graph().resolve("CAFE\u0301") == ("deep/er/Café.md", "name", ())
    assert graph().resolve("er/café.md").path == "deep/er/Café.md"
    assert graph().resolve("deep\\er\\café").path == "deep/er/Café.md"
    assert graph().resolve("deeper/café").how == "none"


def test_a_path_of_the_vault_goes_before_a_name(vault: Vault, graph: Graph) -> None:
    vault.write("Plan.md", "x")
    vault.write("work/Plan.md", "x")

    assert graph().resolve("Plan", "work/day.md") == ("Plan.md", "path", ())
    assert graph().resolve("work/Plan").path == "work/Plan.md"
    assert graph().resolve("/work/Plan").path == "work/Plan.md"


def test_of_several_the_one_in_the_same_folder_else_the_shortest_path_is_meant(
    vault: Vault, graph: Graph
) -> None:
    for path in ("work/2026/Plan.md", "home/Plan.md", "work/Plan.md"):
        vault.write(path, "x")

    beside = graph().resolve("Plan", "work/2026/day.md")
    assert (beside.path, beside.how, beside.is_ambiguous) == ("work/2026/Plan.md", "folder", False)

    far = graph().resolve("plan", "inbox/day.md")
    assert (far.path, far.how, far.is_ambiguous) == ("home/Plan.md", "shortest", True)
    assert far.candidates == ("home/Plan.md", "work/Plan.md", "work/2026/Plan.md")


def test_relative_targets_and_markdown_links_start_at_their_note(vault: Vault, graph: Graph) -> None:
    for path in ("Plan.md", "work/Plan.md", "work/sub/Idea.md"):
        vault.write(path, "x")

    assert graph().resolve("Plan.md", "work/day.md").path == "work/Plan.md"
    assert graph().resolve("../Plan", "work/day.md").path == "Plan.md"
    assert graph().resolve("./sub/Idea.md", "work/day.md").path == "work/sub/Idea.md"
    assert graph().resolve("./Idea", "work/day.md").how == "none"


def test_an_alias_answers_last_and_says_so(vault: Vault, graph: Graph) -> None:
    vault.write("Artificial intelligence.md", "---\naliases: [AI, Robots]\n---\nx")
    vault.write("Machines.md", "---\naliases: [Robots]\n---\nx")
    vault.write("deep/Robots list.md", "x")

    assert graph().resolve("ai") == ("Artificial intelligence.md", "alias", ())
    both = graph().resolve("Robots")
    assert (both.path, both.is_ambiguous) == ("Machines.md", True)
    vault.write("x/AI.md", "x")
    assert graph().resolve("AI").path == "x/AI.md"


def test_backlinks_come_with_their_line_from_every_kind_of_link(vault: Vault, graph: Graph) -> None:
    vault.write("drinks/Green Tea.md", "---\naliases: [Sencha]\n---\n# Green Tea\n\nSee [[#Green Tea]].\n")
    vault.write("a.md", "one\n\nI like [[green tea#Green Tea|it]] and [[Sencha]].\r\n")
    vault.write("b.md", "![[Green Tea]]\n\n`[[Green Tea]]` is no link.\n")
    vault.write("c/d.md", "[a](../drinks/Green%20Tea.md) but [[Black Tea]]\n")

    found = graph().backlinks("drinks/Green Tea.md")

    assert [(link.path, link.line, link.text) for link in found] == [
        ("a.md", 3, "I like [[green tea#Green Tea|it]] and [[Sencha]]."),
        ("a.md", 3, "I like [[green tea#Green Tea|it]] and [[Sencha]]."),
        ("b.md", 1, "![[Green Tea]]"),
        ("c/d.md", 1, "[a](../drinks/Green%20Tea.md) but [[Black Tea]]"),
    ]
    assert [link.to.how for link in found] == ["name", "alias", "name", "path"]
    assert graph().backlinks("no/such.md") == []


def test_outgoing_has_what_leads_nowhere_and_leaves_out_attachments_and_itself(
    vault: Vault, graph: Graph
) -> None:
    vault.write("a.md", "[[b]] [[nowhere]] ![[cat.png]] [[#Top]] [pdf](x/paper.PDF)\n")
    vault.write("b.md", "x")

    assert [(link.target, link.to.path) for link in graph().outgoing("a.md")] == [
        ("b", "b.md"),
        ("nowhere", ""),
    ]


def test_broken_are_missing_notes_headings_and_blocks_and_nothing_else(vault: Vault, graph: Graph) -> None:
    vault.write("T.md", "# What's *new* in 2.0?\n\n## Sub\n\nA fact. ^f1\n\nanother^f2\n")
    vault.write(
        "a.md",
        "[[T#What's new in 2.0]] [[T#What's new in 2.0#Sub]] [[T#^f1]] [[T#^F2]] [x](T.md#whats-new-in-20)\n"
        "[[T#Old]] [[T#^f9]] [[Gone]] [[#Nope]] ![[img.png]] [[v1.2]] [[T]]\n",
    )

    found = [(broken.link.target, broken.reason, broken.link.line) for broken in graph().broken()]

    assert found == [
        ("T#Old", "no_heading", 2), ("T#^f9", "no_block", 2), ("Gone", "no_note", 2),
        ("#Nope", "no_heading", 2), ("v1.2", "no_note", 2),
    ]  # fmt: skip


def test_what_is_on_disk_but_not_in_the_index_is_not_broken(vault: Vault, graph: Graph) -> None:
    vault.write("a.md", "[[Daily template]] [x](/scripts/) [[Gone]]\n")

    found = graph(["templates/Daily template.md", "scripts"]).broken()

    assert [broken.link.target for broken in found] == ["Gone"]


def test_a_misspelt_name_gets_the_nearest_and_another_day_does_not(vault: Vault, graph: Graph) -> None:
    vault.write("notes/Kubernetes basics.md", "x")
    vault.write("2026-05-01.md", "x")

    assert graph().nearest("Kubernets basics") == "notes/Kubernetes basics.md"
    assert graph().nearest("kubernetes-basics#Pods") == "notes/Kubernetes basics.md"
    assert graph().nearest("2026-05-02") == ""
    assert graph().nearest("Gardening") == ""


def test_orphans_have_no_link_in_or_out(vault: Vault, graph: Graph) -> None:
    vault.write("a.md", "[[b]]")
    vault.write("b.md", "x")
    vault.write("alone.md", "[[nowhere]] [[#alone]] ![[cat.png]]")

    assert graph().orphans() == ["alone.md"]


_NAMES = st.sampled_from(["a", "b", "x/a", "x/b", "x/y/a", "y/c"])


@settings(max_examples=40, deadline=None)
@given(links=st.lists(st.tuples(_NAMES, st.sampled_from(["a", "b", "c", "x/a", "y/a", "d"])), max_size=12))
def test_backlinks_and_outgoing_tell_the_same_edges(
    tmp_path_factory: pytest.TempPathFactory, links: list[tuple[str, str]]
) -> None:
    from hindbrain.app import build_app
    from hindbrain.base.config import load_config

    folder = tmp_path_factory.mktemp("links")
    vault = Vault(folder / "vault")
    for name in ("a", "b", "x/a", "x/b", "x/y/a", "y/c"):
        vault.write(f"{name}.md", "".join(f"[[{target}]]\n" for source, target in links if source == name))
    environ = {"HINDBRAIN_STATE_FOLDER": str(folder / "state"), "HINDBRAIN_EMBEDDING_PROVIDER": "none"}
    app = build_app(load_config(environ, folder / "none.toml"), vault.root)
    app.sync()
    graph = LinkGraph(app.store)
    paths = [note.path for note in app.store.all_notes()]
    out = {(link.path, link.to.path) for path in paths for link in graph.outgoing(path) if link.to.path}
    into = {(link.path, path) for path in paths for link in graph.backlinks(path)}
    edges = graph.edges
    app.close()

    assert {edge for edge in out if edge[0] != edge[1]} == into == edges
