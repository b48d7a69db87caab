"""P14 at the doors: half a character (a lone surrogate), as programs send that cut texts, gets an answer."""

from __future__ import annotations

import http.client
import json
import os
import threading

import pytest
from mcp_clients import HttpServer, Lines, Servers

from hindbrain.memory.tools import TOOLS

HALF = "half a smile \\ud83d"


def _call(number: int, tool: str, arguments: dict[str, object]) -> str:
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).replace("HALF", HALF)


@pytest.mark.promise("P14")
def test_every_text_of_every_tool_may_hold_half_a_character(servers: Servers) -> None:
    client = Lines(servers.start("--tools", "all", "--no-watch"))
    client.greet()
    late = threading.Timer(60, client.process.kill)  # else a missing answer is waited for
    late.start()
    number = 1_000
    for tool in TOOLS:
        usual: dict[str, object] = {param.name: "x" for param in tool.params if param.required}
        for param in tool.params:
            if param.kind == "string" and not param.choices:
                number += 1
                client.send(_call(number, tool.name, {**usual, param.name: "HALF"}))
                answer = client.receive()
                assert answer["id"] == number, (tool.name, param.name, answer)
    late.cancel()
    client.hang_up()


@pytest.mark.promise("P14")
def test_half_a_character_in_a_method_or_a_prompt_is_answered(lines: Lines) -> None:
    for method, params in (
        ("prompts/get", {"name": "recall", "arguments": {"topic": "HALF"}}),
        ("resources/read", {"uri": "note:///HALF.md"}),
        ("tools/call", {"name": "HALF", "arguments": {}}),
        ("tools/call", {"name": "recall", "arguments": {"HALF": "x"}}),
    ):
        message = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
        lines.send(message.replace("HALF", HALF))
        assert lines.receive()["id"] == 7


@pytest.mark.promise("P14")
def test_half_a_character_is_answered_over_http(http_server: HttpServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", http_server.port, timeout=30)
    headers = {
        "Authorization": f"Bearer {http_server.token}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection.request("POST", "/mcp", _call(1, "recall", {"topic": "HALF"}), headers)
    answer = connection.getresponse()
    told = answer.read()
    assert answer.status in (200, 400) and b"jsonrpc" in told
    connection.close()


@pytest.mark.promise("P14")
@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_file_whose_name_is_no_text_keeps_no_answer_back(servers: Servers) -> None:
    (servers.root / os.fsdecode(b"caf\xe9.md")).write_text("# Cafe\n", encoding="utf-8")
    client = Lines(servers.start("--tools", "all", "--no-watch"))
    client.greet()
    late = threading.Timer(60, client.process.kill)
    late.start()
    assert "Tea.md" in client.call("vault_list")
    late.cancel()
    client.hang_up()
