"""Plans of `hindbrain openclaw`, and what came of them, in words and as data. Decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.edge.output import BOLD, YELLOW, Output, safe
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from hindbrain.edge.openclaw.choosing import SettingChange
    from hindbrain.edge.openclaw.edits import Edit
    from hindbrain.edge.openclaw.planning import Plan
    from hindbrain.edge.openclaw.uninstalling import Done, TakenBack

_LONGEST = 100  # characters of a value that is shown
_FORMS = {
    "slot": "in the memory slot",
    "beside": "beside OpenClaw's own memory",
    "mcp": "as an MCP server",
    None: "no: hindbrain openclaw install",
}


def plan_lines(plan: Plan) -> list[str]:
    if not plan.is_needed and not plan.jobs:
        return [f"OpenClaw has it already: {plan.found.file}"]
    lines = [f"vault: {plan.vault}"]
    if plan.replaced:
        lines.append(f"take back what was installed {_FORMS[plan.replaced.form]}")
    if plan.copies:
        lines.append(f"copy the plugin to {_copy(plan)}")
    lines += [_setting_line(one) for one in plan.settings]
    if plan.folder:
        lines.append(f"the agent's notes in the vault: {plan.folder!r}  (targetFolder in openclaw.json)")
    if plan.edits:
        lines.append(f"in {plan.found.file}:")
        lines += [f"  {_edit_line(one)}" for one in plan.edits]
    lines += [f"remove OpenClaw's nightly job {job}" for job in plan.jobs]
    return lines


def _setting_line(one: SettingChange) -> str:
    return f"setting {one.name}: {_shown(one.before)} -> {_shown(one.after)}  ({one.why})"


def _copy(plan: Plan) -> str:
    return next(str(one.after) for one in plan.record.edits if one.path == ("plugins", "load", "paths"))


def _edit_line(one: Edit) -> str:
    if one.item:
        return f"{one.where}: add {_shown(one.after)}"
    return f"{one.where}: {_shown(one.before) if one.had else 'nothing'} -> {_shown(one.after)}"


def _shown(value: Any) -> str:
    text = safe(json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def tell(done: Done, file: Path, out: Output) -> None:
    if done.backup:
        out.say(f"written: {file}; as it was before: {done.backup}")
    for line in done.told:
        out.say(safe(line))
    for problem in done.problems:
        out.warn(safe(problem))


def afterwards(form: str) -> str:
    return {
        "slot": "hindbrain openclaw status shows how it goes; uninstall takes it back",
        "beside": "its agents find the vault with memory_search corpus=wiki or all; uninstall takes it back",
        "mcp": "a running gateway takes it up by itself; openclaw mcp probe hindbrain tries it",
    }[form]


def show_taken_back(plan: TakenBack, done: Done, out: Output, *, dry: bool) -> None:
    if not plan.is_needed:
        out.line(f"OpenClaw has nothing of ours: {plan.found.file}")
        return
    out.line(f"in {plan.found.file}:")
    for one in plan.edits:
        back = _shown(one.before) if one.had else "nothing"
        out.line(f"  {one.where}: {'without ' + _shown(one.after) if one.item else back}")
    if plan.exact:
        now = "as it was before, byte for byte" if plan.after is not None else "removed: there was none"
        out.say(f"the file is {now}")
    for setting in plan.settings:
        out.line(_setting_line(setting))
    for one in plan.changed:
        out.say(f"left as it is, since it was changed meanwhile: {one.where}")
    for what in plan.stays:
        out.say(f"stays: {safe(what)}")
    if dry:
        out.say("nothing was changed (--dry-run)")
        return
    tell(done, plan.found.file, out)
    if plan.record and plan.record.form == "slot" and plan.slot == "memory-core":
        out.say("OpenClaw's own memory, which has the slot again, makes its nightly job anew")


def install_data(plan: Plan, done: Done, *, written: bool) -> dict[str, Any]:
    return {
        "form": plan.form,
        "config_file": str(plan.found.file),
        "vault": str(plan.vault),
        "changed": plan.is_needed,
        "written": written and plan.is_needed,
        "copies_plugin": plan.copies,
        "plugin_copied": written and plan.copies,
        "folder": plan.folder or None,
        "settings": [_setting_data(one) for one in plan.settings],
        "edits": _edits_data(plan.edits),
        "jobs": list(plan.jobs),
        "backup": str(done.backup) if done.backup else None,
        "notes": list(plan.notes),
        "told": list(done.told),
        "problems": list(done.problems),
    }


def taken_back_data(plan: TakenBack, done: Done, *, written: bool) -> dict[str, Any]:
    return {
        "config_file": str(plan.found.file),
        "changed": plan.is_needed,
        "written": plan.is_needed and written,
        "exact": plan.exact,
        "taken_back": _edits_data(plan.edits),
        "left": _edits_data(plan.changed),
        "settings": [_setting_data(one) for one in plan.settings],
        "stays": list(plan.stays),
        "backup": str(done.backup) if done.backup else None,
        "told": list(done.told),
    }


def _setting_data(one: SettingChange) -> dict[str, Any]:
    return {**one._asdict(), "before": _plain(one.before), "after": _plain(one.after)}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _edits_data(edits: Sequence[Edit]) -> list[dict[str, Any]]:
    return [
        {"where": one.where, "before": one.before if one.had else None, "after": one.after, "item": one.item}
        for one in edits
    ]


def show_status(data: dict[str, Any], out: Output) -> None:
    _row(out, "openclaw", _program_text(data["program"]))
    _row(out, "config", data["config_file"])
    _row(out, "installed", _FORMS[data["installed"]])
    _row(out, "slot", data["slot"])
    if plugin := data.get("plugin"):
        _row(out, "plugin", f"{plugin['version'] or 'missing'}  ({plugin['folder']})")
        _row(out, "service", _service_text(data["service"]))
    gateway = data["gateway"]
    answers = "answers" if gateway["answers"] else gateway["told"] or "does not answer"
    _row(out, "gateway", f"{answers} at port {gateway['port']}")
    _row(out, "vault", data["vault"] or "none: hindbrain config vault.path PATH")
    for problem in data["problems"]:
        _row(out, "problem", f"{problem['what']}: {problem['next']}", YELLOW)


def _program_text(program: dict[str, Any]) -> str:
    return "; ".join(filter(None, (program["version"] or "", program["told"], program["path"] or "")))


def _service_text(service: dict[str, Any]) -> str:
    if not service["serves"]:
        return f"does not answer ({service['url'] or 'the plugin is told no address'})"
    if not service["last_asked"]:
        return f"{service['serves']}, not asked yet"
    by = f" by {service['last_agent']}" if service["last_agent"] else ""
    return f"{service['serves']}, last asked {moment_text(service['last_asked'])}{by}"


def _row(out: Output, name: str, text: str, *colour: str) -> None:
    out.line(f"{out.paint(f'{name:9}', BOLD)} {out.paint(safe(text), *colour)}")
