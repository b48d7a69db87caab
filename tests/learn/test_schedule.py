"""When consolidation is due."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from hindbrain.base.errors import ConfigError
from hindbrain.learn.consolidation.schedule import EVERY_S, check_cron, is_due

NIGHTLY = "0 2 * * *"


def local(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_what_was_never_done_is_due() -> None:
    assert is_due("", last=0.0, now=local("2026-05-15 12:00"))


def test_it_is_due_again_after_four_hours() -> None:
    last = local("2026-05-15 12:00")
    assert not is_due("", last=last, now=last + EVERY_S - 1)
    assert is_due("", last=last, now=last + EVERY_S)


def test_a_cron_expression_makes_it_due_in_between_at_local_time() -> None:
    last = local("2026-05-15 00:30")
    assert not is_due(NIGHTLY, last=last, now=local("2026-05-15 01:59"))
    assert is_due(NIGHTLY, last=last, now=local("2026-05-15 02:00"))
    assert not is_due(NIGHTLY, last=local("2026-05-15 02:00"), now=local("2026-05-15 02:01"))


@pytest.fixture
def stockholm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    if not hasattr(time, "tzset"):
        pytest.skip("this system has one time zone at a time")
    monkeypatch.setenv("TZ", "Europe/Stockholm")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_hour_of_a_schedule_is_the_owners(stockholm: None) -> None:
    two_at_night = 1_778_803_200.0  # 2026-05-15 02:00 in Stockholm, midnight in London
    assert is_due(NIGHTLY, last=two_at_night - 3600, now=two_at_night)
    assert not is_due(NIGHTLY, last=two_at_night - 3600, now=two_at_night - 60)


def test_a_start_makes_it_due_but_not_a_burst_of_starts() -> None:
    last = local("2026-05-15 12:00")
    assert is_due("", last=last, now=last + 1800, starting=True)
    assert not is_due("", last=last, now=last + 60, starting=True)


def test_a_clock_that_was_set_back_stops_nothing() -> None:
    assert is_due("", last=local("2030-01-01 00:00"), now=local("2026-05-15 12:00"))


@pytest.mark.parametrize("wrong", ["nightly", "0 25 * * *", "* * *", "0 2 30 2 *", "61 * * * *"])
def test_a_schedule_that_makes_no_sense_is_refused_early(wrong: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_cron(wrong)
    assert repr(wrong) in str(refused.value)
    with pytest.raises(ConfigError):
        is_due(wrong, last=1.0, now=2.0)


def test_no_schedule_is_none() -> None:
    assert not check_cron("")
    assert check_cron(NIGHTLY)
