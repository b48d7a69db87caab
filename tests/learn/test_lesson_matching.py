"""A lesson is found for a command that asks for the same, and for no other."""

from __future__ import annotations

import pytest
from lesson_runs import in_order, missed, run, worked

from hindbrain.learn.lessons.finding import find_lessons
from hindbrain.learn.lessons.lesson import Lesson
from hindbrain.learn.lessons.matching import LEAST, SURE, match_lessons

MAIL = [run(n, f"send {who} a mail about lunch", "failed", reason="no network", app="Mail")
        for n, who in enumerate(("Anna", "Bo", "Eve"), 20)]  # fmt: skip
LESSONS = find_lessons(in_order(missed(0, 2, 4), worked(1, 3, 5), MAIL), None)
BROWSE, SEND = LESSONS
TYPED = Lesson("l-own", "Never push to main without asking", (), confidence=1.0, source="user")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("open lwn.net in Chrome", [BROWSE]),
        ("please open https://news.example/today in Chrome", [BROWSE]),
        ("send Carl a mail about the budget", [SEND]),
        ("water the plants", []),
        ("open the garage", []),
        ("", []),
    ],
)
def test_what_does_not_fit_is_not_returned(command: str, found: list[Lesson]) -> None:
    assert [lesson for lesson, _ in match_lessons(command, LESSONS, None)] == found


def test_scores_lie_between_the_threshold_and_one() -> None:
    ((_, score),) = match_lessons("open github.com in Chrome", LESSONS, None)
    assert LEAST <= score <= 1


def test_another_application_is_another_matter() -> None:
    assert match_lessons("open lwn.net in Chrome", LESSONS, None, app="Safari") == []
    assert match_lessons("open lwn.net in Chrome", LESSONS, None, app="chrome") != []


def test_a_command_that_is_half_alike_fits_when_it_shares_two_words() -> None:
    note = Lesson("l-note", "press return", ("write a note titled {text} saying {text}",), confidence=0.8)
    command = "write a short note about warm jumpers for the trip"
    ((lesson, score),) = match_lessons(command, [*LESSONS, note], None)
    assert lesson.id == "l-note" and LEAST <= score < SURE


def test_a_short_command_fits_by_all_the_words_that_its_lesson_has() -> None:
    play = Lesson("l-play", "press return twice", ("play {text}", "put on {text}"), confidence=0.8)
    assert [lesson.id for lesson, _ in match_lessons("play Heroes", [*LESSONS, play], None)] == ["l-play"]
    long = "play soft slow second movement Moonlight sonata quietly tonight"
    assert [lesson.id for lesson, _ in match_lessons(long, [*LESSONS, play], None)] == ["l-play"]
    assert match_lessons("close the garage", [*LESSONS, play], None) == []


def test_retired_lessons_are_told_to_nobody() -> None:
    retired = [lesson._replace(state="retired") for lesson in LESSONS]
    assert match_lessons("open lwn.net in Chrome", retired, None) == []


def test_a_lesson_that_a_person_typed_fits_by_its_words() -> None:
    found = match_lessons("push my branch to main", [*LESSONS, TYPED], None)
    assert [lesson.id for lesson, _ in found] == ["l-own"]
    assert match_lessons("push the door", [*LESSONS, TYPED], None) == []


def test_at_most_so_many_are_returned() -> None:
    many = [BROWSE._replace(id=f"l-{n}", confidence=n / 10) for n in range(6)]
    found = match_lessons("open lwn.net in Chrome", many, None, most=2)
    assert [lesson.id for lesson, _ in found] == ["l-5", "l-4"]  # the more trusted first
