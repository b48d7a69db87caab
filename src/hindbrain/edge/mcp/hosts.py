"""Where each host keeps its settings and what a server looks like in them. Data, and pure functions of it.

The formats were taken from the hosts' documents; docs/mcp.md says which were tried.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.errors import UsageError
from hindbrain.edge.mcp import json5_edit
from hindbrain.edge.mcp.json_edit import NotEditable as NotJson
from hindbrain.edge.mcp.json_edit import read_members, remove_member, set_member
from hindbrain.edge.mcp.toml_table import NotEditable as NotToml
from hindbrain.edge.mcp.toml_table import remove_table, set_table

NotEditable = (NotJson, NotToml)
SERVER = "hindbrain"


class Place(NamedTuple):
    """The machine, as far as it decides where a host keeps its settings."""

    home: Path
    platform: str  # as sys.platform
    environ: Mapping[str, str]

    def named(self, variable: str, default: Path) -> Path:
        given = self.environ.get(variable, "")
        return Path(given).expanduser() if given else default


class Host(NamedTuple):
    """One host. `edit` and `remove` return the text of its file with our server, and without it."""

    name: str
    title: str
    file: Callable[[Place], Path]
    edit: Callable[[str, Sequence[str]], str]
    remove: Callable[[str], str]
    one_line: Callable[[Sequence[str]], str]  # the host's own command for the same; "" when it has none
    afterwards: str
    afterwards_gone: str = "sessions that run keep what they have"


def host_named(name: str) -> Host:
    found = next((host for host in HOSTS if host.name == name), None)
    if found is None:
        names = ", ".join(host.name for host in HOSTS)
        what = f"there is no host {name!r} here" if name else "no host was named"
        raise UsageError(f"{what}; hindbrain mcp install and uninstall take one of: {names}")
    return found


def snippet(host: Host, command: Sequence[str]) -> str:
    """What the host's file would hold if it held nothing else; for pasting by hand."""
    return host.edit("", command)


def _claude_code(place: Place) -> Path:
    return place.named("CLAUDE_CONFIG_DIR", place.home) / ".claude.json"


def _claude_desktop(place: Place) -> Path:
    if place.platform == "darwin":
        base = place.home / "Library" / "Application Support"
    elif place.platform == "win32":
        base = place.named("APPDATA", place.home / "AppData" / "Roaming")
    else:
        base = place.named("XDG_CONFIG_HOME", place.home / ".config")
    return base / "Claude" / "claude_desktop_config.json"


def _cursor(place: Place) -> Path:
    return place.home / ".cursor" / "mcp.json"


def _codex(place: Place) -> Path:
    return place.named("CODEX_HOME", place.home / ".codex") / "config.toml"


def openclaw_folder(place: Place) -> Path:
    """Where OpenClaw keeps its state. A profile has a folder of its own, unless one is named."""
    home = place.named("OPENCLAW_HOME", place.home)
    profile = place.environ.get("OPENCLAW_PROFILE", "").strip()
    named = "" if profile.lower() in ("", "default") else f"-{profile}"
    return place.named("OPENCLAW_STATE_DIR", home / f".openclaw{named}")


def openclaw_file(place: Place) -> Path:
    return place.named("OPENCLAW_CONFIG_PATH", openclaw_folder(place) / "openclaw.json")


def _opencode(place: Place) -> Path:
    folder = place.named("XDG_CONFIG_HOME", place.home / ".config") / "opencode"
    with_comments = folder / "opencode.jsonc"
    return place.named(
        "OPENCODE_CONFIG", with_comments if with_comments.exists() else folder / "opencode.json"
    )


def _in_json(
    path: Sequence[str], form: Callable[[Sequence[str]], Any]
) -> Callable[[str, Sequence[str]], str]:
    def edit(text: str, command: Sequence[str]) -> str:
        there = settings_there(read_members(text), path)
        return set_member(text, (*path, SERVER), {**there, **form(command)})

    return edit


