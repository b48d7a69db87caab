"""`hindbrain hook`: makes agent hosts call us, and shows how that goes."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.config import load_config, state_folder
from hindbrain.base.errors import HindbrainError, UsageError, VaultAway
from hindbrain.base.plural import plural
from hindbrain.edge.conversation_state import (
    call_data,
    hooks_state,
    waiting_state,
    waiting_text,
    without_daemon,
)
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, YELLOW, Output, safe
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hindbrain.edge.hooks.hosts import Host
    from hindbrain.edge.mcp.install import Change

ACTIONS = ("status", "install", "uninstall", "settle", "log")
_SHOWN = 20
_PIECE_S = 5.0
_ANOTHER_S = 0.2


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
    command = installing.hook_command(args.scope)
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
        unsure = any(row["plugin"] is None for row in host["settings"])
        none = "not in its settings (a plugin would not show here)" if unsure else "not installed"
        _row(out, host["title"], ", ".join(scopes) or none)
    away = " (away: check that its disk is mounted)" if data["away"] else ""
    _row(
        out,
        "vault",
        f"{data['vault']}{away}" if data["vault"] else "none found: hindbrain config vault.path PATH",
    )
    told = waiting_text(data) if data["vault"] else ""
    if told or data["vault"]:
        _row(out, "capture", told or "nothing waits to be kept")
    daemon = "answers" if data["daemon"] else f"does not answer; {without_daemon(load_config())}"
    _row(out, "daemon", daemon)
    calls = f"{plural(data['calls_today'], 'call')} in the last day, {data['failures_today']} failed"
    _row(out, "log", f"{calls} ({data['log']})")
    if failed := data["last_failure"]:
        what = f"{failed['host']} {failed['event']}: {failed['note'] or failed['outcome']}"
        what += f" ({moment_text(failed['at'])})"
        _row(out, "failed", what, YELLOW)
    return 0


def _row(out: Output, name: str, text: str, *colour: str) -> None:
    out.line(f"{out.paint(f'{name:11}', BOLD)} {out.paint(safe(text), *colour)}")


def _in_a_word(row: dict[str, Any]) -> str:
    if row["installed"] is None:
        return "can't be read"
    if not row["installed"]:
        return "by its plugin" if row["plugin"] else ""
    return "installed" if row["current"] else "installed, of another version: install it again"


def _status_data(args: Namespace) -> dict[str, Any]:
    from hindbrain.edge.daemon.starting import answers, folder_of
    from hindbrain.edge.hooks import install as installing
    from hindbrain.edge.hooks import places
    from hindbrain.edge.hooks.hosts import HOSTS
    from hindbrain.edge.hooks.plugins import plugin_enabled

    config = load_config()
    hosts = []
    for host in HOSTS:
        ways = [places.where(scope) for scope in places.SCOPES]
        settings = [
            {
                "scope": at.scope,
                "file": str(places.settings_path(host, at)),
                "installed": installing.is_installed(host, at),
                "current": installing.is_current(host, at, installing.hook_command(at.scope)),
                "plugin": plugin_enabled(host, at),
            }
            for at in ways
        ]
        hosts.append({"host": host.name, "title": host.title, "settings": settings})
    return {
        "hosts": hosts,
        **_vault_state(args),
        "daemon": bool(answers(folder_of(config))),
        **hooks_state(config),
    }


def _vault_state(args: Namespace) -> dict[str, Any]:
    """The vault, and what waits in it; "" and nothing more where there is none."""
    try:
        with closing(open_app(args)) as app:
            return {"vault": str(app.root), "away": False, **waiting_state(app.state)}
    except VaultAway:
        from hindbrain.app import locate_vault, state_of

        root = locate_vault(config := load_config(), named=args.vault or "")
        return {"vault": str(root), "away": True, **waiting_state(state_of(config, root))}
    except HindbrainError:
        if args.vault:
            raise
        return {"vault": "", "away": False, **waiting_state(None)}


def _settle(args: Namespace, out: Output) -> int:
    """Catch up now, in pieces, until nothing is left or the time is up."""
    from hindbrain.context.capture.catching_up import CaughtUp

    if not 0 < args.seconds <= 86_400:
        raise UsageError(f"--seconds is {args.seconds:g}; it must be more than 0")
    deadline = time.monotonic() + args.seconds
    done = {"sessions": 0, "messages": 0, "stored": 0, "held": 0, "fixes": 0, "tasks": 0}
    problems: list[str] = []
    not_stored: list[dict[str, str]] = []
    with closing(open_app(args)) as app:
        while True:
            left_s = deadline - time.monotonic()
            caught = app.context.catch_up(deadline_s=max(0.1, min(_PIECE_S, left_s)))
            for name in done:
                done[name] += getattr(caught, name)
            problems += [problem for problem in caught.problems if problem not in problems]
            not_stored += [{"text": one.text, "why": one.why} for one in caught.not_stored]
            at_it = caught == CaughtUp(more=True)
            if not caught.more or left_s <= 0 or not (caught.messages or at_it):
                break
            if at_it:  # another process: the daemon, mostly, and soon done
                time.sleep(min(_ANOTHER_S, max(0.0, left_s)))
    _note_problems(problems)
    if out.json:
        out.data({**done, "not_stored": not_stored, "problems": problems, "more": caught.more})
    else:
        out.line(_settled(done))
        for one in not_stored:
            out.say(safe(f"not stored ({one['why']}): {one['text']}"))
        for problem in problems:
            out.warn(safe(problem))
        if caught.more:
            at = "another process is at it" if at_it else "something is left"
            out.say(f"{at}: run it again")
    return 1 if problems else 0


def _note_problems(problems: Sequence[str]) -> None:
    """One line of the log each: a session begins this command where nobody sees what it prints."""
    from hindbrain.base.secrets import redact
    from hindbrain.edge.hooks.journal import Call, write_down

    state = state_folder(load_config())
    for problem in problems:
        write_down(state, Call("hindbrain", "settle", outcome="failed", note=redact(problem)[0][:300]))


def _settled(done: dict[str, int]) -> str:
    """What was kept, in words; nothing is said of what did not happen."""
    if not done["messages"]:
        return "nothing new was said"
    kept = [
        f"{plural(done['stored'], 'memory', 'memories')} stored" if done["stored"] else "",
        f"{plural(done['fixes'], 'fix', 'fixes')} of failed commands among them" if done["fixes"] else "",
        f"{plural(done['tasks'], 'task')} added" if done["tasks"] else "",
        f"{done['held']} in the inbox for you: hindbrain inbox" if done["held"] else "",
    ]
    read = f"{plural(done['messages'], 'message')} of {plural(done['sessions'], 'session')} read"
    return "; ".join(filter(None, (read, *kept))) + ("" if any(kept) else "; nothing in them that lasts")


def _log(_: Namespace, out: Output) -> int:
    from hindbrain.base.clock import local_time
    from hindbrain.edge.hooks.journal import LOG_FILE, read_calls

    state = state_folder(load_config())
    calls = read_calls(state)[-_SHOWN:]
    if out.json:
        out.data({"log": str(state / LOG_FILE), "calls": [call_data(call) for call in calls]})
        return 0
    for call in calls:
        when = f"{local_time(call.at):%m-%d %H:%M:%S}"
        by = f" by {call.by}" if call.by else ""
        size = f", {plural(call.chars, 'character')}" if call.chars else ""
        note = f"  {call.note}" if call.note else ""
        line = f"{when}  {call.host} {call.event}: {call.outcome}{by}, {call.ms} ms{size}{note}"
        out.line(out.paint(safe(line), *([YELLOW] if call.outcome in ("failed", "late") else [])))
    if not calls:
        out.line(out.paint("no hook was called yet", DIM))
    return 0
