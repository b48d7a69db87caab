"""Serves one client over stdin and stdout, until it closes stdin or the process is told to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from hindbrain.edge.mcp.server import Protocol
from hindbrain.edge.serving.serving import Serving


def serve_stdio(protocol: Protocol, serving: Serving) -> None:
    import anyio

    _end_on_signals(serving.close)
    try:
        anyio.run(_serve, protocol.server())
    finally:
        serving.close()


async def _serve(server: Any) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _end_on_signals(close: Callable[[], None]) -> None:
    """Put everything in order and go. The thread that reads stdin can't be woken, so nothing waits for it."""

    def end() -> None:
        try:
            close()
        finally:
            os._exit(0)

    def ending(*_: object) -> None:
        threading.Thread(target=end, name="hindbrain-ending").start()

    signal.signal(signal.SIGTERM, ending)
    signal.signal(signal.SIGINT, ending)
