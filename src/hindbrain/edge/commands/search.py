"""`hindbrain search`: a question in, notes or passages with their places and reasons out."""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import Output
from hindbrain.edge.when import span_text

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.search.hit import SearchResult
    from hindbrain.search.query import SearchQuery

_WEAK = 0.15  # confidence below which the best hit is called weak; the hits are shown all the same


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="+",
        metavar="QUERY",
        help='what to look for; "in quotes": only this phrase; dates such as "last week" are understood',
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
    parser.add_argument(
        "--type", default="", metavar="TYPE", help="only notes of this 'type', or memories of it"
    )
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
    parser.add_argument("--passages", action="store_true", help="every passage; else the best of each note")
    parser.add_argument(
        "--profile", metavar="NAME", help="how signals become a score (setting search.profile)"
    )
    parser.add_argument(
        "--diversity",
        type=float,
        metavar="X",
        help="0: by score alone; towards 1: less of the same (setting search.diversity)",
    )
    parser.add_argument(
        "--min-score",
        type=float,
        metavar="X",
        help="leave out hits of less confidence, 0 to 1 (setting search.min_score)",
    )
    parser.add_argument("--explain", action="store_true", help="show what each signal adds to a hit")
    parser.add_argument(
        "--no-sync", action="store_true", help="take the index as it is; fail where there is none"
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        return _answer(app, args, out)


def _answer(app: App, args: Namespace, out: Output) -> int:
    query = _query(args, app)
    prepare_index(app, out, no_sync=args.no_sync, vectors=query.mode != "keyword")
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

    text = " ".join(args.words).strip()
    if not text:
        raise UsageError("the query is empty; give words to look for")
    return SearchQuery(
        text,
        k=args.k,
        filters=Filters(
            folder=_folder(args.folder, app),
            tags=tuple(args.tag),
            type=args.type,
            para=args.para,
            area=args.area,
            since=_day(args.since, app, last=False),
            until=_day(args.until, app, last=True),
        ),
        mode="keyword" if args.keyword else "semantic" if args.semantic else "hybrid",
        unit="passage" if args.passages else "note",
        profile=args.profile,
        diversity=args.diversity,
        min_score=args.min_score,
    )


def _folder(name: str, app: App) -> str:
    """The folder, as agents' tools find it. NotFound when there is none."""
    if not name:
        return ""
    from hindbrain.memory.notes.note_place import find_folder

    return find_folder(app.memory, name)


def _day(text: str, app: App, *, last: bool) -> str:
    """A day as YYYY-MM-DD, from a date or from words as in a query; of a week its first or last."""
    if not text:
        return ""
    from datetime import date, timedelta

    from hindbrain.search.dates import find_windows

    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        windows = find_windows(text, today=app.clock.today())
        found = [w for w in windows if w.start > date.min and w.end < date.max]
    if not found:
        raise UsageError(f"{text!r} is no date; write it as YYYY-MM-DD, or say 'last week', 'in May'")
    return (found[0].end - timedelta(days=1) if last else found[0].start).isoformat()


def _say_footer(app: App, query: SearchQuery, result: SearchResult, took_s: float, out: Output) -> None:
    for notice in result.notices:
        out.warn(notice)
    now = app.clock.now()
    behind = any(notice.startswith("index_") for notice in result.notices)
    fresh = not behind and result.synced_at >= now - took_s - 1
    age = "index up to date" if fresh else _age(result, now)
    if not result.hits:
        out.say(_nothing(app, query, result, age))
        return
    count = plural(len(result.hits), "hit")
    weak = " · no strong match" if max(hit.confidence for hit in result.hits) < _WEAK else ""
    out.say(out.paint_err(f"{count} in {span_text(took_s)} · {result.mode} · {age}{weak}", "2"))


def _age(result: SearchResult, now: float) -> str:
    if not result.synced_at:
        return "index never synced"
    return f"index synced {span_text(max(1.0, now - result.synced_at))} ago"


def _nothing(app: App, query: SearchQuery, result: SearchResult, age: str) -> str:
    notes = app.store.sizes()[1]
    tries = ["other or fewer words"]
    if query.filters.any:
        tries.insert(0, "fewer filters")
    if app.search_settings.complete(query).min_score:
        tries.insert(0, "a lower --min-score")
    if result.mode == "keyword":
        tries.append(
            "a search by meaning (without --keyword)"
            if query.mode == "keyword"
            else "hindbrain doctor, since only words were searched"
        )
    looked = f"{plural(notes, 'note')} ({result.mode}, {age})"
    return f"nothing found for {query.text!r} in {looked}; try {', '.join(tries)}"
