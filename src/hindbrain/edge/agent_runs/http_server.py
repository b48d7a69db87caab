"""Commands over HTTP on this machine: POST /v1/run takes one, GET /v1/run/ID tells what became of it.

    POST   /v1/run        {"command": "...", "session": ""}   202 {"id": "q-...", "state": "waiting"}
    GET    /v1/run/ID     200 {"id", "state": waiting|running|done, "result": as `hindbrain run --json`}
                          waiting: for its turn, without a result; or for its owner's word, with one
    DELETE /v1/run/ID     200 when it had not begun, 409 when it had

Every request passes the checks of the MCP server (Host, Origin, token, content type) before anything of it is
read. Knows the queue, and nothing of how a run is done.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.edge.mcp.guard import Rules, hosts_for, refusal

if TYPE_CHECKING:
    import socket

    from hindbrain.agent.gateway import CommandGateway

PATH = "/v1/run"
DEFAULT_PORT = 8738
_LARGEST_BODY = 1_000_000  # bytes
_SLOW_S = 10.0  # that a client may take for its request
_FIELDS = ("command", "session")


class CommandServer:
    """Serves in threads of its own, until `close`."""

    def __init__(self, listening: socket.socket, gateway: CommandGateway, token: str) -> None:
        self._gateway = gateway
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}{PATH}"
        self._rules = Rules(token, hosts_for(host, port), PATH, below=True)
        self._server = _Server(listening, self)
        self._thread = threading.Thread(target=self._server.serve_forever, name="takes commands", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def refused(self, method: str, path: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Why a request is not served: status and reason."""
        found = refusal(method, path, headers, self._rules)
        return None if found is None else (found.status, found.reason)

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Mapping[str, Any]]:
        """Status and body for a request that may be served."""
        name = path.removeprefix(PATH).removeprefix("/")
        if method == "POST" and not name:
            command, session = _parsed(body)
            ticket = self._gateway.submit(command, "http", session=session)
            return 202, {"id": ticket.id, "state": "waiting"}
        if not name or method == "POST":
            return 405, _error("usage", f"POST goes to {PATH}, GET and DELETE to {PATH}/ID")
        if method == "DELETE":
            if self._gateway.withdraw(name):
                return 200, {"id": name, "state": "withdrawn"}
            state, _ = self._state(name)
            return (409, _error("conflict", f"{name!r} has begun: {state}")) if state else _unknown(name)
        state, result = self._state(name)
        return (200, {"id": name, "state": state, "result": result}) if state else _unknown(name)

    def _state(self, name: str) -> tuple[str, Mapping[str, Any] | None]:
        """With what is known of its end. A run that waits for its owner is not done: its end comes later."""
        state = self._gateway.state_of(name)
        result = self._gateway.end_of(name) if state == "done" else None
        return "waiting" if result and result.get("end") == "waiting" else state, result


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, listening: socket.socket, commands: CommandServer) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.commands = commands

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = _SLOW_S
    server_version = "hindbrain"
    sys_version = ""

    def _serve(self) -> None:
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in self.headers.items()]
        # A query has no meaning here, and no place in the checks.
        refused = self.server.commands.refused(self.command, self.path, headers)
        if refused is not None:
            self._send(refused[0], _error("refused", refused[1]))
            return
        try:
            status, told = self.server.commands.answer(self.command, self.path, self._body())
        except UsageError as error:
            status, told = 400, _error(error.code, str(error))
        except HindbrainError as error:
            status, told = 503, _error(error.code, str(error))
        self._send(status, told)

    do_GET = do_POST = do_DELETE = do_PUT = do_PATCH = do_HEAD = do_OPTIONS = do_TRACE = _serve

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        if not length.isdecimal() or int(length) > _LARGEST_BODY:
            raise UsageError(f"a command has at most {_LARGEST_BODY:,} bytes, and says how many")
        return self.rfile.read(int(length))

    def _send(self, status: int, told: Mapping[str, Any]) -> None:
        body = json.dumps(told).encode("ascii") + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a command is its owner's business."""


def _parsed(body: bytes) -> tuple[str, str]:
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        raise UsageError('send one JSON object: {"command": "..."}') from None
    if not isinstance(told, dict):
        raise UsageError('send one JSON object: {"command": "..."}')
    unknown = [name for name in told if name not in _FIELDS]
    if unknown:
        raise UsageError(f"there is no field {unknown[0]!r}; there are: {', '.join(_FIELDS)}")
    command, session = told.get("command", ""), told.get("session", "")
    if not isinstance(command, str) or not isinstance(session, str):
        raise UsageError("command and session are texts")
    return command, session


def _unknown(name: str) -> tuple[int, Mapping[str, Any]]:
    return 404, _error("not_found", f"no command {name!r} is known; ends are kept for a week")


def _error(code: str, message: str) -> Mapping[str, Any]:
    return {"error": {"code": code, "message": message}}
