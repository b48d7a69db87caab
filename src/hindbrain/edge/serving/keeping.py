"""Keeps the index in step while the server runs, on a thread of its own with an `App` of its own.

Owns the first index of a vault that has none, and how far it has come. Starts when the first answer has been
given, so that a session's start does not wait for it. Another process that watches the vault already is fine.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hindbrain.base.errors import Busy, VaultAway
from hindbrain.base.plural import plural
from hindbrain.edge.serving.telling import Teller
from hindbrain.index.standing import Making

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.index.follow import FollowEvent
    from hindbrain.index.progress import Progress
    from hindbrain.vault.event_paths import Changes

_LOOK_AGAIN_S = 5.0  # whether a vault that is away has come back
_ASK_AGAIN_S = 30.0  # until it is tried again to follow a vault that another process follows


class _Stopped(Exception):
    """The server ends; what is committed stays, and the next sync goes on from there."""


class Keeper:
    def __init__(self, open_app: Callable[[], App], say: Callable[[str], None]) -> None:
        """`open_app` is called on the keeper's thread."""
        self._open_app = open_app
        self._say = say
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hindbrain-keeper", daemon=True)
        self._started = False
        self._app: App | None = None  # while the thread runs
        self._teller = Teller(say)
        self._making: Making | None = None
        self._text_done = threading.Event()

    def start(self) -> None:
        if not self._started:
            self._started = True
            self._thread.start()

    def stop(self, timeout_s: float = 10.0) -> None:
        self._stop.set()
        if self._started:
            self._thread.join(timeout_s)

    @property
    def making(self) -> Making | None:
        """How far the first index is; None when the text of all notes is in it."""
        return self._making

    def pending_changes(self) -> Changes | None:
        """What has changed and is not in the index yet; None when the vault is not followed here."""
        follower = self._app.follower if self._app is not None else None
        return follower.pending() if follower is not None else None

    def wait(self, timeout_s: float) -> bool:
        """Wait for the first index; False when it is not made yet."""
        return self._making is None or self._text_done.wait(timeout_s)

    def expect_first_index(self) -> None:
        """The vault has no index yet: whoever searches before the thread has begun shall know."""
        if self._making is None and not self._text_done.is_set():
            self._making = Making(0, 0)

    def _run(self) -> None:
        said = ""
        try:
            while not self._stop.is_set():
                try:
                    self._keep()
                except VaultAway as error:
                    if str(error) != said:
                        self._say(f"the index is not kept up to date: {error}  ({error.code})")
                    said = str(error)
                    self._finished()  # nobody waits for it
                    self._stop.wait(_LOOK_AGAIN_S)
        except _Stopped:
            pass
        except Exception as error:  # noqa: BLE001  the tools go on without it, and say how fresh the index is
            self._say(f"the index is not kept up to date: {type(error).__name__}: {error}")
        finally:
            self._finished()
            self._teller.stop()

    def _keep(self) -> None:
        app = self._app = self._open_app()
        try:
            self._make_first_index(app)
            self._follow(app)
        finally:
            self._app = None
            app.close()

    def _make_first_index(self, app: App) -> None:
        if app.has_whole_index():
            self._finished()
            return
        self._making = Making(0, 0)
        while not self._stop.is_set():
            began = time.monotonic()
            try:
                report = app.sync(self._progress, vectors=False)
            except Busy:  # another process makes it
                self._stop.wait(1.0)
                continue
            self._say(f"{plural(report.indexed, 'note')} indexed")
            self._teller.synced(app, report, time.monotonic() - began)
            break
        self._finished()

    def _progress(self, progress: Progress) -> None:
        if self._stop.is_set():
            raise _Stopped
        if progress.phase == "text":
            self._making = Making(progress.done, progress.total)

    def _finished(self) -> None:
        self._making = None
        self._text_done.set()

    def _follow(self, app: App) -> None:
        while not self._stop.is_set():
            try:
                app.follow(self._stop, lambda event: self._tell(app, event))
            except Busy:
                self._stop.wait(_ASK_AGAIN_S)

    def _tell(self, app: App, event: FollowEvent) -> None:
        self._teller.heard(app, event)
        if event.kind == "mode":
            self._say(event.message)
        elif event.kind in ("error", "frozen"):
            self._say(f"{event.message}  ({event.code or event.kind})")
