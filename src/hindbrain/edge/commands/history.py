"""`hindbrain history`: the changes that were made to notes through Hindbrain."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.edge.when import moment_text


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("note", nargs="?", default="", metavar="NOTE", help="the path of one note; else all")
    parser.add_argument("--limit", type=int, default=20, metavar="N", help="how many, newest first (20)")


def run(args: Namespace, out: Output) -> int:
    if args.limit < 1:
        raise UsageError(f"--limit is {args.limit}; ask for at least 1")
    with closing(open_app(args)) as app:
        found = app.writer.history(args.note or None, args.limit)
        if not found and args.note and not args.note.endswith(".md"):
            found = app.writer.history(f"{args.note}.md", args.limit)
    if out.json:
        from dataclasses import asdict

        out.data({"revisions": [asdict(revision) for revision in found]})
        return 0
    for revision in found:
        out.line(f"{revision.id}  {moment_text(revision.when)}  {revision.op:8} {safe(revision.path)}")
    if found:
        out.say("hindbrain undo ID takes one back")
    else:
        what = f"the note {args.note!r}" if args.note else "any note in this vault"
        out.say(f"Hindbrain has not changed {what}")
    return 0
