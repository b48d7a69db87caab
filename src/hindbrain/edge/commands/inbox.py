"""`hindbrain inbox`: what an agent would like to remember and may not without its owner.

The same as ticking, deleting and editing lines in the inbox note. Accepting needs a person at a terminal, who
is shown what is accepted and asked once.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from contextlib import closing
from typing import TYPE_CHECKING, Any

from hindbrain.base.errors import NeedsPerson, NotFound, UsageError
from hindbrain.base.plural import plural
from hindbrain.edge.opening import open_app
from hindbrain.edge.output import BOLD, DIM, Output, safe

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hindbrain.memory.inbox.approval_log import Approval
    from hindbrain.memory.inbox.inbox import Inbox, Proposal, Settled

_VERBS = ("list", "accept", "refuse", "edit")


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "words",
        nargs="*",
        metavar="VERB",
        help="list (default) | accept ID... | refuse ID... | edit ID TEXT; an ID or its number in the list; "
        "accept alone: what was ticked in the note while an agent was running",
    )
    parser.add_argument("--all", action="store_true", help="accept or refuse everything that waits")
    parser.add_argument("--log", action="store_true", help="show who accepted and refused what, and how")
    # Scripts that say it get the code of the error, not a mistake in their arguments.
    parser.add_argument(
        "--yes", action="store_true", help="refused: only a person at a terminal accepts (needs_person)"
    )


def run(args: Namespace, out: Output) -> int:
    verb, *rest = args.words or ["list"]
    if verb not in _VERBS:
        from hindbrain.edge.parser import nearest

        hint = nearest(verb, _VERBS) or f"; it has {', '.join(_VERBS)}"
        raise UsageError(f"hindbrain inbox has no {verb!r}{hint}")
    if verb == "list" and (rest or args.all):
        raise UsageError("hindbrain inbox list takes nothing more")
    if verb == "accept" and args.yes:
        named = " ".join((*rest, *(("--all",) if args.all else ())))
        how = f"the owner types `hindbrain inbox accept {named}` without --yes"
        raise NeedsPerson(f"accepting needs a person: {how}")
    with closing(open_app(args)) as app:
        inbox = app.memory.inbox
        if args.log:
            approvals = inbox.approvals.read()
            texts = inbox.decided_texts(one.id for one in approvals)
            _show_log(out, [(one, texts.get(one.id, "")) for one in approvals])
            return 0
        taken = inbox.settle()  # what was decided in the note comes first
        changed = _decide(inbox, verb, rest, every=args.all) if verb != "list" else []
        waiting = inbox.pending()
        path = inbox.path
    if out.json:
        out.data(_as_data(path, waiting, taken, verb, changed))
    else:
        _show(out, path, waiting, taken, verb, changed)
    return 0


def _decide(inbox: Inbox, verb: str, words: Sequence[str], *, every: bool) -> list[Proposal]:
    waiting = inbox.pending()
    if verb == "edit":
        if every or len(words) < 2:
            raise UsageError("give the proposal and its new text: hindbrain inbox edit ID TEXT")
        return [inbox.edit(_id_of(words[0], waiting), " ".join(words[1:]))]
    if verb == "accept" and not every and not words:
        words = [item.id for item in waiting if item.ticked]
    if every == bool(words):
        raise UsageError(f"say what to {verb}: hindbrain inbox {verb} ID... or --all")
    # All names are looked up before anything is decided: numbers change with every decision.
    ids = [item.id for item in waiting] if every else [_id_of(word, waiting) for word in words]
    if verb == "refuse":
        return [inbox.refuse(id_) for id_ in dict.fromkeys(ids)]
    chosen = [item for item in waiting if item.id in ids]
    return _accept(inbox, sorted(chosen, key=lambda item: ids.index(item.id)), waiting)


def _accept(inbox: Inbox, chosen: Sequence[Proposal], waiting: Sequence[Proposal]) -> list[Proposal]:
    """Accept exactly what a person was shown; NoteChanged when a line says something else by then."""
    from hindbrain.edge.person import ask_approval

    if not chosen:
        return []

    def lines(paint: Callable[..., str]) -> list[str]:
        return [line for item in chosen for line in _item_lines(waiting.index(item) + 1, item, paint)]

    named = chosen[0].id if len(chosen) == 1 else "--all"
    accepts = f"accept {plural(len(chosen), 'proposal')}?" if len(chosen) > 1 else f"accept {named}?"
    ask_approval(lines, accepts, command=f"hindbrain inbox accept {named}")
    return [inbox.accept(item.id, shown=item) for item in chosen]


def _id_of(word: str, waiting: Sequence[Proposal]) -> str:
    wanted = word.lstrip("^")
    if wanted.isdecimal() and 1 <= int(wanted) <= len(waiting):
        return waiting[int(wanted) - 1].id
    if any(item.id == wanted for item in waiting):
        return wanted
    known = ", ".join(item.id for item in waiting) or "nothing waits"
    raise NotFound(f"no proposal {word!r} in the inbox; waiting: {known}")


def _show(
    out: Output,
    path: str,
    waiting: Sequence[Proposal],
    taken: Settled,
    verb: str,
    changed: Sequence[Proposal],
) -> None:
    for item in taken.accepted:
        out.line(f"{_accepted(item)}, as ticked in the note: {safe(item.text)}")
    for item in taken.refused:
        out.line(f"refused, as decided in the note: {safe(item.text)}")
    done = {"refuse": "refused; it will not be asked again", "edit": "changed"}
    for item in changed:
        out.line(f"{done.get(verb) or _accepted(item)}: {safe(item.text)}")
    if verb != "list":
        out.say(f"{len(waiting) or 'nothing'} left in {safe(path)}")
        return
    if not waiting:
        out.say(f"nothing waits in {safe(path)}")
        return
    for number, item in enumerate(waiting, start=1):
        for line in _item_lines(number, item, out.paint):
            out.line(line)
    out.say(f'hindbrain inbox accept N | refuse N | edit N "better text"; or tick lines in {safe(path)}')
    out.say("a tick that is made while an agent runs waits for: hindbrain inbox accept")


def _item_lines(number: int, item: Proposal, paint: Callable[..., str]) -> list[str]:
    ticked = "ticked while an agent was running; confirm it" if item.ticked else ""
    facts = (*_facts(item), item.reason, item.created, item.id, ticked)
    told = paint("    " + safe(" · ".join(fact for fact in facts if fact)), DIM)
    return [f"{number:>2}  {paint(safe(item.text), BOLD)}", told]


def _show_log(out: Output, approvals: Sequence[tuple[Approval, str]]) -> None:
    """`approvals`: each with what it was about, "" where that is not kept any longer."""
    from hindbrain.base.secrets import mask

    if out.json:
        out.data({"approvals": [one._asdict() | {"text": mask(text)} for one, text in approvals]})
        return
    for one, text in approvals:
        told = (
            one.at,
            one.decision,
            one.what,
            one.id,
            f"by {one.who}" if one.who else "",
            one.how,
            mask(text),
        )
        out.line(safe("  ".join(part for part in told if part)))
    if not approvals:
        out.say("nothing was accepted or refused yet")


def _accepted(item: Proposal) -> str:
    if item.role:
        return f"added to the {item.role} note"
    return "made a skill" if item.kind == "skill" else "remembered"


def _facts(item: Proposal) -> tuple[str, ...]:
    if item.kind == "skill":
        return "skill", f"{item.success:.0%} of {plural(item.runs, 'run')} went well", item.template
    return item.category, f"from {item.source}", f"for the {item.role} note" if item.role else ""


def _as_data(
    path: str, waiting: Sequence[Proposal], taken: Settled, verb: str, changed: Sequence[Proposal]
) -> dict[str, Any]:
    accepted = [*taken.accepted, *(changed if verb == "accept" else ())]
    refused = [*taken.refused, *(changed if verb == "refuse" else ())]
    return {
        "note": path,
        "waiting": [_proposal_data(item) for item in waiting],
        "accepted": [_proposal_data(item) for item in accepted],
        "refused": [_proposal_data(item) for item in refused],
    }


def _proposal_data(item: Proposal) -> dict[str, Any]:
    shared = ("id", "kind", "text", "source", "reason", "created", "ticked")
    own = ("template", "success", "runs") if item.kind == "skill" else ("category", "importance")
    told = {name: getattr(item, name) for name in (*shared, *own)}
    return told if item.kind == "skill" else told | {"tags": list(item.tags), "cues": list(item.cues)}
