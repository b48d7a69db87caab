"""Whoever asks can see that it is our service that listens, before they say anything to it."""

from __future__ import annotations

import hashlib
import hmac
import http.client

import pytest
from service_runs import PATIENCE_S, ServiceRun

_NONCE = "0123456789abcdef" * 4


def _challenge(port: int, **headers: str) -> tuple[int, str]:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        asking.request("GET", "/v1/status", headers={"Host": f"127.0.0.1:{port}", **headers})
        answer = asking.getresponse()
        answer.read()
        return answer.status, answer.headers.get("WWW-Authenticate", "")
    finally:
        asking.close()


@pytest.mark.promise("P23")
def test_it_proves_that_it_knows_the_token_and_does_not_tell_it(service: ServiceRun) -> None:
    service.start()
    proof = hmac.new(service.token.encode(), f"hindbrain {_NONCE}".encode(), hashlib.sha256).hexdigest()
    status, told = _challenge(service.port, **{"X-Hindbrain-Nonce": _NONCE})
    assert (status, told) == (401, f'Bearer realm="hindbrain", proof="{proof}"')
    assert service.token not in told
    assert service.daemon.status()["service"]["refused"] == {}  # type: ignore[index]  # nobody knocks who should not


@pytest.mark.parametrize("nonce", ["", "short", "x" * 64, "0" * 129, "0" * 31, "Ω"])
def test_what_is_no_nonce_gets_no_proof(service: ServiceRun, nonce: str) -> None:
    service.start()
    status, told = _challenge(service.port, **{"X-Hindbrain-Nonce": nonce.encode().decode("latin-1")})
    assert (status, told) == (401, 'Bearer realm="hindbrain"')


def test_a_wrong_token_gets_no_proof(service: ServiceRun) -> None:
    service.start()
    status, told = _challenge(service.port, **{"X-Hindbrain-Nonce": _NONCE, "Authorization": "Bearer wrong"})
    assert (status, told) == (401, 'Bearer realm="hindbrain"')
    assert service.daemon.status()["service"]["refused"] == {"token": 1}  # type: ignore[index]


@pytest.mark.promise("P23")
def test_a_web_page_gets_no_proof(service: ServiceRun) -> None:
    service.start()
    status, told = _challenge(service.port, **{"X-Hindbrain-Nonce": _NONCE, "Origin": "http://evil.example"})
    assert (status, told) == (403, "")
