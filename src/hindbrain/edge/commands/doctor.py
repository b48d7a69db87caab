"""`hindbrain doctor`: look at all that can go wrong; with --fix, mend the index. Changes no note."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.edge.health import Finding, examine
from hindbrain.edge.opening import open_app, sync_with_progress
from hindbrain.edge.output import GREEN, RED, YELLOW, Output, safe
from hindbrain.edge.report_text import troubles

if TYPE_CHECKING:
    from hindbrain.app import App

_MARKS = {"ok": ("ok", GREEN), "doubtful": ("!", YELLOW), "wrong": ("x", RED)}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--fix",
        action="store_true",
        help="make a damaged or too new index anew, take in what lags, settle an interrupted write",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args, away_ok=True)) as app:
        found = list(examine(app))
        done = _mend(app, found, out) if args.fix else []
    if done:
        with closing(open_app(args, away_ok=True)) as app:  # again: what was mended was not open
            found = list(examine(app))
    if out.json:
        out.data(
            {"healthy": _healthy(found), "findings": [asdict(finding) for finding in found], "fixed": done}
        )
    else:
        for finding in found:
            mark, colour = _MARKS[finding.state]
            out.line(f"{out.paint(f'{mark:>2}', colour)}  {finding.name:13} {safe(finding.detail)}")
        for text in done:
            out.say(f"done: {text}")
        if not args.fix and any(finding.mend for finding in found):
            out.say("hindbrain doctor --fix mends what it can; it changes no note")
    return 0 if _healthy(found) else 1


def _healthy(found: Sequence[Finding]) -> bool:
    return all(finding.state != "wrong" for finding in found)


def _mend(app: App, found: Sequence[Finding], out: Output) -> list[str]:
    """Do what the findings ask for; return it in words."""
    wanted = {finding.mend for finding in found}
    done = []
    if "recover" in wanted and app.writer.recover():
        done.append("settled an interrupted write")
    if "rebuild" in wanted:
        from hindbrain.edge.progress import shown_progress

        with shown_progress(out) as listener:
            report = app.rebuild(listener)
        done.append(f"made the index anew from {plural(report.indexed, 'note')}")
    elif "sync" in wanted:
        report = sync_with_progress(app, out, verify=True)
        done.append(f"synced: {plural(report.indexed, 'note')} taken in, {report.removed} removed")
    else:
        return done
    for text in troubles(report):
        out.warn(text)
    return done
