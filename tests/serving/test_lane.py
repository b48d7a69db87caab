"""The one thread that owns the memory: order, bounds, cancellation, and the quiet moments."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from hindbrain.base.errors import Busy, NotFound
from hindbrain.edge.serving.lane import Lane, Upkeep


class Held:
    """What the lane of a test holds."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.tidied = threading.Event()
        self.threads: set[int] = set()

    def upkeep(self, **changed: Callable[..., Any]) -> Upkeep:
        def idle(_: Held, __: float) -> None:
            self.log.append("tidied")
            self.tidied.set()

        plain = Upkeep(
            open=lambda: self,
            idle=idle,
            close=lambda _: self.log.append("closed"),
            failed=lambda _, error: self.log.append(f"failed {error}"),
        )
        return plain._replace(**changed)


def _noting(name: str) -> Callable[[Held], str]:
    def work(held: Held) -> str:
        held.threads.add(threading.get_ident())
        held.log.append(name)
        return name

    return work


def test_work_is_done_in_order_by_one_thread_and_its_result_comes_back() -> None:
    held = Held()
    lane: Lane[Held] = Lane(held.upkeep(), soon_s=60)

    async def ask() -> list[str]:
        return list(await asyncio.gather(*(lane.run(_noting(f"{n}")) for n in range(20))))

    assert asyncio.run(ask()) == [f"{n}" for n in range(20)]
    assert lane.close()
    assert held.log == [*(f"{n}" for n in range(20)), "tidied", "closed"]
    assert len(held.threads) == 1
    assert threading.get_ident() not in held.threads


def test_an_error_belongs_to_its_caller_and_the_next_call_is_served() -> None:
    lane: Lane[Held] = Lane(Held().upkeep(), soon_s=60)

    def fail(_: Held) -> None:
        raise NotFound("no such note")

    with pytest.raises(NotFound):
        lane.submit(fail).result(10)
    assert lane.submit(_noting("after")).result(10) == "after"
    lane.close()


def test_a_failure_to_open_is_told_to_the_caller_and_tried_again() -> None:
    held, tries = Held(), iter((OSError("not mounted"), None))

    def opening() -> Held:
        if error := next(tries):
            raise error
        return held

    lane: Lane[Held] = Lane(held.upkeep(open=opening), soon_s=60)
    with pytest.raises(OSError, match="not mounted"):
        lane.submit(_noting("first")).result(10)
    assert lane.submit(_noting("second")).result(10) == "second"
    lane.close()
    assert "first" not in held.log


def test_work_of_a_caller_that_left_is_skipped_unless_it_has_begun() -> None:
    held, begun, go_on = Held(), threading.Event(), threading.Event()
    lane: Lane[Held] = Lane(held.upkeep(), soon_s=60)

    def slow(of: Held) -> None:
        begun.set()
        assert go_on.wait(10)
        of.log.append("written whole")

    async def leave() -> None:
        running = asyncio.ensure_future(lane.run(slow))
        waiting = asyncio.ensure_future(lane.run(_noting("never wanted")))
        await asyncio.to_thread(begun.wait, 10)
        running.cancel()
        waiting.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        go_on.set()

    asyncio.run(leave())
    assert lane.submit(_noting("next")).result(10) == "next"
    lane.close()
    assert held.log[:2] == ["written whole", "next"]


def test_too_many_calls_get_busy_and_those_accepted_are_done() -> None:
    held, go_on = Held(), threading.Event()
    lane: Lane[Held] = Lane(held.upkeep(), capacity=3, soon_s=60)
    begun = threading.Event()
    first = lane.submit(lambda _: (begun.set(), go_on.wait(10)))  # type: ignore[func-returns-value]
    assert begun.wait(10)
    waiting = [lane.submit(_noting(f"{n}")) for n in range(3)]
    with pytest.raises(Busy):
        lane.submit(_noting("too many"))
    go_on.set()
    assert [future.result(10) for future in waiting] == ["0", "1", "2"]
    first.result(10)
    lane.close()


def test_what_can_wait_is_done_in_a_quiet_moment_and_its_failure_is_told() -> None:
    held = Held()

    def fail(of: Held, _: float) -> None:
        of.tidied.set()
        raise OSError("disk full")

    lane: Lane[Held] = Lane(held.upkeep(idle=fail), soon_s=0.01, now_and_then_s=60)
    lane.submit(_noting("a call")).result(10)
    assert held.tidied.wait(10)
    assert lane.submit(_noting("another")).result(10) == "another"
    lane.close()
    assert "failed disk full" in held.log
    assert held.log[-1] == "closed"


def test_closing_does_what_was_accepted_and_takes_nothing_new() -> None:
    held, go_on = Held(), threading.Event()
    lane: Lane[Held] = Lane(held.upkeep(), soon_s=60)
    lane.submit(lambda _: go_on.wait(10))
    last = lane.submit(_noting("last"))
    ending = threading.Thread(target=lane.close)
    ending.start()
    while not lane._closing.is_set():
        pass
    with pytest.raises(Busy):
        lane.submit(_noting("late"))
    go_on.set()
    ending.join(10)
    assert last.result(0) == "last"
    assert held.log[-1] == "closed"


def test_a_lane_that_was_never_used_opens_nothing() -> None:
    held = Held()
    lane: Lane[Held] = Lane(held.upkeep())
    assert lane.close()
    assert held.log == []


def test_long_work_is_done_in_pieces_and_a_call_comes_in_between() -> None:
    held = Held()
    lane: Any = None
    called = threading.Event()

    def idle(of: Held, _: float) -> bool:
        of.log.append("piece")
        if of.log.count("piece") == 3:
            assert lane is not None
            lane.submit(_noting("a call")).add_done_callback(lambda _: called.set())
        return not called.is_set() or of.log.count("piece") < 6

    lane = Lane(held.upkeep(idle=idle), soon_s=0.01, now_and_then_s=60)
    lane.submit(_noting("first")).result(10)
    assert called.wait(10)
    lane.close()
    assert held.log[:5] == ["first", "piece", "piece", "piece", "a call"]


def test_a_lane_without_a_loop_needs_no_asyncio() -> None:
    program = "import sys, hindbrain.edge.serving.serving; print('asyncio' in sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, encoding="utf-8"
    )
    assert ran.stdout == "False\n"
