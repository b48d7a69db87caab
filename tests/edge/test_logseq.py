"""A Logseq graph: its pages are found and linked by their own names, and days are days."""

from __future__ import annotations

import pytest

from command_runs import Cli
from hindbrain.base.clock import SystemClock
from workbench import Vault


@pytest.fixture
def graph(cli: Cli, vault: Vault) -> Vault:
    """As Logseq writes one: triple underscores, escaped signs, page properties, journals, backups."""
    vault.write("logseq/config.edn", "{:meta/version 1\n :file/name-format :triple-lowbar}\n")
    vault.write("logseq/bak/pages/Boat/2024-01-01.Desktop.md", "- an old rudder\n")
    vault.write(
        "pages/Boat___Engine.md", "alias:: motor, [[Boat drive]]\ntags:: [[machines]]\n\n- needs a gasket\n"
    )
    vault.write("pages/Where to sail%3F.md", "- north, with a compass\n")
    vault.write("pages/plan_b.md", "title:: Boat/Refit 2025\ntype:: [[Project]]\n\n- scrape the hull\n")
    vault.write("pages/how_to_sail.md", "---\ntitle: How to Sail\n---\n- by the stars\n")
    vault.write("pages/A%2FB.md", "- an old way to write a slash\n")
    vault.write("pages/How-to take notes.md", "- with a pencil\n")
    vault.write(
        "journals/2024_01_05.md",
        "- met Ada, see [[Boat/Engine]], [[boat/engine]] and the [engine]([[Boat/Engine]])\n"
        "- #[[Where to sail?]] or [[motor]], [[Boat drive]], [[Boat/Refit 2025]], [[A/B]], [[How to sail]]\n"
        "- [[Somebody unwritten]], on [[Jan 5th, 2024]] and [[2024-01-05]]\n"
        "- [[How to take notes]] lost its sign\n"
        "- [a file](../pages/gone.md)\n",
    )
    assert cli("sync").code == 0
    return vault


def test_pages_are_shown_by_their_own_names(cli: Cli, graph: Vault) -> None:
    for word, name, path in [
        ("gasket", "Boat/Engine", "pages/Boat___Engine.md"),
        ("compass", "Where to sail?", "pages/Where to sail%3F.md"),
        ("hull", "Boat/Refit 2025", "pages/plan_b.md"),
        ("Ada", "Jan 5th, 2024", "journals/2024_01_05.md"),
    ]:
        hit = cli("search", word, "--keyword", "--json").data["hits"][0]
        assert (hit["title"], hit["path"]) == (name, path)
        assert cli("read", name, "--json").data["path"] == path
    assert cli("read", "motor", "--json").data["path"] == "pages/Boat___Engine.md"
    assert cli("search", "what's in Boat/Engine?", "--json").data["hits"][0]["title"] == "Boat/Engine"


def test_a_journal_is_found_by_its_day(cli: Cli, graph: Vault) -> None:
    hit = cli("search", "whom did I meet on 5 January 2024", "--json").data["hits"][0]
    assert (hit["path"], hit["date"]) == ("journals/2024_01_05.md", "2024-01-05")


def test_only_links_that_lead_nowhere_are_broken(cli: Cli, graph: Vault) -> None:
    broken = cli("lint", "--json").data["problems"]
    assert [(problem["line"], problem["code"]) for problem in broken] == [
        (4, "broken_link"),
        (5, "broken_link"),
    ]
    listed = cli("links", "--broken", "--json").data["broken"]
    assert [link["line"] for link in listed] == [4, 5]
    assert "journals/2024_01_05.md" in cli("links", "Boat/Engine").out


def test_backups_of_pages_are_left_out(cli: Cli, graph: Vault) -> None:
    assert cli("search", "rudder", "--keyword", "--json").data["hits"] == []
    assert cli("status", "--json").data["index"]["left_out_by_code"] == {"excluded": 1}


OUTLINE = """\
## Beta 3 [[Dec 1st, 2025]]
- the newest feature is a trombone
- ## Beta 2 [[Jun 13th, 2023]]
  id:: 648
  released with a hornpipe
\t- ### Fixed [issues](https://x.example/1)
\t\t- query functions work with a bassoon again
\t- what a piccolo plays in general
- a harpsichord of another release, without a heading
- # History
- ## Alpha
- an oboe of the first days
  - a spinet below it
-
"""


