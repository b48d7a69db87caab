"""`hindbrain redo`: bring back what an undo took back; what came after it stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing

from hindbrain.edge.commands.undo import show
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="",
        metavar="ID",
        help="an undone action from undo --list; else what was undone last, if nothing was done since",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also when the same lines were changed since: the whole note becomes as it was then",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        return show(app, app.redo(args.action, force=args.force), out)
