"""`hindbrain openclaw`: makes a vault the memory of OpenClaw, shows how that stands, and takes it back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from hindbrain.base.config import load_config
from hindbrain.base.errors import UsageError
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.edge.openclaw.edits import Form

ACTIONS = ("status", "install", "uninstall", "import")


def configure(parser: ArgumentParser) -> None:
    from hindbrain.edge.openclaw.importing import configure_import

    parser.add_argument(
        "action", nargs="?", default="status", choices=ACTIONS, metavar="ACTION", help=" | ".join(ACTIONS)
    )
    parser.add_argument("--dry-run", action="store_true", help="show the changes, and make none")
    parser.add_argument(
        "--profile", default="", metavar="NAME", help="the OpenClaw profile, as in openclaw --profile"
    )
    form = parser.add_argument_group("install")
    form.add_argument(
        "--beside", action="store_true", help="beside OpenClaw's own memory, which keeps its place"
    )
    form.add_argument("--mcp", action="store_true", help="as an MCP server alone: tools, and nothing else")
    form.add_argument(
        "--no-start", action="store_true", help="do not start the daemon; the plugin does when it needs it"
    )
    configure_import(parser)


def run(args: Namespace, out: Output) -> int:
    _check(args)
    if args.action == "import":
        from hindbrain.edge.openclaw.importing import run_import

        return run_import(args, out)
    act = {"status": _status, "install": _install, "uninstall": _uninstall}[args.action]
    return act(args, out)


def _check(args: Namespace) -> None:
    """An option that would be ignored is a mistake."""
    from hindbrain.edge.openclaw.importing import check_import

    check_import(args)
    for option in ("beside", "mcp", "no_start"):
        if getattr(args, option) and args.action != "install":
            raise UsageError(f"--{option.replace('_', '-')} belongs to hindbrain openclaw install")
    if args.beside and args.mcp:
        raise UsageError("--beside and --mcp are two forms; choose one")
    if args.dry_run and args.action == "status":
        raise UsageError("--dry-run belongs to hindbrain openclaw install, uninstall and import")


def _install(args: Namespace, out: Output) -> int:
    from hindbrain.edge.openclaw import telling
    from hindbrain.edge.openclaw.installing import carry_out
    from hindbrain.edge.openclaw.place import find_openclaw, this_machine
    from hindbrain.edge.openclaw.planning import plan_install
    from hindbrain.edge.openclaw.service_state import serving_port
    from hindbrain.edge.openclaw.uninstalling import Done

    config = load_config()
    form: Form = "mcp" if args.mcp else "beside" if args.beside else "slot"
    found = find_openclaw(this_machine(args.profile))
    plan = plan_install(found, config, form, vault=args.vault, serving=serving_port(config))
    done = Done(None, ()) if args.dry_run else carry_out(plan, start=not args.no_start)
    if out.json:
        out.data(telling.install_data(plan, done, written=not args.dry_run))
        return 1 if done.problems else 0
    for line in telling.plan_lines(plan):
        out.line(line)
    for note in plan.notes:
        out.say(f"note: {safe(note)}")
    if args.dry_run:
        out.say("nothing was changed (--dry-run)")
        return 0
    telling.tell(done, plan.found.file, out)
    if plan.is_needed:
        out.say(telling.afterwards(form))
    return 1 if done.problems else 0


def _uninstall(args: Namespace, out: Output) -> int:
    from hindbrain.edge.openclaw import telling
    from hindbrain.edge.openclaw.place import find_openclaw, this_machine
    from hindbrain.edge.openclaw.uninstalling import Done, plan_uninstall, take_back

    plan = plan_uninstall(find_openclaw(this_machine(args.profile)), load_config())
    done = Done(None, ()) if args.dry_run or not plan.is_needed else take_back(plan)
    if out.json:
        out.data(telling.taken_back_data(plan, done, written=not args.dry_run))
    else:
        telling.show_taken_back(plan, done, out, dry=args.dry_run)
    return 0


def _status(args: Namespace, out: Output) -> int:
    from hindbrain.edge.openclaw import telling
    from hindbrain.edge.openclaw.looking import look
    from hindbrain.edge.openclaw.place import find_openclaw, this_machine

    data = look(find_openclaw(this_machine(args.profile)), load_config())
    if out.json:
        out.data(data)
    else:
        telling.show_status(data, out)
    return 0
