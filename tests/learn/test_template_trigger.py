"""Triggers are safe, fire on their own commands, and never raise."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.learn.templates.trigger import LONGEST, fires, trigger_of, trigger_problem

MAILS = ["send an email to bob", "please compose an email for ann", "write that email now"]
OTHERS = ["open the browser", "send a parcel", "write a poem", "compose a song", "read my email"]


def test_it_fires_on_its_own_commands_and_on_no_other() -> None:
    trigger = trigger_of(MAILS, OTHERS)
    assert all(fires(trigger, command) for command in MAILS)
    assert not any(fires(trigger, command) for command in OTHERS)


def test_commands_that_no_words_tell_apart_have_no_trigger() -> None:
    assert trigger_of(["do it", "please do it now"], OTHERS) == ""
    assert trigger_of(["send it", "send this"], ["send that", "send them", "send all", "send more"]) == ""


@pytest.mark.parametrize("trigger", ["", "(a", "a(?=b)", r"(a)\1", "[", "x" * (LONGEST + 1), "a{1001}"])
def test_what_re2_does_not_take_never_fires(trigger: str) -> None:
    assert not fires(trigger, "aab")
    assert bool(trigger) == bool(trigger_problem(trigger))


def test_a_trigger_that_fits_everything_is_a_problem() -> None:
    assert trigger_problem(".*")
    assert not trigger_problem("send.*email|compose.*email|write.*email")


def test_the_words_of_a_person_and_of_any_script_fit() -> None:
    assert fires("send.*email", "Please SEND Bob an Email")
    trigger = trigger_of(["écrire une note", "écrire la note"], ["ouvrir le navigateur"])
    assert fires(trigger, "Écrire ma note")


def test_a_pattern_that_would_take_forever_elsewhere_is_quick() -> None:
    assert not fires("(a+)+$", "a" * 1_990 + "!")


@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5), st.lists(st.text(max_size=40)))
@settings(max_examples=200)
def test_whatever_the_commands_are_a_trigger_fires_on_all_of_them_or_there_is_none(
    commands: list[str], others: list[str]
) -> None:
    trigger = trigger_of(commands, others)
    assert not trigger_problem(trigger)
    assert not trigger or all(fires(trigger, command) for command in commands)
