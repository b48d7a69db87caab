"""`hindbrain hook`: makes agent hosts call us, and shows how that goes."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.config import load_config, state_folder
from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, YELLOW, Output, safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.edge.hooks.hosts import Host
    from hindbrain.edge.hooks.install import Change
    from hindbrain.edge.hooks.journal import Call

ACTIONS = ("status", "install", "uninstall", "settle", "log")
_SHOWN = 20
_DAY_S = 86_400
_PIECE_S = 5.0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", default="status", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS)
    )
    parser.add_argument(
        "host_name", nargs="?", default="", metavar="HOST",
        help="install, uninstall: claude-code, codex, gemini, cursor, opencode",
    )  # fmt: skip
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="your settings, or those of this folder"
    )
    parser.add_argument("--dry-run", action="store_true", help="show the change, and make none")
    parser.add_argument(
        "--seconds", type=float, default=60.0, metavar="N", help="settle: stop after that long (60)"
    )


def run(args: Namespace, out: Output) -> int:
    if args.host_name and args.action not in ("install", "uninstall"):
        raise UsageError(f"hindbrain hook {args.action} takes no argument {args.host_name!r}")
    if args.dry_run and args.action not in ("install", "uninstall"):
        raise UsageError("--dry-run belongs to hindbrain hook install and uninstall")
    act = {"status": _status, "settle": _settle, "log": _log}.get(args.action, _install)
    return act(args, out)


def _install(args: Namespace, out: Output) -> int:
    from hindbrain.edge.hooks import install as installing
    from hindbrain.edge.hooks import places

    host = installing.named_host(args.host_name)
    at = places.where(args.scope)
    command = installing.hook_command()
    adding = args.action == "install"
    changes = installing.plan_install(host, at, command) if adding else installing.plan_uninstall(host, at)
    if not args.dry_run:
        changes = installing.carry_out(changes)
    twice = adding and host.name == "claude-code" and installing.has_plugin(at)
    left = places.afterwards(host) if adding else "sessions that run keep what they have"
    if out.json:
        out.data({**_change_data(host, args, changes), "afterwards": left, "plugin_too": twice})
        return 0
    _show_changes(host, changes, adding=adding, dry=args.dry_run, left=left, out=out)
    if twice:
        out.warn(
            "the plugin of Hindbrain is switched on there too: every hook would run twice; keep one of them"
        )
    return 0


def _change_data(host: Host, args: Namespace, changes: Sequence[Change]) -> dict[str, Any]:
    files = [
        {
            "file": str(change.file),
            "changed": change.is_needed,
            "written": change.is_needed and not args.dry_run,
            "backup": str(change.backup) if change.backup else None,
            "diff": change.diff(),
        }
        for change in changes
    ]
    return {"host": host.name, "scope": args.scope, "action": args.action, "files": files}


def _show_changes(
    host: Host, changes: Sequence[Change], *, adding: bool, dry: bool, left: str, out: Output
) -> None:
    needed = [change for change in changes if change.is_needed]
    if not needed:
        has = "has our hooks already" if adding else "has no hooks of ours"
        out.line(f"{host.title} {has}: {changes[0].file}")
        return
    for change in needed:
        out.line(change.diff().rstrip("\n"))
    if dry:
        out.say("nothing was changed (--dry-run)")
        return
    for change in needed:
        kept = f"; as it was before: {change.backup}" if change.backup else ""
        out.say(f"{'written' if change.after is not None else 'removed'}: {change.file}{kept}")
    out.say(left)


def _status(args: Namespace, out: Output) -> int:
    data = _status_data(args)
    if out.json:
        out.data(data)
        return 0
    for host in data["hosts"]:
        scopes = [f"{row['scope']}: {word}" for row in host["settings"] if (word := _in_a_word(row))]
        out.line(f"{out.paint(host['title'], BOLD)}  {', '.join(scopes) or 'not installed'}")
    out.line(f"vault   {safe(data['vault']) or 'none found'}; {data['waiting']} events wait to be kept")
    daemon = "answers" if data["daemon"] else "does not run; hooks do without, and a session starts it"
    out.line(f"daemon  {daemon}")
    failures = data["failures_today"]
    out.line(f"log     {data['calls_today']} calls in the last day, {failures} failed ({data['log']})")
    if data["last_failure"]:
        failed = data["last_failure"]
        what = f"last failure: {failed['host']} {failed['event']}: {failed['note']}"
        out.line(out.paint(safe(what), YELLOW))
    return 0


def _in_a_word(row: dict[str, Any]) -> str:
    if row["installed"] is None:
        return "can't be read"
    if not row["installed"]:
        return ""
    return "installed" if row["current"] else "installed, of another version: install it again"


def _status_data(args: Namespace) -> dict[str, Any]:
    from hindbrain.edge.daemon.starting import answers, folder_of
    from hindbrain.edge.hooks import install as installing
    from hindbrain.edge.hooks import places
    from hindbrain.edge.hooks.hosts import HOSTS
    from hindbrain.edge.hooks.journal import LOG_FILE, read_calls

    config = load_config()
    state = state_folder(config)
    command = installing.hook_command()
    vault, waiting = _vault_state(args)
    calls = read_calls(state)
    today = [call for call in calls if call.at > time.time() - _DAY_S]
    failed = [call for call in calls if call.outcome in ("failed", "late")]
    hosts = []
    for host in HOSTS:
        ways = [places.where(scope) for scope in places.SCOPES]
        settings = [
            {
                "scope": at.scope,
                "file": str(places.settings_path(host, at)),
                "installed": installing.is_installed(host, at),
                "current": installing.is_current(host, at, command),
            }
            for at in ways
        ]
        hosts.append({"host": host.name, "title": host.title, "settings": settings})
    return {
        "hosts": hosts,
        "vault": vault,
        "waiting": waiting,
        "daemon": bool(answers(folder_of(config))),
        "log": str(state / LOG_FILE),
        "calls_today": len(today),
        "failures_today": sum(call.outcome in ("failed", "late") for call in today),
        "last_failure": _call_data(failed[-1]) if failed else None,
    }


def _vault_state(args: Namespace) -> tuple[str, int]:
    """The vault, and how many events wait in it; ("", 0) where there is none."""
    from hindbrain.context.capture.spool import count_waiting

    try:
        with closing(open_app(args)) as app:
            return str(app.root), count_waiting(app.state)
    except HindbrainError:
        if args.vault:
            raise
        return "", 0


def _settle(args: Namespace, out: Output) -> int:
    """Catch up now, in pieces, until nothing is left or the time is up."""
    if not 0 < args.seconds <= 86_400:
        raise UsageError(f"--seconds is {args.seconds:g}; it must be more than 0")
    deadline = time.monotonic() + args.seconds
    done = {"sessions": 0, "messages": 0, "stored": 0, "held": 0, "fixes": 0}
    problems: list[str] = []
    with closing(open_app(args)) as app:
        while True:
            left_s = deadline - time.monotonic()
            caught = app.context.catch_up(deadline_s=max(0.1, min(_PIECE_S, left_s)))
            for name in done:
                done[name] += getattr(caught, name)
            problems += [problem for problem in caught.problems if problem not in problems]
            if not caught.more or not caught.messages or left_s <= 0:
                break
    if out.json:
        out.data({**done, "problems": problems, "more": caught.more})
    else:
        out.line(
            f"{done['messages']} messages of {done['sessions']} sessions; {done['stored']} memories stored, "
            f"{done['held']} wait in the inbox, {done['fixes']} fixes"
        )
        for problem in problems:
            out.warn(safe(problem))
        if caught.more:
            out.say("something is left: run it again")
    return 1 if problems else 0


def _log(_: Namespace, out: Output) -> int:
    from hindbrain.edge.hooks.journal import LOG_FILE, read_calls

    state = state_folder(load_config())
    calls = read_calls(state)[-_SHOWN:]
    if out.json:
        out.data({"log": str(state / LOG_FILE), "calls": [_call_data(call) for call in calls]})
        return 0
    for call in calls:
        when = time.strftime("%m-%d %H:%M:%S", time.localtime(call.at))
        by = f" by {call.by}" if call.by else ""
        size = f", {call.chars} characters" if call.chars else ""
        note = f"  {call.note}" if call.note else ""
        line = f"{when}  {call.host} {call.event}: {call.outcome}{by}, {call.ms} ms{size}{note}"
        out.line(out.paint(safe(line), *([YELLOW] if call.outcome in ("failed", "late") else [])))
    if not calls:
        out.line(out.paint("no hook was called yet", DIM))
    return 0


def _call_data(call: Call) -> dict[str, Any]:
    return dict(call._asdict())
