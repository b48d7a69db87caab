"""A web page or another user of the machine can't reach the service, on any route; nonsense can't stop it."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from service_runs import PATIENCE_S, ServiceRun
from test_service_routes import BODIES

from hindbrain.edge.http import json_server
from hindbrain.edge.service.routes import ROUTES

_HOSTS = (None, "127.0.0.1:{port}", "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1")
_ORIGINS = (None, "http://127.0.0.1:{port}", "http://evil.example", "null", "https://127.0.0.1:{port}", "")
_TOKENS = (None, "Bearer {token}", "Bearer wrong", "Basic {token}", "{token}", "Bearer", "Bearer {token}x")
_KINDS = (None, "application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "DANCE")
_GOOD_HOSTS = ("127.0.0.1:{port}",)
_GOOD_ORIGINS = (None, "http://127.0.0.1:{port}")


@pytest.mark.promise("P23")
def test_no_route_is_served_unless_host_origin_token_kind_and_method_are_right(service: ServiceRun) -> None:
    """Every route with every pair of values, and the rest right; only what is right in all is served."""
    service.start()
    port, token, before = service.port, service.token, service.requests()
    given = {
        "Host": _HOSTS,
        "Origin": _ORIGINS,
        "Authorization": _TOKENS,
        "Content_Type": _KINDS,
        "method": _METHODS,
    }
    served = 0
    for route in ROUTES:
        right = {
            "Host": "127.0.0.1:{port}", "Origin": None, "Authorization": "Bearer {token}",
            "Content_Type": "application/json", "method": ROUTES[route].method,
        }  # fmt: skip
        asked = {tuple(right.values())}
        for one, other in itertools.combinations(given, 2):
            for value, another in itertools.product(given[one], given[other]):
                asked.add(tuple({**right, one: value, other: another}.values()))
        for values in asked:
            wanted = dict(zip(right, values, strict=True))
            filled = {
                name: value.format(port=port, token=token) if isinstance(value, str) else None
                for name, value in wanted.items()
            }
            # An unknown field: what passes the checks is refused for it, so that nothing is done.
            answer = service.ask(
                f"{route}?colour=red" if filled["method"] == "GET" else route, {"colour": "red"}, **filled
            )
            may = (
                wanted["Host"] in _GOOD_HOSTS
                and wanted["Origin"] in _GOOD_ORIGINS
                and wanted["Authorization"] == "Bearer {token}"
                and wanted["method"] == right["method"]
                and (wanted["method"] == "GET" or wanted["Content_Type"] == "application/json")
            )
            assert (answer.status == 400 and answer.code == "usage") == may, (route, wanted, answer)
            assert may or not 200 <= answer.status < 300
            served += may
    assert served > len(ROUTES)
    assert service.requests() == before


@pytest.mark.promise("P23")
@pytest.mark.parametrize("path", ["/", "/v1", "/v1/", "/v1/none", "/v1/search/", "/V1/search", "/mcp"])
def test_there_is_nothing_beside_the_routes(service: ServiceRun, path: str) -> None:
    service.start()
    for method in ("GET", "POST"):
        assert service.ask(path, {"query": "tea"}, method=method).status == 404
        assert service.ask(path, {"query": "tea"}, method=method, Authorization=None).status == 401


@pytest.mark.promise("P23")
def test_it_listens_on_loopback_alone(service: ServiceRun) -> None:
    service.start()
    other = next(
        (str(address[4][0]) for address in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)
         if not str(address[4][0]).startswith("127.")), "",
    )  # fmt: skip
    if not other:
        pytest.skip("this machine has no address but loopback")
    with pytest.raises(OSError):
        socket.create_connection((other, service.port), timeout=5).close()


def test_the_token_is_kept_from_others_and_out_of_answers(service: ServiceRun) -> None:
    service.start()
    assert (service.state / "service-token").stat().st_mode & 0o077 == 0
    told = service.ask("search", {"query": "tea"}, Authorization="Bearer wrong").told
    assert service.token not in json.dumps(told)
    assert "mcp" not in json.dumps(told)
    assert service.token not in json.dumps(service.status())


@pytest.mark.parametrize(
    "body",
    [
        b"", b"null", b"[]", b'"tea"', b"7", b"{", b'{"query": "tea"', b"\xff\xfe\x00", b'{"query": "\xff"}',
        b'{"query": NaN}', b"[" * 200_000, b'{"query":' * 100_000, b'{"query": ' + b"9" * 10_000 + b"}",
    ],
    ids=range(13),
)  # fmt: skip
def test_a_body_that_is_no_object_is_told_so(service: ServiceRun, body: bytes) -> None:
    service.start()
    answer = service.ask("search", body)
    assert (answer.status, answer.code) == (400, "usage")
    assert service.ask("search", b'{"colour": "red"}').code == "usage"


def test_a_body_that_is_too_large_is_refused_and_its_sender_hears_why(served: ServiceRun) -> None:
    for route in ("search", "said", "context"):
        answer = served.ask(route, b'{"query": "' + b"x" * 10_000_000 + b'"}')
        assert (answer.status, answer.code) == (413, "refused"), route
    assert served.ask("search", {"query": "tea"}).status == 200
    assert served.status()["service"]["refused"]["size"] == 3


@pytest.mark.parametrize("length", [None, "-1", "many", "0x10", "9" * 30, "1, 2"])
def test_a_body_whose_length_is_not_told_is_not_read(served: ServiceRun, length: str | None) -> None:
    assert served.ask("search", {"query": "tea"}, Content_Length=length).status in (411, 413)
    assert served.ask("search", {"query": "tea"}, Transfer_Encoding="chunked").status == 411
    assert served.ask("search", {"query": "tea"}).status == 200


def test_who_sends_half_a_body_or_nothing_is_let_go(
    served: ServiceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_server, "_SLOW_S", 0.5)
    head = (
        f"POST /v1/said HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
    )
    head += "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    silent = [served.connected() for _ in range(6)]
    for connection, sent in zip(
        silent, (b"", b"POST ", head.encode()[:40], *[head.encode() + b'{"ses'] * 3), strict=True
    ):
        connection.sendall(sent)
    silent[3].shutdown(socket.SHUT_WR)  # and says no more
    assert served.ask("search", {"query": "tea"}).status == 200
    for connection in silent:
        with connection:
            answer = b"".join(iter(lambda one=connection: one.recv(65_536), b""))  # type: ignore[misc]
            assert b" 200 " not in answer
    assert served.ask("status").told["waiting"] == 0


@pytest.mark.parametrize(
    "line",
    [
        b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /" + b"x" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 5_000 + b"\r\n",
    ],
    ids=range(6),
)
def test_what_is_no_request_is_refused(served: ServiceRun, line: bytes) -> None:
    with served.connected() as connection:
        connection.sendall(line)
        connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    assert b" 200 " not in answer
    assert served.ask("search", {"query": "tea"}).status == 200


def test_sixty_four_clients_at_once_are_all_answered(served: ServiceRun) -> None:
    together = threading.Barrier(64)
    routes = [name for name in BODIES if name != "flushed"]

    def ask(number: int) -> tuple[int, str]:
        together.wait(PATIENCE_S)
        route = routes[number % len(routes)]
        answer = served.ask(
            route, {**BODIES[route], **({"session": f"s{number}"} if "session" in BODIES[route] else {})}
        )
        return answer.status, answer.told.get("error", {}).get("code", "")

    with ThreadPoolExecutor(64) as clients:
        answers = list(clients.map(ask, range(64)))
    assert set(answers) == {(200, "")}
    assert served.ask("search", {"query": "tea"}).status == 200


def test_silent_clients_keep_nobody_out(served: ServiceRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_server, "_MOST_CONNECTIONS", 8)
    silent = [served.connected() for _ in range(20)]
    for connection in silent:
        with contextlib.suppress(OSError):  # let go already
            connection.sendall(b"POST ")
    assert served.ask("search", {"query": "tea"}).status == 200
    for connection in silent:
        connection.close()


@contextlib.contextmanager
def all_places_at_work(served: ServiceRun, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Two requests are being answered, and there are no more places. Gives what lets them go on."""
    began, go_on, real = threading.Semaphore(0), threading.Event(), ROUTES["card"]

    def wait(app: Any, given: Any) -> Any:
        began.release()
        go_on.wait(PATIENCE_S)
        return real.do(app, given)

    monkeypatch.setitem(ROUTES, "card", real._replace(do=wait))
    monkeypatch.setitem(ROUTES, "flush-plan", ROUTES["flush-plan"]._replace(do=wait))
    with ThreadPoolExecutor(2) as clients:
        answers = [clients.submit(served.ask, route) for route in ("card", "flush-plan")]
        try:
            assert all(began.acquire(timeout=PATIENCE_S) for _ in answers)
            # Not earlier: a connection from before the test may still be about to close, and counts.
            monkeypatch.setattr(json_server, "_MOST_CONNECTIONS", 2)
            yield go_on
        finally:
            go_on.set()
        assert [answer.result(PATIENCE_S).status for answer in answers] == [200, 200]


