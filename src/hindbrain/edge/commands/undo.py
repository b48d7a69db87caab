"""`hindbrain undo`: take back the last action, with all its notes; what came after it stays."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.app import App
from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.vault.path_rules import check_existing_path

if TYPE_CHECKING:
    from hindbrain.vault.revisions import Action
    from hindbrain.vault.write import TakenBack, Undone, VaultWriter


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "action",
        nargs="?",
        default="",
        metavar="ID",
        help="an action from undo --list, or one change from hindbrain history; else the last action that "
        "you or an agent asked for",
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="also when the same lines were changed since: the whole note becomes as it was then",
    )
    parser.add_argument(
        "--list", action="store_true", help="show what can be undone and redone, newest first"
    )
    parser.add_argument(
        "--limit", type=int, default=20, metavar="N", help="with --list: how many (20; 0: all)"
    )


def run(args: Namespace, out: Output) -> int:
    if args.limit < 0:
        raise UsageError(f"--limit is {args.limit}; give 0 for all, or how many")
    if args.list and (args.action or args.force):
        raise UsageError("--list shows actions and undoes none; leave out the id and --force")
    with closing(open_app(args)) as app:
        if args.list:
            _show_actions(app.writer, app.writer.actions()[: args.limit or None], out)
            return 0
        done = app.undo(args.action, force=args.force)
        return show(app, done, out)


def show(app: App, done: TakenBack, out: Output) -> int:
    """Let the index know, and say what became of each note. The exit code is 1 when one stays as it is."""
    indexed = _take_in(app, [note for note in done.notes if note.revision_id], out)
    if out.json:
        out.data(_data(done, indexed=indexed))
        return 1 if done.failed else 0
    for note in done.notes:
        out.line(f"{safe(note.path)} {_outcome(note, done)}")
    for failed in done.failed:
        force = f"; hindbrain undo --force {failed.revision_id} takes it back all the same"
        out.warn(f"{safe(failed.path)} stays as it is: {failed.message}{force}  ({failed.code})")
    for one in done.skipped:
        out.say(f"left alone, since it was done in the background: {safe(one.by)}; hindbrain undo {one.id}")
    word = "undone" if done.op == "undo" else "redone"
    what = f"{safe(done.by)} ({done.action})" if done.by else done.action
    back = f"hindbrain redo {done.action}" if done.op == "undo" else f"hindbrain undo {done.action}"
    out.say(f"{word}: {what}; {back} takes this back")
    return 1 if done.failed else 0


def _data(done: TakenBack, *, indexed: bool) -> dict[str, Any]:
    return {
        "action": done.action,
        "by": done.by,
        "notes": [
            {
                "path": note.path,
                "hash": note.hash,
                "change": note.undone_id,
                "revision": note.revision_id,
                "merged": note.merged,
            }
            for note in done.notes
        ],
        "failed": [
            {"path": one.path, "change": one.revision_id, "code": one.code, "message": one.message}
            for one in done.failed
        ],
        "skipped": [{"id": one.id, "by": one.by} for one in done.skipped],
        "indexed": indexed,
    }


def _outcome(note: Undone, done: TakenBack) -> str:
    if not note.revision_id:
        return "was so already; nothing was changed"
    if note.merged:
        kept = "without that change" if done.op == "undo" else "with that change again"
        return f"is {kept}, and keeps the later ones"
    if not note.hash:
        return "is gone again"
    return "is as it was before" if done.op == "undo" else "is as it was after"


def _take_in(app: App, notes: list[Undone], out: Output) -> bool:
    """Let the index know. The notes are back whatever becomes of this."""
    if not app.index_path.exists():
        return False
    try:
        gone = any(not note.hash for note in notes)
        report = app.sync() if gone else app.sync_paths(check_existing_path(note.path) for note in notes)
        return report.clean
    except HindbrainError as error:
        out.warn(f"the index does not know yet ({error}); run hindbrain sync")
        return False


def _show_actions(writer: VaultWriter, actions: list[Action], out: Output) -> None:
    from hindbrain.edge.changed_text import first_change
    from hindbrain.edge.when import moment_text

    if out.json:
        out.data({"actions": [_action_data(writer, one) for one in actions]})
        return
    for one in actions:
        state = "  (undone)" if one.undone else ""
        via = f" ({one.via})" if one.via else ""
        out.line(f"{one.id}  {moment_text(one.when)}  {safe(one.by)}{via}{state}")
        for path in dict.fromkeys(entry.revision.path for entry in one.entries):
            text = first_change(
                writer, [entry.revision for entry in one.entries if entry.revision.path == path]
            )
            out.line(f"    {safe(path)}{': ' if text else ''}{safe(text)}")
    if not actions:
        out.say("Hindbrain has changed no note in this vault")


def _action_data(writer: VaultWriter, one: Action) -> dict[str, Any]:
    from hindbrain.edge.changed_text import first_change

    changes = [
        {
            "id": entry.revision.id,
            "path": entry.revision.path,
            "op": entry.revision.op,
            "text": first_change(writer, [entry.revision]),
        }
        for entry in one.entries
    ]
    return {
        "id": one.id,
        "by": one.by,
        "via": one.via,
        "when": one.when,
        "undone": one.undone,
        "changes": changes,
    }
