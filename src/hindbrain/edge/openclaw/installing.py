"""Carries out the plan of an installation.

The order is such that nobody finds half of it: first what the plugin needs (its files, the token, the
service), then the record of what will be changed, then openclaw.json in one write, which a running gateway
takes up by itself.
"""

from __future__ import annotations

import time
from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.config import Config, load_config, state_folder
from hindbrain.base.errors import HindbrainError
from hindbrain.edge.mcp.install import write_file
from hindbrain.edge.openclaw.backups import prune_backups
from hindbrain.edge.openclaw.edits import PLUGIN
from hindbrain.edge.openclaw.giving_back import noted
from hindbrain.edge.openclaw.jobs import remove_job, remove_line
from hindbrain.edge.openclaw.place import GatewayState, ask_gateway, gateway_port
from hindbrain.edge.openclaw.planning import Plan
from hindbrain.edge.openclaw.plugin_copy import put_copy
from hindbrain.edge.openclaw.record import read_former, read_records, write_former, write_record
from hindbrain.edge.openclaw.service_state import service_state
from hindbrain.edge.openclaw.uninstalling import Done, let_go
from hindbrain.edge.settings_file import change_settings

_HEARD_S = 20.0  # for a gateway to take the plugin up: it reads its file again after a moment
_SERVED_S = 5.0  # for the daemon to open the port that was just set
_LOOK_AGAIN_S = 0.25


def carry_out(plan: Plan, *, start: bool) -> Done:
    """`start`: start the daemon too, and look whether the gateway has taken the plugin up."""
    config = load_config()
    state = state_folder(config).absolute()
    problems: list[str] = []
    told: list[str] = []
    if plan.form != "mcp":
        _make_token(state)
        put_copy(state, plan.form)
        if plan.settings:
            write_former(state, noted(read_former(state), plan.settings, config))
            change_settings(config.file, {one.name: one.after for one in plan.settings})
            config = load_config()
        if plan.folder:
            _arrange(config, plan.vault, plan.folder)
        if start:
            problems += _start(config)
    asked = _asked(config) if start and plan.form != "mcp" else 0
    backup = _write(plan, state)
    if plan.replaced:
        back, more = let_go(config, state)
        told += [*(f"the setting {one.name} is as it was before" for one in back), *more]
    if start and plan.form == "slot":
        heard = _wait_for_plugin(plan, config, asked)
        told += heard.told
        problems += heard.problems
        told += _remove_jobs(plan, heard.gateway)
    else:
        told += [_job_left(job) for job in plan.jobs]
    return Done(backup, tuple(told), tuple(problems))


class _Heard(NamedTuple):
    gateway: GatewayState
    told: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def _make_token(state: Path) -> None:
    from hindbrain.edge.http.token import read_or_make_token
    from hindbrain.edge.service.port import TOKEN_FILE

    read_or_make_token(state / TOKEN_FILE)


def _arrange(config: Config, root: Path, folder: str) -> None:
    """Give the vault a layout with its folder for the agent's notes."""
    from hindbrain.edge.layout_choice import choose_layout
    from hindbrain.edge.opening import open_app
    from hindbrain.edge.vault_making import arrange, make_vault
    from hindbrain.vault.discover import read_vault_id

    where = Namespace(vault=str(root))
    choice = choose_layout(root, "", folder)
    if not read_vault_id(root):
        with closing(open_app(where, config=config)) as app:
            make_vault(app)
    with closing(open_app(where, config=config)) as app:
        arrange(app, choice)


def _start(config: Config) -> list[str]:
    from hindbrain.edge.daemon import starting

    try:
        starting.ensure_running(config)
    except HindbrainError as error:
        return [f"{error}; the plugin tries to start it too: hindbrain up"]
    deadline = time.monotonic() + _SERVED_S
    while not (service := service_state(config)).get("url"):
        if time.monotonic() >= deadline:
            break
        time.sleep(_LOOK_AGAIN_S)
    if service.get("url"):
        return []
    return [f"plugins are not served yet: {service.get('problem') or 'see hindbrain up status'}"]


def _asked(config: Config) -> int:
    return int(service_state(config).get("asked", 0))


def _write(plan: Plan, state: Path) -> Path | None:
    """The record first: whatever happens in between, it is known what stood there."""
    before = plan.found.before
    write_record(state, plan.found.file, plan.record)
    if plan.after == (before or b""):
        return None
    backup = write_file(plan.found.file, before, plan.after)
    if backup is not None and not plan.record.backup:
        write_record(state, plan.found.file, plan.record._replace(backup=str(backup)))
    prune_backups(plan.found.file, [one.backup for one in read_records(state)])
    return backup


def _wait_for_plugin(plan: Plan, config: Config, asked: int) -> _Heard:
    """A running gateway takes the change up by itself; its plugin then asks us at once."""
    gateway = ask_gateway(gateway_port(plan.found))
    if not gateway.answers:
        return _Heard(
            gateway, (f"no gateway answers at port {gateway.port}: it has the plugin when it starts",)
        )
    if plan.after == (plan.found.before or b""):
        again = f"the gateway that runs has the plugin as it was: openclaw plugins reload {PLUGIN[plan.form]}"
        return _Heard(gateway, (again,) if plan.copies else ())
    deadline = time.monotonic() + _HEARD_S
    while time.monotonic() < deadline:
        if _asked(config) > asked:
            return _Heard(gateway, (f"the gateway at port {gateway.port} has taken the plugin up",))
        time.sleep(_LOOK_AGAIN_S)
    return _Heard(
        gateway,
        problems=(
            f"the gateway at port {gateway.port} has not asked for anything yet: `openclaw plugins inspect "
            "hindbrain --runtime` shows whether it has the plugin; openclaw gateway restart makes it look",
        ),
    )


def _remove_jobs(plan: Plan, gateway: GatewayState) -> list[str]:
    told: list[str] = []
    for job in plan.jobs:
        if plan.program is None or not gateway.answers:
            told.append(_job_left(job))
        elif wrong := remove_job(plan.found, plan.program, job):
            told.append(f"{_job_left(job)} ({wrong})")
        else:
            told.append(f"removed the nightly job of OpenClaw's own memory ({job})")
    return told


def _job_left(job: str) -> str:
    return (
        "the nightly job of OpenClaw's own memory is left, and would ask the model for nothing; with the "
        f"gateway running: {remove_line(job)}"
    )
