"""Records what the real hosts send to hooks and leave behind: `python tests/hosts/record.py [folder]`.

Each host is run with a plugin whose hook only writes its standard input to a file. Writes neutral payloads
and transcripts below `recorded/`; the tests of readers and hooks work on those, without any host.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from host_programs import ClaudeCode, Codex, Surroundings, find_programs
from neutral import Neutral
from stub_model import Call, Say, StubModel

_BOTH = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PermissionRequest",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "SessionEnd",
)
_CLAUDE_EVENTS = (
    *_BOTH,
    "PostToolUseFailure",
    "PostToolBatch",
    "StopFailure",
    "PermissionDenied",
    "Notification",
)
_CODEX_EVENTS = _BOTH
_SPEAKS = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure")
_HOOK = """
import json, os, sys
event, folder = sys.argv[1:3]
line = sys.stdin.readline()
name = "%03d-%s.json" % (len(os.listdir(folder)), event)
seen = {name: value for name, value in os.environ.items() if name.startswith(("CLAUDE", "CODEX", "PLUGIN"))}
with open(os.path.join(folder, name), "w") as file:
    json.dump({"stdin": line, "environ": seen}, file)
if event in SPEAKS:
    said = {"hookEventName": event, "additionalContext": "Recorded context of " + event + "."}
    print(json.dumps({"hookSpecificOutput": said}))
