"""`hindbrain undo`: take a change back; what came after it stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing

from hindbrain.app import App
from hindbrain.base.errors import HindbrainError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.vault.path_rules import NotePath
from hindbrain.vault.write import Undone


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "revision",
        nargs="?",
        default="",
        metavar="REVISION",
        help="an id from hindbrain history; else the last change",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also when the same lines were changed since; the present text is kept as a revision",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        undone = app.writer.undo(args.revision or None, force=args.force)
        indexed = _take_in(app, undone.path, gone=not undone.hash, out=out)
    if out.json:
        out.data(
            {
                "path": undone.path,
                "hash": undone.hash,
                "undone": undone.undone_id,
                "revision": undone.revision_id,
                "merged": undone.merged,
                "indexed": indexed,
            }
        )
        return 0
    if undone.revision_id:
        out.line(f"{safe(undone.path)} is {_outcome(undone)}: {undone.undone_id} is undone")
        out.say(f"hindbrain undo {undone.revision_id} takes this back")
    else:
        out.line(f"{safe(undone.path)} was already as before {undone.undone_id}; nothing was changed")
    return 0


def _outcome(undone: Undone) -> str:
    if undone.merged:
        return "without that change, and keeps the later ones"
    return "as it was before" if undone.hash else "gone again"


def _take_in(app: App, path: NotePath, *, gone: bool, out: Output) -> bool:
    """Let the index know. The note itself is back whatever becomes of this."""
    if not app.index_path.exists():
        return False
    try:
        report = app.sync() if gone else app.sync_paths([path])
        return report.clean
    except HindbrainError as error:
        out.warn(f"the index does not know yet ({error}); run hindbrain sync")
        return False
