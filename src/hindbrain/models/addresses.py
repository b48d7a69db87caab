"""Which addresses a request may go to: an owner's own machines only where they are plainly written.

Decides on spellings and on what a name resolves to. A name of the outside world that resolves to an inner
address (a rebound name, a poisoned resolver) is not connected to. The address that was checked is the one
that is connected to, so a name can't change its meaning in between.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies_environment

from hindbrain.base.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import httpcore

# Endings that no public name has; a name without a dot is a container or a box next door.
_INNER_ENDINGS = (
    ".localhost",
    ".local",
    ".lan",
    ".home",
    ".home.arpa",
    ".internal",
    ".intranet",
    ".localdomain",
)
_METADATA_NAMES = frozenset({"metadata.google.internal", "metadata.goog", "instance-data", "metadata"})
_METADATA = frozenset(
    ipaddress.ip_address(address) for address in ("169.254.169.254", "100.100.100.200", "fd00:ec2::254")
)
# `2130706433`, `0x7f.1`, `0177.0.0.1`, `127.1`: resolvers take them for 127.0.0.1.
_ODD_NUMBERS = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}\.?")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def refusal(host: str) -> str:
    """Why no provider is asked at this host; "" if it may be."""
    if unicodedata.normalize("NFKC", host).lower() != host.lower() or re.search("[%\u3002]", host):
        return "is spelled in a way that hides its address"
    if host.lower().rstrip(".") in _METADATA_NAMES:
        return "is where a cloud keeps the keys of a machine"
    address = _as_address(host)
    if address is None:
        return "hides its address in odd numbers" if _ODD_NUMBERS.fullmatch(host.lower()) else ""
    if isinstance(address, ipaddress.IPv6Address) and (address.ipv4_mapped or address.sixtofour):
        return "hides an IPv4 address"
    return _refused_address(address)


def is_inner(host: str) -> bool:
    """Is this host, by its spelling or the owner's NO_PROXY, a machine of their own? No name is looked up."""
    name = host.lower().rstrip(".")
    address = _as_address(name)
    if address is not None:
        return address.is_loopback or address.is_private
    if name.endswith(_INNER_ENDINGS) or ("." not in name and ":" not in name and name[:1].isalpha()):
        return True
    return _is_in_no_proxy(name)


def addresses_of(host: str, port: int) -> list[str]:
    """What `host` resolves to, or ModelError where one of the addresses is no place for it."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    inner = is_inner(host)
    for text in addresses:
        address = ipaddress.ip_address(text.partition("%")[0])
        mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        reason = _refused_address(mapped or address)
        if not reason and not inner and not (mapped or address).is_global:
            reason = "is an address of an inner network; if it is meant, name the host in NO_PROXY"
        if reason:
            raise ModelError(f"{host!r} leads to {text}, which {reason}; nothing was sent")
    return addresses


def guarded_backend() -> httpcore.NetworkBackend:
    """Connects to checked addresses only."""
    import httpcore

    class Guarded(httpcore.SyncBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore.NetworkStream:
            try:
                addresses = addresses_of(host, port)
            except OSError as error:
                raise httpcore.ConnectError(str(error)) from error
            for at, address in enumerate(addresses, 1):
                try:
                    return super().connect_tcp(address, port, timeout, local_address, socket_options)
                except (httpcore.ConnectError, httpcore.ConnectTimeout):
                    if at == len(addresses):
                        raise
            raise httpcore.ConnectError(f"{host!r} has no address")

    return Guarded()


def _as_address(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _refused_address(address: _Address) -> str:
    if address in _METADATA:
        return "is where a cloud keeps the keys of a machine"
    if address.is_link_local or address.is_unspecified or address.is_multicast:
        return "is no address of a service"
    return ""


def _is_in_no_proxy(name: str) -> bool:
    """`NO_PROXY=*` does not count: it means "use no proxy", not "every host is mine"."""
    listed = getproxies_environment().get("no", "").lower().split(",")
    own = [entry.strip().partition(":")[0].lstrip(".") for entry in listed]
    return any(entry and (name == entry or name.endswith(f".{entry}")) for entry in own)
