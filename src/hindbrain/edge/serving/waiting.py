"""Waits for an answer from a vault's lane for as long as whoever asked does.

What nobody waits for any more is not begun. What was begun and comes too late is handed to whoever can take
back what it says was told.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from hindbrain.base.errors import Busy

T = TypeVar("T")
R = TypeVar("R")


def wait_for(
    submit: Callable[[Callable[[T], R]], Future[R]],
    work: Callable[[T], R],
    *,
    patience_s: float,
    has_gone: Callable[[], bool],
    too_late: Callable[[R], None] | None = None,
) -> R:
    """Raises TimeoutError when the time is up, Busy when too much waits or nobody is there any more."""

    def wanted(opened: T) -> R:
        if has_gone():
            raise Busy("whoever asked has gone")
        return work(opened)

    def tell(done: Future[R]) -> None:
        if too_late is not None and not done.cancelled() and done.exception() is None:
            too_late(done.result())

    future = submit(wanted)
    try:
        return future.result(patience_s)
    except TimeoutError:
        if not future.cancel():  # it has begun, and will be done for nobody
            future.add_done_callback(tell)
        raise
