"""Reading in a folder that is no vault creates nothing in it, through whichever door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_READS = (
    "recall tea", "search tea", "read Tea", "note read Tea.md", "status", "task list", "inbox list", "daily",
    "context tea", "lint", "links Tea", "stats", "history", "runs", "lessons", "templates", "skills",
    "learn --dry-run",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "home" / "notes"
    (made / "Agent/Memory").mkdir(parents=True)
    (made / "Tea.md").write_text("# Tea\n\nGreen tea is brewed at 70 degrees.\n", encoding="utf-8")
    (made / "Agent/Memory/fact.md").write_text("# Facts\n\n- Likes tea\n", encoding="utf-8")
    return made


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    return {
        **own,
        "HINDBRAIN_STATE_FOLDER": str(tmp_path / "state"),
        "HINDBRAIN_CONFIG": str(tmp_path / "config.toml"),
        "OPENBLAS_NUM_THREADS": "1",
    }


def tree(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize(
    "command", [_READS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in _READS[1:])]
)
def test_a_command_that_reads_a_folder_leaves_it_alone(
    folder: Path, environ: dict[str, str], command: str
) -> None:
    before = tree(folder.parent)
    words = [sys.executable, "-m", "hindbrain", *command.split()]
    asked = subprocess.run([*words, "--vault", str(folder)], env=environ, capture_output=True, check=False)
    assert asked.returncode == 0, asked.stderr
    assert tree(folder.parent) == before
    # Without a name, a folder that nobody made a vault is none.
    lost = subprocess.run([*words, "--json"], env=environ, cwd=folder, capture_output=True, check=False)
    assert lost.returncode == 1
    assert json.loads(lost.stdout or lost.stderr)["error"]["code"] == "not_found"
    assert tree(folder.parent) == before


def test_an_mcp_session_that_only_reads_leaves_the_folder_alone(
    folder: Path, environ: dict[str, str]
) -> None:
    before = tree(folder)
    command = [sys.executable, "-m", "hindbrain", "mcp", "--vault", str(folder), "--tools", "all"]
    who = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    messages: list[dict[str, object]] = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": who},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    calls: tuple[tuple[str, dict[str, object]], ...] = (
        ("recall", {"topic": "tea"}), ("vault_read", {"path": "Tea.md"}), ("vault_list", {}),
        ("vault_search", {"query": "tea"}), ("task_list", {}), ("memory_status", {}),
        ("memory_search", {"query": "tea"}), ("memory_get", {"path": "Tea.md"}),
    )  # fmt: skip
    for number, (tool, arguments) in enumerate(calls, start=1):
        params = {"name": tool, "arguments": arguments}
        messages.append({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        for message in messages:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
            if "id" in message:
                assert server.stdout.readline()
        server.stdin.close()
        server.wait(30)
    assert tree(folder) == before
