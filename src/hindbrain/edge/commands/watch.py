"""`hindbrain watch`: keeps the index up to date until it is stopped."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe
from hindbrain.edge.report_text import report_data
from hindbrain.edge.when import moment_text

if TYPE_CHECKING:
    from hindbrain.index.follow import FollowEvent


# What a person wants to see at once. A look that found nothing comes every minute and says nothing new.
_QUIET = frozenset(("checked", "started", "stopped"))


def configure(_: ArgumentParser) -> None:
    """Nothing of its own."""


def run(args: Namespace, out: Output) -> int:
    import signal
    import threading

    from hindbrain.edge.serving.telling import Teller

    app = open_app(args, warm=True)
    stop = threading.Event()
    # A service manager ends us with SIGTERM: finish the batch, take the heartbeat away, and go.
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    teller = Teller(out.warn)
    out.say(f"watching {str(app.root)!r}; Ctrl-C ends it")

    def heard(event: FollowEvent) -> None:
        _tell(event, out)
        teller.heard(app, event)

    try:
        app.follow(stop, heard)
    except KeyboardInterrupt:
        stop.set()
    finally:
        teller.stop()
        app.close()
    return 0


def _tell(event: FollowEvent, out: Output) -> None:
    """A line for each event. With --json each is one JSON value on a line of stdout, as it happens."""
    if out.json:
        import json

        report = None if event.report is None else report_data(event.report)
        line = {
            "kind": event.kind,
            "at": event.at,
            "code": event.code,
            "message": event.message,
            "report": report,
        }
        out.line(json.dumps(line))
        out.stdout.flush()
    elif event.kind in ("error", "frozen"):
        out.warn(f"{moment_text(event.at)} {event.message}  ({event.code or event.kind})")
    elif event.kind not in _QUIET and (text := _words(event)):
        out.say(f"{moment_text(event.at)} {text}")


def _words(event: FollowEvent) -> str:
    report = event.report
    if report is None:
        return event.message or event.kind
    if event.kind == "embedded":
        return f"{plural(report.embedded, 'passage')} embedded" if report.embedded else ""
    parts = [f"{plural(report.indexed, 'note')} taken in"] if report.indexed else []
    parts += [f"{report.removed} removed"] if report.removed else []
    parts += [f"{len(report.failed)} failed: {safe(report.failed[0].message)}"] if report.failed else []
    return ", ".join(parts)
