"""Learning and tidying while nobody waits: in a process of its own, so that no prompt waits for it.

Decides when something is due for a vault. The work is that of `hindbrain learn` and `hindbrain consolidate`,
at a lower priority and one at a time; a process that is cut short is made good by the next.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import ConfigError
from hindbrain.base.passed_time import is_believed
from hindbrain.edge.serving.serving import say

if TYPE_CHECKING:
    from hindbrain.app import App

_LOOK_S = 60.0  # between two looks at what is due; the first prompts after a start come before the first
_RESTED_S = 600.0  # after which a conversation is over, and its runs can be judged
_LOWER = 10  # of nice
_BELOW_NORMAL = 0x00004000  # the same on Windows


class _Child(NamedTuple):
    process: subprocess.Popen[bytes]
    verb: str
    root: Path


class Tidying:
    """A chore of the daemon: called for each vault at quiet moments, by one thread per vault."""

    def __init__(
        self,
        *,
        start: Callable[[Sequence[str], Path], subprocess.Popen[bytes]] | None = None,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._start = start or _started
        self._ticks = ticks
        self._turn = threading.Lock()
        self._child: _Child | None = None
        self._look_at: dict[Path, float] = {}
        self._looked: set[Path] = set()
        self._told: dict[Path, str] = {}

    def __call__(self, app: App) -> bool:
        with self._turn:
            self._look(app)
        return False  # whatever it set going goes on elsewhere

    def _look(self, app: App) -> None:
        self._end_child()
        now = self._ticks()
        due_at = self._look_at.setdefault(app.root, now + _LOOK_S)
        if self._child is not None or now < due_at:
            return
        starting = app.root not in self._looked
        self._looked.add(app.root)
        self._look_at[app.root] = now + _LOOK_S
        try:
            verb = what_is_due(app, starting=starting)
        except ConfigError as error:
            if self._told.get(app.root) != str(error):
                say(f"{str(app.root)!r} is not consolidated: {error}")
            self._told[app.root] = str(error)
            return
        if verb:
            words = [sys.executable, "-m", "hindbrain", verb, "--vault", str(app.root), "--json"]
            with suppress(OSError):  # no room for another process: later
                self._child = _Child(self._start(words, app.state.parent), verb, app.root)

    def _end_child(self) -> None:
        child = self._child
        if child is None or (code := child.process.poll()) is None:
            return
        self._child = None
        if code:
            told = f"`hindbrain {child.verb}` of {str(child.root)!r} ended with {code}; run it to see why"
            if self._told.get(child.root) != told:
                say(told)
            self._told[child.root] = told
        else:
            self._told.pop(child.root, None)


def what_is_due(app: App, *, starting: bool) -> str:
    """The command that should run now; "" when none. An empty schedule means that nothing runs by itself."""
    from hindbrain.learn.consolidation.consolidator import last_consolidated
    from hindbrain.learn.consolidation.schedule import is_due
    from hindbrain.learn.importing.captured import SEEN

    schedule = app.config.text("consolidation.schedule")
    if not schedule.strip() or not (app.root / ".hindbrain").is_dir():
        return ""
    now = app.clock.now()
    if is_due(schedule, last=last_consolidated(app.state), now=now, starting=starting):
        # What is old makes room then: not because of a clock that is wrong just now.
        return "consolidate" if is_believed(app.state, app.clock) else ""
    captured = _changed_at(app.state / "captured")
    rested = captured and now - captured > _RESTED_S
    return "learn" if rested and captured > _changed_at(app.state / SEEN) else ""


def _changed_at(path: Path) -> float:
    """When a file, or the newest file of a folder, was changed; 0 when there is none."""
    try:
        changed = path.stat().st_mtime
        files = list(os.scandir(path)) if path.is_dir() else None
    except OSError:
        return 0.0
    return changed if files is None else max(map(_entry_changed_at, files), default=0.0)


def _entry_changed_at(entry: os.DirEntry[str]) -> float:
    with suppress(OSError):  # taken away meanwhile, or a link to nothing
        return entry.stat().st_mtime
    return 0.0


def _started(words: Sequence[str], state: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HINDBRAIN_STATE_FOLDER": str(state)},
        creationflags=_BELOW_NORMAL if sys.platform == "win32" else 0,
    )
    if sys.platform != "win32":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _LOWER)
    return process
