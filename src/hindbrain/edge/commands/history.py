"""`hindbrain history`: the changes that were made to notes through Hindbrain."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from hindbrain.base.errors import Ambiguous, IndexMissing, NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.note_names import find_note
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.vault.revisions import Revision


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "note", nargs="?", default="", metavar="NOTE", help="one note, by its path or name; else all"
    )
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="how many, newest first (20; 0: all)"
    )


def run(args: Namespace, out: Output) -> int:
    if args.limit < 0:
        raise UsageError(f"--limit is {args.limit}; give 0 for all, or how many")
    with closing(open_app(args)) as app:
        found = _changes_of(app, args.note) if args.note else app.writer.history(limit=None)
        found = found[: args.limit or None]
    if out.json:
        from dataclasses import asdict

        out.data({"revisions": [asdict(revision) for revision in found]})
        return 0
    for revision in found:
        by = f"  ({safe(revision.by)})" if revision.by else ""
        out.line(f"{revision.id}  {moment_text(revision.when)}  {revision.op:8} {safe(revision.path)}{by}")
    if found:
        out.say("hindbrain undo ID takes one change back, hindbrain undo all of the last action")
    else:
        what = f"the note {args.note!r}" if args.note else "any note in this vault"
        out.say(f"Hindbrain has not changed {what}")
    return 0


def _changes_of(app: App, name: str) -> list[Revision]:
    """Changes of one note, newest first. NotFound for a note that is not there and was never changed."""
    every = app.writer.history(limit=None)
    paths = {revision.path for revision in every}
    wanted = name.strip().removeprefix("./").removesuffix(".md")
    if f"{wanted}.md" in paths:
        return [revision for revision in every if revision.path == f"{wanted}.md"]
    try:
        path: str = find_note(app, name)
    except (NotFound, IndexMissing):  # a note that is gone has its history
        gone = {one for one in paths if PurePosixPath(one).stem.casefold() == wanted.casefold()}
        if not gone:
            raise
        if len(gone) > 1:
            shown = ", ".join(repr(one) for one in sorted(gone))
            raise Ambiguous(
                f"{plural(len(gone), 'note')} were called {name!r}: {shown}; give the path of one",
                candidates=tuple(sorted(gone)),
            ) from None
        path = gone.pop()
    return [revision for revision in every if revision.path == path]
