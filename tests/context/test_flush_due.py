"""When a conversation is flushed."""

import pytest

from hindbrain.context.flush.due import flush_point, is_due


@pytest.mark.parametrize(("tokens", "due"), [(175_999, False), (176_000, True), (200_000, True), (0, False)])
def test_a_window_is_due_shortly_before_its_reserve_is_touched(tokens: int, due: bool) -> None:
    assert is_due(tokens, 200_000, flushed=False) is due


def test_a_cycle_is_flushed_once() -> None:
    assert not is_due(190_000, 200_000, flushed=True)


def test_a_small_window_may_fill_by_half_before_it_is_due() -> None:
    assert flush_point(16_000) == 8_000
    assert not is_due(100, 16_000, flushed=False)
    assert flush_point(48_000) == 24_000  # from here on the reserve decides
    assert flush_point(128_000) == 104_000


def test_an_unknown_window_is_never_due() -> None:
    assert not is_due(1_000_000, 0, flushed=False)
