"""Commands over HTTP on this machine: POST /v1/run takes one, GET /v1/run/ID tells what became of it.

    POST   /v1/run        {"command": "...", "session": ""}   202 {"id": "q-...", "state": "waiting"}
    GET    /v1/run/ID     200 {"id", "state": waiting|running|done, "result": as `hindbrain run --json`}
                          waiting: for its turn, without a result; or for its owner's word, with one
    DELETE /v1/run/ID     200 when it had not begun, 409 when it had

Every request passes the checks of the MCP server (Host, Origin, token, content type) before anything of it is
read. Knows the queue, and nothing of how a run is done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.edge.http.guard import Refusal, Rules, hosts_for
from hindbrain.edge.http.json_body import error_body, parse_object
from hindbrain.edge.http.json_server import Asked, JsonServer, Reply
from hindbrain.edge.serving.serving import report_failure

if TYPE_CHECKING:
    import socket

    from hindbrain.agent.gateway import CommandGateway

PATH = "/v1/run"
DEFAULT_PORT = 8738
_LARGEST_BODY = 1_000_000  # bytes
_FIELDS = ("command", "session")


class CommandServer:
    """Serves in threads of its own, until `close`."""

    def __init__(self, listening: socket.socket, gateway: CommandGateway, token: str) -> None:
        self._gateway = gateway
        host, port = listening.getsockname()[:2]
        self.url = f"http://{host}:{port}{PATH}"
        self.rules = Rules(token, hosts_for(host, port), PATH, below=True)
        self._server = JsonServer(listening, self, name="takes commands")

    def close(self) -> None:
        self._server.close()

    def most_bytes(self, _path: str) -> int:
        return _LARGEST_BODY

    def refused(self, refused: Refusal) -> None:
        """Nobody counts them here."""

    def answer(self, asked: Asked) -> Reply:
        """Status and body for a request that may be served."""
        if asked.query:
            return Reply(404, error_body("refused", f"there is only {PATH} here"))
        try:
            status, told = self._answer(asked.method, asked.path, asked.body)
        except UsageError as error:
            status, told = 400, error_body(error.code, str(error))
        except HindbrainError as error:
            status, told = 503, error_body(error.code, str(error))
        except Exception as error:  # noqa: BLE001  the outermost handler
            report_failure("a command over HTTP", error)
            status, told = 500, error_body("internal", f"internal: {type(error).__name__}")
        return Reply(status, told)

    def _answer(self, method: str, path: str, body: bytes) -> tuple[int, Mapping[str, Any]]:
        name = path.removeprefix(PATH).removeprefix("/")
        if method == "POST" and not name:
            command, session = _parsed(body)
            ticket = self._gateway.submit(command, "http", session=session)
            return 202, {"id": ticket.id, "state": "waiting"}
        if not name or method == "POST":
            return 405, error_body("usage", f"POST goes to {PATH}, GET and DELETE to {PATH}/ID")
        if method == "DELETE":
            if self._gateway.withdraw(name):
                return 200, {"id": name, "state": "withdrawn"}
            state, _ = self._state(name)
            return (409, error_body("conflict", f"{name!r} has begun: {state}")) if state else _unknown(name)
        state, result = self._state(name)
        return (200, {"id": name, "state": state, "result": result}) if state else _unknown(name)

    def _state(self, name: str) -> tuple[str, Mapping[str, Any] | None]:
        """With what is known of its end. A run that waits for its owner is not done: its end comes later."""
        state = self._gateway.state_of(name)
        result = self._gateway.end_of(name) if state == "done" else None
        return "waiting" if result and result.get("end") == "waiting" else state, result


def _parsed(body: bytes) -> tuple[str, str]:
    told = parse_object(body)
    unknown = [name for name in told if name not in _FIELDS]
    if unknown:
        raise UsageError(f"there is no field {unknown[0]!r}; there are: {', '.join(_FIELDS)}")
    command, session = told.get("command", ""), told.get("session", "")
    if not isinstance(command, str) or not isinstance(session, str):
        raise UsageError("command and session are texts")
    return command, session


def _unknown(name: str) -> tuple[int, Mapping[str, Any]]:
    return 404, error_body("not_found", f"no command {name!r} is known; ends are kept for a week")
