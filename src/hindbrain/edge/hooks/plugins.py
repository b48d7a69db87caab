"""Are our hooks in a host by way of our plugin? Read from the host's own records of what is switched on.

Only where a host writes that down in a file that we know by experience (docs/hooks.md); of others it is not
known, which is not the same as no.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import ConfigError
from hindbrain.edge.hooks.files import NAME
from hindbrain.edge.hooks.places import settings_path
from hindbrain.edge.mcp.install import read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hindbrain.edge.hooks.hosts import Host
    from hindbrain.edge.hooks.places import Where


def plugin_enabled(host: Host, at: Where) -> bool | None:
    """Is our plugin switched on in these settings? None when this host does not say, or can't be read."""
    file = settings_path(host, at)
    if host.name == "claude-code":
        files = [file] if at.scope == "user" else [file, file.with_name("settings.local.json")]
        said = [_claude_says(one) for one in files]
        return True if True in said else None if None in said else False
    if host.name == "codex":
        return _codex_says(file.with_name("config.toml"))
    return False if host.form == "plain" else None  # OpenCode's plugin is the very file that is installed


def _claude_says(file: Path) -> bool | None:
    from hindbrain.edge.mcp.json_edit import NotEditable, read_members

    try:
        found = read_members((read_file(file) or b"").decode("utf-8"))
    except (UnicodeDecodeError, NotEditable, ConfigError):
        return None
    return any(state is True for state in _ours(found.get("enabledPlugins")))


def _codex_says(file: Path) -> bool | None:
    import tomllib

    try:
        found = tomllib.loads((read_file(file) or b"").decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, ConfigError):
        return None
    return any(isinstance(one, dict) and one.get("enabled") is True for one in _ours(found.get("plugins")))


def _ours(plugins: object) -> list[object]:
    """What is said of each plugin of our name, from whatever marketplace."""
    known: Mapping[str, object] = plugins if isinstance(plugins, dict) else {}
    return [said for name, said in known.items() if name.partition("@")[0] == NAME]
