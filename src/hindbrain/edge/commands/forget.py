"""`hindbrain forget`: take a memory out of its note, and do not learn it again; `--purge` leaves no trace."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing

from hindbrain.app import App
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="the memory's id, such as m-7f3k2a9d; recall shows it")
    parser.add_argument(
        "--purge",
        action="store_true",
        help="also from history, index and logs: undo can't bring it back",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        return _purge(app, args.id, out) if args.purge else _forget(app, args.id, out)


def _forget(app: App, memory_id: str, out: Output) -> int:
    gone = app.memory.forget(memory_id)
    if out.json:
        out.data({"id": gone.id, "text": gone.text, "path": gone.path, "revision": gone.revision_id})
        return 0
    out.line(f"forgotten: {safe(gone.text)}")
    if gone.revision_id:
        out.say(f"hindbrain undo {gone.revision_id} brings it back")
    for path in _told_in(app, gone.id, gone.text):
        out.warn(f"{safe(path)} tells it, too; hindbrain forget {gone.id} --purge takes out both")
    return 0


def _told_in(app: App, memory_id: str, text: str) -> list[str]:
    """The notes of sessions that tell what was forgotten: a search goes on finding it there."""
    from hindbrain.context.flush.notes import session_notes_with
    from hindbrain.memory.forgetting.traces import Traces

    return session_notes_with(app.memory, Traces(memory_id, [text]).in_text)


def _purge(app: App, memory_id: str, out: Output) -> int:
    done = app.purge(memory_id)
    if out.json:
        out.data(
            {
                "id": done.id,
                "complete": done.complete,
                "revisions": done.revisions,
                "elsewhere": list(done.elsewhere),
                "problems": list(done.problems),
            }
        )
    elif done.complete:
        out.line(f"purged: {done.id}, and {done.revisions} kept versions of notes that held it")
    for path in done.elsewhere:
        out.warn(f"{safe(path)} says the same and was left as it is; take it out there if it must go")
    for problem in done.problems:
        out.warn(safe(problem))
    if not done.complete:
        out.warn(f"not complete; run it again: hindbrain forget {done.id} --purge")
    return 0 if done.complete else 1
