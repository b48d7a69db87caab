"""`hindbrain completion`: print the script that teaches a shell our commands and options."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hindbrain.base.errors import UsageError
from hindbrain.edge.output import Output


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh or fish")


def run(args: Namespace, out: Output) -> int:
    from hindbrain.edge.parser import nearest
    from hindbrain.edge.shell_scripts import SHELLS, script_for

    if args.shell not in SHELLS:
        hint = nearest(args.shell, SHELLS) or f"; choose one of: {', '.join(SHELLS)}"
        raise UsageError(f"there is no script for {args.shell!r}{hint}")
    script = script_for(args.shell)
    if out.json:
        out.data({"shell": args.shell, "script": script})
    else:
        out.stdout.write(script)
    return 0
