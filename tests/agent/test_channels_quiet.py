"""Quiet hours, in the local time of whoever is to sleep."""

from __future__ import annotations

import time
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.agent.channels.quiet import QuietHours, read_quiet_hours
from hindbrain.base.errors import ConfigError


def local(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


@pytest.mark.parametrize(
    ("span", "now", "ends"),
    [
        ("22:00-07:00", "2026-05-15 21:59:59", ""),
        ("22:00-07:00", "2026-05-15 22:00", "2026-05-16 07:00"),
        ("22:00-07:00", "2026-05-16 00:00", "2026-05-16 07:00"),
        ("22:00-07:00", "2026-05-16 06:59:59", "2026-05-16 07:00"),
        ("22:00-07:00", "2026-05-16 07:00", ""),
        ("9:30 - 17:00", "2026-05-15 09:29", ""),
        ("9:30 - 17:00", "2026-05-15 12:00", "2026-05-15 17:00"),
        ("9:30 - 17:00", "2026-05-15 17:00", ""),
        ("22:00-24:00", "2026-05-15 23:00", "2026-05-16 00:00"),
        ("22:00-24:00", "2026-05-16 00:00", ""),
        ("22:00-07:00", "2026-12-31 23:00", "2027-01-01 07:00"),
    ],
)
def test_it_is_quiet_from_one_time_to_the_other(span: str, now: str, ends: str) -> None:
    assert read_quiet_hours(span).ends_at(local(now)) == (local(ends) if ends else 0.0)


@given(st.integers(0, 1439), st.integers(0, 1439), st.floats(1_700_000_000, 1_900_000_000, allow_nan=False))
def test_once_it_has_ended_it_is_not_quiet(start: int, end: int, now: float) -> None:
    if start == end:
        return
    ends_at = QuietHours(start, end).ends_at(now)
    if ends_at:
        assert now <= ends_at <= now + 25 * 3_600
        assert QuietHours(start, end).ends_at(ends_at + 0.001) == 0.0


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system keeps one time zone for a process")
@pytest.mark.parametrize("night", ["2026-03-28 23:00", "2026-10-24 23:00"])
def test_a_night_in_which_clocks_change_ends_in_the_morning(
    monkeypatch: pytest.MonkeyPatch, night: str
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("TZ", "Europe/Stockholm")
        time.tzset()
        ends_at = read_quiet_hours("22:00-07:00").ends_at(local(night))
        assert f"{datetime.fromtimestamp(ends_at):%H:%M}" == "07:00"
        assert ends_at - local(night) in (7 * 3_600, 9 * 3_600)
    time.tzset()


@pytest.mark.parametrize(
    "text", ["", "22-07", "22:00", "25:00-07:00", "22:60-07:00", "22:00-22:00", "24:00-07:00", "at night"]
)
def test_what_is_no_span_of_the_day_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        read_quiet_hours(text)
