"""`hindbrain links`: who links to a note, where it links to, what is related; and reports on all links."""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import BOLD, DIM, Output, safe

if TYPE_CHECKING:
    from hindbrain.app import App
    from hindbrain.index.links import BrokenLink, LinkGraph, LinkLine
    from hindbrain.search.related import Related

_TEXT_CHARS = 100  # of a line that is shown
_RELATED = 10
_REASONS = {"no_note": "no such note", "no_heading": "no such heading", "no_block": "no such block"}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="*", metavar="NOTE", help="path, title, alias or file name")
    report = parser.add_mutually_exclusive_group()
    report.add_argument(
        "--broken", action="store_true", help="links whose note, heading or block is not there"
    )
    report.add_argument(
        "--orphans",
        action="store_true",
        help="notes without a link to or from another note; the agent's own (tasks, days, memories) left out",
    )
    report.add_argument("--ambiguous", action="store_true", help="links whose name several notes have")
    parser.add_argument("--limit", type=int, default=100, metavar="N", help="lines of a report (100; 0: all)")
    parser.add_argument("--no-sync", action="store_true", help="take the index as it is")


def run(args: Namespace, out: Output) -> int:
    name = " ".join(args.words).strip()
    reports: dict[str, Callable[[LinkGraph, Namespace, Output], None]] = {
        "broken": _broken,
        "ambiguous": _ambiguous,
    }
    asked = next((report for report in ("orphans", *reports) if getattr(args, report)), "")
    if bool(name) == bool(asked):
        raise UsageError("name a note, or ask for --broken, --orphans or --ambiguous")
    if args.limit < 0:
        raise UsageError(f"--limit is {args.limit}; give 0 for all, or how many lines")
    with closing(open_app(args)) as app, app.request():
        prepare_index(app, out, no_sync=args.no_sync)
        for notice in app.freshen(vectors=True).notices:
            out.warn(notice)
        from hindbrain.index.links import LinkGraph

        graph = LinkGraph(app.store, files_of(app.root))
        if asked == "orphans":
            _orphans(app, graph, args, out)
        elif asked:
            reports[asked](graph, args, out)
        else:
            _note(app, graph, name, out)
    return 0


