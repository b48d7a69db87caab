"""`hindbrain daily`: read the note of a day, or add a line to it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from datetime import date, timedelta
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.memory.daily.daily import Daily, Logged


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "day", nargs="?", default="today", metavar="DATE", help="YYYY-MM-DD, today or yesterday; else today"
    )
    parser.add_argument("--add", metavar="TEXT", help="add a line with the time to the events of today")


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        today = app.clock.today()
        day = _day(args.day, today)
        daily = app.memory.daily
        added = _add(daily, args.add, day, today)
        pages = list(filter(None, map(app.memory.notebook.find, app.day_notes(day))))
        path = added.path if added else str(pages[0].path) if pages else daily.path(day)
        if out.json:
            out.data(
                {
                    "date": day.isoformat(),
                    "path": path,
                    "exists": bool(pages),
                    "added": added.text if added else "",
                    "removed": list(added.removed) if added else [],
                    "text": next((page.text for page in pages if page.path == path), ""),
                    "notes": [{"path": page.path, "text": page.text} for page in pages],
                }
            )
        elif added:
            out.line(safe(added.text))
            if added.removed:
                out.warn(f"stored without what is secret, since notes keep none: {', '.join(added.removed)}")
            out.say(f"in {safe(path)}")
        elif len(pages) == 1:
            out.line(safe(pages[0].text).rstrip("\n"))
            out.say(f"in {safe(path)}")
        elif pages:
            texts = [f"{safe(page.path)}:\n{safe(page.text).rstrip()}" for page in pages]
            out.line("\n\n".join(texts))
        else:
            hint = "; hindbrain daily --add TEXT begins its note" if day == today else ""
            out.say(f"nothing was written on {day.isoformat()}{hint}")
    return 0


def _add(daily: Daily, text: str | None, day: date, today: date) -> Logged | None:
    """The line that was added; None when none was asked for."""
    if text is None:
        return None
    if day != today:
        # A line says when it was written; on another day that would be untrue.
        raise UsageError("--add writes a line with the time of now; leave DATE out, or edit that day's note")
    return daily.add_line(text)


def _day(given: str, today: date) -> date:
    word = given.strip().lower()
    if word in ("today", "yesterday"):
        return today - timedelta(days=int(word == "yesterday"))
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise UsageError(f"{given!r} is no day; write it as YYYY-MM-DD, today or yesterday") from None
