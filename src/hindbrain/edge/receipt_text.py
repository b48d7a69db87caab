"""Receipts of conversations, for a person: what entered a prompt and why, and what did not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hindbrain.base.plural import plural
from hindbrain.edge.output import BOLD, CYAN, DIM, Output, safe
from hindbrain.edge.pack_text import counts_text, left_out_lines
from hindbrain.edge.when import moment_text, span_text

if TYPE_CHECKING:
    from hindbrain.context.receipts import Entered, Receipt

_WAYS = {"quoted": "quoted in an answer", "named": "named in an answer", "run": "its command was run"}
_EVENTS = {"turn": "prompt", "start": "session start", "failure": "failed command"}


def receipt_lines(receipt: Receipt, out: Output) -> Iterator[str]:
    about = [moment_text(receipt.at), safe(receipt.host), _EVENTS.get(receipt.event, safe(receipt.event))]
    about += [span_text(receipt.took_ms / 1_000)]
    about += [] if receipt.delivered else ["not delivered: the host was gone"]
    yield out.paint(" · ".join(about), BOLD)
    if receipt.prompt:
        yield f"  {safe(receipt.prompt)}"
    yield f"  {out.paint(_verdict(receipt), DIM)}"
    for one in receipt.entered:
        told = [one.slot, f"{one.tokens:,} tokens" if one.tokens else ""]
        told += [f"confidence {one.confidence:.2f}" if one.confidence else "", one.why]
        told += [f"^{one.memory}" if one.memory else "", ways_text(one.used)]
        yield f"  + {out.paint(_place(one), CYAN)}   {safe(' · '.join(filter(None, told)))}"
    if receipt.left_out:
        yield from (f"  {line}" for line in left_out_lines(receipt.left_out, out))
    more = receipt.left_out_in_all - len(receipt.left_out)
    if more > 0:
        yield out.paint(f"    and {more} more", DIM)


def ways_text(ways: Sequence[str]) -> str:
    """How it was used, "" when that is not known."""
    return ", ".join(_WAYS.get(way, safe(way)) for way in ways)


def _verdict(receipt: Receipt) -> str:
    gate = f"a better fit than {receipt.confidence:.0%} of generic prompts get" if receipt.confidence else ""
    if receipt.entered:
        entered = f"{plural(len(receipt.entered), 'excerpt')} entered, {receipt.tokens:,} tokens"
        used = sum(bool(one.used) for one in receipt.entered)
        return " · ".join(
            filter(None, (entered, gate and f"notes: {gate}", f"{used} known to be used" if used else ""))
        )
    if receipt.abstained:
        return f"nothing entered: what was found is too unlikely to be meant ({gate or 'no better fit'})"
    if receipt.left_out:
        counts = counts_text(Counter(one.reason for one in receipt.left_out))
        return f"nothing entered: all that was found was left out ({counts})"
    return f"nothing entered: {'nothing was found' if receipt.searched else 'nothing was looked for'}"


def _place(one: Entered) -> str:
    if not one.path:
        return "not in a note yet"
    last = f"-{one.last_line}" if one.last_line > one.first_line else ""
    return f"{safe(one.path)}:{one.first_line}{last}" if one.first_line else safe(one.path)
