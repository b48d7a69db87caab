"""The vaults that the daemon serves: opened when first asked about, closed when others are used instead.

Owns which `Serving` answers for which folder, and that it is opened anew when its settings or its id have
changed. Knows neither sockets nor verbs.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hindbrain.app import App, build_app
from hindbrain.base.config import Config, config_file, load_config, state_folder
from hindbrain.base.errors import Busy, UsageError
from hindbrain.edge.opening import check_folder
from hindbrain.edge.serving.lane import Lane, Upkeep
from hindbrain.edge.serving.serving import Serving, report_failure, say
from hindbrain.vault.binding import bind

_MOST = 4  # vaults that are kept warm; each has its vectors in memory


class _OpenedWith(NamedTuple):
    """What an opened vault depends on. When it is another, the vault is opened anew."""

    id: str  # of the vault
    settings: tuple[int, int]  # time stamp and size of the settings file


@dataclass(slots=True)
class Served:
    """One vault that is being served."""

    root: Path
    serving: Serving  # answers
    chores: Serving  # what nobody waits for, on a thread of its own: a model may be asked there
    intake: Lane[App]  # takes in what is told, as plain files: never behind a search or a first index
    opened_with: _OpenedWith
    since: float  # seconds since the epoch
    used: float = field(default_factory=time.monotonic)
    requests: int = 0


class Vaults:
    """Called by many threads. `warm_up` and `catch_up`: see `chores`."""

    def __init__(
        self,
        state: Path,
        warm_up: Callable[[App], bool],
        catch_up: Callable[[App], bool],
        *,
        most: int = _MOST,
    ) -> None:
        self._state = state
        self._warm_up = warm_up
        self._catch_up = catch_up
        self._most = most
        self._served: dict[str, Served] = {}
        self._lock = threading.Lock()
        self._closing: list[threading.Thread] = []
        self._ended = False
        self.moved = False  # the settings name another state folder by now: this daemon is nobody's any more

    def served_near(self, folder: str) -> Served:
        """The vault that a conversation in this folder belongs to. NotFound when there is none."""
        from hindbrain.edge.which_vault import vault_for

        return self.served_at(str(vault_for(load_config(), _absolute(folder))))

    def served_at(self, vault: str, *, away_ok: bool = False) -> Served:
        """The vault at this path. NotFound when there is none; VaultAway when it is not there now.

        `away_ok`: only its intake is wanted, which needs none of its notes.
        """
        root = _absolute(vault)
        bound = bind(self._state, root)
        if not bound.away:
            check_folder(root)
        elif not away_ok:
            bound.check(root)
        place = os.path.realpath(root)
        opened_with = _OpenedWith(bound.state.name, _settings_stamp())
        with self._lock:
            if self._ended:
                raise Busy("the daemon is ending; start it again: hindbrain up")
            served = self._served.get(place)
            if served is not None and served.opened_with != opened_with:
                self._close(self._served.pop(place))
                served = None
            if served is None:
                served = self._served[place] = self._open(root, opened_with)
                self._make_room()
            served.used = time.monotonic()
            served.requests += 1
            return served

    def served(self) -> list[Served]:
        with self._lock:
            return sorted(self._served.values(), key=lambda one: one.since)

    def at_work(self) -> bool:
        """Is a first index being made? Whoever ends now would have to begin again."""
        return any(one.serving.making is not None for one in self.served())

    def close(self, timeout_s: float) -> bool:
        """End them all, side by side. False when that takes longer."""
        with self._lock:
            self._ended = True
            for served in self._served.values():
                self._close(served)
            self._served.clear()
            ending = list(self._closing)
        deadline = time.monotonic() + timeout_s
        for thread in ending:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in ending)

    def _open(self, root: Path, opened_with: _OpenedWith) -> Served:
        config = load_config()
        if (moved := state_folder(config).absolute()) != self._state:
            self.moved = True
            raise Busy(f"the state folder is {str(moved)!r} by now; start the daemon again: hindbrain up")
        # A state folder inside the vault is told at once.
        first = build_app(config, root, warm=True, away_ok=True)
        serving = Serving(lambda: _opened(config, root, warm=True), between=self._warm_up)
        serving.expect_index(first)
        serving.warm_up()

        def catch_up(app: App) -> bool:
            # Before there is an index it can't be told what is known already.
            return serving.making is None and self._catch_up(app)

        chores = Serving(lambda: _opened(config, root, warm=False), keep=False, between=catch_up)
        chores.warm_up()
        intake = _intake(lambda: build_app(config, root, warm=False, away_ok=True), serving)
        intake.submit(lambda _: None)  # opened now: what is said is taken in also when the vault goes away
        return Served(root, serving, chores, intake, opened_with, time.time())

    def _make_room(self) -> None:
        while len(self._served) > self._most:
            place = min(self._served, key=lambda name: self._served[name].used)
            self._close(self._served.pop(place))

    def _close(self, served: Served) -> None:
        """On threads of their own: whoever asks about another vault does not wait for it."""

        def end(part: Serving | Lane[App]) -> None:
            try:
                part.close()
            except Exception as error:  # noqa: BLE001  told; the others are closed all the same
                report_failure(f"closing {str(served.root)!r}", error)

        say(f"closing {str(served.root)!r}")
        self._closing = [thread for thread in self._closing if thread.is_alive()]
        for part in (served.serving, served.chores, served.intake):
            thread = threading.Thread(target=end, args=(part,), name="hindbrain-closing", daemon=True)
            thread.start()
            self._closing.append(thread)


def _intake(open_app: Callable[[], App], serving: Serving) -> Lane[App]:
    def opened() -> App:
        app = open_app()
        app.making = lambda: serving.making
        return app

    return Lane(Upkeep(opened, lambda _app, _quiet_s: False, App.close, report_failure))


def _opened(config: Config, root: Path, *, warm: bool) -> App:
    app = build_app(config, root, warm=warm)
    check_folder(root)
    return app


def _absolute(path: str) -> Path:
    found = Path(path)
    if not found.is_absolute() or "\0" in path:
        raise UsageError(f"{path!r} is no absolute path; name a folder by one")
    return found


def _settings_stamp() -> tuple[int, int]:
    try:
        status = config_file(os.environ).stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)
