"""The doors as a journey uses them, in this process: command line, MCP, HTTP service and hooks."""

from __future__ import annotations

import asyncio
import json
import re
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolRequestParams, TextContent

from command_runs import Ran
from hindbrain.edge.daemon.vaults import Vaults
from hindbrain.edge.hooks.doing import Doing
from hindbrain.edge.hooks.hosts import host_named
from hindbrain.edge.http.guard import Rules
from hindbrain.edge.http.json_server import Asked
from hindbrain.edge.main import main
from hindbrain.edge.mcp.server import Protocol
from hindbrain.edge.opening import open_app
from hindbrain.edge.service.record import Record
from hindbrain.edge.service.routes import ROUTES
from hindbrain.edge.service.service import Service
from hindbrain.edge.serving.serving import Serving
from hindbrain.memory.tools import tools_of


class CommandLine:
    """Runs commands on a vault. A command that fails, or says `internal`, fails the test."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def __call__(self, *words: str) -> Ran:
        ran = self.any(*words)
        assert ran.code == 0, f"{words}: {ran.code}\n{ran.out}\n{ran.err}"
        return ran

    def any(self, *words: str) -> Ran:
        """Run a command that may fail."""
        self._capsys.readouterr()
        ended = main([*words[:1], "--vault", str(self.root), *words[1:]])
        ran = Ran(ended, *self._capsys.readouterr())
        assert "internal" not in ran.err and "Traceback" not in ran.err, f"{words}\n{ran.err}"
        return ran

    def data(self, *words: str) -> Any:
        return self(*words, "--json").data


def hook(root: Path, event: str, *, host: str = "claude-code", **payload: object) -> str:
    """What a host gets back at an event that happens in the vault. A failure fails the test."""
    known = host_named(host)
    assert known is not None
    happening = known.event(event)
    assert happening is not None
    call = Doing(known, happening, time.monotonic())
    sent = {"session_id": "s-1", "cwd": str(root), "hook_event_name": event, **payload}
    answer = call.answer(lambda: json.dumps(sent).encode())
    call.finish(answer)
    assert not call.note, call.note
    return answer.text


class Doors:
    """One vault behind every door."""

    def __init__(self, hb: CommandLine, machine: Path) -> None:
        self.hb = hb
        self._serving = Serving(lambda: open_app(Namespace(vault=str(hb.root)), warm=True), keep=False)
        self._protocol = Protocol(self._serving, tools_of("all"), structured=True)
        self._vaults = Vaults(machine / "state", lambda _: False, lambda _: False)
        self._service = Service(self._vaults, Rules("token", frozenset()), Record(), lambda: None)

    def cli(self, *words: str) -> Any:
        """The JSON of a command; of one that fails, the code of the error."""
        ran = self.hb.any(*words, "--json")
        return ran.data["error"]["code"] if ran.code else ran.data

    def mcp(self, tool: str, **arguments: object) -> Any:
        """The data of a tool's result; of one that fails, the code of the error."""
        params = CallToolRequestParams(name=tool, arguments=arguments)
        result = asyncio.run(self._protocol.call_tool(None, params))  # type: ignore[arg-type]
        if not result.is_error:
            return result.structured_content
        (content,) = result.content
        assert isinstance(content, TextContent)
        (code,) = re.findall(r"^error \((\w+)\)", content.text)
        return code

    def http(self, route: str, **body: object) -> Any:
        """The body of an answer; of an error, its code."""
        told = {**body, "vault": str(self.hb.root)}
        method = ROUTES[route].method
        query = f"vault={self.hb.root}" if method == "GET" else ""
        asked = Asked(method, f"/v1/{route}", query, json.dumps(told).encode(), "test", lambda: False)
        reply = self._service.answer(asked)
        return reply.told if reply.status == 200 else reply.told["error"]["code"]

    def close(self) -> None:
        self._serving.close()
        self._vaults.close(60.0)
