"""Provider addresses can't be turned inward: the real client, a real service on the loopback, no request."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from loopback_service import Answer, Service

from hindbrain.base.errors import ConfigError, HindbrainError, ModelError
from hindbrain.models.addresses import addresses_of, is_inner
from hindbrain.models.chat import ChatSettings, make_chat
from hindbrain.models.embedder import EmbeddingSettings
from hindbrain.models.http import HttpClient, checked_url
from hindbrain.models.select import make_embedder

pytestmark = pytest.mark.promise("P25")
# Ways to write this machine, or the place where a cloud keeps keys, that an owner would not choose.
DISGUISED = (
    "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "017700000001", "127.1",
    "127.0.1", "0127.0.0.1",
    "127.0.0.1.", "0", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:0001]",
    "[2002:7f00:1::]", "１２７.0.0.1", "127。0。0。1", "①②⑦.0.0.1", "127.0.0.1%2e", "[fe80::1%25lo]",
    "169.254.169.254", "[::ffff:169.254.169.254]", "2852039166", "0xa9fea9fe", "[fd00:ec2::254]",
    "100.100.100.200",
    "metadata.google.internal", "metadata", "METADATA.GOOGLE.INTERNAL.", "169.254.170.2", "[fe80::1]",
    "224.0.0.1",
)  # fmt: skip
# What a public name may be made to resolve to.
INNER = (
    "127.0.0.1", "::1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.100.100.200",
    "fd00:ec2::254",
    "fc00::1", "fe80::1", "0.0.0.0", "::", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "100.64.0.1",
    "198.18.0.1",
)  # fmt: skip
Resolve = Callable[[dict[str, list[str]]], list[str]]


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Resolve]:
    """Let names resolve as told, one answer of a list after the other; returns what was asked."""
    real = socket.getaddrinfo
    asked: list[str] = []

    def set_names(names: dict[str, list[str]]) -> list[str]:
        def lookup(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
            if host not in names:
                return real(host, port, *args, **kwargs)
            asked.append(host)
            answers = names[host]
            address = answers.pop(0) if len(answers) > 1 else answers[0]
            family = socket.AF_INET6 if ":" in address else socket.AF_INET
            return [(family, socket.SOCK_STREAM, 6, "", (address, port))]

        monkeypatch.setattr(socket, "getaddrinfo", lookup)
        return asked

    yield set_names


def port_of(service: Service) -> int:
    return urlsplit(service.url).port or 0


@pytest.mark.parametrize("host", DISGUISED)
def test_a_disguised_address_is_never_asked(service: Service, host: str) -> None:
    for scheme in ("http", "https"):
        url = f"{scheme}://{host}:{port_of(service)}/v1"
        with pytest.raises(ConfigError):
            make_embedder(EmbeddingSettings("openai", model="m", base_url=url), {})
        with pytest.raises(ConfigError):
            make_chat(ChatSettings("openai", "m", url), {})
    assert service.seen == []


@pytest.mark.parametrize("address", INNER)
def test_a_public_name_that_leads_inward_is_not_connected_to(resolve: Resolve, address: str) -> None:
    resolve({"embed.example.com": [address]})
    with pytest.raises(ModelError):
        addresses_of("embed.example.com", 443)


def test_a_rebound_name_gets_no_request(service: Service, resolve: Resolve) -> None:
    """The name was public when it was looked up first, and is this machine when it counts."""
    asked = resolve({"embed.example.com": ["93.184.215.14", "127.0.0.1"]})
    url = f"http://embed.example.com:{port_of(service)}/v1"
    assert addresses_of("embed.example.com", 80) == ["93.184.215.14"]
    for client in (HttpClient(), HttpClient()):
        with pytest.raises(HindbrainError):
            client.post_json(url, {"note": "text"}, timeout_s=5, retries=0)
        client.close()
    assert len(asked) == 3
    assert service.seen == []


def test_the_address_that_was_checked_is_the_one_that_is_asked(service: Service, resolve: Resolve) -> None:
    """A second look-up between the check and the connection would be a way around it."""
    asked = resolve({"gpu.lan": ["127.0.0.1", "10.255.255.1"]})
    service.next = [Answer(body={})]
    HttpClient().post_json(f"http://gpu.lan:{port_of(service)}/v1", {}, timeout_s=5, retries=0)
    assert asked == ["gpu.lan"]
    assert len(service.seen) == 1


@pytest.mark.parametrize(
    "target", [f"http://{host}/x" for host in DISGUISED] + ["http://127.0.0.1/", "/other"]
)
def test_no_redirect_of_a_real_service_is_followed(
    service: Service, other_service: Service, target: str
) -> None:
    target = target.replace("127.0.0.1/", f"127.0.0.1:{port_of(other_service)}/")
    location = target.encode().decode("latin-1")  # as bytes on the wire
    service.next = [Answer(status=307, headers={"Location": location}, body={})]
    client = HttpClient()
    with pytest.raises(ModelError):
        client.post_json(service.url, {}, timeout_s=5, retries=0)
    client.close()
    assert len(service.seen) == 1
    assert other_service.seen == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_what_the_owner_plainly_wrote_is_asked(service: Service, host: str) -> None:
    service.next = [Answer(body={})]
    HttpClient().post_json(checked_url(f"http://{host}:{port_of(service)}/v1"), {}, timeout_s=5, retries=0)
    assert len(service.seen) == 1


def test_a_name_that_the_owner_calls_their_own_may_lead_inward(
    service: Service, resolve: Resolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve({"gpu.example.com": ["127.0.0.1"], "metadata.example.com": ["169.254.169.254"]})
    url = f"http://gpu.example.com:{port_of(service)}/v1"
    service.next = [Answer(body={})]
    monkeypatch.setenv("NO_PROXY", "*")
    assert not is_inner("gpu.example.com")
    monkeypatch.setenv("NO_PROXY", "localhost, .example.com")
    HttpClient().post_json(url, {}, timeout_s=5, retries=0)
    assert len(service.seen) == 1
    with pytest.raises(ModelError):  # never that
        addresses_of("metadata.example.com", 80)


@pytest.mark.parametrize("host", ["8.8.8.8", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_taken(resolve: Resolve, host: str) -> None:
    assert ipaddress.ip_address(host).is_global
    resolve({"api.example.com": [host]})
    assert addresses_of("api.example.com", 443) == [host]
