"""Serves one client over stdin and stdout, until it closes stdin or the process is told to end."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from typing import Any

from hindbrain.edge.mcp.server import Protocol
from hindbrain.edge.serving.serving import Serving
from hindbrain.edge.streams import output_error


def serve_stdio(protocol: Protocol, serving: Serving) -> None:
    import anyio

    _end_on_signals(serving.close)
    try:
        anyio.run(_serve, protocol.server())
    except BaseExceptionGroup as group:
        failed, other = group.split(OSError)
        if failed is None or other is not None:
            raise
        raise output_error(_first(failed)) from group  # the client has gone, or its pipe can't be written
    finally:
        serving.close()


def _first(group: BaseExceptionGroup[OSError]) -> OSError:
    inner = group.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner


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
