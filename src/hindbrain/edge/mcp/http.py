"""Serves many clients over streamable HTTP, on loopback, behind the checks of `guard`."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hindbrain.base.errors import Busy, UsageError
from hindbrain.edge.mcp.guard import Rules, guarded, hosts_for, is_loopback

if TYPE_CHECKING:
    from hindbrain.edge.mcp.server import Protocol
    from hindbrain.edge.serving.serving import Serving

DEFAULT_PORT = 8737
LOOPBACK = "127.0.0.1"
_LARGEST_BODY = 4_000_000  # bytes; the largest text a tool takes is 1 MB, before JSON's escapes
_GOODBYE_S = 3  # an open stream would keep the server from ending


class Address(NamedTuple):
    """Where to listen. `public` are the names under which other machines reach it; empty: loopback only."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT  # 0: any free one
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


def serve_http(
    protocol: Protocol, serving: Serving, address: Address, token: str, announce: Callable[[str], None]
) -> None:
    """Serve until the process is told to end. `announce` is called with the URL once it listens."""
    import uvicorn
    from mcp.server.transport_security import TransportSecuritySettings

    check_address(address)
    listening = listen(address)
    port = int(listening.getsockname()[1])
    rules = Rules(token, hosts_for(address.host, port, address.public))
    # The SDK checks Host and Origin itself; ours are in front, and cover what it does not route.
    app = protocol.server().streamable_http_app(
        streamable_http_path=rules.path,
        max_request_body_size=_LARGEST_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=sorted(rules.hosts),
            allowed_origins=[f"{rules.scheme}://{host}" for host in sorted(rules.hosts)],
        ),
    )
    config = uvicorn.Config(
        guarded(app, rules), log_config=None, access_log=False, ws="none", http="h11", proxy_headers=False,
        server_header=False, timeout_graceful_shutdown=_GOODBYE_S, lifespan="on",
    )  # fmt: skip
    for name in (signal.SIGTERM, signal.SIGINT):
        # uvicorn ends its serving at these, and then raises them again; the vault is closed after that.
        signal.signal(name, lambda *_: None)
    shown = f"[{address.host}]" if ":" in address.host else address.host
    try:
        announce(f"http://{shown}:{port}{rules.path}")
        serving.warm_up()
        uvicorn.Server(config).run(sockets=[listening])
    finally:
        serving.close()


def listen(address: Address) -> socket.socket:
    """Raises Busy when the port is taken, UsageError when the address is none of this machine's."""
    import errno

    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    host = "127.0.0.1" if address.host.lower() == "localhost" else address.host
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        if hasattr(socket, "SO_EXCLUSIVEADDRUSE"):  # Windows: nobody else may listen beside us
            made.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, address.port))
        made.listen(128)
    except OSError as error:
        made.close()
        if error.errno == errno.EADDRINUSE:
            raise Busy(f"port {address.port} is in use already; give another one: --port N") from error
        raise UsageError(f"can't listen on {address.host}:{address.port}: {error.strerror}") from error
    return made


def token_file(state: Path, named: str) -> Path:
    from hindbrain.edge.mcp.token import TOKEN_FILE

    return Path(named).expanduser().absolute() if named else state / TOKEN_FILE
