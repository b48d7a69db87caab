"""Clients that share no code with ours, from npm: the MCP inspector and the SDK in TypeScript."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import pytest
from mcp_clients import HttpServer, Servers

from hindbrain.memory.tools import TOOL_SETS

pytestmark = pytest.mark.slow

INSPECTOR = "@modelcontextprotocol/inspector@0.15.0"  # the newest that runs with Node 20


def _skip(why: str) -> None:
    warnings.warn(f"NOT TESTED with a second MCP client: {why}", stacklevel=2)
    pytest.skip(why)


@pytest.fixture(scope="module")
def inspector() -> list[str]:
    """The inspector, fetched once into a folder that outlives the run."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        _skip("node and npm are not installed")
    assert node is not None
    assert npm is not None
    kept = Path(tempfile.gettempdir()) / f"hindbrain-tests-{os.getuid() if hasattr(os, 'getuid') else ''}"
    folder = kept / INSPECTOR.rpartition("/")[2]
    program = folder / "node_modules" / "@modelcontextprotocol" / "inspector" / "cli" / "build" / "cli.js"
    if not program.exists():
        _fetch(npm, folder)
    return [node, str(program), "--cli"]


def _fetch(npm: str, folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=folder.parent) as work:
        (Path(work) / "package.json").write_text("{}", encoding="utf-8")
        command = [npm, "install", "--no-audit", "--no-fund", "--ignore-scripts", INSPECTOR]
        try:
            got = subprocess.run(
                command, cwd=work, capture_output=True, text=True, timeout=300, check=False, encoding="utf-8"
            )
        except subprocess.TimeoutExpired:
            _skip("npm did not fetch the inspector within 300 s")
        if got.returncode:
            _skip(f"npm could not fetch the inspector: {got.stderr[-300:]}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(work, folder, symlinks=True)


def _ask(command: list[str], servers: Servers) -> Any:
    ran = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=servers.environ,
        timeout=120,
        check=False,
        encoding="utf-8",
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_inspector_talks_to_the_server_over_stdio(inspector: list[str], shared: Servers) -> None:
    def ask(*words: str) -> Any:
        return _ask([*inspector, *shared.command("--tools", "all"), *words], shared)

    tools = ask("--method", "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == list(TOOL_SETS["all"])
    call = ("--method", "tools/call", "--tool-name")
    remembered = ask(
        *call, "remember", "--tool-arg", "fact=Ada tunes pianos.", "--tool-arg", "importance=0.9"
    )
    assert not remembered.get("isError")
    found = ask(*call, "recall", "--tool-arg", "topic=pianos")
    assert "Ada tunes pianos." in found["content"][0]["text"]
    failed = ask(*call, "vault_read", "--tool-arg", "path=../outside.md")
    assert failed["isError"] is True
    templates = ask("--method", "resources/templates/list")["resourceTemplates"]
    assert templates[0]["uriTemplate"].startswith("note://")
    read = ask("--method", "resources/read", "--uri", "note:///Tea.md")
    assert "70 degrees" in read["contents"][0]["text"]
    prompts = ask("--method", "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["recall", "review-inbox"]
    prompt = ask("--method", "prompts/get", "--prompt-name", "recall", "--prompt-args", "topic=tea")
    assert "70 degrees" in prompt["messages"][0]["content"]["text"]


SCRIPT = """
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
const [url, token] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${token}` };
const client = new Client({ name: "second", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
const { tools } = await client.listTools();
const read = await client.readResource({ uri: "note:///Tea.md" });
const found = await client.callTool({ name: "recall", arguments: { topic: "green tea" } });
const failed = await client.callTool({ name: "recall", arguments: { topc: "tea" } });
const names = tools.map((tool) => tool.name);
console.log(JSON.stringify({ names, note: read.contents[0].text, found: found.content[0].text, failed }));
await client.close();
"""


def test_the_sdk_in_typescript_talks_to_the_server_over_http(
    inspector: list[str], shared: Servers, http_server: HttpServer
) -> None:
    node, program, _ = inspector
    script = Path(program).parents[5] / "second-client.mjs"  # beside node_modules, where it finds the SDK
    script.write_text(SCRIPT, encoding="utf-8")
    said = _ask([node, str(script), http_server.url, http_server.token], shared)
    assert said["names"] == list(TOOL_SETS["core"])
    assert "70 degrees" in said["note"]
    assert "70 degrees" in said["found"]
    assert said["failed"]["isError"] is True
    refused = subprocess.run(
        [node, str(script), http_server.url, "wrong-token"], capture_output=True, timeout=60, check=False
    )
    assert refused.returncode != 0