"""
_PREFERENCE = "I prefer tabs over spaces in Makefiles, always. We decided to use SQLite for the cache."


def main(target: Path) -> None:
    programs = find_programs()
    with tempfile.TemporaryDirectory(prefix="hosts-") as scratch:
        folder = Path(scratch)
        (folder / "hook.py").write_text(_HOOK.replace("SPEAKS", repr(_SPEAKS)), encoding="utf-8")
        _record_claude(programs.claude, folder, target / "claude-code")
        _record_codex(programs.codex, folder, target / "codex")


def _record_claude(program: Path, folder: Path, target: Path) -> None:
    plugin, seen = folder / "plugin", folder / "claude-seen"
    (plugin / ".claude-plugin").mkdir(parents=True)
    (plugin / "hooks").mkdir()
    seen.mkdir()
    manifest = {"name": "recorder", "version": "0.0.1", "description": "Writes down what hooks are sent"}
    (plugin / ".claude-plugin" / "plugin.json").write_text(json.dumps(manifest), encoding="utf-8")
    handlers = {
        event: {
            "type": "command",
            "command": sys.executable,
            "args": [str(folder / "hook.py"), event, str(seen)],
        }
        for event in _CLAUDE_EVENTS
    }
    _write_hooks(plugin / "hooks" / "hooks.json", handlers)
    with StubModel() as model:
        place = Surroundings(folder / "claude", os.environ["PATH"])
        host = ClaudeCode(program, place, model.url, (plugin,))
        _claude_conversation(host, model)
        _claude_own_compaction(ClaudeCode(program, place, model.url, (plugin,)), model)
    project = str(place.project)
    neutral = Neutral(
        {
            project: "/home/ada/project",
            project.replace("/", "-").replace("_", "-"): "-home-ada-project",
            str(place.home): "/home/ada",
            str(plugin): "/home/ada/plugins/recorder",
            str(folder): "/home/ada/recording",
            sys.executable: "python3",
            str(program.parents[2]): "/usr/lib",
        }
    )
    _write_payloads(seen, target, neutral)
    names = ("conversation", "cleared", "after-clear", "own-compaction")
    _write_transcripts(host.transcripts(), names, target, neutral)


def _claude_conversation(host: ClaudeCode, model: StubModel) -> None:
    """Startup with tools that work and fail, a resumed turn, a permission refused, an agent, `/compact`."""
    model.script(
        Call(
            "Bash",
            {
                "command": "printf 'all: test\\n' > Makefile && cat Makefile",
                "description": "Write a Makefile",
            },
        ),
        Call("Bash", {"command": "make lint", "description": "Run the linter"}),
        Call(
            "Bash",
            {"command": "printf 'lint:\\n\\techo ok\\n' >> Makefile && make lint", "description": "Add lint"},
        ),
        Say("The Makefile now has a lint target; it is indented with a tab."),
    )
    session = host.ask(f"Add a lint target to the Makefile. {_PREFERENCE}").events[0]["session_id"]
    model.script(Say("SQLite, as you decided."))
    host.ask("Which store did we choose for the cache?", "--resume", session)
    model.script(Call("Bash", {"command": "rm -rf build", "description": "Clean"}), Say("I may not do that."))
    host.ask("Remove the build folder", "--resume", session, tools="")
    agent = {"description": "Look at it", "prompt": "Count the targets.", "subagent_type": "general-purpose"}
    model.script(Call("Agent", agent), Say("Two targets."), Say("The agent counted two targets."))
    host.ask("Let an agent count the targets", "--resume", session, tools="Bash Agent")
    model.script(Say("Summary: a lint target was added; the cache uses SQLite; tabs in Makefiles."))
    host.ask("/compact keep the decisions", "--resume", session)
    model.script(Say("Yes, it has one."))
    host.ask("Does the Makefile have a lint target?", "--resume", session)
    model.script(Say("Alpha."), Say("Beta."))
    host.converse("Say alpha", "/clear", "Say beta")


def _claude_own_compaction(host: ClaudeCode, model: StubModel) -> None:
    """A conversation that the host compacts by itself, because the model says that it has grown too long."""
    host.place.extra["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = "100000"
    model.script(
        Call("Bash", {"command": "echo one", "description": "One"}, tokens=20_000),
        Call("Bash", {"command": "echo two", "description": "Two"}, tokens=99_000),
        Say("Summary: counted to two."),
        Call("Bash", {"command": "echo three", "description": "Three"}),
        Say("Counted to three."),
    )
    host.ask("Count to three with the shell")


def _record_codex(program: Path, folder: Path, target: Path) -> None:
    seen = folder / "codex-seen"
    seen.mkdir()
    with StubModel() as model:
        place = Surroundings(folder / "codex", os.environ["PATH"])
        host = Codex(
            program, place, model.url, "model_context_window = 100000\nmodel_auto_compact_token_limit = 50000"
        )
        command = [sys.executable, str(folder / "hook.py")]
        handlers = {
            event: {"type": "command", "command": shlex.join([*command, event, str(seen)]), "timeout": 3}
            for event in _CODEX_EVENTS
        }
        _write_hooks(host.home / "hooks.json", handlers)
        _codex_conversation(host, model)
    neutral = Neutral(
        {
            str(place.project): "/home/ada/project",
            str(place.home): "/home/ada",
            str(folder): "/home/ada/recording",
            sys.executable: "python3",
            str(program.parents[2]): "/usr/lib",
        }
    )
    _write_payloads(seen, target, neutral)
    _write_transcripts(host.transcripts(), ("conversation",), target, neutral)


def _codex_conversation(host: Codex, model: StubModel) -> None:
    model.script(
        Call("exec_command", {"cmd": "printf 'all: test\\n' > Makefile && cat Makefile"}),
        Call("exec_command", {"cmd": "make lint"}),
        Call("exec_command", {"cmd": "printf 'lint:\\n\\techo ok\\n' >> Makefile && make lint"}),
        Say("The Makefile now has a lint target; it is indented with a tab."),
    )
    first = host.ask(f"Add a lint target to the Makefile. {_PREFERENCE}")
    session = next(event["thread_id"] for event in first.events if event["type"] == "thread.started")
    model.script(Say("SQLite, as you decided."))
    host.ask("Which store did we choose for the cache?", resume=session)
    model.script(
        Call("exec_command", {"cmd": "echo one"}, tokens=60_000),
        Say("Summary: a lint target was added; the cache uses SQLite.", tokens=60_000),
        Say("Counted to one."),
    )
    host.ask("Count to one", resume=session)
    model.script(Say("Yes, it has one."))
    host.ask("Does the Makefile have a lint target?", resume=session)


def _write_hooks(file: Path, handlers: Mapping[str, Mapping[str, object]]) -> None:
    hooks = {event: [{"hooks": [handler]}] for event, handler in handlers.items()}
    file.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")


def _write_payloads(seen: Path, target: Path, neutral: Neutral) -> None:
    """One file for each event and what tells its kinds apart; the first of a kind is kept."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    order: list[str] = []
    around: dict[str, object] = {}
    for file in sorted(seen.iterdir()):
        record = json.loads(file.read_text(encoding="utf-8"))
        payload = neutral.value(json.loads(record["stdin"]))
        kind = "-".join([_dashed(payload["hook_event_name"]), *_kind(payload)])
        if kind not in order:
            _write_json(target / f"{kind}.json", payload)
            ending = "newline" if record["stdin"].endswith("\n") else "no newline"
            around[kind] = {"stdin_ends_with": ending, "environ": neutral.value(record["environ"])}
        order.append(kind)
    _write_json(target / "surroundings.json", around)
    (target / "order.txt").write_text("\n".join(order) + "\n", encoding="utf-8")


def _write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _kind(payload: dict[str, object]) -> list[str]:
    if payload["hook_event_name"] == "SubagentStop" and not payload.get("agent_type"):
        return ["of-compaction"]
    for name in ("source", "trigger"):
        if payload.get(name):
            return [str(payload[name])]
    if payload.get("reason") == "clear":
        return ["clear"]
    if "No rule to make target" in str(payload.get("tool_response")):
        return ["failed"]
    return []


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name).lstrip("-")


def _write_transcripts(files: Sequence[Path], names: Sequence[str], target: Path, neutral: Neutral) -> None:
    """In the order in which they were begun, which is not that of their random names."""
    sessions = sorted((file for file in files if "subagents" not in file.parts), key=_begun)
    agents = [file for file in files if "subagents" in file.parts]
    for name, file in [*zip(names, sessions, strict=True), *(("agent", file) for file in agents)]:
        lines = [neutral.value(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        (target / f"transcript-{name}.jsonl").write_text(text, encoding="utf-8")


def _begun(file: Path) -> str:
    with open(file, encoding="utf-8") as lines:
        return next(str(found) for line in lines if (found := json.loads(line).get("timestamp")))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "recorded")
