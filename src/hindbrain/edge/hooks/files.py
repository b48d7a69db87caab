"""The files that hosts read, made from the table of hosts.

Make them anew with `python -m hindbrain.edge.hooks.files integrations`; a test fails when the folder differs
from what one function here gives. The same pieces are what `hindbrain hook install` puts into settings.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hindbrain import __version__
from hindbrain.edge.hooks.hosts import FAILURE, GUARD, HOSTS, PROGRAM, Event, Host

NAME = "hindbrain"
ABOUT = "Long-term memory from your own vault of Markdown notes: recalled at each prompt, kept at each stop."
_TEMPLATES = Path(__file__).with_name("templates")
_SERVER = {"command": "hindbrain", "args": ["mcp"]}


def integration_files() -> dict[str, str]:
    """Path below `integrations/` -> text, of every file there."""
    hosts = {host.name: host for host in HOSTS}
    command = (PROGRAM,)
    return {
        "README.md": template("README.md"),
        ".claude-plugin/marketplace.json": _json(_marketplace()),
        ".agents/plugins/marketplace.json": _json(_codex_marketplace()),  # Codex looks here first
        **{f"claude-code/{path}": text for path, text in _claude_code(hosts["claude-code"]).items()},
        **{f"codex/{path}": text for path, text in _codex(hosts["codex"]).items()},
        **{f"gemini/{path}": text for path, text in _gemini(hosts["gemini"]).items()},
        **{f"cursor/{path}": text for path, text in _cursor(hosts["cursor"]).items()},
        "opencode/hindbrain.js": opencode_plugin(hosts["opencode"], command),
        **{f"agent-plugin/{path}": text for path, text in _agent_plugin().items()},
        **{f"openclaw/{path}": text for path, text in _openclaw().items()},
    }


def hook_events(host: Host, command: Sequence[str]) -> dict[str, list[Any]]:
    """The event map of a host that has one, with `command` as our program."""
    return {event.there: [_entry(host, event, command)] for event in host.events}


def opencode_plugin(host: Host, command: Sequence[str]) -> str:
    """The shim, with the program that it calls."""
    tools = {verb: _tools(host, verb) for verb in (GUARD, FAILURE)}
    seconds = {event.name: event.timeout_s for event in host.events}
    text = template("opencode.js")
    for mark, value in (
        ("__COMMAND__", list(command)),
        ("__EVENTS__", seconds),
        ("__GUARDED__", tools[GUARD]),
        ("__RECALLED__", tools[FAILURE]),
    ):
        text = text.replace(mark, json.dumps(value))
    return text


def template(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


def rules_file() -> str:
    """For Cursor, which takes text from us at a session's beginning only."""
    return f"---\ndescription: {ABOUT}\nalwaysApply: true\n---\n\n{template('rule.md')}"


def _tools(host: Host, verb: str) -> list[str]:
    return next(event.matcher for event in host.events if event.verb == verb).split("|")


def _entry(host: Host, event: Event, command: Sequence[str]) -> dict[str, Any]:
    words = [*command, host.name, event.name]
    matcher = {"matcher": event.matcher} if event.matcher else {}
    if host.form == "cursor":
        return {"command": shell_line(words), "timeout": event.timeout_s, **matcher}
    handler: dict[str, Any] = {"type": "command"}
    if host.form == "gemini":
        named = f"{NAME}-{event.name}"
        line = shell_line(words)
        if line.startswith('"') and sys.platform == "win32":
            line = f"& {line}"  # it calls PowerShell there, which takes a quoted path for a text
        handler |= {"name": named, "command": line, "timeout": event.timeout_s * 1000}
    elif host.name == "codex":
        handler |= {"command": shell_line(words), "timeout": event.timeout_s}
    else:  # without a shell: no quoting, the same on every system
        handler |= {"command": words[0], "args": words[1:], "timeout": event.timeout_s}
    return {**matcher, "hooks": [handler]}


def shell_line(words: Sequence[str]) -> str:
    """As the system's own shell wants it."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def _marketplace() -> dict[str, Any]:
    return {
        "name": NAME,
        "owner": {"name": "Hindbrain"},
        "metadata": {"description": ABOUT, "version": __version__},
        "plugins": [
            {"name": NAME, "source": "./claude-code", "description": ABOUT, "version": __version__},
        ],
    }


def _codex_marketplace() -> dict[str, Any]:
    return {
        "name": NAME,
        "interface": {"displayName": "Hindbrain"},
        "plugins": [
            {
                "name": NAME,
                "source": {"source": "local", "path": "./codex"},
                "policy": {"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
                "category": "Productivity",
            }
        ],
    }


def _plugin(**more: Any) -> dict[str, Any]:
    return {
        "name": NAME,
        "version": __version__,
        "description": ABOUT,
        "author": {"name": "Hindbrain"},
        "license": "MIT",
        "keywords": ["memory", "markdown", "obsidian", "notes"],
        **more,
    }


def _claude_code(host: Host) -> dict[str, str]:
    commands = ("remember", "recall", "memory-status", "context")
    return {
        ".claude-plugin/plugin.json": _json(_plugin()),
        "hooks/hooks.json": _json({"description": ABOUT, "hooks": hook_events(host, (PROGRAM,))}),
        ".mcp.json": _json({"mcpServers": {NAME: _SERVER}}),
        "skills/memory/SKILL.md": template("SKILL.md"),
        **{f"commands/{name}.md": template(f"{name}.md") for name in commands},
    }


def _codex(host: Host) -> dict[str, str]:
    manifest = _plugin(skills="./skills/", mcpServers="./.mcp.json", hooks="./hooks/hooks.json")
    return {
        ".codex-plugin/plugin.json": _json(manifest),
        "hooks/hooks.json": _json({"hooks": hook_events(host, (PROGRAM,))}),
        ".mcp.json": _json({"mcpServers": {NAME: _SERVER}}),
        "skills/memory/SKILL.md": template("SKILL.md"),
    }


def _gemini(host: Host) -> dict[str, str]:
    manifest = {
        "name": NAME,
        "version": __version__,
        "description": ABOUT,
        "mcpServers": {NAME: _SERVER},
        "contextFileName": "GEMINI.md",
    }
    return {
        "gemini-extension.json": _json(manifest),
        "hooks/hooks.json": _json({"hooks": hook_events(host, (PROGRAM,))}),
        "GEMINI.md": template("rule.md"),
    }


def _cursor(host: Host) -> dict[str, str]:
    return {
        ".cursor-plugin/plugin.json": _json(_plugin()),
        "hooks.json": _json({"version": 1, "hooks": hook_events(host, (PROGRAM,))}),
        "mcp.json": _json({"mcpServers": {NAME: _SERVER}}),
        "rules/hindbrain.mdc": rules_file(),
    }


def _agent_plugin() -> dict[str, str]:
    schema = "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json"
    return {
        "plugin.json": _json({"$schema": schema, **_plugin()}),
        "mcp.json": _json({"mcpServers": {NAME: _SERVER}}),
        "skills/memory/SKILL.md": template("SKILL.md"),
    }


def _openclaw() -> dict[str, str]:
    """Both forms, each whole in its folder: as `hindbrain openclaw install` copies them."""
    from hindbrain.edge.openclaw.plugin_copy import source_files

    files = {f"plugin/{name}": data for name, data in source_files("slot").items()}
    files |= {f"beside/{name}": data for name, data in source_files("beside").items()}
    return {path: data.decode("utf-8") for path, data in files.items()}


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def write_files(folder: Path) -> None:
    """Make the folder anew: what is not in the list is taken away."""
    wanted = integration_files()
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    write_files(Path(sys.argv[1]))
