"""Where OpenClaw is on this machine: its folder, its settings, its program, its agents and its gateway.

Looks, and changes nothing. Its program is a Node program that takes seconds to start, and is not asked for
what a file says.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.errors import ConfigError, NotFound, UsageError
from hindbrain.edge.mcp.hosts import Place, openclaw_file, openclaw_folder
from hindbrain.edge.mcp.install import read_file
from hindbrain.edge.mcp.json5_edit import read_members
from hindbrain.edge.mcp.json_edit import NotEditable

PROGRAM = "openclaw"
TESTED = ("2026.9.6",)  # each was run with the plugin
OLDEST = "2026.9.1"  # the first with the plugin API that is used here
_PORT = 18789
_HEALTH_S = 2.0
_DATABASE_S = 2.0
_VERSION_S = 20.0
_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class Openclaw(NamedTuple):
    """One OpenClaw: its folder and its settings as they are now."""

    place: Place
    folder: Path
    file: Path
    before: bytes | None  # what the file holds; None: there is none
    members: Mapping[str, Any]

    @property
    def text(self) -> str:
        return (self.before or b"").decode("utf-8")


class Program(NamedTuple):
    """The program `openclaw`, and its version where that is known ("")."""

    path: Path
    version: str


class Workspace(NamedTuple):
    agent: str
    folder: Path


class GatewayState(NamedTuple):
    port: int
    answers: bool
    said: str = ""  # what is wrong with whoever answers there


def this_machine(profile: str = "") -> Place:
    """`profile`: as in `openclaw --profile`."""
    if profile and not _PROFILE.fullmatch(profile):
        raise UsageError(f"{profile!r} is no name of an OpenClaw profile: letters, digits, - and _")
    elsewhere = [name for name in ("OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH") if os.environ.get(name)]
    if profile and elsewhere:
        raise UsageError(f"--profile and {elsewhere[0]} both say where OpenClaw is; unset one")
    environ = {**os.environ, "OPENCLAW_PROFILE": profile} if profile else os.environ
    return Place(Path.home(), sys.platform, environ)


def find_openclaw(place: Place) -> Openclaw:
    """NotFound when there is none, ConfigError when its settings can't be read as what they should be."""
    folder, file = openclaw_folder(place), openclaw_file(place)
    before = read_file(file)
    profile = place.environ.get("OPENCLAW_PROFILE", "").strip()
    if before is None and profile.lower() not in ("", "default") and not folder.is_dir():
        raise NotFound(
            f"OpenClaw has no profile {profile!r}: there is no folder {str(folder)!r}; check its name, or "
            f"set it up first: openclaw --profile {profile} setup"
        )
    if before is None and not folder.is_dir() and shutil.which(PROGRAM, path=_path(place)) is None:
        raise NotFound(
            f"no OpenClaw was found: there is no program {PROGRAM!r} on your PATH and no folder "
            f"{str(folder)!r}; install it first, or say where it is with OPENCLAW_STATE_DIR or --profile"
        )
    try:
        members = read_members((before or b"").decode("utf-8"))
    except (UnicodeDecodeError, NotEditable) as error:
        raise ConfigError(
            f"{str(file)!r} was left as it is, since it can't be read ({error}); `openclaw config validate` "
            "says more, and `openclaw doctor --fix` may mend it"
        ) from error
    return Openclaw(place, folder, file, before, members)


def find_program(place: Place) -> Program | None:
    """None when it is not on the PATH; it may be elsewhere, as in a container."""
    found = shutil.which(PROGRAM, path=_path(place))
    if found is None:
        return None
    path = Path(found)
    return Program(path, _version_beside(path) or _version_said(path, place))


def version_trouble(version: str) -> tuple[bool, str]:
    """Can it be used with this version at all, and what is to be known of it ("")."""
    if not version:
        return True, f"its version is not known; tested with {', '.join(TESTED)}"
    if version in TESTED:
        return True, ""
    if _parts(version) < _parts(OLDEST):
        return False, f"{version} is too old: the plugin needs {OLDEST} or later (openclaw update)"
    older = _parts(version) < _parts(TESTED[-1])
    return True, f"{version} was not tried ({'older' if older else 'newer'} than {TESTED[-1]}, which was)"


