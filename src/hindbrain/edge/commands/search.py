"""`hindbrain search`: a question in, passages with their places and reasons out."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from datetime import UTC
from typing import TYPE_CHECKING

from hindbrain.base.errors import IndexMissing, UsageError
from hindbrain.edge.opening import make_first_index, open_app
from hindbrain.edge.output import Output
from hindbrain.edge.when import age_text, span_text

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery

_OLD_S = 86_400.0
_WEAK = 0.15  # confidence below which the best hit is called weak; the hits are shown all the same


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="QUERY",
        help='what to look for; "in quotes": exactly so; dates such as "last week" are understood',
    )
    parser.add_argument("-k", type=int, metavar="N", help="how many hits (setting search.k)")
    parser.add_argument("--folder", default="", metavar="PATH", help="only notes in this folder and below")
    parser.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="only notes with this tag or one below it; may be repeated",
    )
    parser.add_argument("--type", default="", metavar="TYPE", help="only notes whose property 'type' is this")
    parser.add_argument("--para", default="", metavar="CATEGORY", help="project, area, resource or archive")
    parser.add_argument("--area", default="", metavar="NAME", help="the folder below a PARA folder")
    parser.add_argument(
        "--since",
        default="",
        metavar="DAY",
        help="only notes of this day or later: YYYY-MM-DD, or words such as 'last monday'",
    )
    parser.add_argument("--until", default="", metavar="DAY", help="only notes of this day or earlier")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--keyword", action="store_true", help="words only; the fastest")
    mode.add_argument("--semantic", action="store_true", help="meaning only")
    parser.add_argument("--notes", action="store_true", help="at most one hit a note, its best passage")
    parser.add_argument(
        "--profile", metavar="NAME", help="how signals become a score (setting search.profile)"
    )
    parser.add_argument(
        "--diversity",
        type=float,
        metavar="X",
        help="0: by score alone; towards 1: less of the same (setting search.diversity)",
    )
    parser.add_argument("--explain", action="store_true", help="show what each signal adds to a hit")
    parser.add_argument(
        "--no-sync", action="store_true", help="fail rather than make the index at the first search"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        return _answer(app, args, out)


def _answer(app: App, args: Namespace, out: Output) -> int:
    query = _query(args, app)
    begun = time.perf_counter()
    try:
        result = app.search(query)
    except IndexMissing:
        if args.no_sync:
            raise
        make_first_index(app, out)
        begun = time.perf_counter()
        result = app.search(query)
    took = time.perf_counter() - begun
    if out.json:
        from hindbrain.edge.hit_data import result_data

        out.data(result_data(query, result, now=app.clock.now(), took_ms=took * 1000))
        return 0
    if result.hits:
        from hindbrain.edge.hit_text import hit_lines

        for text in hit_lines(result.hits, out, explain=args.explain):
            out.line(text)
        out.stdout.flush()
    _say_footer(app, query, result, took, out)
    return 0


def _query(args: Namespace, app: App) -> SearchQuery:
    from hindbrain.search.query import Filters, SearchQuery

    config = app.config
    text = " ".join(args.words).strip()
    if not text:
        raise UsageError("the query is empty; give words to look for")
    return SearchQuery(
        text,
        k=config.number("search.k") if args.k is None else args.k,
        filters=Filters(
            folder=args.folder.replace("\\", "/"),
            tags=tuple(args.tag),
            type=args.type,
            para=args.para,
            area=args.area,
            since=_day(args.since, app, last=False),
            until=_day(args.until, app, last=True),
        ),
        mode="keyword" if args.keyword else "semantic" if args.semantic else "hybrid",
        unit="note" if args.notes else "passage",
        profile=args.profile or config.text("search.profile"),
        diversity=config.fraction("search.diversity") if args.diversity is None else args.diversity,
    )


def _day(text: str, app: App, *, last: bool) -> str:
    """A day as YYYY-MM-DD, from a date or from words as in a query; of a week its first or last."""
    if not text:
        return ""
    from datetime import date, datetime, timedelta

    from hindbrain.search.dates import find_windows

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        today = datetime.fromtimestamp(app.clock.now(), tz=UTC).date()
        found = [w for w in find_windows(text, today=today) if w.start > date.min and w.end < date.max]
    if not found:
        raise UsageError(f"{text!r} is no date; write it as YYYY-MM-DD, or say 'last week', 'in May'")
    return (found[0].end - timedelta(days=1) if last else found[0].start).isoformat()


def _say_footer(app: App, query: SearchQuery, result: SearchResult, took_s: float, out: Output) -> None:
    for notice in result.notices:
        out.warn(notice)
    now = app.clock.now()
    age = f"index {age_text(result.synced_at, now)}"
    if not result.hits:
        out.say(_nothing(app, query, result, age))
        return
    count = f"{len(result.hits)} hit{'s' if len(result.hits) != 1 else ''}"
    old = " · hindbrain sync brings it up to date" if now - result.synced_at > _OLD_S else ""
    weak = " · no strong match" if max(hit.confidence for hit in result.hits) < _WEAK else ""
    out.say(out.paint_err(f"{count} in {span_text(took_s)} · {result.mode} · {age}{old}{weak}", "2"))


def _nothing(app: App, query: SearchQuery, result: SearchResult, age: str) -> str:
    notes = app.store.sizes()[1]
    tries = ["other or fewer words"]
    if query.filters.any:
        tries.insert(0, "fewer filters")
    if result.mode == "keyword":
        tries.append(
            "a search by meaning (without --keyword)"
            if query.mode == "keyword"
            else "hindbrain doctor, since only words were searched"
        )
    tries.append("hindbrain sync, if the note is new")
    return f"nothing found for {query.text!r} in {notes} notes ({result.mode}, {age}); try {', '.join(tries)}"
