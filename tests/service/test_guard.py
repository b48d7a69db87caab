"""Only a request with the right Host, no foreign Origin and the token is served, on every route."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UsageError
from hindbrain.edge.http.address import Address, check_address
from hindbrain.edge.http.guard import Rules, guarded, hosts_for, refusal

TOKEN = "a-token-of-twenty-letters"
RULES = Rules(TOKEN, hosts_for("127.0.0.1", 8737))
ALMOST = b"Bearer " + TOKEN.encode()[:-1]
GOOD = {
    "host": "127.0.0.1:8737",
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
}


def _status(method: str = "POST", path: str = "/mcp", **changed: str | None) -> int:
    headers = {**GOOD, **{name.replace("_", "-"): value for name, value in changed.items()}}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items() if value is not None]
    refused = refusal(method, path, pairs, RULES)
    return 200 if refused is None else refused.status


@pytest.mark.parametrize("host", ["127.0.0.1:8737", "localhost:8737", "LOCALHOST:8737", "[::1]:8737"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_the_owners_client_is_served(method: str, host: str) -> None:
    assert _status(method, host=host) == 200
    assert _status(method, host=host, origin=f"http://{host.lower()}") == 200


WRONG_HOSTS = (
    None, "", "evil.example", "evil.example:8737", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8737.evil.example",
    "localhost:8737@evil.example", "127.0.0.1:8737, evil.example", "0.0.0.0:8737", "2130706433:8737",
)  # fmt: skip
WRONG_ORIGINS = (
    "null", "", "http://evil.example", "https://127.0.0.1:8737", "http://127.0.0.1:8738", "http://127.0.0.1",
    "http://127.0.0.1:8737.evil.example", "http://localhost:8737/", "file://", "chrome-extension://abc",
)  # fmt: skip
WRONG_TOKENS = (
    None, "", "Bearer", "Bearer ", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}",
    f"Bearer {TOKEN.upper()}", f"Bearer x {TOKEN}", "Bearer ümlaut",
)  # fmt: skip
WRONG_KINDS = (
    None,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/jsonp",
    "multipart/form-data",
)


@pytest.mark.promise("P23")
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "OPTIONS", "PUT", "HEAD", "TRACE"])
@pytest.mark.parametrize("path", ["/mcp", "/", "/mcp/", "/healthz", "/../mcp", "//mcp"])
def test_one_wrong_header_is_enough_on_every_route(method: str, path: str) -> None:
    assert {_status(method, path, host=host) for host in WRONG_HOSTS} == {421}
    assert {_status(method, path, origin=origin) for origin in WRONG_ORIGINS} == {403}
    assert {_status(method, path, authorization=token) for token in WRONG_TOKENS} == {401}


@pytest.mark.promise("P23")
def test_a_page_can_not_send_what_browsers_send_without_asking() -> None:
    assert {_status(content_type=kind) for kind in WRONG_KINDS} == {415}
    assert _status(content_type="application/json; charset=utf-8") == 200


def test_with_the_token_only_the_one_route_and_its_methods_are_there() -> None:
    assert {_status(path=path) for path in ("/", "/mcp/", "/MCP", "/mcp/x")} == {404}
    assert {
        _status(method) for method in ("OPTIONS", "PUT", "PATCH", "HEAD", "TRACE", "CONNECT", "post")
    } == {405}


@pytest.mark.promise("P23")
@pytest.mark.parametrize("name", ["host", "authorization", "origin", "content-type"])
def test_a_header_that_is_sent_twice_is_not_believed(name: str) -> None:
    once = [(key.encode(), value.encode()) for key, value in GOOD.items()]
    again = {"origin": b"http://evil.example"}.get(name, GOOD.get(name, "").encode())
    pairs = [*once, (name.encode(), again)]
    assert refusal("POST", "/mcp", pairs, RULES) is not None


@pytest.mark.promise("P23")
@given(
    st.lists(
        st.tuples(
            st.sampled_from([b"Host", b"Origin", b"Authorization", b"Content-Type", b"X-Forwarded-Host"]),
            st.one_of(st.binary(max_size=30), st.sampled_from([b"127.0.0.1:8737", ALMOST])),
        ),
        max_size=8,
    )
)  # fmt: skip
@settings(max_examples=150)
def test_nothing_is_served_to_whoever_does_not_know_the_token(headers: list[tuple[bytes, bytes]]) -> None:
    assert refusal("POST", "/mcp", headers, RULES) is not None


@pytest.mark.promise("P23")
def test_refused_requests_reach_nothing_behind_the_guard() -> None:
    reached: list[str] = []
    sent: list[dict[str, Any]] = []

    async def behind(scope: Any, _: Any, __: Any) -> None:
        reached.append(scope["type"])

    async def receive() -> Any:
        raise AssertionError("the body of a refused request must not be read")

    async def send(message: Any) -> None:
        sent.append(dict(message))

    async def try_all() -> None:
        app = guarded(behind, RULES)
        for method, path in itertools.product(("GET", "POST", "OPTIONS"), ("/mcp", "/")):
            scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": []}
            await app(scope, receive, send)
        await app({"type": "websocket", "path": "/mcp", "headers": []}, receive, send)

    asyncio.run(try_all())
    assert reached == []
    assert {message["status"] for message in sent if "status" in message} == {421}
    assert sent[-1]["type"] == "websocket.close"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "127.0.0.1.nip.io"])
def test_an_address_that_others_reach_needs_its_owners_word(host: str) -> None:
    with pytest.raises(UsageError):
        check_address(Address(host))
    check_address(Address(host, public=("notes.example:443",)))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_needs_none(host: str) -> None:
    check_address(Address(host))


def test_a_server_for_others_answers_to_the_name_that_was_given() -> None:
    rules = Rules(TOKEN, hosts_for("0.0.0.0", 8737, ("notes.example:443",)))
    headers = [(b"host", b"notes.example:443"), (b"authorization", f"Bearer {TOKEN}".encode())]
    assert refusal("GET", "/mcp", headers, rules) is None
    headers[0] = (b"host", b"127.0.0.1:8737")
    assert refusal("GET", "/mcp", headers, rules) is not None
