"""A context pack for whoever wants to know: what it costs, why each excerpt is in it, what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hindbrain.base.plural import plural
from hindbrain.edge.output import BOLD, CYAN, DIM, Output, safe

if TYPE_CHECKING:
    from hindbrain.context.packs.pack import Excerpt, FilledSlot, LeftOut, Pack

_MOST_LEFT_OUT = 20
REASONS = {
    "budget": "did not fit",
    "notes": "the preset quotes no more notes",
    "characters": "the preset allows no more characters",
    "repeats": "says the same as what is shown",
    "in_window": "is in the window already",
    "unlikely": "too unlikely",
    "dropped": "the budget was spent before this slot",
    "no_text": "has no words",
    "changed": "was changed since the last sync",
    "contradicts": "contradicts what is shown, on weaker evidence",
}
_IN_SHORT = {
    "budget": "did not fit",
    "notes": "beyond the number of notes that the preset quotes",
    "characters": "beyond the characters that the preset allows",
    "repeats": "repeated",
    "in_window": "in the window already",
    "unlikely": "too unlikely",
    "dropped": "beyond the budget",
    "no_text": "without words",
    "changed": "changed since the last sync",
    "contradicts": "contradicting what is shown",
}
_TOO_SMALL = frozenset(("budget", "characters", "dropped"))


class Cost(NamedTuple):
    """What a rendered pack costs."""

    tokens: int  # of all that enters the prompt
    text: int  # of them: what notes say, their titles, headings and dates

    @property
    def share(self) -> float:
        """0..1; 0 of nothing."""
        return min(1.0, self.text / self.tokens) if self.tokens else 0.0


def cost_of(pack: Pack, rendered: str) -> Cost:
    from hindbrain.context.packs.attribution import by_note, named
    from hindbrain.context.tokens import count_tokens

    told: list[str] = []
    for quoted in (quoted for slot in pack.slots for quoted in by_note(slot.excerpts)):
        told += [" ".join(dict.fromkeys((quoted.first.title, *named(quoted), quoted.date)))]
        told += [quoted.text]
    return Cost(count_tokens(rendered), sum(map(count_tokens, told)))


def cost_line(pack: Pack, cost: Cost) -> str:
    notes = len({excerpt.path for excerpt in pack.excerpts})
    parts = [
        f"{cost.tokens:,} of {pack.budget:,} tokens",
        f"{plural(len(pack.excerpts), 'excerpt')} of {plural(notes, 'note')}",
        f"{cost.share:.0%} text",
    ]
    if pack.confidence:
        parts.append(f"notes: a better fit than {pack.confidence:.0%} of generic prompts get")
    return " · ".join(parts)


def explain_lines(pack: Pack, cost: Cost, out: Output) -> Iterator[str]:
    """Slot by slot what is in it and why; what was left out and why; what it costs in all."""
    slots = sum(slot.tokens for slot in pack.slots)
    yield f"looked for: {safe(pack.query)}" if pack.query.strip() else "nothing was looked for"
    for slot in pack.slots:
        yield ""
        yield _slot_line(slot, out)
        for excerpt in slot.excerpts:
            yield f"  {out.paint(place_of(excerpt), CYAN)}   {_about(excerpt)}"
    if pack.left_out:
        yield ""
        yield from left_out_lines(pack.left_out, out)
    yield ""
    if pack.excerpts:
        yield f"{out.paint('frame', BOLD)}   {out.paint(f'{cost.tokens - slots:,} tokens', DIM)}"
    yield f"{out.paint('in all', BOLD)}   {out.paint(cost_line(pack, cost), DIM)}"


def _slot_line(slot: FilledSlot, out: Output) -> str:
    told = (
        f"{slot.tokens:,} of {slot.budget:,} tokens" if slot.excerpts else f"empty, of {slot.budget:,} tokens"
    )
    told += " · before what depends on the prompt" if slot.stable else ""
    told += f" · match {slot.match:.2f}" if slot.match else ""
    return f"{out.paint(safe(slot.name), BOLD)}   {out.paint(told, DIM)}"


def _about(excerpt: Excerpt) -> str:
    told = [excerpt.grade, f"{excerpt.tokens:,} tokens" if excerpt.tokens else ""]
    if excerpt.confidence:
        told.append(f"confidence {excerpt.confidence:.2f}")
    told.append(safe(excerpt.why))
    if excerpt.source != "user":
        told.append(f"from {safe(excerpt.source)}")
    return " · ".join(filter(None, told))


def left_out_lines(left_out: Sequence[LeftOut], out: Output) -> Iterator[str]:
    counts = Counter(item.reason for item in left_out)
    yield f"{out.paint('left out', BOLD)}   {out.paint(counts_text(counts), DIM)}"
    for item in left_out[:_MOST_LEFT_OUT]:
        told = [REASONS.get(item.reason, item.reason), f"{item.tokens:,} tokens" if item.tokens else ""]
        told.append(f"confidence {item.confidence:.2f}" if item.confidence else "")
        yield f"  {safe(item.place)}   {out.paint(' · '.join(filter(None, told)), DIM)}"
    if len(left_out) > _MOST_LEFT_OUT:
        yield out.paint(f"  and {len(left_out) - _MOST_LEFT_OUT} more", DIM)


def counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {_IN_SHORT.get(reason, reason)}" for reason, count in counts.most_common())


def place_of(excerpt: Excerpt) -> str:
    if not excerpt.path:
        return safe(excerpt.title) or "not in a note yet"
    if not excerpt.first_line:
        return safe(excerpt.path)
    last = f"-{excerpt.last_line}" if excerpt.last_line > excerpt.first_line else ""
    return f"{safe(excerpt.path)}:{excerpt.first_line}{last}"


def why_empty(pack: Pack) -> str:
    """One sentence; "nothing found" and "could not look" are different answers."""
    if pack.abstained:
        return (
            "nothing would be injected: what was found is too unlikely to be meant "
            f"(a better fit than {pack.confidence:.0%} of generic prompts get)"
        )
    reasons = Counter(item.reason for item in pack.left_out)
    if reasons and reasons.keys() <= _TOO_SMALL:
        return f"nothing would be injected: a budget of {pack.budget:,} tokens has no room for anything"
    if not pack.query.strip() and not reasons:
        return "nothing would be injected: the prompt names nothing that could be looked for"
    if reasons:
        return f"nothing would be injected: all that was found was left out ({counts_text(reasons)})"
    where = " in what could be looked at" if pack.notices else ""
    return f"nothing would be injected: nothing was found for {pack.query!r}{where}"


def left_out_data(left_out: Sequence[LeftOut]) -> list[dict[str, Any]]:
    return [
        {
            "place": item.place,
            "slot": item.slot,
            "reason": item.reason,
            "tokens": item.tokens,
            "score": round(item.score, 4),
            "confidence": round(item.confidence, 4),
        }
        for item in left_out
    ]
