"""Serves one client over stdin and stdout, until it closes stdin or the process is told to end."""

from __future__ import annotations

import os
import re
import signal
import threading
from collections.abc import Callable
from typing import Any

from hindbrain.edge.mcp.server import Protocol
from hindbrain.edge.serving.serving import Serving
from hindbrain.edge.streams import output_error

# An escaped backslash or a whole character, which stay (group 1), or half a character.
_HALF = re.compile(
    r"(\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)
_REPLACED = "\\ufffd"


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
        await server.run(_Mended(incoming), outgoing, server.create_initialization_options())


class _Mended:
    """A stream of messages in which half characters were replaced by U+FFFD.

    The SDK's parser refuses a line that holds one, and who sent it would never get an answer.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def receive(self) -> Any:
        return _mended(await self._stream.receive())

    def __aiter__(self) -> _Mended:
        return self

    async def __anext__(self) -> Any:
        return _mended(await self._stream.__anext__())

    async def __aenter__(self) -> _Mended:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *failure: Any) -> Any:
        return await self._stream.__aexit__(*failure)


def _mended(item: Any) -> Any:
    """`item`; the message itself in place of the error of a line that could not be parsed for that."""
    from pydantic import ValidationError

    if not isinstance(item, ValidationError):
        return item
    line = item.errors(include_url=False)[0].get("input")
    whole = _HALF.sub(lambda found: found[1] or _REPLACED, line) if isinstance(line, str) else line
    if whole == line:
        return item
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except ValidationError:
        return item


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
