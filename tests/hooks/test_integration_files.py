"""The files for hosts are what the table of hosts gives, and they work as the hosts read them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.edge.hooks.files import hook_events, integration_files, opencode_plugin, write_files
from hindbrain.edge.hooks.hosts import HOSTS, KEEP, PROGRAM, host_named

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "integrations"


def test_the_folder_is_what_the_program_makes() -> None:
    there = {
        path.relative_to(FOLDER).as_posix(): path.read_bytes().decode()
        for path in FOLDER.rglob("*")
        if path.is_file()
    }
    assert there == integration_files(), "run: python -m hindbrain.edge.hooks.files integrations"


def test_making_the_folder_anew_takes_away_what_is_not_in_it(tmp_path: Path) -> None:
    (tmp_path / "codex").mkdir()
    (tmp_path / "codex" / "old.json").write_text("{}", encoding="utf-8")
    write_files(tmp_path)
    assert not (tmp_path / "codex" / "old.json").exists()
    assert (tmp_path / "claude-code" / "hooks" / "hooks.json").is_file()


def test_every_event_calls_our_program_and_gives_it_the_time_that_it_needs() -> None:
    for host in HOSTS:
        if host.form == "plain":
            continue
        for event in host.events:
            entry = hook_events(host, (PROGRAM,))[event.there][0]
            handler = entry.get("hooks", [entry])[0]
            words = [handler["command"], *handler.get("args", [])]
            assert " ".join(words) == f"{PROGRAM} {host.name} {event.name}"
            seconds = handler["timeout"] / (1_000 if host.form == "gemini" else 1)
            assert event.deadline_s + 1 < seconds <= 15


def test_claude_code_is_called_without_a_shell_and_never_in_the_background() -> None:
    text = (FOLDER / "claude-code" / "hooks" / "hooks.json").read_text(encoding="utf-8")
    assert '"async"' not in text  # Stop and SessionEnd get lost in print mode
    for entries in json.loads(text)["hooks"].values():
        assert all("args" in handler for entry in entries for handler in entry["hooks"])


def test_what_only_keeps_an_event_ends_well_before_any_host_gives_up() -> None:
    assert all(event.deadline_s <= 2 for host in HOSTS for event in host.events if event.verb == KEEP)
    codex = host_named("codex")
    assert codex is not None
    ends = codex.event("session-end")
    assert ends is not None and ends.deadline_s < 1  # what it waits where its owner set nothing


def test_the_version_is_ours_in_every_manifest() -> None:
    from hindbrain import __version__

    for name in (
        "claude-code/.claude-plugin",
        "codex/.codex-plugin",
        "cursor/.cursor-plugin",
        "agent-plugin",
    ):
        assert (
            json.loads((FOLDER / name / "plugin.json").read_text(encoding="utf-8"))["version"] == __version__
        )
    assert (
        json.loads((FOLDER / "gemini" / "gemini-extension.json").read_text(encoding="utf-8"))["version"]
        == __version__
    )


def test_the_tools_that_the_texts_name_are_in_the_set_that_hosts_get() -> None:
    import re

    from hindbrain.memory.tools import DEFAULT_SET, TOOL_SETS, TOOLS

    named: set[str] = set()
    for path, text in integration_files().items():
        # OpenClaw's memory slot has tools of its own.
        if path.endswith((".md", ".mdc")) and not path.startswith("openclaw/"):
            named |= set(re.findall(r"`(\w+)`", text)) & {tool.name for tool in TOOLS}
    assert named and named <= set(TOOL_SETS[DEFAULT_SET])


# The shim for OpenCode, run by node with a stand-in for its host

_FAKE_HOOK = """
import json, sys
event, payload = sys.argv[2], json.load(sys.stdin)
print(json.dumps(payload), file=open(sys.argv[0] + ".log", "a"))
answers = {
    "session-start": {"context": "the core", "message": "hello person"},
    "user-prompt-submit": {"context": "about " + payload.get("prompt", "")},
    "pre-tool-use": {"refused": "not you"} if "inbox" in str(payload.get("tool_input")) else {},
    "post-tool-use": {"context": "it helped to pray"} if payload.get("tool_response", {}).get("exit") else {},
}
print(json.dumps(answers.get(event, {})))
"""
_DRIVER = """
import { Hindbrain } from "./hindbrain.mjs"
const told = []
const said = { type: "text", text: "done" }
const client = {
  tui: { showToast: async ({ body }) => { told.push(body.message) } },
  session: { messages: async () => ({ data: [{ info: { role: "assistant" }, parts: [said] }] }) },
}
const hooks = await Hindbrain({ client, directory: "/project" })
const out = {}
await hooks["chat.message"]({ sessionID: "s1" }, { parts: [{ type: "text", text: "kites" }] })
const system = ["base"]
await hooks["experimental.chat.system.transform"]({ sessionID: "s1" }, { system })
out.system = system
const other = []
await hooks["experimental.chat.system.transform"]({ sessionID: "unknown" }, { system: other })
out.other = other
try {
  const args = { command: "hindbrain inbox accept" }
  await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1" }, { args })
} catch (error) { out.refused = error.message }
await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1" }, { args: { command: "ls" } })
const result = { output: "boom", metadata: { exit: 1 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID: "s1", args: { command: "make" } }, result)
out.output = result.output
await hooks["experimental.session.compacting"]({ sessionID: "s1" }, { context: [] })
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await hooks.event({ event: { type: "session.deleted", properties: { info: { id: "s1" } } } })
out.told = told
console.log(JSON.stringify(out))
"""


def _drive(folder: Path, command: list[str]) -> dict[str, Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    host = host_named("opencode")
    assert host is not None
    (folder / "hindbrain.mjs").write_text(opencode_plugin(host, command), encoding="utf-8")
    (folder / "driver.mjs").write_text(_DRIVER, encoding="utf-8")
    done = subprocess.run(
        [node, "driver.mjs"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ},
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_shim_for_opencode_passes_on_what_the_program_says(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(_FAKE_HOOK, encoding="utf-8")
    out = _drive(tmp_path, [sys.executable, str(tmp_path / "hook.py")])
    assert out["system"] == ["base", "the core", "about kites"] and out["other"] == []
    assert out["refused"] == "not you"
    assert out["output"] == "boom\n\nit helped to pray"
    assert out["told"] == ["hello person"]
    calls = [json.loads(line) for line in (tmp_path / "hook.py.log").read_text(encoding="utf-8").splitlines()]
    assert [call["hook_event_name"] for call in calls] == [
        "session-start", "user-prompt-submit", "pre-tool-use", "pre-tool-use", "post-tool-use", "pre-compact",
        "stop", "session-end",
    ]  # fmt: skip
    assert {call["session_id"] for call in calls} == {"s1"} and {call["cwd"] for call in calls} == {
        "/project"
    }
    stop = calls[-2]
    assert (stop["prompt"], stop["last_assistant_message"]) == ("kites", "done")


@pytest.mark.parametrize("program", ["", "print('garbage')", "import sys; sys.exit(3)", "print('null')"])
def test_a_program_that_fails_stops_nothing_in_opencode(program: str, tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(program, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "hook.py")] if program else [str(tmp_path / "missing")]
    out = _drive(tmp_path, command)
    assert out["system"] == ["base"] and out["output"] == "boom" and "refused" not in out
