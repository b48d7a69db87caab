"""The port of the service: open while the settings name one, tried again at each look when it can't be.

A service that can't be opened stops nothing else of the daemon; why it can't is in the log once, and in
`hindbrain up status` and `doctor` for as long as it is so.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.config import load_config
from hindbrain.base.errors import HindbrainError
from hindbrain.edge.service.record import Record
from hindbrain.edge.serving.serving import say

if TYPE_CHECKING:
    from hindbrain.edge.daemon.vaults import Vaults
    from hindbrain.edge.http.json_server import JsonServer

LOOPBACK, PREFIX = "127.0.0.1", "/v1"
TOKEN_FILE = "service-token"  # in the state folder
_INSTEAD = "another one can be set: hindbrain config service.port N"


class _Open(NamedTuple):
    port: int
    token: str
    server: JsonServer


class ServicePort:
    """May be looked at by any thread."""

    def __init__(self, state: Path, vaults: Vaults, used: Callable[[], None]) -> None:
        self._token_file = state / TOKEN_FILE
        self._vaults = vaults
        self._used = used
        self._record = Record()
        self._lock = threading.Lock()
        self._open: _Open | None = None
        self._ended = False
        self.wanted = 0  # the port that the settings name; 0: none
        self._problem = ""

    def look(self) -> None:
        """Be where the settings say, with the token that its file holds. Never raises."""
        with self._lock:
            if self._ended:
                return
            try:
                self.wanted = load_config().number("service.port")
                self._be_there()
                problem = ""
            except HindbrainError as error:
                problem = f"{error}  ({error.code})"
            if problem and problem != self._problem:
                say(f"plugins are {'served as before' if self._open else 'not served'}: {problem}")
            self._problem = problem

    def close(self) -> None:
        with self._lock:
            self._ended = True
            self._leave()

    def data(self) -> dict[str, Any]:
        """As `hindbrain up status --json` has it."""
        with self._lock:
            return {
                "port": self.wanted,
                "url": _url(self._open.port) if self._open is not None else "",
                "token_file": str(self._token_file),
                "problem": self._problem,
                **self._record.data(),
            }

    def _be_there(self) -> None:
        if not self.wanted:
            self._leave()
            return
        from hindbrain.edge.http.token import read_or_make_token

        try:
            token = read_or_make_token(self._token_file)
        except HindbrainError:
            self._leave()  # who could read the token may be anybody
            raise
        if self._open is not None and (self._open.port, self._open.token) == (self.wanted, token):
            return
        self._leave()
        self._open = self._opened(token)
        say(f"plugins are served at {_url(self.wanted)}")

    def _opened(self, token: str) -> _Open:
        # A daemon that serves no plugins needs none of it.
        from hindbrain.edge.http.address import Address, listen
        from hindbrain.edge.http.guard import Rules, hosts_for
        from hindbrain.edge.http.json_server import JsonServer
        from hindbrain.edge.service.service import Service

        listening = listen(Address(LOOPBACK, self.wanted), instead=_INSTEAD)
        rules = Rules(
            token, hosts_for(LOOPBACK, self.wanted), PREFIX, below=True, methods=("GET", "POST"),
            token_from=f"it is in the file {TOKEN_FILE} of the state folder",
        )  # fmt: skip
        service = Service(self._vaults, rules, self._record, self._used)
        # The first turn of a conversation is to find its vault open.
        threading.Thread(target=service.prepare, name="hindbrain-opening", daemon=True).start()
        return _Open(self.wanted, token, JsonServer(listening, service, name="serves plugins"))

    def _leave(self) -> None:
        if self._open is not None:
            self._open.server.close()
            say(f"plugins are no longer served at {_url(self._open.port)}")
        self._open = None


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}{PREFIX}"