def workspaces(found: Openclaw) -> tuple[Workspace, ...]:
    """The folders in which its agents work; the first is that of its usual agent."""
    place = found.place
    agents = found.members.get("agents")
    agents = agents if isinstance(agents, dict) else {}
    defaults = agents.get("defaults")
    said = defaults.get("workspace") if isinstance(defaults, dict) else None
    usual = place.named("OPENCLAW_WORKSPACE_DIR", found.folder / "workspace")
    first = _expanded(said, place) if isinstance(said, str) and said.strip() else usual
    rows = {"main": first}
    for name, entry in _agents(agents).items():
        own = entry.get("workspace")
        if isinstance(own, str) and own.strip():
            rows[name] = _expanded(own, place)
        elif name not in rows:
            rows[name] = first / name if said else found.folder / f"workspace-{name}"
    return tuple(Workspace(name, folder) for name, folder in rows.items())


def gateway_port(found: Openclaw) -> int:
    """As OpenClaw itself decides it; a `--port` that its gateway was started with is not known here."""
    named = found.place.environ.get("OPENCLAW_GATEWAY_PORT", "").strip().rpartition(":")[2]
    if named.isascii() and named.isdecimal() and 0 < int(named) < 65_536:
        return int(named)
    gateway = found.members.get("gateway")
    port = gateway.get("port") if isinstance(gateway, dict) else None
    if isinstance(port, int) and 0 < port < 65_536:
        return port
    profile = found.place.environ.get("OPENCLAW_PROFILE", "").strip()
    if profile == "dev":
        return 19_001
    return _PORT if profile.lower() in ("", "default") else _port_of(profile)


def ask_gateway(port: int) -> GatewayState:
    """Is a gateway there? Asked without any token; what answers may be another program."""
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_HEALTH_S)
    try:
        connection.request("GET", "/healthz")
        said = json.loads(connection.getresponse().read(4096))
    except (ConnectionError, TimeoutError):
        return GatewayState(port, False)
    except (OSError, ValueError, http.client.HTTPException):
        return GatewayState(port, False, "something answers there that is not an OpenClaw gateway")
    finally:
        connection.close()
    live = isinstance(said, dict) and said.get("ok") is True
    return GatewayState(port, live, "" if live else "something answers there that is not an OpenClaw gateway")


def read_rows(found: Openclaw, question: str, *values: str) -> list[tuple[Any, ...]] | None:
    """From OpenClaw's database, which is never written here. [] without one; None: it has no such table."""
    import sqlite3
    from contextlib import closing

    file = found.folder / "state" / "openclaw.sqlite"
    if not file.is_file():
        return []
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=_DATABASE_S)) as database:
            return database.execute(question, values).fetchall()
    except sqlite3.Error:
        return None


def _path(place: Place) -> str | None:
    return place.environ.get("PATH")


def _version_beside(program: Path) -> str:
    """What `package.json` of the program says; "" when it is not found, as with the scripts of pnpm."""
    real = Path(os.path.realpath(program))
    near = [*real.parents[:3], program.parent / "node_modules" / PROGRAM]
    for folder in near:
        try:
            said = json.loads((folder / "package.json").read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(said, dict) and said.get("name") == PROGRAM:
            return str(said.get("version", ""))
    return ""


def _version_said(program: Path, place: Place) -> str:
    import subprocess

    try:
        done = subprocess.run(
            [str(program), "--version"], stdin=subprocess.DEVNULL, capture_output=True,
            timeout=_VERSION_S, check=False, env=dict(place.environ),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(rb"\d+\.\d+\.\d+[-\w.]*", done.stdout)
    return found[0].decode() if found else ""


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _agents(agents: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By name; older files have them as a list."""
    entries, listed = agents.get("entries"), agents.get("list")
    if isinstance(entries, dict):
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    rows = listed if isinstance(listed, list) else []
    return {row["id"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)}


def _expanded(path: str, place: Place) -> Path:
    path = path.strip()
    if path == "~" or path.startswith(("~/", "~\\")):
        return place.named("OPENCLAW_HOME", place.home) / path[2:]
    return Path(path).absolute()


def _port_of(profile: str) -> int:
    """Every profile has a port of its own, made from its name (FNV-1a)."""
    hashed = 2_166_136_261
    for byte in profile.encode():
        hashed = ((hashed ^ byte) * 16_777_619) & 0xFFFFFFFF
    return 20_000 + hashed % 40_000
