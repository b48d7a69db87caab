"""What the daemon does for a vault while nobody waits, a piece at a time. Each says whether there is more."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakSet

from hindbrain.base.errors import IndexFault
from hindbrain.edge.daemon.verbs import PIECE_S
from hindbrain.edge.serving.serving import report_failure, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from hindbrain.app import App


_CANARY_S = 86_400.0  # between two tries
_MEASURING_S = 0.05  # at a time: a prompt that comes waits for it


class WarmUp:
    """Makes the answers of a vault quick: asks something, so that all that an answer needs is in memory."""

    def __init__(self) -> None:
        self._warm: WeakSet[App] = WeakSet()

    def __call__(self, app: App) -> bool:
        if app not in self._warm:
            try:
                app.context.pack("what did we decide about this")
            except IndexFault:  # not made yet: again at the next quiet moment
                return False
            self._warm.add(app)
        return False


class CatchUp:
    """Keeps what conversations have left; what goes wrong again and again is told once."""

    def __init__(self) -> None:
        self._told: WeakKeyDictionary[App, frozenset[str]] = WeakKeyDictionary()

    def __call__(self, app: App) -> bool:
        done = app.context.catch_up(deadline_s=PIECE_S)
        told = self._told.get(app, frozenset())
        for problem in done.problems:
            if problem not in told:
                say(f"{str(app.root)!r}: {problem}")
        self._told[app] = frozenset(done.problems)
        return done.more and bool(done.sessions)  # what does not move is tried again later


class MeasureNull:
    """Measures what generic prompts get from a vault, so that the gate of context packs can compare."""

    def __call__(self, app: App) -> bool:
        until = time.monotonic() + _MEASURING_S
        try:
            return not app.lacks_vectors() and app.measure_null(lambda: time.monotonic() >= until)
        except IndexFault:  # not made yet: again at the next quiet moment
            return False


class TryCanary:
    """Tries once a day whether a memory can be stored and found. A failure is told, and `status` has it.

    In a thread of its own: it takes a quarter of a second, and a prompt that comes must not wait for it.
    """

    def __init__(self, start: Callable[[Callable[[], None]], None] | None = None) -> None:
        self._start = start or _in_background
        self._due_at: WeakKeyDictionary[App, float] = WeakKeyDictionary()  # by the app's clock

    def __call__(self, app: App) -> bool:
        from hindbrain.edge.canary import last_result

        now = app.clock.now()
        if app not in self._due_at:
            last = last_result(app.state)
            # A result from the future is of a clock that was wrong.
            self._due_at[app] = last.at + _CANARY_S if last is not None and last.at <= now else now
        if now >= self._due_at[app] and app.index_path.exists():
            self._due_at[app] = now + _CANARY_S
            self._start(lambda: _try_canary(app))
        return False


def _try_canary(app: App) -> None:
    from hindbrain.edge.canary import try_canary

    result = try_canary(app)
    if not result.ok:
        say(
            f"{str(app.root)!r}: storing and finding a memory failed at the step {result.step!r}: "
            f"{result.message}  ({result.code})"
        )


def _in_background(act: Callable[[], None]) -> None:
    threading.Thread(target=act, name="hindbrain-canary", daemon=True).start()


class InTurn:
    """Several chores, one after the other; there is more while one of them says so."""

    def __init__(self, *chores: Callable[[App], bool]) -> None:
        self._chores = chores

    def __call__(self, app: App) -> bool:
        more = [_guarded(chore, app) for chore in self._chores]  # each gets its turn
        return any(more)


def _guarded(chore: Callable[[App], bool], app: App) -> bool:
    """One chore that fails does not keep the others from theirs."""
    try:
        return chore(app)
    except Exception as error:  # noqa: BLE001  it is in the log, and tried again at the next quiet moment
        report_failure(f"{type(chore).__name__} of {str(app.root)!r}", error)
        return False