def _out_of_json(*paths: Sequence[str]) -> Callable[[str], str]:
    def remove(text: str) -> str:
        for path in paths:
            text = without_member(text, (*path, SERVER), remove_member, read_members)
        return text

    return remove


def _remove_openclaw(text: str) -> str:
    path = ("mcp", "servers", SERVER)
    return without_member(text, path, json5_edit.remove_member, json5_edit.read_members)


def without_member(
    text: str,
    path: Sequence[str],
    remove: Callable[[str, Sequence[str]], str],
    read: Callable[[str], Any],
) -> str:
    """Without the member at `path`, and without the objects around it that hold nothing else."""
    after = remove(text, path)
    if after == text:
        return text
    for depth in range(len(path) - 1, 0, -1):
        held = read(after)
        for name in path[:depth]:
            held = held[name]
        if held:
            break
        after = remove(after, path[:depth])
    return after


def _edit_openclaw(text: str, command: Sequence[str]) -> str:
    """Its file is JSON5."""
    path = ("mcp", "servers")
    there = settings_there(json5_edit.read_members(text), path)
    return json5_edit.set_member(text, (*path, SERVER), {**there, **untyped(command)})


def settings_there(members: Any, path: Sequence[str]) -> dict[str, Any]:
    """What the owner has set for our server already (variables, time-outs): it stays."""
    found = members
    for name in (*path, SERVER):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def _typed(command: Sequence[str]) -> dict[str, Any]:
    return {"type": "stdio", **untyped(command)}


def untyped(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


def _edit_opencode(text: str, command: Sequence[str]) -> str:
    """Version 2 keeps servers one level deeper; a file that already does so is written that way."""
    form = {"type": "local", "command": list(command), "enabled": True}
    known = read_members(text).get("mcp")
    deeper = (
        isinstance(known, dict) and isinstance(known.get("servers"), dict) and "type" not in known["servers"]
    )
    return _in_json(("mcp", "servers") if deeper else ("mcp",), lambda _: form)(text, command)


def _edit_codex(text: str, command: Sequence[str]) -> str:
    return set_table(text, ("mcp_servers", SERVER), {"command": command[0], "args": list(command[1:])})


def _remove_codex(text: str) -> str:
    return remove_table(text, ("mcp_servers", SERVER))


def _openclaw_line(command: Sequence[str]) -> str:
    args = [part for arg in command[1:] for part in ("--arg", arg)]
    return shlex.join(["openclaw", "mcp", "add", SERVER, "--command", command[0], *args])


HOSTS: tuple[Host, ...] = (
    Host(
        "claude-code", "Claude Code", _claude_code, _in_json(("mcpServers",), _typed),
        _out_of_json(("mcpServers",)),
        lambda command: shlex.join(["claude", "mcp", "add", "--scope", "user", SERVER, "--", *command]),
        "new sessions have it; /mcp shows it",
    ),
    Host(
        "claude-desktop", "Claude Desktop", _claude_desktop, _in_json(("mcpServers",), untyped),
        _out_of_json(("mcpServers",)), lambda _: "", "restart Claude Desktop",
    ),
    Host(
        "cursor", "Cursor", _cursor, _in_json(("mcpServers",), untyped),
        _out_of_json(("mcpServers",)), lambda _: "",
        "switch it on in Cursor's settings, under MCP",
    ),
    Host(
        "codex", "Codex", _codex, _edit_codex, _remove_codex,
        lambda command: shlex.join(["codex", "mcp", "add", SERVER, "--", *command]),
        "new sessions have it; /mcp shows it",
    ),
    Host(
        "openclaw", "OpenClaw", openclaw_file, _edit_openclaw, _remove_openclaw, _openclaw_line,
        "a running gateway takes it up by itself; openclaw mcp probe hindbrain tries it",
    ),
    Host(
        "opencode", "OpenCode", _opencode, _edit_opencode, _out_of_json(("mcp",), ("mcp", "servers")),
        lambda _: "", "restart opencode",
    ),
)  # fmt: skip
