"""`hindbrain recall`: what is known on a topic, memories first, then passages of other notes."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app, prepare_index
from hindbrain.edge.output import BOLD, CYAN, DIM, Output, safe

if TYPE_CHECKING:
    from hindbrain.memory.answers import Recalled, RecalledMemory, Settled, Timeline
    from hindbrain.memory.inbox.inbox import Inbox


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("words", nargs="+", metavar="TOPIC", help="what you want to know about")
    parser.add_argument(
        "-k", type=int, metavar="N", help="how many memories and passages at most (setting search.k)"
    )
    parser.add_argument(
        "--no-sync",
        action="store_true",
        help="take the index as it is; where there is none, look through memories only",
    )


def run(args: Namespace, out: Output) -> int:
    with closing(open_app(args)) as app:
        prepare_index(app, out, no_sync=args.no_sync)
        # What was ticked in the inbox counts from now on.
        tell_settled(app.memory.settle(), app.memory.inbox, out)
        app.encodes = "at once"
        with app.request():
            found = app.memory.recall(" ".join(args.words), k=args.k)
    if out.json:
        out.data(recalled_data(found))
        return 0
    _show(found, out)
    return 0


def tell_settled(settled: Settled, inbox: Inbox, out: Output) -> None:
    """What was done by the way, and which ticks wait for the owner, in a line each."""
    if kept := len(settled.accepted):
        out.say(f"stored {plural(kept, 'memory')} accepted in the inbox")
    if settled.refused:
        out.say(f"{settled.refused} refused in the inbox will not be asked again")
    if ticked := len(inbox.ticked()):
        waits = plural(ticked, "tick in the inbox was", "ticks in the inbox were")
        out.say(f"{waits} made while an agent was running; confirm with hindbrain inbox accept")
    for problem in settled.problems:
        out.warn(safe(problem))


def recalled_data(found: Recalled) -> dict[str, Any]:
    """The shape is a promise: docs/json.md."""
    from hindbrain.edge.hit_data import hit_data
    from hindbrain.memory.tools.memory_answers import timeline_data

    return {
        "topic": found.topic,
        "memories": [
            {
                "id": memory.item.id,
                "text": memory.item.text,
                "category": memory.item.category,
                "importance": memory.item.importance,
                "source": memory.item.source,
                "created": memory.item.created,
                "tags": list(memory.item.tags),
                "cues": list(memory.item.cues),
                "superseded": memory.item.superseded,
                "path": memory.item.path,
                "line": memory.item.line,
                "citation": memory.item.citation if memory.item.path else "",
                "pending": memory.pending,
                "confidence": round(memory.confidence, 4),
            }
            for memory in found.memories
        ],
        "runs": [run._asdict() for run in found.runs],
        "timeline": None if found.timeline is None else timeline_data(found.timeline),
        "passages": [hit_data(hit) for hit in found.passages],
        "notices": list(found.notices),
    }


def _show(found: Recalled, out: Output) -> None:
    if found.timeline is not None and (found.timeline.entries or not found.passages):
        _show_time(found.timeline, out)
    for memory in found.memories:
        out.line(_memory_line(memory, out))
    if found.runs:
        out.line(out.paint("earlier runs", BOLD))
        for run in found.runs:
            where = out.paint(f"{safe(run.path)}:{run.line}", CYAN)
            about = out.paint(
                f"{run.date}" + ("" if run.went_well else " · not known to have gone well"), DIM
            )
            out.line(f"- {safe(run.command)}: {safe(run.answer)}\n    {about}   {where}")
    if found.passages:
        from hindbrain.edge.hit_text import hit_lines

        if found.memories or found.runs or found.timeline is not None:
            out.line()
        out.line(out.paint("in other notes", BOLD))
        for text in hit_lines(found.passages, out, explain=False):
            out.line(text)
    for notice in found.notices:
        out.warn(notice)
    if not (found.memories or found.passages or found.runs or found.timeline is not None):
        where = " in what could be looked at" if found.notices else ""
        out.say(f"nothing is known about {found.topic!r}{where}; try other words, or hindbrain search")


def _show_time(timeline: Timeline, out: Output) -> None:
    from hindbrain.memory.timeline import entry_text, heading_text, nothing_text

    if not timeline.entries:
        out.say(nothing_text(timeline))
        return
    out.line(out.paint(safe(heading_text(timeline)), BOLD))
    for entry in timeline.entries:
        where = out.paint(safe(f"{entry.path}:{entry.line}" if entry.line else entry.path), CYAN)
        out.line(f"- {safe(entry_text(entry))}\n    {where}")


def _memory_line(memory: RecalledMemory, out: Output) -> str:
    item = memory.item
    told = [item.category, item.created, f"from {item.source}" if item.source != "user" else ""]
    if memory.feedback:
        told.append(f"feedback {memory.feedback:+.2f}")
    if memory.pending:
        told.append("being saved")
    if item.superseded:
        told.append(_fate(memory))
    where = out.paint(f"{safe(item.path)}:{item.line}" if item.path else "", CYAN)
    about = out.paint(" · ".join(filter(None, [item.id, *told])), DIM)
    return f"- {safe(item.text)}\n    {about}   {where}".rstrip()


def _fate(memory: RecalledMemory) -> str:
    if memory.successor_gone:
        return "replaced by a memory that is gone"
    by = memory.item.superseded
    return f"replaced by {by}" if len(by) > 1 else "struck out"
