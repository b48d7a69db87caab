"""Lets the owner know what happened to the index and the memory, beside the work and never in its way.

A process that stays has a `Teller`; a command that ends has a function for what it did. Both note at once, on
disk, and leave the sending to a thread: a receiver that hangs holds up nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from hindbrain.base.errors import Busy, HindbrainError

if TYPE_CHECKING:
    from hindbrain.agent.announcing import Announcing
    from hindbrain.app import App
    from hindbrain.edge.output import Output
    from hindbrain.index.follow import FollowEvent
    from hindbrain.index.sync import SyncReport
    from hindbrain.learn.consolidation.consolidator import Consolidated

_LOOK_S = 30.0  # when nothing says better
_PATIENCE_S = 2.0  # of a command that is done otherwise; what has not gone out by then waits on disk
_ENDING_S = 0.5
_READY = ("error", "frozen", "stopped")  # no vectors will follow soon: what waits for them is told without


class Teller:
    """For one followed vault. Does nothing, and has no thread, until the owner asks to be told."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: dict[str, frozenset[str]] = {}  # by what was being done: each has its own thread
        self._announcing: Announcing | None = None
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._stopping = False

    def heard(self, app: App, event: FollowEvent) -> None:
        """Something happened to the index that this process follows. Called by the thread of `app`."""
        report = event.report
        if event.kind == "synced" and report is not None:
            self.synced(app, report, event.took_s)
        elif event.kind == "embedded" and report is not None and not report.pending:
            self._note(app, _note_ready)
        else:
            self._note(app, _note_ready if event.kind in _READY else None)

    def synced(self, app: App, report: SyncReport, seconds: float) -> None:
        """The text is in; what has no vector yet gets one by and by, and then it is told."""
        self._note(
            app,
            lambda found: _note_sync(
                app, found, report, seconds, ready=not report.pending or not _gives_vectors(app)
            ),
        )

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(_ENDING_S)

    def _note(self, app: App, note: Callable[[Announcing], None] | None) -> None:
        self._announcing, problems = None, []
        try:
            self._announcing = app.announcing()
            if self._announcing is not None and note is not None:
                note(self._announcing)
        except Exception as error:  # noqa: BLE001  whatever it is, the index is kept all the same
            problems = [f"nobody is told of it: {error}"]
        self._complain("noting", problems)
        if self._announcing is not None and not self._stopping:
            self._wake.set()
            if self._thread is None:
                self._thread = threading.Thread(target=self._send, name="hindbrain-tells", daemon=True)
                self._thread.start()

    def _send(self) -> None:
        while not self._stopping:
            announcing, wait_s, problems = self._announcing, _LOOK_S, []
            if announcing is not None:
                try:
                    with suppress(Busy):  # another process sends; what it could not is a problem all the same
                        wait_s = announcing.send()
                    problems = announcing.problems()
                except Exception as error:  # noqa: BLE001  the outermost handler: tried again, and told
                    problems = [f"{type(error).__name__}: {error}"]
            self._complain("sending", problems)
            self._wake.wait(wait_s)
            self._wake.clear()

    def _complain(self, doing: str, problems: Iterable[str]) -> None:
        """Of each once, until it is over."""
        found = frozenset(problems)
        for problem in sorted(found - self._said.get(doing, frozenset())):
            self._say(f"events: {problem}")
        self._said[doing] = found


def tell_sync(app: App, report: SyncReport, seconds: float, out: Output) -> None:
    """For a command that has printed what its sync did."""
    _tell(app, lambda found: _note_sync(app, found, report, seconds), out)


def tell_consolidation(app: App, done: Consolidated, out: Output) -> None:
    """For a command that has printed what its consolidation did."""
    _tell(app, lambda found: _note_consolidation(found, done), out)


def _tell(app: App, note: Callable[[Announcing], None], out: Output) -> None:
    """Note it, and send for a short while, also what waits from before."""
    out.stdout.flush()
    try:
        announcing = app.announcing()
        if announcing is None:
            return
        note(announcing)
        failed: list[str] = []
        if announcing.waiting():
            sending = threading.Thread(target=_send_once, args=(announcing, failed), daemon=True)
            sending.start()
            sending.join(_PATIENCE_S)
            if sending.is_alive():
                announcing.give_up_waiting(_PATIENCE_S)
        for problem in [*failed, *announcing.problems()]:
            out.warn(problem)
    except HindbrainError as error:
        out.warn(f"nobody is told of it: {error}  ({error.code})")


def _send_once(announcing: Announcing, failed: list[str]) -> None:
    try:
        announcing.send()
    except Busy:
        return  # another process sends
    except HindbrainError as error:
        failed.append(str(error))


def _note_sync(
    app: App, announcing: Announcing, report: SyncReport, seconds: float, *, ready: bool = True
) -> None:
    from hindbrain.agent.events import SYNC_COMPLETE, sync_figures

    if report.indexed or report.removed:
        figures = sync_figures(report, files=_notes_in(app), seconds=seconds)
        announcing.note(SYNC_COMPLETE, figures, ready=ready)


def _note_consolidation(announcing: Announcing, done: Consolidated) -> None:
    from hindbrain.agent.events import CONSOLIDATED, consolidation_figures

    figures = consolidation_figures(done)
    if figures:
        announcing.note(CONSOLIDATED, figures)


def _note_ready(announcing: Announcing) -> None:
    from hindbrain.agent.events import SYNC_COMPLETE

    announcing.note(SYNC_COMPLETE, {})


def _notes_in(app: App) -> int:
    """Counted in an index that is opened for it: the one that was may have been replaced."""
    from hindbrain.index.store import IndexStore

    store = IndexStore(app.index_path)
    try:
        return store.note_count()
    finally:
        store.close()


def _gives_vectors(app: App) -> bool:
    try:
        return app.embedder_choice().provider != "none"
    except HindbrainError:
        return False
