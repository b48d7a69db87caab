"""P5 at the doors: who has seen a part of a note can't replace the whole of it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from mcp_clients import Lines, Servers

_PARTS = "# A\n\nOne.\n\nNever shown.\n\n# B\n\nTwo.\n"
_LONG = "".join(f"Paragraph {number}: {'words ' * 12}\n\n" for number in range(1, 401))


@pytest.fixture
def client(servers: Servers) -> Lines:
    (servers.root / "Long.md").write_text(_LONG, encoding="utf-8")
    (servers.root / "Parts.md").write_text(_PARTS, encoding="utf-8")
    made = Lines(servers.start("--tools", "all", "--no-watch"))
    made.greet()
    return made


def tried(client: Lines, tool: str, **arguments: Any) -> str:
    return str(
        client.ask("tools/call", {"name": tool, "arguments": arguments})["result"]["content"][0]["text"]
    )


def hash_in(text: str) -> str:
    return text.rpartition("\nhash: ")[2] if "\nhash: " in text else ""


@pytest.mark.promise("P5")
def test_a_part_of_a_note_cannot_replace_the_whole(client: Lines, servers: Servers) -> None:
    parts: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("vault_read", {"path": "Long.md"}),
        ("vault_read", {"path": "Parts.md", "heading": "B"}),
        ("vault_read", {"path": "Parts.md", "line_start": 3, "line_end": 3}),
        ("memory_read", {"file_path": "Parts.md", "line_start": 1, "line_end": 1}),
        ("memory_get", {"path": "Parts.md", "from": 1, "lines": 1}),
    )
    for tool, arguments in parts:
        assert not hash_in(client.call(tool, **arguments)), (tool, arguments)
    # A hash is also told by an append, and by a conflict: it is no proof of having read the note.
    told = hash_in(client.call("vault_append", path="Long.md", content="More."))
    assert "(conflict)" in tried(client, "vault_write", path="Long.md", content="Only this.", hash=told)
    conflict = tried(client, "vault_write", path="Parts.md", content="Only this.")
    current = conflict.rpartition("Current hash: ")[2][:16]
    assert "(conflict)" in tried(client, "vault_write", path="Parts.md", content="Only this.", hash=current)
    client.hang_up()
    assert (servers.root / "Long.md").read_text(encoding="utf-8").startswith(_LONG)
    assert (servers.root / "Parts.md").read_text(encoding="utf-8") == _PARTS


@pytest.mark.promise("P5")
def test_a_note_that_was_read_piece_by_piece_can_be_replaced(client: Lines, servers: Servers) -> None:
    seen, start = "", 1
    while not (known := hash_in(answer := client.call("vault_read", path="Long.md", line_start=start))):
        text, _, rest = answer.rpartition("\n… lines ")
        seen += f"{text}\n"
        start = int(rest.rpartition("line_start=")[2].partition(" ")[0].rstrip(";."))
    seen += answer.rpartition("\n… lines ")[0]
    client.call("vault_write", path="Long.md", content=seen.replace("Paragraph 7:", "Seventh:"), hash=known)
    client.hang_up()
    assert (servers.root / "Long.md").read_text(encoding="utf-8") == _LONG.replace("Paragraph 7:", "Seventh:")


@pytest.mark.promise("P5")
def test_the_command_line_gives_no_hash_for_a_part(client: Lines, servers: Servers) -> None:
    client.hang_up()

    def told(*words: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "hindbrain", *words, "--vault", str(servers.root), "--json"]
        done = subprocess.run(command, env=servers.environ, capture_output=True, check=True)
        return dict(json.loads(done.stdout))

    assert told("note", "read", "Parts.md")["hash"]
    assert not told("note", "read", "Parts.md", "--heading", "B")["hash"]
    assert not told("read", "Parts.md", "--lines", "1-2")["hash"]
