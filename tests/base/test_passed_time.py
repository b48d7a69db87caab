"""Nothing grows old by one look at a clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.clock import FakeClock
from hindbrain.base.passed_time import Looks, is_believed, look, passed_time

pytestmark = pytest.mark.promise("P9")
DAY_S = 86_400.0


def test_time_passes_for_those_who_look_every_day_or_once_a_week(tmp_path: Path) -> None:
    for step in (1.0, 6.9):
        clock, state = FakeClock(), tmp_path / str(step)
        state.mkdir()
        for _ in range(40):
            clock.advance(step * DAY_S)
            passed_time(state, clock)
        assert clock.now() - 8 * DAY_S < passed_time(state, clock) <= clock.now()


def test_a_long_pause_counts_from_the_second_day_on(tmp_path: Path) -> None:
    clock = FakeClock()
    for step in (0.0, 1.0):
        clock.advance(step * DAY_S)
        passed_time(tmp_path, clock)
    clock.advance(100 * DAY_S)
    assert passed_time(tmp_path, clock) < clock.now() - 90 * DAY_S
    assert not is_believed(tmp_path, clock)
    clock.advance(DAY_S)
    assert passed_time(tmp_path, clock) > clock.now() - 8 * DAY_S
    assert is_believed(tmp_path, clock)


def test_where_looks_can_not_be_kept_nothing_grows_old(tmp_path: Path) -> None:
    assert passed_time(tmp_path / "missing", FakeClock()) == 0.0


@given(
    st.lists(
        st.tuples(st.floats(0.0, 3 * DAY_S), st.floats(-400 * DAY_S, 400 * DAY_S) | st.just(0.0)), max_size=40
    )
)
def test_single_jumps_make_nothing_older_than_it_is(looks: list[tuple[float, float]]) -> None:
    """Between two looks at a clock that is right, one may be wrong by anything."""
    now, found = 1_700_000_000.0, Looks()
    for waited_s, wrong_by_s in looks:
        now += waited_s
        found = look(found, now)
        if wrong_by_s:
            found = look(found, now + wrong_by_s)
            assert found.passed <= now + 7 * DAY_S  # which is what `passed_time` takes off
            found = look(found, now)
        assert found.passed <= now
