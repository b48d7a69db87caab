"""Serves many clients over streamable HTTP, on loopback, behind the checks of `guard`."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.edge.http.address import Address, check_address, listen
from hindbrain.edge.http.guard import Rules, guarded, hosts_for

if TYPE_CHECKING:
    from hindbrain.edge.mcp.server import Protocol
    from hindbrain.edge.serving.serving import Serving

DEFAULT_PORT = 8737
TOKEN_FILE = "mcp-token"
_LARGEST_BODY = 4_000_000  # bytes; the largest text a tool takes is 1 MB, before JSON's escapes
_GOODBYE_S = 3  # an open stream would keep the server from ending


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
    server = uvicorn.Server(config)

    def ending(*_: object) -> None:
        server.should_exit = True

    for name in (signal.SIGTERM, signal.SIGINT):
        # Heard from before anybody knows the address. While it serves, uvicorn ends at these itself, and then
        # raises them again; the vault is closed after that.
        signal.signal(name, ending)
    shown = f"[{address.host}]" if ":" in address.host else address.host
    try:
        announce(f"http://{shown}:{port}{rules.path}")
        serving.warm_up()
        server.run(sockets=[listening])
    finally:
        serving.close()


def token_file(state: Path, named: str) -> Path:
    return Path(named).expanduser().absolute() if named else state / TOKEN_FILE
