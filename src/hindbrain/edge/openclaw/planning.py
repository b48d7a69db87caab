"""What `hindbrain openclaw install` would do, as a value: every change, and what is there now.

Looks, and writes nothing.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import ConfigError
from hindbrain.edge.mcp.install import server_command
from hindbrain.edge.mcp.json5_edit import read_members
from hindbrain.edge.mcp.json_edit import NotEditable
from hindbrain.edge.openclaw import edits as editing
from hindbrain.edge.openclaw.choosing import SettingChange, choose_folder, choose_settings, choose_vault
from hindbrain.edge.openclaw.edits import Edit, Form
from hindbrain.edge.openclaw.jobs import dreaming_jobs
from hindbrain.edge.openclaw.people import OWNERS, private_chats, strangers_told
from hindbrain.edge.openclaw.place import Openclaw, Program, find_program, version_trouble
from hindbrain.edge.openclaw.plugin_copy import copy_folder, files_in, known_words, source_files
from hindbrain.edge.openclaw.record import Record, hashed, record_of
from hindbrain.edge.openclaw.words import ITSELF, Said, words_said

_BY_MCP = (
    "over MCP it is not known who asks: whoever may write to OpenClaw's agents, in groups too, can be "
    "answered from the vault"
)
_READ_ONLY = ("OPENCLAW_NIX_MODE", "OPENCLAW_CONFIG_READONLY")


class Plan(NamedTuple):
    """All that an installation changes; `edits` are against the file as it is now."""

    form: Form
    found: Openclaw
    program: Program | None
    vault: Path
    folder: str  # the vault's folder for the agent's notes, where it is to be made; "" when it stays
    copies: bool  # is the plugin's copy missing, or another one?
    settings: tuple[SettingChange, ...]
    edits: tuple[Edit, ...]
    after: bytes  # openclaw.json as it shall be
    record: Record
    replaced: Record | None  # an installation of another form, which is taken back first
    jobs: tuple[str, ...]
    notes: tuple[str, ...]  # what is to be known

    @property
    def is_needed(self) -> bool:
        return bool(self.copies or self.settings or self.folder or self.after != (self.found.before or b""))


def plan_install(found: Openclaw, config: Config, form: Form, *, vault: str = "", serving: int = 0) -> Plan:
    """`vault`: as named by its owner. `serving`: the port at which our service is open now; 0: at none."""
    state = state_folder(config).absolute()
    program = find_program(found.place)
    notes = _check_version(program, form)
    _check_file(found)
    if form == "mcp":
        from hindbrain.edge.mcp.sdk import check_installed

        check_installed()
    else:
        _check_token(state)
    old = record_of(state, found.file)
    text = found.text
    replaced = old if old and old.form != form else None
    with _left_alone(found.file):
        if replaced:
            text, _ = editing.taken_back(text, replaced.edits, replaced.parents)
        members = read_members(text)
    said = words_said(members, editing.entry_config(members, form)) if form != "mcp" else []
    root = choose_vault(config, vault, said, found.file)
    settings, more = choose_settings(config, said, root, form, serving)
    folder, layout_note = choose_folder(root, said)
    port = next((int(str(one.after)) for one in settings if one.name == "service.port"), 0)
    address = port or config.number("service.port")
    with _left_alone(found.file):
        wanted = _edits(
            found._replace(members=members), form, state, root, config, address, said, named=bool(vault)
        )
        editing.check_editable(members, found.file, wanted)
        after = editing.made(text, wanted).encode("utf-8")
    jobs = dreaming_jobs(found) if form == "slot" else []
    return Plan(
        form, found, program, root, folder,
        form != "mcp" and files_in(copy_folder(state, form)) != source_files(form),
        settings, tuple(one for one in wanted if one.is_needed), after,
        _record(form, found, members, wanted, after, old, str(root / folder) if folder else ""),
        replaced, tuple(jobs or ()),
        (*notes, *_no_vault(root), *more, *layout_note, *(one.problem for one in said if one.problem),
         *_strangers(found._replace(members=read_members(after.decode("utf-8"))), form)),
    )  # fmt: skip


def _check_version(program: Program | None, form: Form) -> list[str]:
    if form == "mcp":
        return []
    if program is None:
        return ["the program `openclaw` is not on your PATH, so that its version is not known here"]
    usable, trouble = version_trouble(program.version)
    if not usable:
        raise ConfigError(f"OpenClaw {trouble}; or use it over MCP: hindbrain openclaw install --mcp")
    return [f"OpenClaw {trouble}"] if trouble else []


def _check_file(found: Openclaw) -> None:
    """Is it ours to edit at all?"""
    if managed := [name for name in _READ_ONLY if found.place.environ.get(name) == "1"]:
        raise ConfigError(f"{managed[0]} is set: another program writes {str(found.file)!r}; change it there")
    gateway = found.members.get("gateway")
    if isinstance(gateway, dict) and gateway.get("mode") == "remote":
        raise ConfigError(
            f"the gateway of {str(found.file)!r} is on another machine (gateway.mode is remote), and plugins "
            "run there: install it there, where the vault is"
        )
    if found.before is None:
        return
    real = Path(os.path.realpath(found.file))
    if not real.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(real, os.W_OK):
        raise ConfigError(f"{str(real)!r} is read-only, and was left as it is; make it writable first")


@contextmanager
def _left_alone(file: Path) -> Iterator[None]:
    """What can't be edited in place is told as such."""
    try:
        yield
    except NotEditable as error:
        raise ConfigError(
            f"{str(file)!r} was left as it is, since it can't be edited safely ({error}); mend it first: "
            "openclaw config validate"
        ) from error


