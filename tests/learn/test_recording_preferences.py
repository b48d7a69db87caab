"""Preferences that runs show: the same choice three times and mostly, told once, as a memory of low trust."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from recording_runs import Book, do, run

from hindbrain.app import App
from hindbrain.learn.recording.corrections import corrections
from hindbrain.learn.recording.preferences import find_preferences
from hindbrain.learn.runs.episode import Episode
from workbench import Vault


def opens(number: int, command: str, app: str, outcome: str = "success") -> Episode:
    return run(number, command, outcome, ago=9000 - 300 * number, actions=(do("open_application", app),))


def texts(*runs: Episode) -> list[str]:
    return [one.text for one in find_preferences(runs, corrections(runs))]


def test_an_application_that_is_used_for_a_kind_of_task() -> None:
    runs = [opens(n, f"open site{n}.com", "Chrome") for n in range(5)]
    safari = opens(6, "open b.com in Safari", "Safari")
    assert texts(*runs, safari) == ["Uses Chrome to open websites (5 of 6 runs)"]
    assert texts(*runs[:2], safari) == []


def test_where_nothing_else_was_opened_nobody_chose() -> None:
    assert texts(*(opens(n, f"open site{n}.com", "Chrome") for n in range(5))) == []


def test_three_quarters_are_needed() -> None:
    chrome = [opens(n, f"open site{n}.com", "Chrome") for n in range(3)]
    safari = [opens(n, f"open site{n}.com", "Safari") for n in (5, 6)]
    assert texts(*chrome, safari[0]) == ["Uses Chrome to open websites (3 of 4 runs)"]
    assert texts(*chrome, *safari) == []


def test_runs_that_failed_show_no_preference() -> None:
    assert texts(*(opens(n, f"open site{n}.com", "Chrome", "failed") for n in range(5))) == []


def test_runs_of_which_nobody_knows_the_end_show_no_preference() -> None:
    runs = [opens(n, f"open site{n}.com", "Chrome", "unknown") for n in range(5)]
    safari = opens(6, "open b.com in Safari", "Safari")
    assert texts(*runs, safari) == []


def test_a_correction_towards_an_application_is_enough() -> None:
    first = opens(1, "open site.com", "Safari", "cancelled")
    put_right = run(
        2, "open site.com in Chrome", started=first.ended + 20, actions=(do("open_application", "Chrome"),)
    )
    assert texts(first, put_right) == ["Prefers Chrome over Safari (put right on 2026-05-15)"]
    # It is the person's word, however the run then went.
    assert texts(first, put_right._replace(outcome="failed")) == texts(first, put_right)
    assert texts(first._replace(outcome="success"), put_right) == []


def test_a_correction_is_enough_where_nothing_else_was_opened() -> None:
    first = run(1, "open site.com", "cancelled", actions=(do("click", "the dock"),))
    put_right = run(
        2, "open site.com in Chrome", started=first.ended + 20, actions=(do("open_application", "Chrome"),)
    )
    assert texts(first, put_right) == [
        'Prefers Chrome for tasks like "open site.com" (put right on 2026-05-15)'
    ]


def test_two_kinds_of_task_are_no_choice_between_their_applications() -> None:
    def makes(number: int, what: str, named: str, app: str) -> Episode:
        actions = (do("open_application", app), do("type_text", named))
        return run(number, f"make a {what} {named}", ago=9000 - 300 * number, actions=actions)

    titles = ("Groceries", "Reading list", "Ideas", "Holiday plans", "Gift ideas", "Recipes")
    notes = [makes(n, "note", title, "Notes") for n, title in enumerate(titles)]
    files = [makes(6, "PDF of", "roadmap.pdf", "Preview"), makes(7, "PDF of", "thesis.docx", "Preview")]
    assert texts(*notes, *files) == []
    written = [makes(8 + n, "note", title, "TextEdit") for n, title in enumerate(titles[:2])]
    assert texts(*notes, *written) == ['Uses Notes for tasks like "make a note Ideas" (6 of 8 runs)']


def test_another_verb_is_another_kind() -> None:
    added = [opens(n, "add the yoga class to the team calendar", "Calendar") for n in range(4)]
    moved = [opens(5, "share the yoga class to the team calendar", "Mail")]
    assert texts(*added, *moved) == []


def test_names_in_the_command_make_no_kinds_of_their_own() -> None:
    people = ["Wei", "Ada", "Bob", "Eve"]
    runs = [
        run(n, f"answer the last mail of {name}", actions=(do("open_application", app), do("click", name)))
        for n, (name, app) in enumerate(zip(people, ("Outlook", "Mail", "Mail", "Mail"), strict=True))
    ]
    assert texts(*runs) == ['Uses Mail for tasks like "answer the last mail of Ada" (3 of 4 runs)']


def test_a_value_that_the_user_names_while_the_rest_varies() -> None:
    things = ["the report", "my notes", "the slides"]
    runs = [
        run(n, f"export {thing} as pdf", actions=(do("export", thing, format="pdf"),))
        for n, thing in enumerate(things)
    ]
    assert texts(*runs) == ['Chooses pdf as format for tasks like "export my notes as pdf" (3 of 3 runs)']
    same = [one._replace(command="export the report as pdf") for one in runs]
    assert texts(*same) == []


def test_an_address_is_no_preference() -> None:
    runs = [
        run(n, f"write {word} to ada@x.org", actions=(do("send", "ada@x.org"),))
        for n, word in enumerate(("hello", "thanks", "bye"))
    ]
    assert texts(*runs) == []


@pytest.fixture
def book(vault: Vault, make_app: Callable[..., App]) -> Book:
    return Book(vault, make_app(vault.root))


def test_it_is_remembered_once_with_little_trust(book: Book) -> None:
    runs = [opens(n, f"open site{n}.com", "Safari" if n == 0 else "Chrome") for n in range(8)]
    assert book.record(*runs[:4]).preferences == 1
    assert book.record(*runs).preferences == 0
    book.app.memory.settle(idle=True)
    (item,) = book.app.memory.book.items()
    assert item.text == "Uses Chrome to open websites (3 of 4 runs)"
    assert (item.category, item.source, item.importance) == ("preference", "tool", 0.6)


def test_one_that_was_deleted_is_not_learned_again(book: Book, vault: Vault) -> None:
    runs = [opens(n, f"open site{n}.com", "Safari" if n == 0 else "Chrome") for n in range(8)]
    book.record(*runs[:4])
    book.app.memory.settle(idle=True)
    (item,) = book.app.memory.book.items()
    vault.write(item.path, "# Memory\n")
    book.record(*runs)
    book.app.memory.settle(idle=True)
    assert book.app.memory.book.items() == []


@pytest.mark.promise("P12")
def test_one_that_its_owner_does_not_want_is_named_with_the_reason(book: Book) -> None:
    runs = [opens(n, f"open site{n}.com", "Safari" if n == 0 else "Chrome") for n in range(4)]
    text = "Uses Chrome to open websites (3 of 4 runs)"
    book.app.memory.forget(book.app.memory.remember(text, strategy="immediate").id)
    recorded = book.record(*runs)
    assert recorded.preferences == 0
    [(shown, why)] = recorded.not_stored
    assert shown == text and why
    assert book.record(*runs).not_stored == ()


def test_what_strangers_runs_show_waits_in_the_inbox(book: Book) -> None:
    runs = [opens(n, f"open site{n}.com", "Safari" if n == 0 else "Chrome") for n in range(4)]
    book.record(*(one._replace(source="import") for one in runs))
    book.app.memory.settle(idle=True)
    assert book.app.memory.book.items() == []
    assert "Uses Chrome to open websites" in book.text("inbox")


def test_what_was_usual_before_a_correction_does_not_count_against_it() -> None:
    usual = [run(at, "play Heroes", actions=(do("open_application", "Apple Music"),)) for at in range(1, 9)]
    first = run(9, "play Heroes", "cancelled", actions=(do("open_application", "Apple Music"),))
    put_right = run(
        10, "play Heroes with Spotify", started=first.ended + 20, actions=(do("open_application", "Spotify"),)
    )
    (text,) = texts(*usual, first, put_right)
    assert text.startswith("Prefers Spotify over Apple Music ")


def test_what_a_person_put_right_is_no_choice_of_theirs_elsewhere() -> None:
    usual = [
        run(at, f"hear song {at}", actions=(do("open_application", "Apple Music"),)) for at in range(1, 9)
    ]
    other = run(20, "hear song 20", actions=(do("open_application", "Spotify"),))
    first = run(30, "put on Heroes", "cancelled", actions=(do("open_application", "Apple Music"),))
    put_right = run(31, "put on Heroes with Spotify", "failed", started=first.ended + 20)
    assert texts(*usual, other, first, put_right) == [
        "Prefers Spotify over Apple Music (put right on 2026-05-15)"
    ]
