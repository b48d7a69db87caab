"""Ctrl-C while a run goes on: the first one asks it to end and be recorded, the second ends the program."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType


class Interrupts:
    """`asked()` goes to whoever works. Of the main thread; elsewhere nothing is caught."""

    def __init__(self, told: Callable[[], None] = lambda: None) -> None:
        self._told = told
        self._event = threading.Event()
        self._person_is_asked = False

    def asked(self) -> bool:
        return self._event.is_set()

    def ask(self) -> None:
        self._event.set()

    def wait(self, seconds: float) -> bool:
        """Until that long has passed, or Ctrl-C."""
        return self._event.wait(seconds)

    @contextlib.contextmanager
    def caught(self) -> Iterator[Interrupts]:
        """While this lasts. A service manager's SIGTERM counts as the first Ctrl-C."""
        if threading.current_thread() is not threading.main_thread():
            yield self
            return
        before = {name: signal.getsignal(name) for name in (signal.SIGINT, signal.SIGTERM)}
        for name in before:
            signal.signal(name, self._interrupted)
        try:
            yield self
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)

    @contextlib.contextmanager
    def at_a_question(self) -> Iterator[None]:
        """While a person types: Python would go on reading after a signal, so it raises KeyboardInterrupt."""
        self._person_is_asked = True
        try:
            yield
        finally:
            self._person_is_asked = False

    def _interrupted(self, _: int, __: FrameType | None) -> None:
        again = self._event.is_set()
        self._event.set()
        if again or self._person_is_asked:
            raise KeyboardInterrupt
        # In the midst of another write to the same stream it can't be said, nor to who has left.
        with contextlib.suppress(RuntimeError, OSError):
            self._told()