def test_who_comes_while_all_places_are_at_work_waits_for_one(
    served: ServiceRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_server, "_PLACE_S", PATIENCE_S)
    came, take = threading.Semaphore(0), json_server._Server.process_request

    def counted(server: json_server._Server, request: Any, client_address: Any) -> None:
        take(server, request, client_address)
        came.release()

    with all_places_at_work(served, monkeypatch) as go_on, ThreadPoolExecutor(6) as others:
        monkeypatch.setattr(json_server._Server, "process_request", counted)
        waiting = [others.submit(served.ask, "search", {"query": "tea"}) for _ in range(6)]
        assert all(came.acquire(timeout=PATIENCE_S) for _ in waiting)
        go_on.set()
        assert [answer.result(PATIENCE_S).status for answer in waiting] == [200] * 6


@pytest.mark.parametrize("most_waiting", [8, 0])
def test_who_waits_too_long_for_a_place_hears_when_to_try_again(
    served: ServiceRun, monkeypatch: pytest.MonkeyPatch, most_waiting: int
) -> None:
    monkeypatch.setattr(json_server, "_PLACE_S", 0.05)
    monkeypatch.setattr(json_server, "_MOST_WAITING", most_waiting)
    with all_places_at_work(served, monkeypatch):
        for size in (0, 900_000):  # of a body that nobody reads
            connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE_S)
            connection.request("POST", "/v1/search", b"x" * size)
            answer = connection.getresponse()
            told = json.loads(answer.read())
            assert (answer.status, told["error"]["code"]) == (503, "busy")
            assert int(answer.headers["Retry-After"]) > 0
            connection.close()
    assert _is_served(served)


def _is_served(service: ServiceRun) -> bool:
    try:
        return service.ask("search", {"query": "tea"}).status == 200
    except OSError:
        return False


@pytest.mark.skipif(os.name == "nt", reason="descriptors are no small numbers here")
def test_a_daemon_with_many_open_files_knows_who_is_there(served: ServiceRun) -> None:
    """The connection gets a descriptor that `select.select` has no room for."""
    with contextlib.ExitStack() as many:
        while many.enter_context(open(os.devnull, "rb")).fileno() < 1_100:
            pass
        assert served.ask("search", {"query": "tea"}).status == 200
        assert served.status()
