"""An import from OpenClaw in words, and as data for programs. Knows nothing of how it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hindbrain.base.plural import plural
from hindbrain.edge.output import Output, safe

if TYPE_CHECKING:
    from hindbrain.edge.openclaw.importing import Brought, Plan


def show_import(plan: Plan, brought: Brought, out: Output, *, dry: bool) -> None:
    out.line(f"from {safe(str(plan.origin.folder))}:")
    for note in plan.files.notes:
        told = {"create": "becomes", "update": "has changed since, and becomes", "same": "is"}.get(
            note.action
        )
        tail = f" ({note.why})" if note.why else ""
        out.line(f"  {safe(note.source.name)} {told or 'is left: see'} {note.note!r}{tail}")
    days = [day for day in plan.files.days if day.lines]
    if plan.files.days:
        lines = sum(day.lines for day in days)
        added = plural(lines, "new line")
        out.line(f"  daily files: {len(plan.files.days)}, with {added} for {len(days)} of your days")
    talks, left = plan.talks, [one.session.left for one in plan.sessions if one.session.left]
    if plan.sessions:
        new = sum(one.new for one in talks)
        known = sum(len(one.session.messages) for one in talks) - new
        more = f"; {known} were imported or heard before" if known else ""
        out.line(f"  your conversations: {len(talks)}, with {plural(new, 'new message')}{more}")
    for reason in dict.fromkeys(left):
        out.line(f"  left out: {left.count(reason)} ({reason})")
    if not plan.files.notes and not plan.files.days and not plan.sessions:
        out.line("  nothing is there that could be imported")
    if dry:
        out.say("nothing was changed (--dry-run)")
        return
    out.say(
        f"notes written: {brought.notes}, lines added: {brought.lines}, in the inbox: {brought.held}, "
        f"messages read: {brought.messages}, memories stored: {brought.stored}"
    )


def import_data(plan: Plan, brought: Brought, problems: tuple[str, ...]) -> dict[str, Any]:
    return {
        "from": str(plan.origin.folder),
        "written": any((brought.notes, brought.lines, brought.held, brought.messages)),
        "notes": [
            {"source": str(one.source), "note": one.note, "action": one.action, "why": one.why or None}
            for one in plan.files.notes
        ],
        "days": [
            {"source": str(one.source), "note": one.note, "lines": one.lines} for one in plan.files.days
        ],
        "sessions": [
            {
                "id": one.session.id,
                "agent": one.session.agent,
                "messages": len(one.session.messages),
                "new": one.new,
                "left": one.session.left or None,
            }
            for one in plan.sessions
        ],
        "brought": {
            "notes": brought.notes,
            "lines": brought.lines,
            "held": brought.held,
            "messages": brought.messages,
            "stored": brought.stored,
        },
        "problems": list(problems),
    }
