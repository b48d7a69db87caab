"""How tests run the service: a daemon on a thread of the test's process, asked over real HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.config import load_config, state_folder
from hindbrain.edge.daemon import client
from hindbrain.edge.daemon.listening import leave, listening
from hindbrain.edge.daemon.server import Daemon
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.edge.http.token import read_token
from hindbrain.edge.service.routes import ROUTES

SHIPPED = dict(ROUTES)  # with their own times, which are longer in tests
PATIENCE_S = 60.0  # a limit for tests that would hang otherwise; never what is measured


def wait_until(met: Callable[[], Any]) -> Any:
    """The first true value of `met`."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if found := met():
            return found
        threading.Event().wait(0.01)
    raise AssertionError("it did not come to that")


def free_port() -> int:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return int(made.getsockname()[1])


class Answer(NamedTuple):
    status: int
    told: dict[str, Any]

    @property
    def code(self) -> str:
        return str(self.told["error"]["code"])


class ServiceRun:
    """One daemon that serves plugins, and whoever asks it."""

    def __init__(self, settings_file: Path) -> None:
        self._file = settings_file
        self._settings: dict[str, dict[str, object]] = {}
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self.daemon: Daemon
        self.port = 0
        self.state = state_folder(load_config()).absolute()

    def set(self, **values: object) -> None:
        """Settings as their owner would write them; `service_port` is service.port."""
        for name, value in values.items():
            section, _, key = name.partition("_")
            self._settings.setdefault(section, {})[key] = value
        lines = []
        for section, entries in self._settings.items():
            lines.append(f"[{section}]")
            lines += [f"{key} = {json.dumps(value)}" for key, value in entries.items()]
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @property
    def token(self) -> str:
        return read_token(self.state / "service-token")

    def start(self, *, port: int = 0, serving: bool = True, **settings: Any) -> None:
        """`serving`: wait until it answers."""
        self.port = port or free_port()
        self.set(service_port=self.port)

        def idle(_: object) -> bool:
            return False

        def run() -> None:
            with listening(self.state / "daemon") as here:
                self.daemon = Daemon(
                    here, **{"idle_s": 0.0, "vaults": Vaults(self.state, idle, idle), **settings}
                )
                self._ready.set()
                self.daemon.run()
                leave(here)
                self.daemon.close()

        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        if serving:
            wait_until(lambda: self.status()["service"]["url"])
            if self._settings["vault"]["path"]:
                wait_until(self.requests)  # it opens the usual vault by itself

    def status(self) -> dict[str, Any]:
        """What the daemon says of itself."""
        reply = client.request(self.state / "daemon", "status", "", {}, timeout_s=PATIENCE_S)
        assert reply is not None
        found = reply["result"]
        assert isinstance(found, dict)
        return found

    def requests(self) -> int:
        """That came as far as a vault."""
        return sum(vault["requests"] for vault in self.status()["vaults"])

    def indexed(self) -> None:
        """Wait for the first index of the usual vault."""
        wait_until(lambda: self.ask("status").told["index"]["state"] == "ready")

    def ask(self, route: str, body: Mapping[str, object] | bytes | None = None, **changed: Any) -> Answer:
        """As a plugin asks; `changed`: headers, by name with "_" for "-", and method."""
        method = changed.pop("method", "GET" if route.startswith("status") else "POST")
        data = (
            body if isinstance(body, bytes) else json.dumps(body or {}).encode() if method != "GET" else b""
        )
        headers: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "User-Agent": "a-test/1.0",
            "Content-Length": str(len(data)),
        }
        headers |= {name.replace("_", "-"): value for name, value in changed.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            path = route if route.startswith("/") else f"/v1/{route}"
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(data)
            answer = connection.getresponse()
            told = answer.read()
            return Answer(answer.status, json.loads(told) if told else {})
        finally:
            connection.close()

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def end(self) -> None:
        if self._thread is not None and self._thread.is_alive():
            self.daemon.stop("the test is over")
            self._thread.join(PATIENCE_S)
            assert not self._thread.is_alive()