def test_a_bullet_with_a_heading_is_a_heading(cli: Cli, graph: Vault) -> None:
    graph.write("pages/Changelog.md", OUTLINE)
    cli("sync")
    for word, heading, line in [
        ("trombone", "Beta 3 Dec 1st, 2025", 2),
        ("hornpipe", "Beta 2 Jun 13th, 2023", 5),
        ("bassoon", "Beta 2 Jun 13th, 2023 > Fixed issues", 7),
        ("piccolo", "Beta 2 Jun 13th, 2023", 8),
        ("harpsichord", "", 9),
        ("oboe", "History > Alpha", 12),
        ("spinet", "History > Alpha", 13),
    ]:
        hit = cli("search", word, "--keyword", "--json").data["hits"][0]
        assert (hit["heading"], hit["path"]) == (heading, "pages/Changelog.md"), word
        assert hit["first_line"] <= line <= hit["last_line"], word
    graph.write("pages/Long.md", OUTLINE + "- filler of many words, as notes are long\n" * 200)
    pack = cli("context", "which query functions work with a bassoon again?").out
    assert "Beta 3" not in pack.partition("pages/Changelog.md")[2].partition("]")[0]


def test_the_heading_that_a_hit_shows_can_be_read(cli: Cli, vault: Vault) -> None:
    vault.write("Band.md", "# Band\n\n## With [[Anna Berg|Anna]] in May\n\n- a glockenspiel\n\n## Later\n")
    vault.write("List.md", "- # no heading here\n- a triangle and more of such words to be long enough\n")
    cli("sync")
    hit = cli("search", "glockenspiel", "--keyword", "--json").data["hits"][0]
    assert hit["heading"] == "Band > With Anna in May"
    assert "glockenspiel" in cli("note", "read", "Band.md", "--heading", hit["heading"]).out
    assert cli("search", "triangle", "--keyword", "--json").data["hits"][0]["heading"] == ""


def test_a_question_about_a_day_is_answered_by_its_journal_alone(cli: Cli, graph: Vault) -> None:
    graph.write("journals/2021_02_26.md", "---\ntitle: Feb 26th, 2021\n---\n\n- Wrote the changelog\n")
    graph.write("journals/2021_02_07.md", "---\ntitle: Feb 7th, 2021\n---\n\n-")
    graph.write(
        "pages/Changelog.md", "- ## What we did on [[Feb 26th, 2021]]\n  - We did a lot on 7 February\n"
    )
    cli("sync")
    found = cli("search", "what did we do on 26 February 2021?", "--json").data["hits"]
    assert [hit["path"] for hit in found] == ["journals/2021_02_26.md"]
    pack = cli("context", "what did we do on 26 February 2021?").out
    assert "Wrote the changelog" in pack and "Changelog.md" not in pack
    pack = cli("context", "what did we do on 7 February 2021?").out
    assert "journals/2021_02_07.md" not in pack and "Changelog.md" not in pack


def test_markers_of_tasks_in_recent_journals_are_open(cli: Cli, graph: Vault) -> None:
    today = SystemClock().today()
    text = "- NOW Write the changelog\n  now:: 1614\n- DONE Mend the sail\n- Plans\n\t- LATER Buy rope\n"
    graph.write(f"journals/{today:%Y_%m_%d}.md", text + "- NOWHERE to go\n- [ ] Varnish the mast\n")
    graph.write("pages/Docs.md", "- TODO Describe the rudder\n")
    told = cli("context", "what is still open?").out
    assert "- NOW Write the changelog" in told and "- LATER Buy rope" in told and "Varnish the mast" in told
    assert f"journals/{today:%Y_%m_%d}.md" in told
    assert "Mend" not in told and "NOWHERE" not in told and "rudder" not in told and "now::" not in told


def test_another_vault_keeps_its_underscores(cli: Cli, vault: Vault) -> None:
    vault.write("Boat___Engine.md", "Needs a gasket.\n")
    vault.write("Home.md", "[[Boat/Engine]] and [[Somebody unwritten]]\n")
    cli("sync")
    assert cli("search", "gasket", "--json").data["hits"][0]["title"] == "Boat___Engine"
    assert len(cli("lint", "--json").data["problems"]) == 2