def files_of(root: Path) -> Iterator[str]:
    """Vault-relative paths of the files and folders that are no notes of the index, perhaps: all of them."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(".")]
        at = Path(folder).relative_to(root).as_posix()
        for name in (*folders, *files):
            yield name if at == "." else f"{at}/{name}"


def _note(app: App, graph: LinkGraph, name: str, out: Output) -> None:
    from hindbrain.edge.note_names import find_note
    from hindbrain.search.related import related_notes

    path = find_note(app, name)
    back, outgoing = graph.backlinks(path), graph.outgoing(path)
    layout = app.memory.layout
    related, notices = related_notes(
        app.store, graph, app.search, path, k=_RELATED, linked=False, without=layout.is_housekeeping
    )
    if out.json:
        out.data(
            {
                "path": path,
                "backlinks": [_link_data(link) for link in back],
                "outgoing": [_link_data(link) for link in outgoing],
                "related": [note._asdict() | {"score": round(note.score, 4)} for note in related],
                "notices": list(notices),
            }
        )
        return
    _section(out, f"linked from ({len(back)})", list(dict.fromkeys(_place(link, out) for link in back)))
    _section(out, f"links to ({len(outgoing)})", [_outgoing_line(graph, link, out) for link in outgoing])
    _section(out, "related, not linked", [_related_line(note, out) for note in related])
    for notice in notices:
        out.say(notice)


def _broken(graph: LinkGraph, args: Namespace, out: Output) -> None:
    found = graph.broken()
    shown = found[: args.limit or None]
    if out.json:
        links = graph.with_text([broken.link for broken in shown])
        rows = [
            _link_data(link) | _broken_data(graph, broken) for link, broken in zip(links, shown, strict=True)
        ]
        out.data({"broken": rows, "total": len(found)})
        return
    for broken in shown:
        near = _broken_data(graph, broken)["nearest"]
        hint = f"; did you mean {near!r}?" if near else ""
        out.line(f"{_at(broken.link)}  {_wikilink(broken.link)}  {_REASONS[broken.reason]}{safe(hint)}")
    _say_count(len(found), len(shown), "broken link", out)


def _broken_data(graph: LinkGraph, broken: BrokenLink) -> dict[str, str]:
    near = graph.nearest(broken.link.target) if broken.reason == "no_note" else ""
    return {"reason": broken.reason, "nearest": near}


def _orphans(app: App, graph: LinkGraph, args: Namespace, out: Output) -> None:
    layout = app.memory.layout
    found = [path for path in graph.orphans() if not layout.is_housekeeping(path)]
    shown = found[: args.limit or None]
    if out.json:
        out.data({"orphans": shown, "total": len(found)})
        return
    for path in shown:
        out.line(safe(path))
    _say_count(len(found), len(shown), "note without a link", out, "notes without a link")


def _ambiguous(graph: LinkGraph, args: Namespace, out: Output) -> None:
    found = graph.ambiguous()
    shown = found[: args.limit or None]
    if out.json:
        rows = [_link_data(link) for link in graph.with_text(shown)]
        out.data({"ambiguous": rows, "total": len(found)})
        return
    for link in shown:
        out.line(f"{_at(link)}  {_wikilink(link)}  may mean:")
        for path in link.to.candidates:
            out.line(f"    {safe(path)}{' (taken)' if path == link.to.path else ''}")
    _say_count(len(found), len(shown), "ambiguous link", out)


def _say_count(total: int, shown: int, what: str, out: Output, many: str = "") -> None:
    rest = f"; {shown} shown, --limit 0 shows all" if shown < total else ""
    count = plural(total, what, many)
    out.say(f"{count if total else f'no{count[1:]}'}{rest}")


def _section(out: Output, title: str, lines: list[str]) -> None:
    out.line(out.paint(title, BOLD))
    for line in lines or ["(none)"]:
        out.line(f"  {line}")


def _at(link: LinkLine) -> str:
    return safe(f"{link.path}:{link.line}")


def _wikilink(link: LinkLine) -> str:
    return safe(f"{'!' if link.embed else ''}[[{link.target}]]")


def _place(link: LinkLine, out: Output) -> str:
    text = link.text if len(link.text) <= _TEXT_CHARS else link.text[: _TEXT_CHARS - 1] + "…"
    return f"{_at(link)}  {out.paint(safe(text), DIM)}"


def _outgoing_line(graph: LinkGraph, link: LinkLine, out: Output) -> str:
    if not link.to.path:
        near = graph.nearest(link.target)
        leads = "leads nowhere" + (f"; did you mean {near!r}?" if near else "")
    else:
        leads = link.to.path + (" (by its alias)" if link.to.how == "alias" else "")
        fault = graph.fault_of(link)
        leads += f" ({_REASONS[fault]})" if fault else ""
    several = f" (one of {len(link.to.candidates)} of that name)" if link.to.is_ambiguous else ""
    return f"line {link.line}  {_wikilink(link)}  {out.paint(safe(leads + several), DIM)}"


def _related_line(note: Related, out: Output) -> str:
    return f"{safe(note.path)}  {out.paint(safe('; '.join(note.reasons)), DIM)}"


def _link_data(link: LinkLine) -> dict[str, Any]:
    """One link as JSON. The shape is a promise: docs/json.md."""
    return {
        "path": link.path,
        "line": link.line,
        "target": link.target,
        "shown": link.shown,
        "embed": link.embed,
        "to": link.to.path,
        "how": link.to.how,
        "candidates": list(link.to.candidates),
        "text": link.text,
    }
