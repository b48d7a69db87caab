"""Where a server listens: on loopback, unless its owner says under which name others reach it."""

from __future__ import annotations

import socket
from typing import NamedTuple

from hindbrain.base.errors import Busy, UsageError
from hindbrain.edge.http.guard import is_loopback

LOOPBACK = "127.0.0.1"
_BACKLOG = 128


class Address(NamedTuple):
    """Where to listen. `public` are the names under which other machines reach it; empty: loopback only."""

    host: str = LOOPBACK
    port: int = 0  # 0: any free one
    public: tuple[str, ...] = ()


def check_address(address: Address) -> None:
    """Raises UsageError for an address that others reach, unless its owner says under which name."""
    if is_loopback(address.host) or address.public:
        return
    raise UsageError(
        f"{address.host!r} can be reached from other machines, and what is sent there is not encrypted. Stay "
        "on 127.0.0.1 and let a proxy with TLS (caddy, nginx, ssh -L) forward to it; or name the host that "
        "clients use: --allow-remote NAME:PORT"
    )


def listen(address: Address, *, instead: str = "give another one: --port N") -> socket.socket:
    """Raises Busy when the port is taken, UsageError when the address is none of this machine's.

    `instead`: what its owner can do when the port is taken.
    """
    import errno

    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    host = LOOPBACK if address.host.lower() == "localhost" else address.host
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: nobody else may listen beside us
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, address.port))
        made.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        made.close()
        if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
            raise Busy(f"port {address.port} is in use already; {instead}") from error
        why = error.strerror if isinstance(error, OSError) else "a port is a number from 1 to 65535"
        raise UsageError(f"can't listen on {address.host}:{address.port}: {why}") from error
    return made
