"""`hindbrain up`: one warm process per user that answers hooks at once, and ends when nobody needs it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any, NoReturn

from hindbrain.app import locate_vault
from hindbrain.base.config import Config, load_config, state_folder
from hindbrain.base.errors import Busy, ConfigError, NotFound, UsageError
from hindbrain.edge.conversation_state import daemon_state, why_silent
from hindbrain.edge.daemon import starting
from hindbrain.edge.daemon.address import LOG_FILE
from hindbrain.edge.daemon.client import request
from hindbrain.edge.opening import check_vault
from hindbrain.edge.output import BOLD, Output, safe
from hindbrain.edge.when import moment_text, span_text

ACTIONS = ("start", "status", "stop")
_OPEN_S = 5.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", default="start", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS)
    )
    parser.add_argument("--foreground", action="store_true", help="stay here, not in the background")
    parser.add_argument(
        "--idle-minutes", type=float, default=starting.IDLE_MINUTES, metavar="N",
        help="end after that long without a request (30; 0: never)",
    )  # fmt: skip


def run(args: Namespace, out: Output) -> int:
    if args.foreground and args.action != "start":
        raise UsageError(f"--foreground does not go with {args.action}; leave one of them out")
    if not 0 <= args.idle_minutes <= 1e6:
        raise UsageError(f"--idle-minutes is {args.idle_minutes:g}; it must be 0 or more")
    config = load_config()
    if args.action == "status":
        return _status(config, out)
    if args.action == "stop":
        return _stop(config, out)
    if args.foreground:
        _foreground(config, args, out)
    return _start(config, args, out)


def _start(config: Config, args: Namespace, out: Output) -> int:
    vault = _vault(config, args)
    started = starting.ensure_running(config, idle_minutes=args.idle_minutes)
    if vault is not None:
        _add(config, vault)
    state = daemon_state(config)
    if out.json:
        out.data({"started": started, **state})
        return 0
    out.line(f"{'started' if started else 'running already'}: process {state['pid']}")
    _show(state, out)
    if vault is None:
        out.say("no vault here; each one is opened when it is first asked about")
    return 0


def _vault(config: Config, args: Namespace) -> Path | None:
    """The vault to begin with. One that was named must be there; without any there is nothing to open."""
    try:
        vault = locate_vault(config, named=args.vault)
    except NotFound:
        return None
    check_vault(config, vault)
    return vault


def _add(config: Config, vault: Path) -> None:
    reply = request(starting.folder_of(config), "ping", vault, {}, timeout_s=_OPEN_S)
    if reply is None:
        raise Busy(f"the daemon runs and has not opened {str(vault)!r} yet; `hindbrain up status` shows it")
    if reply.get("ok") is not True:
        raise NotFound(f"the daemon can't open {str(vault)!r}: {reply.get('message')}")


def _status(config: Config, out: Output) -> int:
    state = daemon_state(config)
    if out.json:
        out.data(state)
    elif not state["running"]:
        out.line("not running: hindbrain up starts it")
    else:
        since = f" since {moment_text(state['since'])}" if "since" in state else ""
        answers = "" if state["answers"] else f"; {why_silent(state)}"
        out.line(f"running{since}: process {state.get('pid', 'unknown')}{answers}")
        _show(state, out)
    return 0


def _show(state: dict[str, Any], out: Output) -> None:
    for vault in state.get("vaults", ()):
        making = f"  ({vault['making_index']})" if vault["making_index"] else ""
        out.line(f"{out.paint('vault  ', BOLD)} {safe(vault['path'])}{making}")
    if service := state.get("service"):
        from hindbrain.edge.service.telling import service_lines

        for line in service_lines(service):
            out.line(f"{out.paint('plugins', BOLD)} {safe(line)}")
    if state.get("ends_after_idle_s"):
        idle = span_text(state["ends_after_idle_s"])
        out.line(f"{out.paint('ends   ', BOLD)} after {idle} without a request")
    out.line(f"{out.paint('listens', BOLD)} {state.get('address', 'nowhere')}")
    out.line(f"{out.paint('log    ', BOLD)} {state['log']}")


def _stop(config: Config, out: Output) -> int:
    stopped = starting.stop_running(config)
    if out.json:
        out.data({"stopped": stopped})
    else:
        out.line("stopped" if stopped else "not running")
        if _has_plugin(config):
            out.say(
                "OpenClaw's plugin starts it again at its next turn; hindbrain openclaw uninstall ends that"
            )
    return 0


def _has_plugin(config: Config) -> bool:
    """Is there a plugin that starts the daemon when it needs it?"""
    from hindbrain.edge.openclaw.record import read_records

    try:
        records = read_records(state_folder(config).absolute())
    except ConfigError:
        return False
    return config.number("service.port") != 0 and any(one.form != "mcp" for one in records)


def _foreground(config: Config, args: Namespace, out: Output) -> NoReturn:
    from hindbrain.edge.daemon.log import Log, is_log
    from hindbrain.edge.daemon.running import run_here

    file = starting.folder_of(config) / LOG_FILE
    if is_log(file):
        sys.stderr = out.stderr = Log(file)  # type: ignore[assignment]
    try:
        vault = _vault(config, args)
    except NotFound:
        if args.vault:
            raise
        vault = None  # the one in the settings is away: it is opened when it is asked about
    run_here(starting.folder_of(config), idle_minutes=args.idle_minutes, vault=vault)
    os._exit(0)  # a thread that is in the middle of something long does not hold up the end
