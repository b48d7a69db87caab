"""Requests to be reminded, in every language that is known."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from hindbrain.context.flush.reminders import find_reminders, is_only_reminder
from hindbrain.context.flush.rules import find_candidates
from hindbrain.context.messages import Message
from hindbrain.context.topic.reminder_words import REMINDERS
from hindbrain.context.topic.request_words import LANGUAGES

FRIDAY = date(2026, 5, 15)
SAID = tomllib.loads(Path(__file__).with_name("reminders.toml").read_text("utf-8"))


@pytest.mark.parametrize("asked", SAID["asked"], ids=lambda asked: str(asked["say"]))
def test_a_request_is_a_task_with_its_day_and_no_memory(asked: dict[str, str]) -> None:
    said = [Message("user", asked["say"])]
    (reminder,) = find_reminders(said, today=FRIDAY)
    assert (reminder.title, reminder.due) == (asked["title"], asked.get("due", ""))
    assert find_candidates(said, today=FRIDAY) == []
    assert is_only_reminder(asked["say"])


@pytest.mark.parametrize("other", SAID["other"], ids=lambda other: str(other["say"]))
def test_what_asks_for_something_else_is_no_task(other: dict[str, str]) -> None:
    assert find_reminders([Message("user", other["say"])], today=FRIDAY) == []
    assert not is_only_reminder(other["say"])


def test_every_language_of_remember_requests_has_a_row() -> None:
    assert [words.language for words in REMINDERS] == [words.language for words in LANGUAGES]


def test_only_a_person_asks_and_what_they_take_back_is_dropped() -> None:
    said = [
        Message("assistant", "Remind me to call Ada."),
        Message("tool", "Remind me to call Ada.", tool="read_file"),
        Message("user", "Remind me to call Bob. Forget that."),
    ]
    assert find_reminders(said, today=FRIDAY) == []


def test_a_prompt_that_asks_for_more_is_a_command() -> None:
    assert not is_only_reminder("Remind me to call Bob tomorrow. Then fix the failing test in store.py.")
    assert not is_only_reminder("Fix the failing test.")
