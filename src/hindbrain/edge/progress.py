"""Shows how far long work has come: a bar on a terminal, a plain line now and then in a pipe."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hindbrain.edge.output import Output

if TYPE_CHECKING:
    from hindbrain.index.progress import Listener, Progress

_QUIET_S = 0.4  # most syncs are over by then, and a bar that only flashes is noise
_LINE_EVERY_S = 2.0
_WORDS = {
    "scan": "looking",
    "text": "reading notes",
    "vectors": "embedding passages",
    "questions": "asking",
}


@contextmanager
def shown_progress(out: Output) -> Iterator[Listener]:
    """A listener for `App.sync` and other long work. Writes to stderr only."""
    shown: _Bar | _Lines = _Bar() if out.stderr.isatty() else _Lines(out)
    try:
        yield shown.tell
    finally:
        shown.close()


class _Lines:
    def __init__(self, out: Output) -> None:
        self._out = out
        self._last = time.monotonic()

    def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self._last >= _LINE_EVERY_S and progress.total:
            self._last = now
            self._out.say(f"{_WORDS[progress.phase]}: {progress.done} of {progress.total}")

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Any = None  # rich.progress.Progress, imported when there is something to show
        self._tasks: dict[str, Any] = {}

    def tell(self, progress: Progress) -> None:
        if self._bar is None:
            if time.monotonic() - self._begun < _QUIET_S:
                return
            self._start()
        if progress.phase not in self._tasks:
            self._tasks[progress.phase] = self._bar.add_task(
                _WORDS[progress.phase], total=progress.total or None
            )
        self._bar.update(self._tasks[progress.phase], completed=progress.done, total=progress.total or None)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("{task.description:20}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()
