"""What several of the passages found link to comes sooner; one note can be left out with all its links."""

from __future__ import annotations

import pytest

from hindbrain.search.query import SearchQuery
from workbench import Bench, Vault

ASKED = "how do we keep the greenhouse tomatoes warm during the first frost nights of late autumn"


def places(bench: Bench, query: str = ASKED, **more: str) -> list[str]:
    result = bench.search(SearchQuery(query, k=20, unit="note", exact=False, **more))  # type: ignore[arg-type]
    return [hit.path for hit in result.hits]


@pytest.fixture
def garden(plain: Bench) -> Bench:
    """Two notes with the same words, of which several days point to the second."""
    vault = plain.vault
    vault.write("Coil.md", "# Coil\n\nThe greenhouse device for frost, bought in autumn.\n")
    vault.write("Lamp.md", "# Lamp\n\nThe greenhouse device for frost, bought in autumn.\n")
    for day in range(1, 5):
        text = f"Night {day}: tomatoes in the greenhouse warm in the first frost of late autumn: [[Lamp]].\n"
        vault.write(f"days/{day}.md", text)
    plain.sync()
    return plain


def test_what_several_passages_point_to_comes_before_its_equal(garden: Bench) -> None:
    found = places(garden)
    assert found.index("Lamp.md") < found.index("Coil.md")
    result = garden.search(SearchQuery(ASKED, k=20, unit="note", exact=False))
    why = {hit.path: hit.why for hit in result.hits}
    assert why["Lamp.md"]["linked"] > 0
    assert "linked" not in why["Coil.md"]


def test_without_their_links_it_is_not_so(garden: Bench) -> None:
    for day in range(1, 5):
        path = f"days/{day}.md"
        text = (garden.vault.root / path).read_text(encoding="utf-8")
        garden.vault.write(path, text.replace("[[Lamp]]", "`[[Lamp]]` ![[Lamp]]"))  # code, and embedded
    garden.sync()
    found = places(garden)
    assert found.index("Coil.md") < found.index("Lamp.md")


def test_a_short_query_that_names_a_note_gets_that_note(garden: Bench) -> None:
    assert places(garden, "coil")[0] == "Coil.md"


def test_a_note_that_is_left_out_is_neither_found_nor_are_its_links_followed(garden: Bench) -> None:
    for day in range(2, 5):
        (garden.vault.root / f"days/{day}.md").unlink()
    garden.sync(confirm=True)
    assert places(garden).index("Lamp.md") < places(garden).index("Coil.md")
    found = places(garden, without="days/1.md")
    assert "days/1.md" not in found
    assert found.index("Coil.md") < found.index("Lamp.md")


def test_of_notes_with_one_name_the_one_with_the_shortest_path_is_meant(garden: Bench, vault: Vault) -> None:
    vault.write("old/archive/Lamp.md", "# Lamp\n\nThe greenhouse device for frost, bought in autumn.\n")
    garden.sync()
    found = places(garden)
    assert found.index("Lamp.md") < found.index("old/archive/Lamp.md")


def test_a_long_list_of_links_points_at_nothing(garden: Bench, vault: Vault) -> None:
    names = " ".join(f"[[Note {number}]]" for number in range(150))
    vault.write("Map.md", f"{ASKED}: {names} [[Coil]]\n")
    vault.write("Map 2.md", f"{ASKED}, again: {names} [[Coil]]\n")
    garden.sync()
    result = garden.search(SearchQuery(ASKED, k=20, unit="note", exact=False))
    assert "linked" not in {hit.path: hit.why for hit in result.hits}["Coil.md"]


def test_names_with_folders_headings_and_other_cases_are_followed(plain: Bench) -> None:
    vault = plain.vault
    vault.write("sub/Warm Lamp.md", "# Warm Lamp\n\nThe greenhouse device for frost, bought in autumn.\n")
    vault.write("Coil.md", "# Coil\n\nThe greenhouse device for frost, bought in autumn.\n")
    for day, link in enumerate(("[[sub/Warm Lamp]]", "[[warm lamp#Use|it]]", "[lamp](sub/Warm%20Lamp.md)")):
        vault.write(
            f"days/{day}.md", f"Tomatoes in the greenhouse, warm in the frost of late autumn: {link}\n"
        )
    plain.sync()
    result = plain.search(SearchQuery(ASKED, k=20, unit="note", exact=False))
    assert {hit.path: hit.why for hit in result.hits}["sub/Warm Lamp.md"]["linked"] > 0
