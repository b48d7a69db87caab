"""The quick way of importing the SDK answers exactly what the plain way answers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from mcp_clients import Lines, Servers

from hindbrain.base.errors import ConfigError
from hindbrain.edge.mcp import sdk

VERSIONS = ("2025-06-18",)
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
REQUESTS: tuple[tuple[str, dict[str, Any] | None], ...] = (
    ("ping", None),
    ("tools/list", None),
    ("tools/list", {"cursor": "x"}),
    ("tools/call", {"name": "vault_read", "arguments": {"path": "Tea.md"}}),
    ("tools/call", {"name": "vault_read", "arguments": {"path": "../x"}}),
    ("tools/call", {"name": "vault_read", "arguments": {"paht": "Tea.md"}}),
    ("tools/call", {"name": "vault_read", "arguments": [1]}),
    ("tools/call", {"name": "no_such_tool"}),
    ("tools/call", {"arguments": {}}),
    ("resources/list", None),
    ("resources/templates/list", None),
    ("resources/read", {"uri": "note:///Tea.md"}),
    ("resources/read", {"uri": "note:///../x"}),
    ("resources/read", {"uri": "file:///etc/passwd"}),
    ("resources/read", {}),
    ("resources/subscribe", {"uri": "note:///Tea.md"}),
    ("prompts/list", None),
    ("prompts/get", {"name": "review-inbox"}),
    ("prompts/get", {"name": "recall"}),
    ("prompts/get", {"name": "nope"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "t"}}),
    ("logging/setLevel", {"level": "debug"}),
    ("no/such/method", None),
)  # fmt: skip
BROKEN = (
    '{"jsonrpc": "2.0", "id": 7',
    "[]",
    '{"id": 8, "method": "ping"}',
    '{"jsonrpc": "2.0", "id": null, "method": "ping"}',
)


def _conversation(servers: Servers, *options: str) -> list[Any]:
    heard: list[Any] = []
    for version in VERSIONS:
        client = Lines(servers.start("--no-watch", *options, stderr=subprocess.DEVNULL))
        heard.append(client.greet(version))
        if version == "2025-06-18":
            heard += [client.ask(method, params) for method, params in REQUESTS]
            for broken in BROKEN:
                client.send(broken)
        heard.append(client.ask("tools/list"))
        client.hang_up()
    client = Lines(servers.start("--no-watch", *options, stderr=subprocess.DEVNULL))
    heard += [client.ask(method, {**(params or {}), "_meta": MODERN}) for method, params in REQUESTS]
    heard.append(client.ask("server/discover", {"_meta": MODERN}))
    client.hang_up()
    return heard


def test_every_answer_is_the_same_as_with_a_plain_import(servers: Servers) -> None:
    quick, plain = _conversation(servers), _conversation(servers, "--plain-import")
    assert json.dumps(quick) == json.dumps(plain)
    assert sum("result" in answer for answer in quick) > 20
    assert sum("error" in answer for answer in quick) > 10


def _run(code: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


IMPORTED = "import sys; from hindbrain.edge.mcp.sdk import import_for_stdio; import_for_stdio();"


def test_what_stdio_never_uses_is_not_imported() -> None:
    modules = _run(f"{IMPORTED} print(*sys.modules)").split()
    assert "mcp.server.stdio" in modules
    unused = {
        "uvicorn",
        "starlette",
        "sse_starlette",
        "httpx2",
        "mcp.client.client",
        "mcp.server.mcpserver",
        "rich",
    }
    assert not unused & set(modules)


def test_afterwards_the_whole_sdk_can_be_imported_as_ever() -> None:
    code = f"""{IMPORTED}
from mcp import Client, stdio_client
import mcp, mcp.server
assert mcp.server.MCPServer.__name__ == "MCPServer"
assert mcp.types.Tool.__name__ == "Tool"
import starlette.applications
assert isinstance(starlette.applications.Starlette, type)
from pydantic import BaseModel, ConfigDict, TypeAdapter
assert "defer_build" not in ConfigDict(frozen=True)
class Own(BaseModel): a: int
assert Own.__pydantic_complete__
assert isinstance(TypeAdapter(int | str), TypeAdapter)
print("fine")"""
    assert _run(code) == "fine\n"


@pytest.mark.parametrize(
    "unlike",
    [
        "sdk._FOR_HTTP_ONLY = {'mcp.server.transport_security': ()}",  # a name that is imported and unknown
        pytest.param("sdk._REVIEWED = ('0.',)", marks=pytest.mark.slow),
        pytest.param("sdk._OPENED_LATER = ('mcp', 'mcp.no_such_package')", marks=pytest.mark.slow),
    ],
)
def test_an_sdk_that_does_not_fit_is_imported_plainly(unlike: str) -> None:
    code = f"""
from hindbrain.edge.mcp import sdk
{unlike}
sdk.import_for_stdio()
from mcp.server.lowlevel.server import Server, Starlette, TransportSecuritySettings
assert isinstance(Starlette, type)
assert TransportSecuritySettings(allowed_hosts=["x"]).allowed_hosts == ["x"]
print(Server("x").name)"""
    assert _run(code) == "x\n"


def test_without_the_sdk_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sdk, "find_spec", lambda _: None)
    with pytest.raises(ConfigError) as raised:
        sdk.import_for_stdio()
    assert "pip install 'mcp" in str(raised.value)
