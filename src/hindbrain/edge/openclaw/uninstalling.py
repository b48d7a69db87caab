"""Takes an installation back: byte for byte where nobody changed the file since, else member by member."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hindbrain.base.config import Config, load_config, state_folder
from hindbrain.base.errors import ConfigError
from hindbrain.edge.mcp.install import read_file, write_file
from hindbrain.edge.mcp.json5_edit import read_members
from hindbrain.edge.mcp.json_edit import NotEditable
from hindbrain.edge.openclaw import edits as editing
from hindbrain.edge.openclaw.backups import prune_backups
from hindbrain.edge.openclaw.choosing import SettingChange
from hindbrain.edge.openclaw.edits import Edit
from hindbrain.edge.openclaw.giving_back import changed_since, changes_back, in_the_file
from hindbrain.edge.openclaw.place import Openclaw
from hindbrain.edge.openclaw.plugin_copy import copy_folder, remove_copy
from hindbrain.edge.openclaw.record import (
    Record,
    hashed,
    read_former,
    read_records,
    record_of,
    write_former,
    write_record,
)
from hindbrain.edge.openclaw.service_state import service_state
from hindbrain.edge.settings_file import change_settings


class Done(NamedTuple):
    """What came of carrying out a plan."""

    backup: Path | None
    told: tuple[str, ...]  # what was done beside the changes of the plan
    problems: tuple[str, ...] = ()  # what could not be done, each with what to do next


class TakenBack(NamedTuple):
    """An installation that was, or would be, taken back."""

    found: Openclaw
    record: Record | None
    after: bytes | None  # openclaw.json as it shall be; None: it is removed
    edits: tuple[Edit, ...]  # those that are taken back
    changed: tuple[Edit, ...]  # what somebody has set since: it stays
    exact: bool  # is it byte for byte what it was before the installation?
    settings: tuple[SettingChange, ...]  # ours, as they were before, where no other plugin needs them
    stays: tuple[str, ...]  # what is not taken back, in words

    @property
    def is_needed(self) -> bool:
        return self.record is not None or self.after != self.found.before

    @property
    def slot(self) -> str:
        """Who has the memory slot then."""
        return editing.slot_owner(read_members((self.after or b"").decode("utf-8")))


def plan_uninstall(found: Openclaw, config: Config) -> TakenBack:
    """What taking it back would change; without a record, all that is plainly ours."""
    state = state_folder(config).absolute()
    record = record_of(state, found.file)
    edits, parents = (record.edits, record.parents) if record else (_ours(found, state), ())
    needed = tuple(one for one in edits if one.is_needed)
    known, original = _original(record, found) if record else (False, None)
    others = {one.form for one in read_records(state) if one.file != str(found.file)}
    former = [] if record is None or others & set(editing.PLUGIN) else read_former(state)
    back = tuple(changes_back(former, config))
    stays = (
        *(f"the setting {name}, which was changed meanwhile" for name in changed_since(former, config)),
        *([f"the folder for the agent's notes, {record.folder!r}"] if record and record.folder else ()),
    )
    if known:
        stays = (*_words_left(original), *stays)
        return TakenBack(found, record, original, needed, (), True, back, stays)
    try:
        text, changed = editing.taken_back(found.text, edits, parents)
    except NotEditable as error:
        raise ConfigError(
            f"{str(found.file)!r} was left as it is, since it can't be edited safely ({error})"
        ) from error
    gone = record is not None and not record.before and text.strip() in ("", "{}")
    after = None if gone or (found.before is None and not text) else text.encode("utf-8")
    gone_back = tuple(one for one in needed if one not in changed)
    stays = (*_words_left(after), *stays)
    return TakenBack(found, record, after, gone_back, tuple(changed), False, back, stays)


def take_back(plan: TakenBack) -> Done:
    config = load_config()
    state = state_folder(config).absolute()
    file, before = plan.found.file, plan.found.before
    backup = None
    if plan.after is None and before is not None:
        file.unlink()
    elif plan.after is not None and plan.after != before:
        backup = write_file(file, before, plan.after)
    told: list[str] = []
    if plan.record is not None:
        write_record(state, file, None)
        told += let_go(config, state)[1]
    prune_backups(file, [one.backup for one in read_records(state)])
    return Done(backup, tuple(told))


def let_go(config: Config, state: Path) -> tuple[list[SettingChange], list[str]]:
    """Take away what no installation needs any more; what was done, in settings and in words."""
    from hindbrain.edge.service.port import TOKEN_FILE

    left = {one.form for one in read_records(state)}
    for form in editing.PLUGIN:
        if form not in left:
            remove_copy(state, form)
    if left & set(editing.PLUGIN):
        return [], []
    former = read_former(state)
    back = changes_back(former, config)
    change_settings(config.file, in_the_file(back, former))
    write_former(state, ())
    now = load_config()
    service_state(now)  # a daemon that runs looks at once
    if now.number("service.port"):
        return back, []
    (state / TOKEN_FILE).unlink(missing_ok=True)
    return back, ["plugins are no longer served, and the token is removed"]


def _words_left(after: bytes | None) -> list[str]:
    """Entries of ours that stay in the file with what its owner has put there."""
    members = read_members((after or b"").decode("utf-8"))
    stays: list[str] = []
    for form in editing.PLUGIN:
        where = editing.entry_path(form)
        there, entry = editing.found(members, where)
        if there:
            config = entry.get("config") if isinstance(entry, dict) else None
            words = ", ".join(config) if isinstance(config, dict) else ""
            stays.append(f"{'.'.join(where)}, which has words of yours{f' ({words})' if words else ''}")
    return stays


def _original(record: Record, found: Openclaw) -> tuple[bool, bytes | None]:
    """The file as it was (None: there was none); whether that is known: nobody has changed it since."""
    if not record.after or hashed(found.before) != record.after:
        return False, None
    if not record.before:
        return True, None
    kept = read_file(Path(record.backup)) if record.backup else None
    return hashed(kept) == record.before, kept


def _ours(found: Openclaw, state: Path) -> tuple[Edit, ...]:
    """What is plainly ours in a file of which nothing is recorded."""
    members = found.members
    edits = [
        Edit(("plugins", "slots", "memory"), plugin) for plugin in editing.PLUGIN.values()
        if editing.slot_owner(members) == plugin
    ]  # fmt: skip
    for form, plugin in editing.PLUGIN.items():
        copy = str(copy_folder(state, form))
        if copy in editing.load_paths(members):
            edits.append(Edit(("plugins", "load", "paths"), copy, item=True))
        for path in (("plugins", "entries", plugin), ("plugins", "allow")):
            there, value = editing.found(members, path)
            if there and path[1] == "entries":
                edits.append(Edit(path, value))
            elif there and isinstance(value, list) and plugin in value:
                edits.append(Edit(path, plugin, item=True))
    return tuple(edits)
