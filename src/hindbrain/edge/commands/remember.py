"""`hindbrain remember`: one fact in, a line in the vault's memory out."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING

from hindbrain.base.errors import UsageError
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.memory.answers import Remembered
    from hindbrain.vault.items.item import MemoryItem

_MOST_BYTES = 1_000_000  # of stdin: a memory is a sentence, and policy says so long before


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words", nargs="+", metavar="TEXT", help="the fact, as a sentence; - reads it from stdin"
    )
    parser.add_argument(
        "--category",
        default="fact",
        metavar="NAME",
        help="preference, fact, pattern, contact, project, issue, decision, action or relationship",
    )
    parser.add_argument("--importance", type=float, default=None, metavar="X", help="0 to 1 (default 0.5)")
    parser.add_argument(
        "--source",
        default="user",
        metavar="WHOSE",
        help="whose word it is: user, agent, tool, web or import; the last two wait in the inbox",
    )
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="may be repeated")
    parser.add_argument(
        "--cue",
        action="append",
        default=[],
        metavar="WORDS",
        help="a word or phrase under which it will be needed; at most 5, repeated or with commas",
    )
    parser.add_argument(
        "--replaces",
        default="",
        metavar="ID",
        help="the memory that it replaces, which stays readable, struck through",
    )


def run(args: Namespace, out: Output) -> int:
    text = " ".join(args.words)
    if text == "-":
        text = _stdin()
    with closing(open_app(args)) as app:
        source = args.source.lower()
        if source == "user" and (agent := app.started_by()):
            source = "agent"  # what an agent says is not its user's word
            out.say(f"stored as an agent's word, because this runs inside {agent}")
        done = app.memory.remember(
            text,
            category=args.category.lower(),
            importance=0.5 if args.importance is None else args.importance,
            importance_given=args.importance is not None,
            source=source,
            tags=args.tag,
            cues=args.cue,
            replaces=args.replaces,
            strategy="immediate",
        )
        # Before the index hears of it: that may take a while, and the memory is stored.
        if out.json:
            out.data(remembered_data(done))
        else:
            _show(done, out)
        out.stdout.flush()
    return 0


def _stdin() -> str:
    data = sys.stdin.buffer.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise UsageError("that is a note, not a memory; give one sentence")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"what came from stdin is not UTF-8 (byte {error.start})") from error


def remembered_data(done: Remembered) -> dict[str, object]:
    """The shape is a promise: docs/json.md."""
    other = done.other
    return {
        "id": done.id,
        "action": done.action,
        "text": done.text,
        "category": done.category,
        "source": done.source,
        "path": done.path,
        "citation": done.citation,
        "other": {"id": other.id, "text": other.text, "citation": other.citation} if other else None,
        "removed": list(done.removed),
        "reasons": list(done.reasons),
        "importance": done.importance,
        "tags": list(done.tags),
        "cues": list(done.cues),
        "cues_left_out": [{"cue": one.cue, "why": one.why} for one in done.cues_left_out],
    }


def _id_of(item: MemoryItem | None) -> str:
    return f" ({item.id})" if item is not None and item.id else ""


def _show(done: Remembered, out: Output) -> None:
    from hindbrain.memory.tools.memory_answers import labels_line, replaceable_id

    other = safe(done.other.text) if done.other else ""
    stored = f"remembered without the secret ({', '.join(done.removed)})" if done.removed else "remembered"
    place = f"{done.id}   {safe(done.citation)}"
    match done.action:
        case "held":
            out.line(f"waits in the inbox as {done.id} ({safe('; '.join(done.reasons))})")
            out.say("hindbrain inbox shows what waits; only what is accepted there is remembered")
        case "merge":
            grown = done.other is not None and done.other.text != done.text
            what = "added to what was known; it says now" if grown else "known already"
            out.line(f"{what}: {safe(done.text)}\n  {place}")
        case "dropped":
            out.line(f"not stored ({safe('; '.join(done.reasons))}): {other}")
        case "supersede":
            out.line(f"{stored}: {safe(done.text)}\n  {place}\n  instead of: {other}")
        case "related":
            why = f"\n  {safe('; '.join(done.reasons))}" if done.reasons else ""
            out.line(
                f"{stored}: {safe(done.text)}\n  {place}\n  related to: {other}{_id_of(done.other)}{why}"
            )
            if old := replaceable_id(done):
                out.say(f"if it replaces that: hindbrain remember ... --replaces {old}")
        case "queued":
            out.line(f"{stored}: {safe(done.text)}\n  {place}")
            out.say("queued for its note; hindbrain undo --list shows later what it replaced")
        case _:
            out.line(f"{stored}: {safe(done.text)}\n  {place}")
    if labels := labels_line(done.tags, done.cues, done.cues_left_out):
        out.line(f"  {safe(labels)}")
    if done.removed and done.action in ("held", "merge"):
        out.warn(f"without the secret in it ({', '.join(done.removed)}): memory keeps none")
