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
    from hindbrain.memory.daily.daily import Daily


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "day", nargs="?", default="today", metavar="DATE", help="YYYY-MM-DD, today or yesterday; else today"
    )
    parser.add_argument("--add", metavar="TEXT", help="add a line with the time to the events of today")


def run(args: Namespace, out: Output) -> int:
    from hindbrain.memory.daily.daily import local_time

    with closing(open_app(args)) as app:
        today = local_time(app.clock.now()).date()
        day = _day(args.day, today)
        daily = app.memory.daily
        added = _add(daily, args.add, day, today)
        page = daily.read(day)
        if out.json:
            out.data(
                {
                    "date": day.isoformat(),
                    "path": daily.path(day),
                    "exists": page is not None,
                    "added": added,
                    "text": "" if page is None else page.text,
                }
            )
        elif added:
            out.line(safe(added))
            out.say(f"in {safe(daily.path(day))}")
        elif page is not None:
            out.line(safe(page.text).rstrip("\n"))
        else:
            hint = "; hindbrain daily --add TEXT begins its note" if day == today else ""
            out.say(f"nothing was written on {day.isoformat()}{hint}")
    return 0


def _add(daily: Daily, text: str | None, day: date, today: date) -> str:
    """The line that was added; "" when none was asked for."""
    if text is None:
        return ""
    if day != today:
        # A line says when it was written; on another day that would be untrue.
        raise UsageError("--add writes a line with the time of now; leave DATE out, or edit that day's note")
    return daily.add_line(text).text


def _day(given: str, today: date) -> date:
    word = given.strip().lower()
    if word in ("today", "yesterday"):
        return today - timedelta(days=int(word == "yesterday"))
    try:
        return date.fromisoformat(word)
    except ValueError:
        raise UsageError(f"{given!r} is no day; write it as YYYY-MM-DD, today or yesterday") from None
