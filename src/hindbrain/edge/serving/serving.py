"""What a running server shares between its sessions: the lane that owns the memory, and the index's keeper.

Owns the order of things at the start and at the end. Knows nothing of the protocol.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from hindbrain.base.errors import Busy, HindbrainError, IndexMissing
from hindbrain.edge.serving.keeping import Keeper
from hindbrain.edge.serving.lane import Lane, Upkeep
from hindbrain.vault.actions import action

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.index.standing import Making
    from hindbrain.memory.service import Memory

R = TypeVar("R")

_SESSION = f"mcp {os.getpid()}"  # all agents that this process serves
_ENCODE_PIECE_S = 0.03  # at a time: a call that comes waits for it
_QUIET_S = 10.0  # without a call: whoever works with it has paused


def encode_piece(app: App) -> bool:
    """Encode what the calls before had no time for, so that the next ones find it done."""
    return app.encode_pending(_ENCODE_PIECE_S)


class Serving:
    """One vault, served. `open_app` makes an `App`; each of the two threads has its own.

    `between` does a short piece of longer work while nobody waits, and says whether there is more.
    """

    def __init__(
        self, open_app: Callable[[], App], *, keep: bool = True, between: Callable[[App], bool] = encode_piece
    ) -> None:
        self._open_app = open_app
        self._keep = keep
        self._between = between
        self._lane: Lane[_Opened] = Lane(Upkeep(self._open, self._settle, _close, self._failed))
        self.keeper = Keeper(open_app, say)
        self._ended = threading.Lock()
        self._has_ended = False
        self._last_failure = ""

    async def run(self, work: Callable[[Memory], R]) -> R:
        """Do `work`, for an agent, where the memory lives. A missing index is a reason to try again."""

        def noted(app: App) -> R:
            app.agent_sessions.note(_SESSION)
            return work(app.memory)

        return await self._lane.run(lambda opened: self._do(opened, noted))

    def submit(self, work: Callable[[App], R]) -> Future[R]:
        """Do `work` where the memory lives, for a caller with a thread of its own."""
        return self._lane.submit(lambda opened: self._do(opened, work))

    def _do(self, opened: _Opened, work: Callable[[App], R]) -> R:
        if self.making is not None:
            # Whoever makes the first index takes these in too; to wait for its lock would stop every call.
            opened.memory.notebook.touched.clear()
        try:
            with opened.app.request(), action(""):
                return work(opened.app)
        except IndexMissing as error:
            making = self.making
            if making is None:
                raise
            raise Busy(f"{making}; notes can be read and written meanwhile") from error

    @property
    def making(self) -> Making | None:
        return self.keeper.making

    def warm_up(self) -> None:
        """After the first answer: open the vault, and let the index be kept."""
        self._lane.submit(lambda opened: opened)
        if self._keep:
            self.keeper.start()

    def expect_index(self, app: App) -> None:
        """Say from the beginning that a vault without an index gets one."""
        if self._keep and not app.has_whole_index():
            self.keeper.expect_first_index()

    def close(self) -> None:
        """Nothing that was acknowledged is lost after this. May be called twice, and by a signal's thread."""
        with self._ended:
            if self._has_ended:
                return
            self.keeper.stop(0)  # told first, waited for last: it may be in the middle of something long
            if not self._lane.close():
                say("the last call took too long to end; what it writes is whole or not there")
            self.keeper.stop()
            self._has_ended = True

    def _failed(self, doing: str, error: Exception) -> None:
        """What fails at each quiet moment, as when a disk is not mounted, is told once."""
        failure = f"{doing}: {type(error).__name__}: {error}"
        if failure != self._last_failure:
            report_failure(doing, error)
        self._last_failure = failure

    def _open(self) -> _Opened:
        app = self._open_app()
        app.making = lambda: self.making
        app.tell = say
        app.encodes = "when idle"
        app.pending_changes = self.keeper.pending_changes
        return _Opened(app)

    def _settle(self, opened: _Opened, quiet_s: float) -> bool:
        """What is due at once; what may wait for a quiet moment, when there is one."""
        problems = self._do(opened, lambda app: app.memory.settle(idle=quiet_s >= _QUIET_S)).problems
        for problem in problems:
            if problem not in opened.told:
                say(problem)
        opened.told = frozenset(problems)
        if math.isinf(quiet_s):  # at the end nothing new is begun
            return False
        return self._do(opened, self._between)


class _Opened:
    """What the lane's thread holds."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.memory: Memory = app.memory
        self.told: frozenset[str] = frozenset()  # problems that the log has already


def _close(opened: _Opened) -> None:
    opened.app.agent_sessions.end(_SESSION)
    opened.app.close()


def say(text: str) -> None:
    """Logs go to stderr: stdout belongs to the protocol. A log that can't be written stops nothing."""
    with suppress(OSError, ValueError):
        sys.stderr.write(f"hindbrain: {text}\n")
        sys.stderr.flush()


def report_failure(doing: str, error: BaseException) -> None:
    """A line for what is expected to fail now and then; where it happened for a bug."""
    if isinstance(error, HindbrainError):
        say(f"{doing}: {error}  ({error.code})")
        return
    say(f"{doing}: {type(error).__name__}: {error}")
    with suppress(OSError, ValueError):
        traceback.print_exception(error, file=sys.stderr)