def _edits(
    found: Openclaw, form: Form, state: Path, root: Path, config: Config, port: int,
    said: list[Said], *, named: bool,
) -> list[Edit]:  # fmt: skip
    members = found.members
    if form == "mcp":
        ours = {"HINDBRAIN_CONFIG": config.file.absolute(), "HINDBRAIN_STATE_FOLDER": state}
        places = {name: str(place) for name, place in ours.items() if name in os.environ}
        return editing.server_edits(members, server_command(root), places)
    known, own = known_words(form), editing.entry_config(members, form)
    words = {
        word: value
        for word, value in _plugin_config(state, root, config, port).items()
        if word.partition(".")[0] in known
    }
    if "vaultPath" in own and not named:
        words.pop("vaultPath", None)  # its owner's own word
    if OWNERS in known and OWNERS not in own and (owner := private_chats(found).owner):
        words[OWNERS] = [owner]  # who is let in later is somebody else
    for one in said:
        if one.word.setting == ITSELF and one.where != "config" and one.ours is not None:
            words[one.word.name] = one.value
    return editing.plugin_edits(members, form, copy_folder(state, form), words)


def _no_vault(root: Path) -> list[str]:
    """A folder that is a vault by nothing but its owner's word may be one by mistake."""
    from hindbrain.vault.discover import has_marker

    if has_marker(root):
        return []
    return [f"{str(root)!r} is no vault yet: all Markdown files below it become part of OpenClaw's memory"]


def _check_token(state: Path) -> None:
    """ConfigError when there is a token that can't be used; without one, one is made."""
    from hindbrain.edge.http.token import read_token
    from hindbrain.edge.service.port import TOKEN_FILE

    with suppress(FileNotFoundError):
        read_token(state / TOKEN_FILE)


def _strangers(found: Openclaw, form: Form) -> list[str]:
    if form == "mcp":
        return [_BY_MCP] if found.members.get("channels") else []
    if OWNERS not in known_words(form):
        return []
    what, then = strangers_told(found, form)
    return [f"{what}: {then}"] if what else []


def _plugin_config(state: Path, root: Path, config: Config, port: int) -> dict[str, Any]:
    """What the plugin must know to find us, by word."""
    from hindbrain.edge.service.port import TOKEN_FILE

    beside = Path(sys.executable).with_name("hindbrain.exe" if sys.platform == "win32" else "hindbrain")
    program = [str(beside)] if beside.is_file() else [sys.executable, "-m", "hindbrain"]
    places = {"HINDBRAIN_CONFIG": str(config.file.absolute())}
    if "HINDBRAIN_STATE_FOLDER" in os.environ:
        places["HINDBRAIN_STATE_FOLDER"] = str(state)
    return {
        "baseUrl": f"http://127.0.0.1:{port}",
        "tokenFile": str(state / TOKEN_FILE),
        "vaultPath": str(root),
        "command": [*program, "up"],
        "env": places,
        "dreaming.enabled": False,
    }


def _record(
    form: Form, found: Openclaw, members: Mapping[str, Any], wanted: list[Edit], after: bytes,
    old: Record | None, folder: str,
) -> Record:  # fmt: skip
    """What will be known of this installation; of one before it, what stood there before both."""
    parents = editing.new_parents(members, (one for one in wanted if one.is_needed))
    if old is None or old.form != form:
        first = old or Record(form, str(found.file), (), (), before=hashed(found.before))
        between = old is not None and hashed(found.before) != old.after
        return first._replace(
            form=form, edits=tuple(wanted), parents=tuple(parents), folder=folder or first.folder,
            after="" if between else hashed(after),
        )  # fmt: skip
    edits = {(one.path, one.item): one for one in (*old.edits, *_with_originals(wanted, old))}
    unchanged = hashed(found.before) == old.after
    return old._replace(
        edits=tuple(edits.values()),
        parents=(*old.parents, *(path for path in parents if path not in old.parents)),
        after=hashed(after) if unchanged else old.after if after == found.before else "",
        folder=folder or old.folder,
    )


def _with_originals(wanted: list[Edit], old: Record) -> list[Edit]:
    before = {(one.path, one.item): one for one in old.edits}
    edits: list[Edit] = []
    for one in wanted:
        first = before.get((one.path, one.item))
        ours = (
            first is not None
            and one.had
            and (first.after == one.after if one.item else one.before == first.after)
        )
        edits.append(one._replace(had=first.had, before=first.before) if first and ours else one)
    return edits
