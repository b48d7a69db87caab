"""`hindbrain sync`: bring the index up to date, and say what could not be taken in."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import HindbrainError
from hindbrain.edge.opening import open_app, sync_with_progress
from hindbrain.edge.output import Output
from hindbrain.edge.report_text import report_data, summary, troubles
from hindbrain.edge.serving.telling import tell_sync
from hindbrain.edge.when import span_text

if TYPE_CHECKING:
    from hindbrain.app import App


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--verify", action="store_true", help="read every note again, whatever its time stamp says"
    )
    parser.add_argument(
        "--yes", action="store_true", help="the notes that are missing were really deleted: remove them all"
    )
    parser.add_argument(
        "--no-vectors", action="store_true", help="full text only; a later sync adds the vectors"
    )


def run(args: Namespace, out: Output) -> int:
    begun = time.perf_counter()
    with closing(open_app(args)) as app:
        _settle_inbox(app, out)
        report = sync_with_progress(
            app, out, verify=args.verify, confirm=args.yes, vectors=not args.no_vectors
        )
    seconds = time.perf_counter() - begun
    wrong = troubles(report)
    if out.json:
        out.data(report_data(report))
    else:
        out.line(summary(report, span_text(seconds)))
    for text in wrong:
        out.warn(text)
    tell_sync(app, report, seconds, out)
    return 1 if wrong else 0


def _settle_inbox(app: App, out: Output) -> None:
    """Take what was ticked in the inbox note. Where that fails, the index is made all the same."""
    from hindbrain.edge.commands.recall import tell_settled
    from hindbrain.memory.answers import Settled

    try:
        taken = app.memory.inbox.settle()
        kept = tuple(item.text for item in taken.accepted if item.kind == "remember")
        tell_settled(Settled(accepted=kept, refused=len(taken.refused)), app.memory.inbox, out)
    except HindbrainError as error:
        out.warn(f"the inbox: {error}")
