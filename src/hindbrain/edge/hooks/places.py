"""Where each host keeps its hooks, and what is left for a person to do once they are there."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NamedTuple

from hindbrain.edge.hooks.hosts import Host
from hindbrain.edge.mcp.hosts import Place

SCOPES = ("user", "project")


class Where(NamedTuple):
    """Whose settings: the person's, or those of one project."""

    scope: str  # user, project
    place: Place
    project: Path


def where(scope: str) -> Where:
    return Where(scope, Place(Path.home(), sys.platform, os.environ), Path.cwd())


def settings_path(host: Host, at: Where) -> Path:
    place, project = at.place, at.project
    user = at.scope == "user"
    if host.name == "claude-code":
        folder = place.named("CLAUDE_CONFIG_DIR", place.home / ".claude") if user else project / ".claude"
        return folder / "settings.json"
    if host.name == "codex":
        folder = place.named("CODEX_HOME", place.home / ".codex") if user else project / ".codex"
        return folder / "hooks.json"
    if host.name == "gemini":
        return (place.home if user else project) / ".gemini" / "settings.json"
    if host.name == "cursor":
        return (place.home if user else project) / ".cursor" / "hooks.json"
    config = place.named("XDG_CONFIG_HOME", place.home / ".config") / "opencode"
    return (config if user else project / ".opencode") / "plugins" / "hindbrain.js"


def rules_path(at: Where) -> Path:
    return at.project / ".cursor" / "rules" / "hindbrain.mdc"


def afterwards(host: Host) -> str:
    """What is left for the person to do."""
    return {
        "claude-code": "new sessions have it; /hooks shows it",
        "codex": "Codex skips hooks that you have not trusted, and says nothing of it: start codex, type "
        "/hooks and trust those of hindbrain-hook; again whenever this entry changes",
        "gemini": "restart gemini; /hooks panel shows it",
        "cursor": "restart Cursor; its settings show hooks. It takes text at a session's beginning only, so "
        "add the tools too: hindbrain mcp install cursor",
        "opencode": "restart opencode",
    }[host.name]
