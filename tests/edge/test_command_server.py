"""Commands over HTTP on loopback: taken once, told about, and only from whoever may give them."""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.agent.gateway import CommandGateway
from hindbrain.base.clock import FakeClock
from hindbrain.edge.agent_runs.http_server import CommandServer
from hindbrain.edge.http.address import Address, listen

TOKEN = "a-token-of-twenty-letters"


@pytest.fixture
def gateway(tmp_path: Path) -> CommandGateway:
    return CommandGateway(tmp_path, FakeClock())


@pytest.fixture
def port(gateway: CommandGateway) -> Iterator[int]:
    socket = listen(Address(port=0))
    server = CommandServer(socket, gateway, TOKEN)
    yield int(socket.getsockname()[1])
    server.close()


def _ask(
    port: int, method: str, path: str, body: Any = None, **changed: str | None
) -> tuple[int, dict[str, Any]]:
    headers: dict[str, str | None] = {
        "Host": f"127.0.0.1:{port}",
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
    }
    headers |= {name.replace("_", "-"): value for name, value in changed.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(data)))
        connection.endheaders(data)
        answer = connection.getresponse()
        told = answer.read()
        return answer.status, json.loads(told) if told else {}
    finally:
        connection.close()


def test_a_command_is_taken_waits_runs_and_its_end_is_told(port: int, gateway: CommandGateway) -> None:
    status, taken = _ask(port, "POST", "/v1/run", {"command": "tidy the desk", "session": "s-1"})
    assert (status, taken["state"]) == (202, "waiting")
    (ticket,) = gateway.waiting()
    assert (ticket.id, ticket.text, ticket.via, ticket.session) == (
        taken["id"], "tidy the desk", "http", "s-1",
    )  # fmt: skip
    place = f"/v1/run/{ticket.id}"
    assert _ask(port, "GET", place)[1]["state"] == "waiting"
    gateway.take_next()
    assert _ask(port, "GET", place)[1] == {"id": ticket.id, "state": "running", "result": None}
    gateway.finish(ticket, {"answer": "tidy"})
    status, told = _ask(port, "GET", place)
    assert (status, told["state"], told["result"]["answer"]) == (200, "done", "tidy")


def test_a_run_that_waits_for_its_owner_is_not_done(port: int, gateway: CommandGateway) -> None:
    place = f"/v1/run/{_ask(port, 'POST', '/v1/run', {'command': 'tidy'})[1]['id']}"
    ticket = gateway.take_next()
    assert ticket is not None
    gateway.finish(ticket, {"end": "waiting", "waiting": [{"id": "a-7f3k2a"}]})
    told = _ask(port, "GET", place)[1]
    assert (told["state"], told["result"]["waiting"]) == ("waiting", [{"id": "a-7f3k2a"}])
    assert _ask(port, "DELETE", place)[0] == 409
    gateway.finish(ticket, {"end": "complete", "waiting": []})
    assert _ask(port, "GET", place)[1]["state"] == "done"


def test_a_command_can_be_taken_back_until_it_begins(port: int, gateway: CommandGateway) -> None:
    id_ = _ask(port, "POST", "/v1/run", {"command": "one"})[1]["id"]
    assert _ask(port, "DELETE", f"/v1/run/{id_}")[0] == 200
    assert gateway.waiting() == []
    assert _ask(port, "DELETE", f"/v1/run/{id_}")[0] == 404
    id_ = _ask(port, "POST", "/v1/run", {"command": "two"})[1]["id"]
    gateway.take_next()
    assert _ask(port, "DELETE", f"/v1/run/{id_}")[0] == 409


@pytest.mark.parametrize(
    "body",
    [b"", b"command=x", b"[]", b"null", b"[" * 100_000, {}, {"command": ""}, {"command": " "},
     {"command": 1}, {"command": "x", "session": 1}, {"command": "x", "allow": ["write_file"]}],
)  # fmt: skip
def test_what_is_no_command_is_refused_and_not_queued(port: int, gateway: CommandGateway, body: Any) -> None:
    status, told = _ask(port, "POST", "/v1/run", body)
    assert (status, told["error"]["code"]) == (400, "usage")
    assert gateway.waiting() == []


def test_a_body_that_is_too_large_is_not_read(port: int, gateway: CommandGateway) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest("POST", "/v1/run", skip_host=True)
    for name, value in (
        ("Host", f"127.0.0.1:{port}"), ("Authorization", f"Bearer {TOKEN}"),
        ("Content-Type", "application/json"), ("Content-Length", "99999999999"),
    ):  # fmt: skip
        connection.putheader(name, value)
    connection.endheaders()
    assert connection.getresponse().status == 413  # before a byte of it was sent
    connection.close()
    assert gateway.waiting() == []


@pytest.mark.parametrize("name", ["nobody", "..", "../../config.toml", "%2e%2e", "q-1", ""])
def test_a_name_that_is_none_finds_nothing(port: int, name: str) -> None:
    assert _ask(port, "GET", f"/v1/run/{name}")[0] in (404, 405)


_WRONG: dict[str, tuple[str | None, ...]] = {
    "Host": (None, "", "evil.example", "127.0.0.1", "localhost", "0.0.0.0:1"),
    "Origin": ("null", "http://evil.example", "http://127.0.0.1", "file://"),
    "Authorization": (None, "", "Bearer", f"Basic {TOKEN}", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x"),
}
_ROUTES = ("/v1/run", "/v1/run/q-00000000000000-000000000000", "/", "/v1", "/v1/runs", "/mcp", "//v1/run")


@pytest.mark.promise("P23")
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD", "PATCH"])
def test_a_page_or_another_user_gets_nothing_on_any_route(
    port: int, gateway: CommandGateway, method: str
) -> None:
    for path, (header, values) in itertools.product(_ROUTES, _WRONG.items()):
        for value in values:
            status, _ = _ask(port, method, path, {"command": "x"}, **{header: value})
            assert status in (421, 403, 401), (method, path, header, value)
    assert gateway.waiting() == []


@pytest.mark.promise("P23")
@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/x-www-form-urlencoded"])
def test_what_a_page_may_send_without_asking_is_no_command(
    port: int, gateway: CommandGateway, kind: str | None
) -> None:
    assert _ask(port, "POST", "/v1/run", {"command": "x"}, Content_Type=kind)[0] == 415
    assert gateway.waiting() == []


def test_with_the_token_only_these_routes_and_methods_are_there(port: int) -> None:
    assert {_ask(port, "POST", path, {"command": "x"})[0] for path in ("/", "/v1", "/v1/runs", "/mcp")} == {
        404
    }
    assert _ask(port, "PUT", "/v1/run", {"command": "x"})[0] == 405
    assert _ask(port, "GET", "/v1/run")[0] == 405
    assert _ask(port, "POST", "/v1/run/q-00000000000000-000000000000", {"command": "x"})[0] == 405
