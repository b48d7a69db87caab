"""Many clients over HTTP, and those that must not be served."""

from __future__ import annotations

import asyncio
import http.client
import json
import subprocess
import sys
from typing import Any

import pytest
from mcp import Client
from mcp_clients import HttpServer, Servers, text_of

from hindbrain.base.errors import Busy, UsageError
from hindbrain.edge.http.address import Address, listen
from workbench import Vault

GREETING = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
)


@pytest.mark.promise("P11")
@pytest.mark.parametrize("rounds", [4, pytest.param(40, marks=pytest.mark.slow)])
def test_eight_clients_at_once_lose_nothing(servers: Servers, notes: Vault, rounds: int) -> None:
    notes.write("Shared.md", "# Shared\n")
    server = HttpServer(servers)

    async def agent(number: int) -> None:
        async with server.client() as client:
            for turn in range(rounds):
                word = f"agent{number}turn{turn}"
                for tool, arguments in (
                    ("vault_append", {"path": "Shared.md", "content": f"line {word}"}),
                    ("remember", {"fact": f"The word of {word} is spoken here."}),
                    ("recall", {"topic": word}),
                ):
                    result = await client.call_tool(tool, arguments)
                    assert not result.is_error, text_of(result)

    async def all_at_once() -> None:
        await asyncio.gather(*(agent(number) for number in range(8)))

    with server:
        asyncio.run(all_at_once())
        assert server.end() == 0  # told to end: what waited in a batch is in notes afterwards
    shared = (notes.root / "Shared.md").read_text(encoding="utf-8")
    everything = "".join(path.read_text(encoding="utf-8") for path in notes.root.rglob("*.md"))
    for number in range(8):
        for turn in range(rounds):
            assert shared.count(f"line agent{number}turn{turn}\n") == 1
            assert f"of agent{number}turn{turn} is" in everything
    assert b"Traceback" not in b"".join(server.log)
    assert server.token.encode() not in b"".join(server.log)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to send")
def test_who_knows_its_address_may_end_it_at_once(servers: Servers) -> None:
    assert HttpServer(servers).end() == 0


def test_tools_resources_and_prompts_are_there_over_http(http_server: HttpServer) -> None:
    async def ask() -> tuple[Any, ...]:
        async with http_server.client() as client:
            return (
                [tool.name for tool in (await client.list_tools()).tools],
                (await client.read_resource("note:///Tea.md")).contents[0].text,  # type: ignore[union-attr]
                [prompt.name for prompt in (await client.list_prompts()).prompts],
                (await client.call_tool("vault_read", {"path": "nope"})).is_error,
            )

    tools, tea, prompts, failed = asyncio.run(ask())
    assert "recall" in tools
    assert "70 degrees" in tea
    assert prompts == ["recall", "review-inbox"]
    assert failed


def _request(server: HttpServer, method: str = "POST", path: str = "/mcp", **changed: str | None) -> int:
    headers: dict[str, str | None] = {
        "Host": f"127.0.0.1:{server.port}",
        "Authorization": f"Bearer {server.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        **{name.replace("_", "-"): value for name, value in changed.items()},
    }
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers.items():
        if value is not None:
            connection.putheader(name, value)
    body = GREETING.encode() if method == "POST" else b""
    if body:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.promise("P23")
def test_a_wrong_host_origin_token_route_or_method_is_refused(http_server: HttpServer) -> None:
    assert _request(http_server) == 200
    for path in ("/mcp", "/", "/docs", "/.well-known/oauth-protected-resource"):
        for method in ("GET", "POST", "DELETE", "OPTIONS", "PUT"):
            assert _request(http_server, method, path, Host="evil.example") == 421
            assert _request(http_server, method, path, Host=f"evil.example:{http_server.port}") == 421
            assert _request(http_server, method, path, Origin="http://evil.example") == 403
            assert _request(http_server, method, path, Origin="null") == 403
            assert _request(http_server, method, path, Authorization=None) == 401
            assert _request(http_server, method, path, Authorization="Bearer wrong") == 401
    assert _request(http_server, path=f"/mcp?token={http_server.token}", Authorization=None) == 401
    assert _request(http_server, path="/other") == 404
    assert _request(http_server, "PUT") == 405
    assert _request(http_server, "OPTIONS") == 405
    assert _request(http_server, Content_Type="text/plain") == 415
    assert _request(http_server) == 200


def test_a_body_that_is_too_large_is_refused_and_the_server_goes_on(http_server: HttpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", http_server.port, timeout=20)
    headers = {"Authorization": f"Bearer {http_server.token}", "Content-Type": "application/json"}
    connection.request("POST", "/mcp", b" " * 5_000_000, headers)
    assert connection.getresponse().status == 413
    connection.close()
    assert _request(http_server) == 200


def test_the_token_can_be_asked_for(shared: Servers, http_server: HttpServer) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "hindbrain", "mcp", "token", "--vault", str(shared.root)],
        capture_output=True, text=True, check=True, env=shared.environ,
     encoding="utf-8")  # fmt: skip
    assert ran.stdout.strip() == http_server.token


def test_it_does_not_listen_where_others_reach_it(shared: Servers) -> None:
    command = shared.command("--http", "--host", "0.0.0.0")
    ran = subprocess.run(
        command, capture_output=True, text=True, check=False, env=shared.environ, timeout=60, encoding="utf-8"
    )
    assert ran.returncode == 2
    assert "TLS" in ran.stderr


def test_a_port_in_use_is_told() -> None:
    with listen(Address(port=0)) as taken, pytest.raises(Busy):
        listen(Address(port=int(taken.getsockname()[1])))


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(UsageError):
        listen(Address("192.0.2.1", 0))


@pytest.mark.slow
def test_progress_reaches_a_client_over_http(servers: Servers, notes: Vault) -> None:
    for n in range(400):
        notes.write(f"Many/{n:04}.md", f"# Note {n}\n\nOne of many words about number {n}.\n")
    server = HttpServer(servers)
    heard: list[float] = []

    async def progress(done: float, _: float | None, __: str | None) -> None:
        heard.append(done)

    async def ask() -> str:
        async with server.client() as client:
            assert isinstance(client, Client)
            result = await client.call_tool("recall", {"topic": "number 399"}, progress_callback=progress)  # type: ignore[arg-type]
            return text_of(result)

    with server:
        assert "Many/0399" in asyncio.run(ask())
    assert heard == sorted(set(heard))
