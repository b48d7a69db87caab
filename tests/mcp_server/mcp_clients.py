"""Real clients of a real server: a process of its own, spoken to by the SDK's client or line by line."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

T = TypeVar("T")


class Servers:
    """Starts servers of one vault."""

    def __init__(self, root: Path, state: Path) -> None:
        self.root = root
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")},
            "HINDBRAIN_STATE_FOLDER": str(state),
            "HINDBRAIN_CONFIG": str(state / "no-config.toml"),
            "OPENBLAS_NUM_THREADS": "1",
        }

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(self.root), *options]

    @asynccontextmanager
    async def client(self, *options: str) -> AsyncIterator[Client]:
        """The SDK's client, with a server over stdio."""
        program, *args = self.command(*options)
        parameters = StdioServerParameters(command=program, args=args, env=self.environ)
        async with Client(stdio_client(parameters)) as client:
            yield client

    def talk(self, speak: Callable[[Client], Awaitable[T]], *options: str) -> T:
        async def session() -> T:
            async with self.client(*options) as client:
                return await speak(client)

        return asyncio.run(session())

    def start(self, *options: str, **kinds: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=kinds.get("stderr", subprocess.PIPE),
            env=self.environ,
        )


class Lines:
    """A client that writes lines and reads lines; it knows JSON and no protocol."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._id = 0

    def send(self, message: Mapping[str, Any] | str) -> None:
        text = message if isinstance(message, str) else json.dumps(message)
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self._id += 1
        self.send(
            {"jsonrpc": "2.0", "id": self._id, "method": method, **({"params": params} if params else {})}
        )
        while (answer := self.receive()).get("id") != self._id:
            pass
        return answer

    def greet(self, version: str = "2025-06-18") -> dict[str, Any]:
        who = {"name": "lines", "version": "1"}
        answer = self.ask("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": who})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **arguments: Any) -> str:
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        assert not result.get("isError"), result
        return str(result["content"][0]["text"])

    def hang_up(self) -> int:
        """Close stdin, as a host does at the end of a session."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(30)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


class HttpServer:
    """A server over HTTP that has told where it listens."""

    def __init__(self, servers: Servers, *options: str) -> None:
        self.process = subprocess.Popen(
            servers.command("--http", "--port", "0", "--json", *options),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=servers.environ,
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        told = ""
        while not told.endswith("}\n"):
            line = self.process.stdout.readline().decode()
            if not line:
                raise AssertionError(self.process.stderr.read().decode())
            told += line
        self.log: list[bytes] = []
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        announced = json.loads(told)
        self.url: str = announced["url"]
        self.token = Path(announced["token_file"]).read_text(encoding="utf-8").strip()
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            yield client

    def __enter__(self) -> HttpServer:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait(30)
        self._reader.join(10)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return code


def text_of(result: Any) -> str:
    return str(result.content[0].text)
