"""How it stands between OpenClaw and us, for `hindbrain openclaw status`: what is there, and what is wrong.

Looks, and changes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from hindbrain.base.config import Config, state_folder
from hindbrain.base.errors import HindbrainError
from hindbrain.edge.conversation_state import daemon_state
from hindbrain.edge.openclaw import edits as editing
from hindbrain.edge.openclaw.edits import GRANTS, PLUGIN, Form, entry_path
from hindbrain.edge.openclaw.jobs import dreaming_jobs, remove_line
from hindbrain.edge.openclaw.people import OWNERS, private_chats, strangers_told
from hindbrain.edge.openclaw.place import Openclaw, ask_gateway, find_program, gateway_port, version_trouble
from hindbrain.edge.openclaw.plugin_copy import (
    copy_folder,
    files_in,
    known_words,
    manifest_of,
    source_files,
    version_of,
)
from hindbrain.edge.openclaw.record import record_of
from hindbrain.edge.openclaw.words import differences, words_said

_AGAIN = "hindbrain openclaw install"
_AGENT = "hindbrain-openclaw"  # how the plugin names itself, with its version


class Problem(NamedTuple):
    what: str
    next: str  # what to do about it


def look(found: Openclaw, config: Config) -> dict[str, Any]:
    """As `--json` has it."""
    state = state_folder(config).absolute()
    form = installed_form(found, state)
    problems: list[Problem] = []
    data: dict[str, Any] = {
        "installed": form or None,
        "config_file": str(found.file),
        "slot": editing.slot_owner(found.members),
        "program": _program(found, form, problems),
    }
    plugin = form if form in ("slot", "beside") else None
    data |= {
        "mcp": editing.found(found.members, ("mcp", "servers", "hindbrain"))[0],
        "plugin": _plugin(found, state, plugin, problems) if plugin else None,
        "grants": _grants(found, problems) if form == "slot" else None,
        "dreaming": _dreaming(found, problems) if form == "slot" else None,
        "jobs": _jobs(found, problems) if form == "slot" else None,
        "service": _service(found, config, plugin, problems) if plugin else None,
        "words": _words(found, config, plugin, problems) if plugin else [],
        "private": _private(found, plugin, problems) if plugin else None,
        "gateway": _gateway(found),
        "vault": _vault(found, config, plugin, problems),
    }
    data["problems"] = [problem._asdict() for problem in problems]
    return data


def installed_form(found: Openclaw, state: Path) -> Form | None:
    """What of ours openclaw.json has; what was recorded, where it still has it."""
    entries = editing.found(found.members, ("plugins", "entries"))[1]
    known = entries if isinstance(entries, dict) else {}
    record = record_of(state, found.file)
    if record and record.form != "mcp" and PLUGIN[record.form] in known:
        return record.form
    if editing.slot_owner(found.members) == PLUGIN["slot"] or PLUGIN["slot"] in known:
        return "slot"
    if PLUGIN["beside"] in known:
        return "beside"
    return "mcp" if editing.found(found.members, ("mcp", "servers", "hindbrain"))[0] else None


def _program(found: Openclaw, form: Form | None, problems: list[Problem]) -> dict[str, Any]:
    program = find_program(found.place)
    if program is None:
        return {"path": None, "version": None, "told": "not on your PATH"}
    usable, told = version_trouble(program.version)
    if not usable and form in ("slot", "beside"):
        problems.append(Problem(f"OpenClaw {told}", "openclaw update"))
    return {"path": str(program.path), "version": program.version or None, "told": told}


def _plugin(found: Openclaw, state: Path, form: Form, problems: list[Problem]) -> dict[str, Any]:
    copy = copy_folder(state, form)
    there, ours = files_in(copy), source_files(form)
    paths = editing.load_paths(found.members)
    if form == "slot" and editing.slot_owner(found.members) != PLUGIN[form]:
        owner = editing.slot_owner(found.members)
        problems.append(Problem(f"the memory slot is {owner!r}'s, not ours", _AGAIN))
    if str(copy) not in paths:
        problems.append(Problem(f"plugins.load.paths does not name the plugin ({str(copy)!r})", _AGAIN))
    if not there:
        problems.append(Problem(f"the plugin's folder {str(copy)!r} is gone", _AGAIN))
    elif there != ours:
        told = (
            f"the plugin in {str(copy)!r} is not the one of this program ({version_of(there) or 'unknown'})"
        )
        problems.append(Problem(told, f"{_AGAIN}, then openclaw plugins reload {PLUGIN[form]}"))
    others = [path for path in paths if path != str(copy) and _is_ours(Path(path), form)]
    if others:
        told = f"another copy of the plugin is loaded from {others[0]!r}"
        problems.append(Problem(told, "take it out of plugins.load.paths"))
    allowed = editing.found(found.members, ("plugins", "allow"))[1]
    if isinstance(allowed, list) and allowed and PLUGIN[form] not in allowed:
        problems.append(Problem(f"plugins.allow does not name {PLUGIN[form]!r}", _AGAIN))
    denied = editing.found(found.members, ("plugins", "deny"))[1]
    off = editing.found(found.members, entry_path(form, "enabled"))[1] is False
    if off or (isinstance(denied, list) and PLUGIN[form] in denied):
        problems.append(
            Problem("the plugin is switched off in openclaw.json", f"{_AGAIN}; mind plugins.deny")
        )
    return {
        "folder": str(copy), "version": version_of(there) or None, "ours": version_of(ours) or None,
        "current": there == ours, "linked": str(copy) in paths,
    }  # fmt: skip


def _is_ours(folder: Path, form: Form) -> bool:
    try:
        return manifest_of(files_in(folder)).get("id") == PLUGIN[form] if folder.is_dir() else False
    except OSError:
        return False


def _grants(found: Openclaw, problems: list[Problem]) -> dict[str, bool]:
    granted = {name: editing.found(found.members, entry_path("slot", "hooks", name))[1] for name in GRANTS}
    given = {name: value is True for name, value in granted.items()}
    if missing := [name for name, is_given in given.items() if not is_given]:
        told = f"OpenClaw does not let the plugin hear conversations ({', '.join(missing)})"
        problems.append(Problem(told, _AGAIN))
    return given


def _dreaming(found: Openclaw, problems: list[Problem]) -> bool:
    """Is OpenClaw's nightly tidying on? It would write into the agent's folder, which may be the vault."""
    said = editing.entry_config(found.members, "slot").get("dreaming")
    on = not (isinstance(said, dict) and said.get("enabled") is False)
    if on:
        problems.append(Problem("OpenClaw's dreaming is on for our plugin", _AGAIN))
    return on


def _jobs(found: Openclaw, problems: list[Problem]) -> list[str] | None:
    jobs = dreaming_jobs(found)
    for job in jobs or ():
        told = "the nightly job of OpenClaw's own memory is left, and asks the model for nothing"
        problems.append(Problem(told, f"with the gateway running: {remove_line(job)}"))
    return jobs


def _service(found: Openclaw, config: Config, form: Form, problems: list[Problem]) -> dict[str, Any]:
    """Ours, as the daemon says it is, and as the plugin is told to find it."""
    said = editing.entry_config(found.members, form)
    daemon = daemon_state(config)
    service = daemon.get("service")
    service = service if isinstance(service, dict) else {}
    port = config.number("service.port")
    address, token_file = f"http://127.0.0.1:{port}", said.get("tokenFile")
    if not port:
        problems.append(Problem("plugins are not served (service.port is 0)", _AGAIN))
    elif not said.get("baseUrl"):
        problems.append(Problem("the plugin is told no address", _AGAIN))
    elif said.get("baseUrl") != address:
        told = f"the plugin asks at {said.get('baseUrl')!r}, and plugins are served at {address!r}"
        problems.append(Problem(told, _AGAIN))
    problems += (token_problems := _token_problems(token_file, config))
    if not daemon["answers"]:
        problems.append(
            Problem("the daemon does not answer (the plugin starts it when needed)", "hindbrain up")
        )
    elif service.get("problem") and not token_problems:  # a token that can't be used is told already
        problems.append(Problem(f"plugins are not served: {service['problem']}", "hindbrain up status"))
    problems += _old_plugin(str(service.get("last_agent") or ""), form)
    for failure in service.get("failing", ())[-1:]:
        told = f"the last request that failed: {failure['route']}: {failure['message']}"
        problems.append(Problem(told, "hindbrain doctor"))
    return {
        "url": said.get("baseUrl"),
        "token_file": token_file,
        "daemon": bool(daemon["answers"]),
        "serves": service.get("url") or None,
        "asked": service.get("asked", 0),
        "last_asked": service.get("last_asked") or None,
        "last_agent": service.get("last_agent") or None,
        "refused": service.get("refused", {}),
    }


def _old_plugin(agent: str, form: Form) -> list[Problem]:
    """After an upgrade a gateway goes on with the plugin that it has loaded."""
    name, _, runs = agent.partition("/")
    ours = version_of(source_files(form))
    if name != _AGENT or not runs or runs == ours:
        return []
    told = f"the gateway runs version {runs} of the plugin, and this program has {ours}"
    return [Problem(told, f"openclaw plugins reload {PLUGIN[form]}")]


def _token_problems(file: object, config: Config) -> list[Problem]:
    from shlex import quote

    from hindbrain.edge.http.token import can_be_read_by_others, read_token
    from hindbrain.edge.service.port import TOKEN_FILE

    ours = state_folder(config).absolute() / TOKEN_FILE
    if not isinstance(file, str) or not file:
        return [Problem("the plugin is told no token file", _AGAIN)]
    try:
        token = read_token(Path(file))
        same = Path(file) == ours or token == read_token(ours)
    except FileNotFoundError:
        return [Problem(f"the token file {file!r} is not there", _AGAIN)]
    except HindbrainError as error:
        if can_be_read_by_others(Path(file)):
            told = f"the token file {file!r} can be read by others, so that plugins are not served"
            return [Problem(told, f"chmod 600 {quote(file)}")]
        return [Problem(str(error), f"then {_AGAIN}")]
    return (
        [] if same else [Problem(f"the token in {file!r} is not that of the service ({str(ours)!r})", _AGAIN)]
    )


def _words(found: Openclaw, config: Config, form: Form, problems: list[Problem]) -> list[dict[str, Any]]:
    """Words of openclaw.json that our settings do not say as well."""
    said = words_said(found.members, editing.entry_config(found.members, form))
    problems += [Problem(one.problem, "correct it in openclaw.json") for one in said if one.problem]
    drift = differences(said, config)
    for one in drift:
        told = (
            f"{one.said.word.name} in openclaw.json is {one.said.value!r}, and {one.setting} is {one.now!r}"
        )
        problems.append(Problem(told, _AGAIN))
    if any(one.where != "config" for one in said):
        told = "openclaw.json has agents.defaults.memorySearch, with which OpenClaw 2026.9 does not start"
        problems.append(Problem(told, "openclaw doctor --fix, once it is installed"))
    return [
        {"word": one.said.word.name, "says": one.said.value, "setting": one.setting, "now": one.now}
        for one in drift
    ]  # fmt: skip


def _private(found: Openclaw, form: Form, problems: list[Problem]) -> dict[str, Any]:
    """Who may write in private chats; who is answered there is answered from the vault."""
    what, then = strangers_told(found, form)
    if what and OWNERS in known_words(form):
        problems.append(Problem(what, then))
    private = private_chats(found)
    return {
        "owners": editing.entry_config(found.members, form).get(OWNERS),
        "allowed": list(private.ids),
        "open": list(private.open),
        "pairing": list(private.pairing),
    }


def _gateway(found: Openclaw) -> dict[str, Any]:
    gateway = ask_gateway(gateway_port(found))
    return {"port": gateway.port, "answers": gateway.answers, "told": gateway.said}


def _vault(found: Openclaw, config: Config, form: Form | None, problems: list[Problem]) -> str | None:
    said = editing.entry_config(found.members, form).get("vaultPath") if form else None
    ours = not (isinstance(said, str) and said)
    named = config.text("vault.path") if ours else str(said)
    if not named:
        return None
    root = Path(named).expanduser().absolute()
    if form and not root.is_dir():
        by = "the setting vault.path" if ours else "vaultPath in openclaw.json"
        told = f"no vault at {str(root)!r} ({by})"
        problems.append(Problem(told, "check the path, and that its disk is mounted"))
    return str(root)
