"""`hindbrain forget`: take a memory out of its note, and do not learn it again; `--purge` leaves no trace."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing

from hindbrain.app import App
from hindbrain.base.errors import Ambiguous, NotFound, Refused, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.memory.answers import Forgotten
from hindbrain.vault.items.item import MemoryItem

_ID = re.compile(r"(?:\[\[.*)?\^?m-[\w-]+(?:\]\])?")  # also as a link of a note cites it
_SHOWN = 10


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="WORDS",
        help="the memory's id, such as m-7f3k2a9d, or words that only one memory has",
    )
    parser.add_argument("--yes", action="store_true", help="forget the one that has the words without asking")
    parser.add_argument(
        "--purge",
        action="store_true",
        help="also from history, index and logs: undo can't bring it back",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        words = " ".join(args.words)
        item = None if _ID.fullmatch(words) else _matching(app, words, out, args)
        if args.purge:
            return _purge(app, item.id if item else words, out)
        # A memory that was typed by hand has no id: its line names it.
        gone = app.memory.forget_item(item) if item and not item.id else None
        return _tell(app, gone or app.memory.forget(item.id if item else words), out)


def _matching(app: App, words: str, out: Output, args: Namespace) -> MemoryItem:
    """The one memory that has these words, once its owner has agreed."""
    found = app.memory.matching(words)
    if len(found) > 1:
        raise _ambiguous(words, found, out)
    if not found:
        raise NotFound(f"no memory has all of {words!r}; hindbrain recall {words} shows what is near")
    item = found[0]
    if not item.id and args.purge:
        raise UsageError(
            f"the memory {item.text!r} has no id, since it was typed by hand, so its traces can't be found; "
            "forget it without --purge"
        )
    if not args.yes:
        _ask(item, out, purge=args.purge)
    return item


def _name(item: MemoryItem) -> str:
    return item.id or f"{item.path}:{item.line}"


def _ask(item: MemoryItem, out: Output, *, purge: bool) -> None:
    from hindbrain.edge.agent_runs.asking import confirm

    if not sys.stdin.isatty():
        raise Refused(
            f"one memory has these words, {_name(item)} ({item.text!r}); to forget it without a terminal "
            f"give {'its id, or ' if item.id else ''}--yes"
        )
    out.say(f"{safe(_name(item))}  {safe(item.text)}")
    if not confirm("purge it?" if purge else "forget it?", out):
        raise Refused(f"{_name(item)!r} was not forgotten")


def _ambiguous(words: str, found: Sequence[MemoryItem], out: Output) -> Ambiguous:
    """List the memories to choose from; programs find them in the message."""
    message = f"{len(found)} memories have {words!r}; give the id of one, or more of its words"
    if out.json:
        message += ": " + ", ".join(f"{item.id or 'no id'} {item.text[:60]!r}" for item in found[:_SHOWN])
    else:
        for item in found[:_SHOWN]:
            out.line(f"{item.id or '(no id)':11} {safe(item.text)}")
    return Ambiguous(message, candidates=tuple(item.id for item in found))


def _tell(app: App, gone: Forgotten, out: Output) -> int:
    if out.json:
        out.data({"id": gone.id, "text": gone.text, "path": gone.path, "revision": gone.revision_id})
        return 0
    out.line(f"forgotten: {safe(gone.text)}")
    if gone.revision_id:
        out.say(f"hindbrain undo {gone.revision_id} brings it back")
    for path in _told_in(app, gone.id, gone.text):
        advice = f"hindbrain forget {gone.id} --purge takes out both" if gone.id else "delete the line there"
        out.warn(f"{safe(path)} tells it, too; {advice}")
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
        out.line(f"purged: {done.id}, and {plural(done.revisions, 'kept version')} of notes that held it")
    for path in done.elsewhere:
        out.warn(f"{safe(path)} says the same and was left as it is; take it out there if it must go")
    for problem in done.problems:
        out.warn(safe(problem))
    if not done.complete:
        out.warn(f"not complete; run it again: hindbrain forget {done.id} --purge")
    return 0 if done.complete else 1
