"""What a running server shares between its sessions: the lane that owns the memory, and the index's keeper.

Owns the order of things at the start and at the end. Knows nothing of the protocol.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hindbrain.base.errors import Busy, HindbrainError, IndexMissing
from hindbrain.edge.mcp.keeping import Keeper, Making
from hindbrain.edge.mcp.lane import Lane, Upkeep

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.memory.service import Memory

R = TypeVar("R")

_QUIET_S = 10.0  # without a call: whoever works with it has paused


class Serving:
    """One vault, served. `open_app` makes an `App`; each of the two threads has its own."""

    def __init__(self, open_app: Callable[[], App], *, keep: bool = True) -> None:
        self._open_app = open_app
        self._keep = keep
        self._lane: Lane[_Opened] = Lane(Upkeep(self._open, self._settle, _close, report_failure))
        self.keeper = Keeper(open_app, say)
        self._ended = threading.Lock()
        self._has_ended = False

    async def run(self, work: Callable[[Memory], R]) -> R:
        """Do `work` where the memory lives. An index that is not there yet is a reason to try again."""
        try:
            return await self._lane.run(lambda opened: self._do(opened, work))
        except IndexMissing as error:
            making = self.making
            if making is None:
                raise
            raise Busy(f"{making}; notes can be read and written meanwhile") from error

    def _do(self, opened: _Opened, work: Callable[[Memory], R]) -> R:
        if self.making is not None:
            # Whoever makes the first index takes these in too; to wait for its lock would stop every call.
            opened.memory.notebook.touched.clear()
        return work(opened.memory)

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
        if self._keep and not app.index_path.exists():
            self.keeper.expect_first_index()

    def close(self) -> None:
        """Nothing that was acknowledged is lost after this. May be called twice, and by a signal's thread."""
        with self._ended:
            if self._has_ended:
                return
            if not self._lane.close():
                say("the last call took too long to end; what it writes is whole or not there")
            self.keeper.stop()
            self._has_ended = True

    def _open(self) -> _Opened:
        return _Opened(self._open_app())

    def _settle(self, opened: _Opened, quiet_s: float) -> None:
        """What is due at once; what may wait for a quiet moment, when there is one."""
        problems = self._do(opened, lambda memory: memory.settle(idle=quiet_s >= _QUIET_S)).problems
        for problem in problems:
            if problem not in opened.told:
                say(problem)
        opened.told = frozenset(problems)


class _Opened:
    """What the lane's thread holds."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.memory: Memory = app.memory
        self.told: frozenset[str] = frozenset()  # problems that the log has already


def _close(opened: _Opened) -> None:
    opened.app.close()


def say(text: str) -> None:
    """Logs go to stderr: stdout belongs to the protocol."""
    sys.stderr.write(f"hindbrain: {text}\n")
    sys.stderr.flush()


def report_failure(doing: str, error: BaseException) -> None:
    """A line for what is expected to fail now and then; where it happened for a bug."""
    if isinstance(error, HindbrainError):
        say(f"{doing}: {error}  ({error.code})")
        return
    say(f"{doing}: {type(error).__name__}: {error}")
    traceback.print_exception(error, file=sys.stderr)
