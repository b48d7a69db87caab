"""One thread that owns what is single-threaded: work is handed to it, done in order, and awaited.

Knows nothing of vaults or protocols. A caller that goes away costs nothing: work that has not begun is left
out, work that has begun is done to its end, so that no write is left half made.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar

from hindbrain.base.errors import Busy

T = TypeVar("T")
R = TypeVar("R")

_CAPACITY = 256  # calls that wait; more than that is a caller that never reads its answers
_SOON_S = 0.3  # after the last call, before what can wait is done
_NOW_AND_THEN_S = 5.0
_NEXT_PIECE_S = 0.001  # long work is done in pieces, with a look at who waits between them


class Upkeep(NamedTuple):
    """How the thing is opened, kept in order between calls, and closed; all on the lane's thread."""

    open: Callable[[], Any]
    # With the seconds since the last call; at the end, infinity. True: there is more to do in a moment.
    idle: Callable[[Any, float], bool | None]
    close: Callable[[Any], None]
    failed: Callable[[str, Exception], None]  # what was being done, and why it was not


class Lane(Generic[T]):
    """Holds one `T`. It is opened at the first call; a failure to open is that call's, and is tried again."""

    def __init__(
        self, upkeep: Upkeep, *, capacity: int = _CAPACITY, soon_s: float = _SOON_S,
        now_and_then_s: float = _NOW_AND_THEN_S,
    ) -> None:  # fmt: skip
        self._upkeep = upkeep
        self._soon_s = soon_s
        self._now_and_then_s = now_and_then_s
        self._waiting: queue.Queue[tuple[Future[Any], Callable[[T], Any]] | None] = queue.Queue(capacity)
        self._closing = threading.Event()
        self._held: T | None = None
        self._thread = threading.Thread(target=self._work, name="hindbrain-lane", daemon=True)
        self._started = False

    def submit(self, work: Callable[[T], R]) -> Future[R]:
        """Raises Busy when too much waits already, or when the lane is closing."""
        if self._closing.is_set():
            raise Busy("the server is ending; start it again")
        if not self._started:
            self._started = True
            self._thread.start()
        future: Future[R] = Future()
        try:
            self._waiting.put_nowait((future, work))
        except queue.Full:
            raise Busy(f"{self._waiting.maxsize} calls are waiting already; try again in a moment") from None
        return future

    async def run(self, work: Callable[[T], R]) -> R:
        """Do `work` on the lane's thread and wait for it without blocking the loop."""
        import asyncio  # only servers with a loop of their own have it

        return await asyncio.wrap_future(self.submit(work))

    def close(self, timeout_s: float = 20.0) -> bool:
        """Do what has been accepted, put everything in order, and end. False when that took too long."""
        self._closing.set()
        if not self._started:
            return True
        with suppress(queue.Full):  # full: the thread looks at `_closing` after each call anyway
            self._waiting.put_nowait(None)
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        wait_s, quiet_s = self._soon_s, 0.0
        while True:
            try:
                item = self._waiting.get(timeout=wait_s)
            except queue.Empty:
                if self._closing.is_set():
                    break
                quiet_s += wait_s
                wait_s = _NEXT_PIECE_S if self._tidy(quiet_s) else self._now_and_then_s
                continue
            wait_s, quiet_s = self._soon_s, 0.0
            if item is not None:
                self._do(*item)
            if self._closing.is_set() and self._waiting.empty():
                break
        self._end()

    def _do(self, future: Future[Any], work: Callable[[T], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            if self._held is None:
                self._held = self._upkeep.open()
            result = work(self._held)
        except BaseException as error:  # noqa: BLE001  it belongs to whoever waits for the result
            future.set_exception(error)
        else:
            future.set_result(result)

    def _tidy(self, quiet_s: float) -> bool:
        if self._held is None:
            return False
        try:
            return bool(self._upkeep.idle(self._held, quiet_s))
        except Exception as error:  # noqa: BLE001  told, and tried again at the next quiet moment
            self._upkeep.failed("looking after the memory between calls", error)
            return False

    def _end(self) -> None:
        if self._held is None:
            return
        self._tidy(math.inf)
        try:
            self._upkeep.close(self._held)
        except Exception as error:  # noqa: BLE001  told; nothing more can be done
            self._upkeep.failed("closing the vault", error)
