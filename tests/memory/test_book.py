"""The book knows every memory that the notes hold now."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import pytest

from hindbrain.app import App
from hindbrain.base.errors import NotFound
from hindbrain.memory.items.book import MemoryBook
from workbench import Vault


@pytest.fixture
def book(vault: Vault, make_app: Callable[..., App]) -> MemoryBook:
    vault.write(
        "Agent/Memory/preference.md", "# Memory: preference\n\n- Likes tea ^m-1\n- Likes dark mode ^m-2\n"
    )
    vault.write(
        "Agent/Memory/odd.md", "## Important Decisions\n\n- Chose SQLite ^m-3\n\n## Else\n\n- Loose\n"
    )
    vault.write("Elsewhere.md", "- not a memory ^m-9\n")
    return make_app(vault.root).memory.book


def test_all_memory_notes_are_read_and_no_other_one(book: MemoryBook) -> None:
    assert [(item.text, item.category) for item in book.items()] == [
        ("Chose SQLite", "decision"),
        ("Loose", "fact"),
        ("Likes tea", "preference"),
        ("Likes dark mode", "preference"),
    ]


def test_a_memory_is_found_by_its_id_or_its_citation(book: MemoryBook) -> None:
    for name in ("m-2", "^m-2", "[[Agent/Memory/preference#^m-2]]", " m-2 "):
        assert book.find(name).text == "Likes dark mode"
    assert book.find("m-2").citation == "[[Agent/Memory/preference#^m-2]]"


@pytest.mark.parametrize("name", ["m-77", "", "^", "m-9"])
def test_an_id_that_is_not_there_is_an_error(book: MemoryBook, name: str) -> None:
    with pytest.raises(NotFound):
        book.find(name)


def test_what_somebody_writes_meanwhile_is_seen(book: MemoryBook, vault: Vault) -> None:
    assert len(book.items()) == 4
    before = book.version
    assert book.items() and book.version == before
    vault.edit("Agent/Memory/preference.md", "Likes tea", "Hates tea")
    vault.write("Agent/Memory/issue.md", "* The lift is broken\n")
    vault.remove("Agent/Memory/odd.md")
    assert [item.text for item in book.items()] == ["The lift is broken", "Hates tea", "Likes dark mode"]
    assert book.version > before


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_note_without_rights_hides_no_other(book: MemoryBook, vault: Vault) -> None:
    (vault.root / "Agent/Memory/odd.md").chmod(0)
    assert [item.id for item in book.items()] == ["m-1", "m-2"]
    assert [problem.path for problem in book.problems] == ["Agent/Memory/odd.md"]


def test_a_note_that_can_t_be_read_hides_no_other(book: MemoryBook, vault: Vault) -> None:
    vault.write("Agent/Memory/odd.md", "- Tea\n".encode("utf-16"))
    assert [item.id for item in book.items()] == ["m-1", "m-2"]
    assert [problem.path for problem in book.problems] == ["Agent/Memory/odd.md"]


def test_an_empty_note_holds_nothing_and_is_no_problem(book: MemoryBook, vault: Vault) -> None:
    vault.write("Agent/Memory/odd.md", b"")
    assert [item.id for item in book.items()] == ["m-1", "m-2"]
    assert book.problems == ()


def test_bytes_that_are_not_utf8_cost_their_line_at_most(book: MemoryBook, vault: Vault) -> None:
    vault.write("Agent/Memory/odd.md", b"- caf\xe9 ^m-4\r\n- Loose\r\n")
    assert [item.id for item in book.items()] == ["m-4", "", "m-1", "m-2"]


def test_the_nearest_memories_share_the_rarest_words(book: MemoryBook, vault: Vault) -> None:
    vault.write("Agent/Memory/fact.md", "".join(f"- The user likes thing {n} ^m-f{n}\n" for n in range(30)))
    assert book.candidates("Does the user like SQLite?", 3)[0].text == "Chose SQLite"
    assert book.candidates("user likes thing 17", 1)[0].id == "m-f17"
    assert book.candidates("xyzzy") == []


def test_texts_without_spaces_are_compared_by_pairs_of_characters(book: MemoryBook, vault: Vault) -> None:
    vault.write("Agent/Memory/fact.md", "- 她住在东京 ^m-4\n- 他喜欢喝茶 ^m-5\n")
    assert book.candidates("谁住在东京？", 1)[0].id == "m-4"
