"""The owner's tables of channels, read: what each may say, and the channel that it means.

    [channels.phone]                     name: small letters, digits, dashes
    kind = "openclaw"
    address = "ws://127.0.0.1:18789"     ws: the gateway · http: its tools or hook · left out: its program
    token_file = "~/.openclaw/token"     or token = "..."
    channel = "telegram"                 in OpenClaw's words
    to = "42"
    session = "main"                     whose messages are read
    owners = ["42"]                      senders whose messages are the owner's own word
    quiet = "22:00-07:00"

    [channels.script]
    kind = "webhook"
    address = "https://ntfy.example/hook"
    inbox = "~/agent-inbox"              a folder into which any program drops messages

Nothing is sent, and nothing heavy is loaded, before a channel is used.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.agent.channels.channel import Channel
from hindbrain.agent.channels.kept_files import KeptFiles
from hindbrain.agent.channels.quiet import QuietHours, read_quiet_hours
from hindbrain.base.clock import Clock
from hindbrain.base.errors import ConfigError

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_RESERVED = ("default", "terminal", "http")  # what else a command can come by
_COMMON = ("kind", "address", "token", "token_file", "to", "owners", "quiet")
_KEYS = {
    "openclaw": (*_COMMON, "channel", "session", "program"),
    "webhook": (*_COMMON, "inbox"),
}


class ChannelTable(NamedTuple):
    """One table, checked. What is not set is empty."""

    name: str
    kind: str
    address: str = ""
    token: str = ""
    token_file: str = ""
    to: str = ""
    owners: tuple[str, ...] = ()
    quiet: QuietHours | None = None
    channel: str = ""
    session: str = "main"
    program: str = "openclaw"
    inbox: str = ""


def read_tables(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, ChannelTable]:
    """Raises ConfigError that names the table, the key and what it may be."""
    return {name: _read(name, table) for name, table in tables.items()}


def make_channels(tables: Mapping[str, Mapping[str, Any]], state: Path, clock: Clock) -> dict[str, Channel]:
    """The channels by name, in the owner's order: the first is the default one."""
    return {name: _make(table, state, clock) for name, table in read_tables(tables).items()}


def quiet_hours(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, QuietHours]:
    return {name: table.quiet for name, table in read_tables(tables).items() if table.quiet is not None}


def owners_of(tables: Mapping[str, Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Whose messages are the owner's own word, by channel; a channel without any only carries words."""
    return {name: frozenset(table.owners) for name, table in read_tables(tables).items()}


def owner_channels(tables: Mapping[str, Mapping[str, Any]]) -> frozenset[str]:
    """Those whose messages go to an owner that the table names, and to nobody else."""
    read = read_tables(tables).items()
    return frozenset(
        name
        for name, table in read
        if table.owners and (table.kind != "openclaw" or table.to in table.owners)
    )


def inboxes(tables: Mapping[str, Mapping[str, Any]]) -> tuple[Path, ...]:
    """Folders in which a file may be the owner's word; an agent that wrote one could speak as its owner."""
    return tuple(Path(table.inbox).expanduser() for table in read_tables(tables).values() if table.inbox)


def _read(name: str, table: Mapping[str, Any]) -> ChannelTable:
    if not _NAME.fullmatch(name) or name in _RESERVED:
        raise ConfigError(
            f"a channel can't be called {name!r}; use small letters, digits and dashes, and none of "
            f"{', '.join(_RESERVED)}"
        )
    where = f"[channels.{name}]"
    if not isinstance(table, Mapping):
        raise ConfigError(f"{where} in agent.toml is no table; write its settings below it")
    kind = table.get("kind")
    if kind not in _KEYS:
        raise ConfigError(f"kind = {kind!r} of {where} is none of {', '.join(_KEYS)}")
    for key, value in table.items():
        _check(where, kind, key, value)
    values = dict(table)
    if "owners" in values:
        values["owners"] = tuple(values["owners"])
    if "quiet" in values:
        values["quiet"] = read_quiet_hours(values["quiet"])
    read = ChannelTable(name, **values)
    if read.token and read.token_file:
        raise ConfigError(f"{where} has a token and a token_file; keep one")
    if kind == "openclaw" and not (read.channel and read.to):
        raise ConfigError(
            f'{where} does not say where messages go; set `channel` (as in "telegram") and `to`, a chat there'
        )
    if kind == "webhook" and not (read.address or read.inbox):
        raise ConfigError(f"{where} has neither an address to send to nor an inbox to read; set one")
    return read


def _check(where: str, kind: str, key: str, value: object) -> None:
    if key not in _KEYS[kind]:
        near = get_close_matches(str(key), _KEYS[kind], 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(_KEYS[kind])}"
        raise ConfigError(f"{where} knows no {key!r}; {hint}")
    if key == "owners":
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise ConfigError(f'`owners` of {where} must be a list of texts, as in ["42"]')
    elif not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"`{key}` of {where} must be a text, and not empty")


def _make(table: ChannelTable, state: Path, clock: Clock) -> Channel:
    return _openclaw(table, state, clock) if table.kind == "openclaw" else _webhook(table, clock)


def _webhook(table: ChannelTable, clock: Clock) -> Channel:
    from hindbrain.agent.channels.posting import Post
    from hindbrain.agent.channels.webhook import WebhookChannel

    post = Post(table.name, table.address, _token(table)) if table.address else None
    inbox = Path(table.inbox).expanduser() if table.inbox else None
    if inbox is not None and not inbox.is_absolute():
        raise ConfigError(f"`inbox` of [channels.{table.name}] must be a whole path, as in ~/agent-inbox")
    return WebhookChannel(table.name, post, inbox, clock, table.to)


def _openclaw(table: ChannelTable, state: Path, clock: Clock) -> Channel:
    from hindbrain.agent.channels.openclaw.history import Target

    target = Target(table.channel, table.to, table.session, _known_since(table.name, state, clock))
    if not table.address:
        from hindbrain.agent.channels.openclaw.cli import OpenClawProgram

        return OpenClawProgram(table.name, target, table.program)
    if table.address.startswith(("http:", "https:")):
        from hindbrain.agent.channels.openclaw.hooks import OpenClawHttp
        from hindbrain.agent.channels.posting import Post

        return OpenClawHttp(table.name, Post(table.name, table.address, _token(table)), target)
    from hindbrain.agent.channels.openclaw.bridge import OpenClawBridge
    from hindbrain.agent.channels.openclaw.device import load_device
    from hindbrain.agent.channels.openclaw.gateway import Gateway

    gateway = Gateway(table.address, _token(table), lambda: load_device(state))
    return OpenClawBridge(table.name, gateway, target)


def _known_since(name: str, state: Path, clock: Clock) -> float:
    """When this channel was first made: a session holds what was said long before, to others."""
    files = KeptFiles(state, "agent", "channels")
    files.put_new(name, {"since": clock.now()})
    try:
        return float((files.read(name) or {})["since"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{str(files.path / name)!r} is damaged; move the file away, and only messages from then on count"
        ) from error


def _token(table: ChannelTable) -> str:
    if not table.token_file:
        return table.token
    file = Path(table.token_file).expanduser()
    try:
        mode = file.stat().st_mode
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the token file {str(file)!r} of [channels.{table.name}] can't be read") from error
    if os.name != "nt" and stat.S_IMODE(mode) & 0o077:
        raise ConfigError(
            f"the token file {str(file)!r} can be read by others; make it yours alone: chmod 600 {file}"
        )
    return token
