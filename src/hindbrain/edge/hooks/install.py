"""Puts our hooks into a host's settings and takes them out again; what others have there stays as it is.

Each change is one item of one list, made by line and checked by reading the result (`edge.mcp.json_edit`).
The file is written whole or not at all, with a copy of what it was beside it (`edge.mcp.install`). Ours are
known by the program that they call.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hindbrain.base.errors import ConfigError, UsageError
from hindbrain.edge.hooks.files import hook_events, opencode_plugin, rules_file
from hindbrain.edge.hooks.hosts import HOSTS, PROGRAM, Host, host_named
from hindbrain.edge.hooks.places import Where, rules_path, settings_path
from hindbrain.edge.hooks.plugins import plugin_enabled
from hindbrain.edge.mcp.install import Change, read_file, write_file
from hindbrain.edge.mcp.json_edit import (
    NotEditable,
    append_item,
    read_members,
    remove_item,
    remove_member,
    set_member,
)

MODULE = "hindbrain.edge.hooks.main"


def named_host(name: str) -> Host:
    host = host_named(name)
    if host is None:
        names = ", ".join(host.name for host in HOSTS)
        what = f"there is no host {name!r} here" if name else "no host was named"
        raise UsageError(f"{what}; it takes one of: {names}")
    return host


def hook_command(scope: str) -> list[str]:
    """How a host starts our program: by its whole path, since a desktop host has no PATH of a shell.

    A project's settings may be shared with others: there the name is enough where every shell finds it.
    """
    found = shutil.which(PROGRAM)
    if scope == "project" and found is not None and not Path(found).is_relative_to(sys.prefix):
        return [PROGRAM]
    beside = Path(sys.executable).with_name(f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM)
    return [str(beside)] if beside.is_file() else [sys.executable, "-m", MODULE]


def plan_install(host: Host, at: Where, command: Sequence[str]) -> list[Change]:
    """What has to change; none of it is done."""
    changes = [_planned(host, at, lambda text: _with_ours(host, text, command))]
    if host.name == "cursor" and at.scope == "project":
        changes.append(_own_file(rules_path(at), rules_file()))
    return changes


def plan_uninstall(host: Host, at: Where) -> list[Change]:
    changes = [_planned(host, at, lambda text: _without_ours(host, text))]
    if host.name == "cursor" and at.scope == "project":
        changes.append(_removed(rules_path(at)))
    return changes


def carry_out(changes: Sequence[Change]) -> list[Change]:
    """Do it. The copies of what was there are named in the result."""
    done: list[Change] = []
    for change in changes:
        if change.is_needed and change.after is not None:
            change = change._replace(backup=write_file(change.file, change.before, change.after))
        elif change.is_needed:
            change.file.unlink()
        done.append(change)
    return done


def is_installed(host: Host, at: Where) -> bool | None:
    """Are our hooks in these settings? None when they can't be read."""
    try:
        text = (read_file(settings_path(host, at)) or b"").decode("utf-8")
        if host.form == "plain":
            return PROGRAM in text or MODULE in text
        events = read_members(text).get("hooks")
    except (UnicodeDecodeError, NotEditable, ConfigError):
        return None
    return isinstance(events, dict) and any(
        _is_ours(one) for items in events.values() for one in _list(items)
    )


def is_current(host: Host, at: Where, command: Sequence[str]) -> bool:
    """Would installing change nothing?"""
    try:
        return not any(change.is_needed for change in plan_install(host, at, command))
    except ConfigError:
        return False


def has_plugin(at: Where) -> bool:
    """Is our Claude Code plugin switched on in these settings? Then its hooks are there already."""
    return plugin_enabled(named_host("claude-code"), at) is True


def _planned(host: Host, at: Where, edit: Callable[[str], str]) -> Change:
    file = settings_path(host, at)
    before = read_file(file)
    try:
        after = edit((before or b"").decode("utf-8"))
    except (UnicodeDecodeError, NotEditable) as error:
        raise ConfigError(
            f"{str(file)!r} was left as it is, since it can't be edited safely ({error}); "
            "mend it, or take what integrations/ has for this host"
        ) from error
    if not after and before is None:
        return Change(file, None, None)
    return Change(file, before, after.encode("utf-8") if after else None)


def _own_file(file: Path, text: str) -> Change:
    return Change(file, read_file(file), text.encode("utf-8"))


def _removed(file: Path) -> Change:
    return Change(file, read_file(file), None)


def _with_ours(host: Host, text: str, command: Sequence[str]) -> str:
    if host.form == "plain":
        return opencode_plugin(host, command)
    wanted = hook_events(host, command)
    text = _without_stale(text, wanted)
    if host.form == "cursor" and "version" not in read_members(text):
        text = set_member(text, ("version",), 1)
    for event, entries in wanted.items():
        for entry in entries:
            if entry not in _list(_events(text).get(event)):
                text = append_item(text, ("hooks", event), entry)
    return text


def _without_stale(text: str, wanted: dict[str, list[Any]]) -> str:
    """Without those of ours that are not wanted any more, or not so."""
    for event, items in _events(text).items():
        for index, item in reversed(list(enumerate(_list(items)))):
            if _is_ours(item) and item not in wanted.get(event, ()):
                text = remove_item(text, ("hooks", event), index)
                if not _events(text)[event]:
                    text = remove_member(text, ("hooks", event))
    return text


def _without_ours(host: Host, text: str) -> str:
    """What is left; "" when that is nothing: then the file was ours alone."""
    if host.form == "plain":
        return "" if PROGRAM in text or MODULE in text else text
    after = _without_stale(text, {})
    if after == text:
        return text
    if _events(after) == {}:
        after = remove_member(after, ("hooks",))
    return after if set(read_members(after)) - {"version"} else ""


def _events(text: str) -> dict[str, Any]:
    found = read_members(text).get("hooks", {})
    if not isinstance(found, dict):
        raise NotEditable("'hooks' in it is not an object")
    return found


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_ours(entry: object) -> bool:
    """Does it call our program? Entries hold one handler each as we write them."""
    handlers = [entry, *_list(entry.get("hooks"))] if isinstance(entry, dict) else []
    words = [
        word
        for handler in handlers
        if isinstance(handler, dict)
        for word in (handler.get("command"), *_list(handler.get("args")))
        if isinstance(word, str)
    ]
    others = sum(isinstance(handler, dict) for handler in handlers[1:]) > 1
    return not others and any(PROGRAM in word or MODULE in word for word in words)
