"""What changes in openclaw.json, as values: planned, made in its text, and taken back. Pure.

Each edit is one member or one item of a list, so that what somebody else sets beside it stays theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from hindbrain.base.errors import ConfigError
from hindbrain.edge.mcp import json5_edit as edit
from hindbrain.edge.mcp.json_edit import NotEditable

Form: TypeAlias = Literal["slot", "beside", "mcp"]
PLUGIN: Mapping[Form, str] = {"slot": "hindbrain", "beside": "hindbrain-beside"}  # the plugin's id
GRANTS = ("allowConversationAccess", "allowPromptInjection")  # hooks that OpenClaw gives nobody by itself
_PATHS = ("plugins", "load", "paths")
_SLOT = ("plugins", "slots", "memory")
_ALLOW = ("plugins", "allow")
_SERVER = ("mcp", "servers", "hindbrain")


class Edit(NamedTuple):
    """A member that is set, or an item (`item`) that is added to a list."""

    path: tuple[str, ...]
    after: Any
    had: bool = False  # was there something? Of an item: was it there already?
    before: Any = None
    item: bool = False

    @property
    def is_needed(self) -> bool:
        return not self.had or (not self.item and self.before != self.after)

    @property
    def where(self) -> str:
        return ".".join(self.path)


def slot_owner(members: Mapping[str, Any]) -> str:
    """The plugin that has the memory slot; OpenClaw's own where the file says nothing."""
    owner = found(members, _SLOT)[1]
    return owner if isinstance(owner, str) and owner else "memory-core"


def load_paths(members: Mapping[str, Any]) -> list[str]:
    paths = found(members, _PATHS)[1]
    return [path for path in paths if isinstance(path, str)] if isinstance(paths, list) else []


def entry_path(form: Form, *more: str) -> tuple[str, ...]:
    return ("plugins", "entries", PLUGIN[form], *more)


def entry_config(members: Mapping[str, Any], form: Form) -> dict[str, Any]:
    """What the file says in our plugin's own settings."""
    config = found(members, entry_path(form, "config"))[1]
    return config if isinstance(config, dict) else {}


def plugin_edits(members: Mapping[str, Any], form: Form, copy: Path, config: Mapping[str, Any]) -> list[Edit]:
    """What makes OpenClaw load the plugin from `copy`. `config`: its settings ("dreaming.enabled": ...)."""
    plugins = found(members, ("plugins",))[1]
    wanted: list[tuple[tuple[str, ...], Any]] = [(entry_path(form, "enabled"), True)]
    if form == "slot":
        wanted.insert(0, (_SLOT, PLUGIN[form]))
        wanted += [(entry_path(form, "hooks", name), True) for name in GRANTS]
    wanted += [(entry_path(form, "config", *word.split(".")), value) for word, value in config.items()]
    edits = [_adding(members, _PATHS, str(copy))]
    edits += [_setting(members, path, value) for path, value in wanted]
    if isinstance(plugins, dict) and plugins.get("allow"):
        edits.append(_adding(members, _ALLOW, PLUGIN[form]))
    return edits


def server_edits(
    members: Mapping[str, Any], command: Sequence[str], environ: Mapping[str, str]
) -> list[Edit]:
    """What makes OpenClaw start our MCP server; what its owner set for it stays."""
    there = found(members, _SERVER)[1]
    kept = there if isinstance(there, dict) else {}
    entry = {**kept, "command": command[0], "args": list(command[1:])}
    if environ:
        before = kept.get("env")
        entry["env"] = {**(before if isinstance(before, dict) else {}), **environ}
    return [_setting(members, _SERVER, entry)]


def check_editable(members: Mapping[str, Any], file: Path, edits: Iterable[Edit]) -> None:
    """ConfigError when the section comes from another file, or when its owner has forbidden the plugin."""
    for one in edits:
        for depth in range(len(one.path)):
            outer = found(members, one.path[:depth])[1]
            if isinstance(outer, dict) and "$include" in outer:
                where = ".".join(one.path[:depth]) or "the whole file"
                raise ConfigError(
                    f"{where} in {str(file)!r} comes from {outer['$include']!r} ($include), and was left as "
                    "it is; put that section into the file itself, then install again"
                )
    plugins = found(members, ("plugins",))[1]
    if not isinstance(plugins, dict):
        return
    denied = plugins.get("deny")
    if plugins.get("enabled") is False:
        raise ConfigError(f"plugins.enabled is false in {str(file)!r}: OpenClaw would not load it")
    if isinstance(denied, list) and (ours := set(PLUGIN.values()) & set(map(str, denied))):
        raise ConfigError(
            f"plugins.deny in {str(file)!r} names {min(ours)!r}, so that OpenClaw would not load it; take "
            "it out there, then install again"
        )


def made(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits made. NotEditable when that is not possible in place."""
    for one in edits:
        if not one.is_needed:
            continue
        if one.item:
            text = edit.append_item(text, one.path, one.after)
        else:
            text = edit.set_member(text, one.path, one.after)
    return text


def new_parents(members: Mapping[str, Any], edits: Iterable[Edit]) -> list[tuple[str, ...]]:
    """The objects and lists that the edits bring with them, outermost first."""
    missing = {
        one.path[:depth]
        for one in edits
        for depth in range(1, len(one.path) + (1 if one.item else 0))
        if not found(members, one.path[:depth])[0]
    }
    return sorted(missing, key=lambda path: (len(path), path))


def taken_back(
    text: str, edits: Sequence[Edit], parents: Sequence[tuple[str, ...]]
) -> tuple[str, list[Edit]]:
    """The text as it would be without the edits, and those that somebody has changed since: they stay."""
    changed: list[Edit] = []
    for one in reversed(edits):
        if not one.is_needed:
            continue
        there, value = found(edit.read_members(text), one.path)
        if one.item:
            if isinstance(value, list) and one.after in value:
                text = edit.remove_item(text, one.path, value.index(one.after))
        elif not there:
            continue
        elif value != one.after:
            changed.append(one)
        else:
            text = (
                edit.set_member(text, one.path, one.before) if one.had else edit.remove_member(text, one.path)
            )
    for parent in reversed(parents):
        there, value = found(edit.read_members(text), parent)
        if there and value in ({}, []):
            text = edit.remove_member(text, parent)
    return text, changed


def found(members: Any, path: Sequence[str]) -> tuple[bool, Any]:
    """Is there something at the path, and what."""
    for name in path:
        if not isinstance(members, dict) or name not in members:
            return False, None
        members = members[name]
    return True, members


def _setting(members: Mapping[str, Any], path: tuple[str, ...], value: Any) -> Edit:
    had, before = found(members, path)
    return Edit(path, value, had, before)


def _adding(members: Mapping[str, Any], path: tuple[str, ...], value: Any) -> Edit:
    there, items = found(members, path)
    if there and not isinstance(items, list):
        raise NotEditable(f"{'.'.join(path)} in it is not a list")
    return Edit(path, value, there and value in items, None, item=True)


def edit_data(one: Edit) -> dict[str, Any]:
    """As the record of an installation keeps it."""
    return {**one._asdict(), "path": list(one.path)}


def edit_from(data: Mapping[str, Any]) -> Edit:
    return Edit(tuple(data["path"]), data["after"], data["had"], data["before"], data["item"])
