"""When a conversation is flushed."""

import pytest

from hindbrain.context.flush.due import COMPACTED, FLUSHED, FlushCycle, cycle_after, flush_point


@pytest.mark.parametrize(("tokens", "due"), [(175_999, False), (176_000, True), (200_000, True), (0, False)])
def test_a_window_is_due_shortly_before_its_reserve_is_touched(tokens: int, due: bool) -> None:
    assert FlushCycle().is_due(tokens, 200_000) is due


def test_a_cycle_is_flushed_once() -> None:
    cycle = FlushCycle()
    assert cycle.is_due(190_000, 200_000)
    assert not cycle.flush().is_due(190_000, 200_000)
    assert cycle.flush().reset().is_due(190_000, 200_000)


def test_a_small_window_may_fill_by_half_before_it_is_due() -> None:
    assert flush_point(16_000) == 8_000
    assert not FlushCycle().is_due(100, 16_000)
    assert flush_point(48_000) == 24_000  # from here on the reserve decides
    assert flush_point(128_000) == 104_000


def test_an_unknown_window_is_never_due() -> None:
    assert not FlushCycle().is_due(1_000_000, 0)


@pytest.mark.parametrize(
    ("events", "flushed"),
    [
        ([], False),
        ([FLUSHED], True),
        ([FLUSHED, COMPACTED], False),
        ([FLUSHED, COMPACTED, FLUSHED], True),
        ([COMPACTED, "injected", FLUSHED, "released"], True),
    ],
)
def test_the_cycle_follows_from_a_session_s_events(events: list[str], flushed: bool) -> None:
    assert cycle_after(events).flushed is flushed
