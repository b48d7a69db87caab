"""What an agent's last words come to, in one line."""

from __future__ import annotations

import pytest

from hindbrain.learn.runs.gist import gist, last_telling


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("LH 123, 240 EUR", "LH 123, 240 EUR"),
        ("Sure! The cheapest flight is **LH 123** for 240 EUR.\n\nLet me know if I should book it!",
         "The cheapest flight is LH 123 for 240 EUR."),
        ("## Result\n\n- **web-03** runs 5.15\n- db-02, too\n", "web-03 runs 5.15 db-02, too"),
        ("```\nTraceback ...\n```\nThe date is parsed as UTC now.", "The date is parsed as UTC now."),
        ("| host | kernel |\n|---|---|\n| web-03 | 5.15 |", "host, kernel web-03, 5.15"),
        ("Das Museum öffnet um 10 Uhr. Eintritt: 14 EUR.", "Das Museum öffnet um 10 Uhr. Eintritt: 14 EUR."),
        ("最便宜的航班是 LH 123。", "最便宜的航班是 LH 123。"),
        ("Done.", ""),
        ("You're welcome! Have a great day!", ""),
        ("", ""),
        ("```\nnever closed", ""),
    ],
)  # fmt: skip
def test_only_what_tells_something_is_left(answer: str, told: str) -> None:
    assert gist(answer, 300) == told


def test_without_room_for_all_names_and_numbers_go_first() -> None:
    answer = "I looked at several offers in some detail. Meier asks for 18,400 EUR. That seems fair to me."
    assert gist(answer, 60) == "Meier asks for 18,400 EUR. That seems fair to me."
    assert gist(answer, 30) == "Meier asks for 18,400 EUR."


def test_one_long_sentence_is_cut_between_words() -> None:
    told = gist("The report " + "goes on and on " * 100, 80)
    assert len(told) <= 80 and told.endswith("…") and not told.removesuffix("…").endswith(" ")


def test_the_last_message_that_tells_something_is_the_answer() -> None:
    assert last_telling(["It costs 12 EUR.", "You're welcome! Anything else?"]) == "It costs 12 EUR."
    assert last_telling(["Done.", "Thanks!"]) == ""
    assert last_telling([]) == ""


@pytest.mark.parametrize("size", [1_000, 100_000])
def test_hostile_answers_are_read_in_time_that_grows_with_their_length(size: int) -> None:
    for piece in ("*", "`", "| ", "# ", "- ", "a. ", "```\n", ">", "_a_ ", "\n"):
        assert len(gist(piece * size, 200)) <= 200


def test_a_long_word_takes_no_long_time() -> None:
    # Backtracking took minutes for this; without it the test is over at once.
    assert gist("a" * 200_000, 100) == "a" * 99 + "…"
