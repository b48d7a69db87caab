"""Single signals and the confidence that is made of them."""

from datetime import date

import pytest

from hindbrain.index.store import NoteInfo
from hindbrain.search.dates import DateWindow
from hindbrain.search.profiles import Candidate
from hindbrain.search.signals import confidence, in_windows, is_first_person, overlap_of, speaks

TODAY = date(2026, 9, 1)


def note(day: str) -> NoteInfo:
    return NoteInfo(1, "a.md", "a", "a", "", "", "", "", day, None, 0, 1, 1)


def window(start: str, end: str, *, exact: bool = True) -> DateWindow:
    return DateWindow(date.fromisoformat(start), date.fromisoformat(end), "in May", (0, 6), exact)


def test_a_date_inside_an_exact_window_counts_wholly_and_in_a_guessed_one_half() -> None:
    assert in_windows(note("2026-05-01"), [window("2026-05-01", "2026-06-01")], TODAY) == 1.0
    assert in_windows(note("2026-05-01"), [window("2026-05-01", "2026-06-01", exact=False)], TODAY) == 0.5


def test_a_date_fades_in_the_two_weeks_after_its_window_and_not_before_it() -> None:
    may = [window("2026-05-01", "2026-06-01")]
    days = ("2026-05-31", "2026-06-01", "2026-06-07", "2026-06-13", "2026-06-14", "2026-04-30")
    found = [in_windows(note(day), may, TODAY) for day in days]
    assert found == [1.0, *(pytest.approx(1 - after / 14) for after in (1, 7, 13)), 0.0, 0.0]
    guessed = [window("2026-05-01", "2026-06-01", exact=False)]
    assert in_windows(note("2026-06-07"), guessed, TODAY) == pytest.approx(0.25)


def test_who_asks_about_yesterday_means_that_day_alone() -> None:
    yesterday = [window("2026-08-31", "2026-09-01")]
    found = [in_windows(note(day), yesterday, TODAY) for day in ("2026-08-30", "2026-08-31", "2026-09-01")]
    assert found == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("**Anna:** I sold the boat.", True),
        ("**Anna Berg**: I sold the boat.", True),
        ("- Anna: I sold the boat.", True),
        ("**Ben:** Anna sold the boat.", False),
        ("Anna sold the boat: a bargain.", False),
        ("anna: a name", False),
    ],
)
def test_a_turn_is_its_speakers(text: str, named: bool) -> None:
    assert speaks(text, ("anna", "boat")) is named


def test_who_speaks_of_themselves_is_heard() -> None:
    assert is_first_person("I sold it") and is_first_person("was it my boat?")
    assert not is_first_person("The Roman numeral for one is i; mystic, me-too")


def test_a_note_without_a_date_and_a_query_without_a_window_count_nothing() -> None:
    assert in_windows(note(""), [window("2026-05-01", "2026-06-01")], TODAY) == 0.0
    assert in_windows(note("2026-05-01"), [], TODAY) == 0.0


def test_overlap_is_jaccard_with_a_bonus_for_the_whole_phrase() -> None:
    assert overlap_of("solar panels", "panels for the roof") == pytest.approx(1 / 5)
    assert overlap_of("solar panels", "cheap Solar Panels") == pytest.approx(2 / 3 + 0.2)
    assert overlap_of("solar panels", "solar panels") == 1.0
    assert overlap_of("  ", "solar panels") == 0.0


def test_confidence_lies_between_0_and_1_and_grows_with_what_is_shared() -> None:
    nothing = confidence(Candidate(1, 1), 0.0)
    words = confidence(Candidate(1, 1), 1.0)
    both = confidence(Candidate(1, 1, semantic=0.9), 1.0)
    assert 0 < nothing < words < both < 1
